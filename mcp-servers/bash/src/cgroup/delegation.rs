//! Whether a folder of the tree was given away by the service manager (systemd, "Control Group APIs
//! and Delegation"). Without that the manager may take back what is written there. Must not know
//! what it is for.

use std::path::Path;
use std::process::Command;

use rustix::fs::{Access, XattrFlags, access, getxattr, setxattr};

/// systemd marks what it has given away (252 and newer), the manager of a user does not everywhere.
/// The last one is our own, for the servers that are started in it.
const MARKS: [&str; 3] = ["user.delegate", "trusted.delegate", OWN_MARK];
const OWN_MARK: &str = "user.claw.delegated";

/// Whether this user may make folders in it and change its settings.
pub fn is_given(dir: &Path) -> bool {
    let marked = |name: &str| {
        let mut value = [0; 8];
        getxattr(dir, name, &mut value[..]).is_ok_and(|bytes| value.get(..bytes) == Some(b"1"))
    };
    access(dir, Access::WRITE_OK).is_ok()
        && (MARKS.into_iter().any(marked) || (may_be_given(dir) && manager_says_so(dir)))
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
fn manager_says_so(dir: &Path) -> bool {
    let unit = super::name(dir);
    let show = ["--user", "show", "--property=Delegate", "--value", "--", &unit];
    Command::new("systemctl")
        .args(show)
        .output()
        .is_ok_and(|said| said.stdout.trim_ascii() == b"yes")
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
    fn a_folder_with_the_mark_is_given_and_one_without_is_not() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_given(dir.path()));
        mark(dir.path());
        let mut value = [0; 8];
        if getxattr(dir.path(), OWN_MARK, &mut value[..]).is_err() {
            // A file system without attributes.
            return;
        }
        assert!(is_given(dir.path()));
    }
}
