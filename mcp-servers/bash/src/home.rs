//! The HOME of commands: a folder of this server's for one workspace, outside of it, in which
//! programs keep their caches. Owns that it is private, its size, and that it is emptied when it
//! has grown too large. Must not know what lies in it, or how a command is run.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

#[cfg(target_os = "linux")]
use rustix::fs::chmod;
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, openat, unlinkat};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use crate::caches;
use crate::openings::Openings;
use crate::scratch::make_private;
use crate::shared;
use crate::toolchains::SharedFolder;

/// A look at the size takes at most this share of the time between two looks.
const LOOK_SHARE: u32 = 50;

/// What a standalone server and claw allow, in bytes.
pub const BYTES_MAX_DEFAULT: u64 = 10 << 30;
pub const BYTES_MAX_RANGE: std::ops::RangeInclusive<u64> = 1 << 20..=1 << 50;

/// The HOME of the commands of one workspace. Several servers may share it.
#[derive(Debug)]
pub struct CommandHome {
    /// What commands write.
    path: PathBuf,
    bytes_max: u64,
    /// What of the user's appears in it.
    shared: Arc<[SharedFolder]>,
    /// Cancelled when that is linked for the first time: no command runs before. Set when the
    /// linking begins.
    filled: OnceLock<CancellationToken>,
    /// No look at the size before this.
    next_look: Mutex<Instant>,
}

/// Holds a command's HOME as it is until the command has ended.
pub struct InUse {
    _lock: Option<File>,
}

/// The two parts of a folder for one workspace: `home` for commands to write, `told` for them to
/// read.
#[derive(Clone, Debug)]
pub struct Parts {
    pub home: PathBuf,
    pub told: PathBuf,
}

/// Makes the folder and its parts where they are missing. Must run before the box is closed.
///
/// # Errors
/// A folder that cannot be made, or that other users can open.
pub fn prepare(folder: &Path) -> io::Result<Parts> {
    if let Some(parent) = folder.parent() {
        make_private(parent)?;
    }
    make_private(folder)?;
    check_private(folder)?;
    let folder = folder.canonicalize()?;
    let parts = Parts { home: folder.join("home"), told: folder.join("told") };
    for part in [&parts.home, &parts.told] {
        make_private(part)?;
        check_private(part)?;
    }
    Ok(parts)
}

/// Nobody else may have made it, nor may it be a link.
fn check_private(folder: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(folder)?;
    let user = rustix::process::geteuid().as_raw();
    if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o077 != 0 {
        let why = format!("{} is no folder of yours alone", folder.display());
        return Err(io::Error::other(why));
    }
    Ok(())
}

impl CommandHome {
    pub fn new(path: PathBuf, bytes_max: u64, shared: Vec<SharedFolder>) -> Self {
        let next_look = Mutex::new(Instant::now());
        Self { path, bytes_max, shared: shared.into(), filled: OnceLock::new(), next_look }
    }

    /// Links what the user has fetched already, on a thread, because it may be thousands of crates.
    /// Must be called inside of the box.
    pub fn begin_to_fill(&self) {
        let filled = self.filled.get_or_init(CancellationToken::new).clone().drop_guard();
        let (shared, path) = (self.shared.clone(), self.path.clone());
        let fill = move || {
            shared::link(&shared, &path);
            drop(filled);
        };
        // Without a thread for it the server waits here.
        if std::thread::Builder::new().spawn(fill).is_err() {
            self.fill();
        }
    }

    /// Until what the user has fetched is linked.
    pub async fn is_filled(&self) {
        if let Some(filled) = self.filled.get() {
            filled.cancelled().await;
        }
    }

    fn fill(&self) {
        shared::link(&self.shared, &self.path);
    }

    /// What the owner has opened to one command appears in it, too. What it leads to is
    /// closed to every other one.
    pub fn link(&self, opened: &Openings) {
        if !opened.is_empty() {
            shared::link(&shared::of_openings(opened), &self.path);
        }
    }

    /// What a command may change of it: all, or the caches alone, which are made where they are
    /// missing; and a sentence where one of these is something else.
    pub fn open_to(&self, caches_alone: bool) -> (Vec<PathBuf>, Option<String>) {
        if caches_alone { caches::prepare(&self.path) } else { (vec![self.path.clone()], None) }
    }

    /// For the time of a command that may write there.
    pub fn in_use(&self) -> InUse {
        // A command of ours can hold the lock, too; then nothing is emptied, which harms nobody.
        let lock = File::open(&self.path).ok();
        let held = |lock: &File| flock(lock, FlockOperation::NonBlockingLockShared).is_ok();
        InUse { _lock: lock.filter(held) }
    }

    /// Empties it if it is larger than it may be and no command uses it, and says so in a sentence.
    /// Looks at most as often as a look is cheap.
    pub fn keep_to_limit(&self) -> Option<String> {
        let mut next_look = self.next_look.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        if began < *next_look {
            return None;
        }
        let bytes = size(&self.path);
        let told = (bytes > self.bytes_max).then(|| self.empty(bytes)).flatten();
        *next_look = Instant::now() + began.elapsed() * LOOK_SHARE;
        told
    }

    fn empty(&self, bytes: u64) -> Option<String> {
        let lock = File::open(&self.path).ok()?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        let removed = remove_below(lock.as_fd());
        self.fill();
        let (had, may) = (in_words(bytes), in_words(self.bytes_max));
        Some(match removed {
            Ok(()) => format!(
                "HOME held {had}, more than command_home_bytes_max ({may}), and was emptied: caches fill again when they are needed."
            ),
            Err(error) => format!(
                "HOME holds {had}, more than command_home_bytes_max ({may}), and could not be emptied: {error}."
            ),
        })
    }
}

/// What the files below take on the disk, in bytes. No link is followed; what cannot be read counts
/// nothing.
pub fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| meta.blocks() * 512 + if meta.is_dir() { size(&path) } else { 0 })
        .sum()
}

/// How a folder is opened whose name may stand for something else by now.
const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes everything in it, also from folders that their maker has made read-only, as Go does. By
/// handles alone: a command may put a link into the place of a folder meanwhile.
fn remove_below(folder: BorrowedFd<'_>) -> io::Result<()> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        match opened(folder, name) {
            Ok(found) => {
                remove_below(found.as_fd())?;
                unlinkat(folder, name, AtFlags::REMOVEDIR)?;
            }
            Err(Errno::NOTDIR | Errno::LOOP) => unlinkat(folder, name, AtFlags::empty())?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A folder, open to its owner from now on. One that its maker has closed can be named, not read.
#[cfg(target_os = "linux")]
fn opened(folder: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(folder, name, flags, Mode::empty())?;
    chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), Mode::RWXU)?;
    openat(&found, c".", FOLDER, Mode::empty())
}

#[cfg(not(target_os = "linux"))]
fn opened(folder: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    let found = openat(folder, name, FOLDER, Mode::empty())?;
    rustix::fs::fchmod(&found, Mode::RWXU)?;
    Ok(found)
}

/// `1.5 GiB`, `20 MiB`, `700 bytes`.
pub fn in_words(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(unit, name)| {
            let tenths = bytes * 10 / unit;
            match tenths % 10 {
                0 => format!("{} {name}", tenths / 10),
                rest => format!("{}.{rest} {name}", tenths / 10),
            }
        },
    )
}

/// How long a look that has just been made keeps the next one away.
#[cfg(test)]
fn pause(home: &CommandHome) -> std::time::Duration {
    home.next_look.lock().unwrap().saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_larger_than_it_may_be_is_emptied_unless_a_command_uses_it() {
        let base = tempfile::tempdir().unwrap();
        let parts = prepare(&base.path().join("homes/one")).unwrap();
        let outside = base.path().join("outside");
        fs::write(&outside, "stays").unwrap();
        let locked = parts.home.join("pkg/mod");
        fs::create_dir_all(&locked).unwrap();
        fs::write(locked.join("big"), vec![1; 3 << 20]).unwrap();
        std::os::unix::fs::symlink(&outside, parts.home.join("link")).unwrap();
        fs::set_permissions(&locked, Permissions::from_mode(0o500)).unwrap();
        let home = |mib: u64| CommandHome::new(parts.home.clone(), mib << 20, Vec::new());
        assert_eq!(home(4).keep_to_limit(), None);
        let used = home(1).in_use();
        assert_eq!(home(1).keep_to_limit(), None);
        assert!(locked.exists());
        drop(used);
        // What another test has just forked holds the lock, too, until its program runs.
        let deadline = Instant::now() + claw_test_kit::SOON;
        let told = loop {
            match home(1).keep_to_limit() {
                Some(told) => break told,
                None => assert!(Instant::now() < deadline, "not in time"),
            }
            std::thread::yield_now();
        };
        assert!(told.contains("command_home_bytes_max (1 MiB)"), "{told}");
        assert_eq!(fs::read_dir(&parts.home).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(&outside).unwrap(), "stays");
    }

    #[test]
    fn a_look_that_was_dear_is_not_soon_made_again() {
        let base = tempfile::tempdir().unwrap();
        let home = CommandHome::new(base.path().to_owned(), 1 << 30, Vec::new());
        assert_eq!(pause(&home), Duration::ZERO);
        home.keep_to_limit();
        let first = *home.next_look.lock().unwrap();
        *home.next_look.lock().unwrap() = first + Duration::from_secs(600);
        home.keep_to_limit();
        assert!(pause(&home) > Duration::from_secs(300));
    }

    #[test]
    fn a_folder_that_others_can_open_or_that_is_a_link_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let open = base.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
        assert!(prepare(&open).is_err());
        let parts = prepare(&base.path().join("mine")).unwrap();
        fs::remove_dir(&parts.home).unwrap();
        std::os::unix::fs::symlink("/", &parts.home).unwrap();
        assert!(prepare(&base.path().join("mine")).is_err());
    }

    #[test]
    fn sizes_are_words() {
        let words = [700, 2048, 3 << 20, (10 << 30) + (1 << 29)].map(in_words);
        assert_eq!(words, ["700 bytes", "2 KiB", "3 MiB", "10.5 GiB"]);
    }
}
