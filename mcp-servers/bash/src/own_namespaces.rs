//! The namespaces of one command, which its supervisor enters before the box closes: mounts, System
//! V memory and `/tmp`. The namespace of process ids is the launcher's to begin (`launcher.rs`),
//! the network has its own file (`network/own.rs`). Must not know jobs.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change,
    mount_remount,
};
use rustix::thread::UnshareFlags;

use crate::confine::Boundary;
use crate::level::Level;
use crate::namespace::{Mount, make_read_only, mounts, seal, unshare};
use crate::obeyed::Obeyed;
use crate::wire::JobSpec;

/// What the command sees there instead of the system's.
const TMP: &str = "/tmp";

/// Where Landlock is too old to keep files from being cut.
const NOT_SEALED: &str = "a file system that cannot be made read-only has been mounted since the server started; restart claw";

/// Whether this system gives a command namespaces of its own, found out by entering some on a
/// thread that then ends.
pub fn are_given() -> bool {
    std::thread::spawn(|| begin().is_ok()).join().unwrap_or(false)
}

/// Enters the namespaces. Afterwards `spec` and `boundary` name the places as they are there. Gives
/// what is obeyed on sight, where the command is kept off it: it cannot be changed from then on.
pub fn enter(spec: &mut JobSpec, boundary: &mut Boundary) -> io::Result<Option<Obeyed>> {
    begin()?;
    mount_bind(&spec.scratch, &spec.scratch)?;
    let mut obeyed = None;
    let workspace = spec.workspace.clone();
    // What the server keeps of outputs is for reading, and its other TMPDIRs are not.
    let mut stays = vec![workspace.clone()];
    if spec.level > Level::Read {
        // Each is a mount, so that it stays as it is when the HOME around it is made read-only.
        for place in spec.home_open.iter().filter(|place| **place != spec.given.home) {
            bind_to_itself(place)?;
        }
        stays.extend(spec.home_open.iter().cloned());
        stays.extend(spec.given.opened.write.iter().cloned());
    }
    if spec.level > Level::Read {
        open(&spec.opened_now)?;
    }
    let scratch = std::slice::from_ref(&spec.scratch);
    let sealed = match spec.level {
        Level::Read => seal(scratch, Some(&workspace))?,
        // Mounts may have come since the server has started.
        _ if spec.mounts_must_hold => seal(&[scratch, &stays].concat(), None)?,
        _ => true,
    };
    if spec.mounts_must_hold && !sealed {
        return Err(io::Error::other(NOT_SEALED));
    }
    spec.only_tmp_can_change = spec.level == Level::Read && sealed;
    if spec.keeps_obeyed {
        let found = Obeyed::below(&workspace, &spec.given.opened.write);
        hold(&found, &workspace)?;
        obeyed = Some(found);
    }
    let others = std::mem::replace(&mut boundary.writable, stays.clone());
    let kept = |path: &PathBuf| !stays.contains(path) && !spec.scratch.starts_with(path);
    for path in others.into_iter().filter(kept) {
        // Landlock looks through mounts to the folder that they lie in, which may be TMPDIR.
        make_read_only(&path, flags_at(&mounts(), &path))?;
        boundary.readable.push(path);
    }
    if has_own_tmp(&workspace, &spec.scratch, boundary)? {
        spec.scratch = PathBuf::from(TMP);
    }
    boundary.writable.push(spec.scratch.clone());
    Ok(obeyed)
}

/// Gives what lies there a mount of its own. The path is looked up once: commands run meanwhile,
/// and one that swaps a folder for a link in between would have what the link leads to mounted in
/// the folder's place, inside of the box.
fn bind_to_itself(path: &Path) -> rustix::io::Result<()> {
    let held = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let found = format!("/proc/self/fd/{}", held.as_raw_fd());
    mount_bind_recursive(&found, &found)
}

/// Gives folders that the server has read-only mounts of their own, which are not.
fn open(folders: &[PathBuf]) -> io::Result<()> {
    for folder in folders {
        bind_to_itself(folder)?;
        let flags = flags_at(&mounts(), folder) - MountFlags::RDONLY;
        mount_remount(folder, flags | MountFlags::BIND, "")?;
    }
    Ok(())
}

/// The namespaces, with nothing closed in them yet.
fn begin() -> io::Result<()> {
    unshare(UnshareFlags::NEWNS | UnshareFlags::NEWIPC)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let harmless = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    Ok(mount("proc", "/proc", "proc", harmless, None)?)
}

/// Makes what is obeyed on sight read-only, and keeps the folders on the way to it from being moved
/// away: a mount has to stay where it is.
fn hold(obeyed: &Obeyed, workspace: &Path) -> io::Result<()> {
    let table = mounts();
    for folder in obeyed.folders_on_the_way(workspace) {
        bind_to_itself(&folder)?;
    }
    for path in obeyed.paths() {
        match bind_to_itself(path) {
            Ok(()) => make_read_only(path, flags_at(&table, path))?,
            // A link that leads nowhere; one that leads somewhere afterwards is another one.
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The flags of the mount that a path lies in, which a copy of it has, too.
fn flags_at(table: &[Mount], path: &Path) -> MountFlags {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // The last of equally deep ones covers the others.
    let holding = table.iter().filter(|mount| real.starts_with(&mount.target));
    holding
        .max_by_key(|mount| mount.target.components().count())
        .map_or(MountFlags::empty(), |mount| mount.flags)
}

/// Puts the command's TMPDIR in the place of `/tmp`, and what lies below `/tmp` and belongs into
/// the box back to where it was. `false` where there is no such folder to cover.
fn has_own_tmp(workspace: &Path, scratch: &Path, boundary: &Boundary) -> io::Result<bool> {
    let tmp = Path::new(TMP);
    let is_plain = fs::symlink_metadata(tmp).is_ok_and(|meta| meta.is_dir());
    if !is_plain || tmp.starts_with(workspace) {
        return Ok(false);
    }
    let mut below: Vec<&PathBuf> = boundary
        .readable
        .iter()
        .chain(&boundary.writable)
        .filter(|path| path.starts_with(tmp))
        .collect();
    below.sort();
    // What lies below another one comes back with it.
    below.dedup_by(|path, kept| path.starts_with(kept));
    let opened = |path: &PathBuf| -> io::Result<(PathBuf, OwnedFd, bool)> {
        let flags = OFlags::PATH.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let is_dir = file.metadata()?.is_dir();
        Ok((path.clone(), file.into(), is_dir))
    };
    let below = below.into_iter().map(opened).collect::<io::Result<Vec<_>>>()?;
    mount_bind(scratch, tmp)?;
    for (path, file, is_dir) in below {
        if is_dir {
            fs::create_dir_all(&path)?;
        } else {
            fs::create_dir_all(path.parent().unwrap_or(tmp))?;
            File::create(&path)?;
        }
        mount_bind_recursive(format!("/proc/self/fd/{}", file.as_raw_fd()), &path)?;
    }
    Ok(true)
}
