//! Whether a folder of the tree was given away by the service manager (systemd, "Control Group APIs
//! and Delegation"). Without that the manager may take back what is written there. Must not know
//! what it is for.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Missing;
use rustix::fs::{Access, XattrFlags, access, getxattr, setxattr};

/// systemd marks what it has given away (252 and newer), the manager of a user does not everywhere.
/// The last one is our own, for the servers that are started in it.
const MARKS: [&str; 3] = ["user.delegate", "trusted.delegate", OWN_MARK];
const OWN_MARK: &str = "user.claw.delegated";

/// The manager answers in milliseconds, unless it hangs; the start of the server waits for it.
const ANSWER_TIME: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// `yes` or `no`; more is no answer.
const ANSWER_BYTES_MAX: usize = 16;

/// Whether this user may make folders in it and change its settings.
///
/// # Errors
/// The service manager does not answer within 5 s.
pub fn is_given(dir: &Path) -> Result<bool, Missing> {
    let marked = |name: &str| {
        let mut value = [0; 8];
        getxattr(dir, name, &mut value[..]).is_ok_and(|bytes| value.get(..bytes) == Some(b"1"))
    };
    if access(dir, Access::WRITE_OK).is_err() {
        return Ok(false);
    }
    if MARKS.into_iter().any(marked) {
        return Ok(true);
    }
    if may_be_given(dir) { manager_says_so(dir) } else { Ok(false) }
}

/// For whoever is started from here on. Where it cannot be set, these are told that the folder is
/// not delegated.
pub fn mark(dir: &Path) {
    let _ = setxattr(dir, OWN_MARK, b"1", XattrFlags::empty());
}

/// All units of a user's manager belong to the user, so they say nothing. To ask costs a process,
/// and for a folder with others in it the answer would change nothing.
fn may_be_given(dir: &Path) -> bool {
    let manager = format!("user@{}.service", rustix::process::getuid().as_raw());
    let unit = super::name(dir);
    dir.parent().is_some_and(|parent| parent.iter().any(|part| part == manager.as_str()))
        && (unit.ends_with(".service") || unit.ends_with(".scope"))
        && super::is_alone_in(dir)
}

/// systemctl(1), `Delegate=` of systemd.resource-control(5).
#[expect(
    clippy::disallowed_methods,
    reason = "the bash server is one of the two that start processes"
)]
fn manager_says_so(dir: &Path) -> Result<bool, Missing> {
    let unit = super::name(dir);
    let show = ["--user", "show", "--property=Delegate", "--value", "--", &unit];
    match answer(Command::new("systemctl").args(show), ANSWER_TIME) {
        Ok(Some(said)) => Ok(said.trim_ascii() == b"yes"),
        Ok(None) => Err(Missing::ManagerSilent(unit)),
        // Where there is no `systemctl`, there is nobody who gives folders away.
        Err(_) => Ok(false),
    }
}

/// What a program has said on its standard output by its end. `None` if it had to be killed.
#[expect(
    clippy::disallowed_methods,
    reason = "the bash server is one of the two that start processes"
)]
fn answer(command: &mut Command, limit: Duration) -> io::Result<Option<Vec<u8>>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let deadline = Instant::now() + limit;
    let mut child = command.spawn()?;
    // No thread may wait for it: the namespaces are entered by a process with a single one.
    while child.try_wait()?.is_none() {
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let mut said = vec![0; ANSWER_BYTES_MAX];
    let mut bytes = 0;
    if let Some(mut stdout) = child.stdout {
        // Something that it has left behind may hold the other end open.
        rustix::io::ioctl_fionbio(&stdout, true)?;
        bytes = stdout.read(&mut said).unwrap_or_default();
    }
    said.truncate(bytes);
    Ok(Some(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manager_is_asked_only_about_a_unit_of_this_user_with_nobody_else_in_it() {
        let top = tempfile::tempdir().unwrap();
        let user = rustix::process::getuid().as_raw();
        let dir = |path: &str| {
            let dir = top.path().join(path);
            std::fs::create_dir_all(&dir).unwrap();
            dir
        };
        let service = dir(&format!("user@{user}.service/app.slice/claw.service"));
        assert!(may_be_given(&service));
        assert!(!may_be_given(&dir(&format!("user@{user}.service/app.slice"))));
        assert!(!may_be_given(&dir(&format!("user@{user}.service"))));
        assert!(!may_be_given(&dir("user@99999999.service/app.slice/claw.service")));
        std::fs::write(service.join("cgroup.procs"), "1\n").unwrap();
        assert!(!may_be_given(&service));
    }

    #[test]
    fn a_manager_that_hangs_does_not_hold_up_the_start() {
        let asked = |script: &str, limit: Duration| {
            answer(Command::new("sh").args(["-c", script]), limit).unwrap()
        };
        let patient = Duration::from_secs(60);
        assert_eq!(asked("exec sleep 1000", Duration::from_millis(50)), None);
        assert_eq!(asked("echo yes", patient).unwrap(), b"yes\n");
        assert_eq!(asked("echo yes; exit 1", patient).unwrap(), b"yes\n");
        // What it leaves behind holds its output open.
        assert_eq!(asked("(trap '' HUP; sleep 5) & echo no", patient).unwrap(), b"no\n");
        assert_eq!(asked("sleep 5 &", patient).unwrap(), b"");
    }

    #[test]
    fn a_folder_with_the_mark_is_given_and_one_without_is_not() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(is_given(dir.path()), Ok(false));
        mark(dir.path());
        let mut value = [0; 8];
        if getxattr(dir.path(), OWN_MARK, &mut value[..]).is_err() {
            // A file system without attributes.
            return;
        }
        assert_eq!(is_given(dir.path()), Ok(true));
    }
}
