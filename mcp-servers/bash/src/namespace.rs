//! Namespaces of the server's own, where the system gives them to it: its commands name no process
//! but their own, share no System V memory and no queues with the user, and find everything outside
//! of the workspace mounted read-only. Must not know jobs, or the layers that close over it later.
//!
//! A process id namespace begins with a child, so two processes serve: the outer one makes the
//! namespaces, starts this program again and waits; the inner one is process 1 and serves. The
//! kernel ends the inner one with the outer one, and all commands with the inner one.
//!
//! Everything that may be refused is tried before the step that cannot be taken back (`NEWPID`).
//! So a system that refuses gets the server without namespaces, in the same process.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount,
};
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set,
    set_capabilities,
};

use crate::args::Args;
use crate::cgroup::Settled;
use crate::error::StartError;

/// What mounts, and what makes a network and brings its loopback up. The inner process and the
/// supervisors that its launcher starts have them until they have closed the box.
const NEEDED: [CapabilitySet; 2] = [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN];

/// The flag by which the outer process starts the inner one.
const INSIDE: &str = "--inside";

/// Where this process stands.
pub enum NamespacePlace {
    /// In the namespaces: it serves.
    Inside,
    /// There are none for it: it serves without them.
    Without,
    /// Outside of them: the inner process has served, and ended so.
    Served(ExitCode),
}

/// Must run before a second thread exists.
pub fn enter(args: &Args, room: Option<&Settled>) -> Result<NamespacePlace, StartError> {
    if args.inside {
        arrive().map_err(StartError::Namespace)?;
        return Ok(NamespacePlace::Inside);
    }
    if args.without_namespaces || withheld().is_some() || prepare().is_err() {
        return Ok(NamespacePlace::Without);
    }
    serve_inside(room).map(NamespacePlace::Served).map_err(StartError::Namespace)
}

/// Why the system gives no namespaces to this user, with what its administrator can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// Ubuntu: only to programs with a profile that allows them.
    AppArmor,
    /// user_namespaces(7), "/proc/sys/user".
    Number,
    /// Debian's own setting.
    Unprivileged,
    /// A container hides parts of `/proc`, or the kernel has no namespaces.
    Container,
    /// `unshare` or `mount` was refused, and no setting says why.
    Refused,
}

impl Withheld {
    pub fn advice(self) -> &'static str {
        match self {
            Self::AppArmor => {
                "AppArmor gives user namespaces to no program without a profile that allows them; `claw help box` has one for claw, under \
                 \"Older kernels, and Ubuntu\""
            }
            Self::Number => {
                "the system allows no user namespaces; `sudo sysctl -w user.max_user_namespaces=15000` does until the next start"
            }
            Self::Unprivileged => {
                "the system keeps user namespaces from users; `sudo sysctl -w kernel.unprivileged_userns_clone=1` gives them until the \
                 next start"
            }
            Self::Container => {
                "this is a container that hides parts of /proc, so it gives no namespaces"
            }
            Self::Refused => {
                "the system refuses them, and none of its settings says why: a container or a rule of seccomp, AppArmor or SELinux \
                 may. `unshare --user --map-root-user --mount true`, run as you, names the error"
            }
        }
    }
}

/// Why the system's settings give no namespaces to this user; `None` where they do. Cheap, and
/// changes nothing.
pub fn withheld() -> Option<Withheld> {
    let setting = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let by_settings = if may_mount() { None } else { withheld_by(setting) };
    by_settings.or_else(|| (!shows_all_of_proc()).then_some(Withheld::Container))
}

/// What the settings of the system say to a user without powers.
fn withheld_by(setting: impl Fn(&str) -> Option<String>) -> Option<Withheld> {
    let is = |path: &str, value: &str| setting(path).as_deref() == Some(value);
    if is("/proc/sys/user/max_user_namespaces", "0") {
        return Some(Withheld::Number);
    }
    if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        return Some(Withheld::Unprivileged);
    }
    // A profile may allow them, and then its name stands here.
    let is_by_profile = is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")
        && is("/proc/self/attr/current", "unconfined");
    is_by_profile.then_some(Withheld::AppArmor)
}

fn shows_all_of_proc() -> bool {
    // A container hides parts of /proc under mounts, and the kernel then refuses a whole one.
    // The one mount that is usual there covers nothing.
    let usual = Path::new("/proc/sys/fs/binfmt_misc");
    let hidden =
        |mount: &Mount| mount.target != Path::new("/proc") && mount.target.starts_with("/proc");
    Path::new("/proc/self/ns/pid").exists()
        && !mounts().iter().any(|mount| hidden(mount) && mount.target != usual)
}

/// The power to mount, which root has outside of containers. Who lacks it needs a user namespace.
fn may_mount() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Makes the namespaces that this process itself enters, and the one that its next child begins.
/// On an error this process can still serve: it may stand in a user namespace of its own, in which
/// it is the same user.
fn prepare() -> io::Result<()> {
    let own_user = !may_mount();
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let own = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    unshare(if own_user { own | UnshareFlags::NEWUSER } else { own })?;
    if own_user {
        // user_namespaces(7): the group's map may be written once setgroups(2) is given up.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // What the system mounts from now on appears here, too; what is mounted here stays here.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    if own_user {
        // An exec of an ordinary user drops what the namespace gave, and the inner one has to
        // mount.
        let needed = NEEDED;
        let now = capabilities(None)?;
        set_capabilities(
            None,
            CapabilitySets { inheritable: needed.into_iter().collect(), ..now },
        )?;
        needed.into_iter().try_for_each(|one| configure_capability_in_ambient_set(one, true))?;
    }
    unshare(UnshareFlags::NEWPID)
}

#[expect(deprecated, reason = "only the flag FILES makes it unsafe, and this never passes it")]
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(flags)?)
}

/// Starts the inner process with the same words and waits for it. A signal that ends this process
/// ends the inner one, too: it has asked the kernel for that.
#[expect(
    clippy::disallowed_methods,
    reason = "the bash server is one of the two that start processes"
)]
fn serve_inside(room: Option<&Settled>) -> io::Result<ExitCode> {
    let mut command = Command::new("/proc/self/exe");
    command.args(std::env::args_os().skip(1)).arg(INSIDE);
    if let Some(room) = room {
        let (descriptor, home) = room.bequeath()?;
        command.args(["--cgroup-fd", &descriptor.to_string(), "--cgroup-home", home]);
    }
    let status = command.status()?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// The inner process: dies with the outer one, and sees a table of processes of its own.
fn arrive() -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("--inside is for this program itself, not for you"));
    }
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let harmless = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", harmless, None)?)
}

/// Makes everything read-only but what lies below `open`. Landlock holds contents already; this
/// holds what it does not see: modes, owners, times and attributes of the user's own files, and
/// below ABI 3 their length. Whether nothing is left: a file system of another machine or of a
/// program is left alone, because its server may be gone, but not below `needed`.
pub fn seal(open: &[PathBuf], needed: Option<&Path>) -> io::Result<bool> {
    let mut nothing_left = true;
    for mount in mounts() {
        let is_open = open.iter().any(|path| mount.target.starts_with(path));
        if is_open || mount.flags.contains(MountFlags::RDONLY) {
            continue;
        }
        let is_needed = needed.is_some_and(|path| mount.target.starts_with(path));
        if mount.may_hang() && !is_needed {
            nothing_left = false;
            continue;
        }
        match make_read_only(&mount.target, mount.flags) {
            Err(error) if is_needed => return Err(error.into()),
            // One that another mount has covered meanwhile, or behind a folder that is closed to
            // this user, cannot be named: nor can a command.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
            Err(_) => nothing_left = false,
        }
    }
    Ok(nothing_left)
}

pub fn make_read_only(target: &Path, flags: MountFlags) -> rustix::io::Result<()> {
    mount_remount(target, flags | MountFlags::BIND | MountFlags::RDONLY, "")
}

/// Gives each of these a mount of its own, so that it stays as it is when the rest is sealed.
pub fn set_apart(paths: &[PathBuf]) -> io::Result<()> {
    Ok(paths.iter().try_for_each(|path| mount_bind_recursive(path, path))?)
}

/// What the system's table of mounts says of that. Changes nothing.
pub fn can_be_sealed() -> bool {
    !mounts().iter().any(|mount| mount.may_hang() && !mount.flags.contains(MountFlags::RDONLY))
}

/// One row of `/proc/self/mountinfo`.
pub struct Mount {
    pub target: PathBuf,
    kind: String,
    /// Those that a change has to repeat, because a user namespace may not take them away.
    pub flags: MountFlags,
}

impl Mount {
    /// Served by another machine or by a program: a look at one whose server is gone never returns.
    pub fn may_hang(&self) -> bool {
        ["fuse", "nfs", "cifs", "smb", "9p", "afs", "ceph", "autofs", "virtiofs"]
            .iter()
            .any(|kind| self.kind.starts_with(kind))
    }
}

pub fn mounts() -> Vec<Mount> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    table.split(|byte| *byte == b'\n').filter_map(parse).collect()
}

/// `ID PARENT DEVICE ROOT TARGET OPTIONS [FIELDS…] - KIND SOURCE …`, proc_pid_mountinfo(5).
fn parse(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ');
    let target = PathBuf::from(OsString::from_vec(unescape(words.nth(4)?)));
    let options = String::from_utf8_lossy(words.next()?).into_owned();
    let kind = words.skip_while(|word| *word != b"-").nth(1)?;
    let mut flags = MountFlags::empty();
    for option in options.split(',') {
        flags |= match option {
            "ro" => MountFlags::RDONLY,
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        };
    }
    if !flags.intersects(MountFlags::NOATIME | MountFlags::RELATIME) {
        flags |= MountFlags::STRICTATIME;
    }
    Some(Mount { target, kind: String::from_utf8_lossy(kind).into_owned(), flags })
}

/// Blanks and the like stand as a backslash and three octal digits.
fn unescape(word: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, tail)) = rest.split_first() {
        let code = tail
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &tail[3..];
            }
            None => {
                plain.push(*first);
                rest = tail;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Ubuntu 24.04, Debian and an administrator set them.
    #[test]
    fn the_settings_say_who_withholds_namespaces() {
        const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
        const PROFILE: &str = "/proc/self/attr/current";
        let said = |set: &[(&str, &str)]| {
            withheld_by(|path| {
                let found = set.iter().find(|(name, _)| *name == path);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(said(&[(APPARMOR, "1"), (PROFILE, "unconfined")]), Some(Withheld::AppArmor));
        assert_eq!(said(&[(APPARMOR, "1"), (PROFILE, "claw (unconfined)")]), None);
        assert_eq!(said(&[(APPARMOR, "0"), (PROFILE, "unconfined")]), None);
        assert_eq!(said(&[(PROFILE, "unconfined")]), None);
        let number = ("/proc/sys/user/max_user_namespaces", "0");
        assert_eq!(said(&[number]), Some(Withheld::Number));
        let debian = ("/proc/sys/kernel/unprivileged_userns_clone", "0");
        assert_eq!(said(&[debian]), Some(Withheld::Unprivileged));
        assert_eq!(said(&[("/proc/sys/user/max_user_namespaces", "61000")]), None);
    }

    #[test]
    fn a_row_of_the_mount_table_keeps_what_must_be_repeated() {
        let row =
            b"36 35 98:0 /x /mnt/my\\040disk rw,nosuid,noatime shared:1 master:2 - ext4 /dev/root rw,errors=continue";
        let mount = parse(row).unwrap();
        assert_eq!(mount.target, Path::new("/mnt/my disk"));
        assert_eq!(mount.flags, MountFlags::NOSUID | MountFlags::NOATIME);
        assert!(!mount.may_hang());
        let strict = parse(b"1 2 0:1 / /net ro - nfs4 server:/ rw").unwrap();
        assert_eq!(strict.flags, MountFlags::RDONLY | MountFlags::STRICTATIME);
        assert!(strict.may_hang());
        assert!(parse(b"garbage").is_none());
    }
}
