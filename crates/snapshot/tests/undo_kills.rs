//! An undo that is killed at each of its points: the next start goes on, and the workspace is what
//! it was.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "it starts itself, to be killed")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use claw_snapshot::{Limits, SnapshotError, Snapshots};
use common::picture;

const ROOT: &str = "CLAW_TEST_UNDO_ROOT";
const SIGKILL: i32 = 9;

/// The process that is killed: this test program again, with a folder named in [`ROOT`].
#[test]
fn child_undoes() {
    let Some(root) = std::env::var_os(ROOT).map(PathBuf::from) else { return };
    let (snapshots, _) = open(&root);
    snapshots.undo("t", "t-after").unwrap();
}

/// Waits for the lock: a process that another test starts at this moment has a copy of it between
/// its fork and its exec.
fn open(root: &Path) -> (Snapshots, bool) {
    loop {
        match Snapshots::open(&root.join("kept"), &root.join("workspace"), Limits::default()) {
            Err(SnapshotError::Busy) => std::thread::yield_now(),
            opened => {
                let (snapshots, undone) = opened.unwrap();
                return (snapshots, undone.is_some());
            }
        }
    }
}

/// Runs it, and kills it at the point. Whether it was killed.
fn undo_in_child(root: &Path, at: &str) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_undoes"])
        .env(ROOT, root)
        .env("CLAW_KILL_AT", at)
        .output()
        .unwrap()
        .status;
    assert!(status.success() || status.signal() == Some(SIGKILL), "{status}");
    !status.success()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A turn that changed something of each kind. Gives what was there before.
fn turn(root: &Path) -> BTreeMap<PathBuf, String> {
    let at = |path: &str| root.join("workspace").join(path);
    fs::create_dir_all(at("closed")).unwrap();
    fs::create_dir_all(at("was folder/sub")).unwrap();
    for path in ["changed", "deleted", "closed/a", "was folder/sub/a", "was file", "was link"] {
        fs::write(at(path), path).unwrap();
    }
    fs::remove_file(at("was link")).unwrap();
    symlink("changed", at("was link")).unwrap();
    mode(&at("closed"), 0o555);
    let (snapshots, _) = open(root);
    snapshots.remember("t").unwrap();
    let before = picture(&root.join("workspace"));
    mode(&at("closed"), 0o755);
    fs::remove_file(at("closed/a")).unwrap();
    mode(&at("closed"), 0o555);
    fs::write(at("changed"), "2").unwrap();
    mode(&at("changed"), 0o600);
    fs::remove_file(at("deleted")).unwrap();
    fs::remove_dir_all(at("was folder")).unwrap();
    fs::write(at("was folder"), "a file now").unwrap();
    fs::remove_file(at("was file")).unwrap();
    fs::create_dir_all(at("was file/new")).unwrap();
    fs::write(at("was file/new/a"), "1").unwrap();
    fs::remove_file(at("was link")).unwrap();
    fs::write(at("was link"), "a file now").unwrap();
    snapshots.note("t-after", "t").unwrap();
    before
}

#[test]
fn an_undo_that_is_killed_anywhere_goes_on_at_the_next_start() {
    let mut killed = 0;
    for point in ["undo-noted", "undo-step", "undo-done"] {
        for count in 1.. {
            let root = tempfile::tempdir().unwrap();
            let before = turn(root.path());
            let was_killed = undo_in_child(root.path(), &format!("{point}:{count}"));
            let (_, went_on) = open(root.path());
            assert_eq!(went_on, was_killed, "{point}:{count}");
            assert_eq!(picture(&root.path().join("workspace")), before, "{point}:{count}");
            if !was_killed {
                break;
            }
            killed += 1;
        }
    }
    assert!(killed > 20, "only {killed} kills");
}

#[test]
fn a_resumed_undo_that_is_killed_again_goes_on_again() {
    for (first, second) in [(3, 2), (9, 4), (12, 3), (14, 1)] {
        let root = tempfile::tempdir().unwrap();
        let before = turn(root.path());
        assert!(undo_in_child(root.path(), &format!("undo-step:{first}")));
        assert!(undo_in_child(root.path(), &format!("undo-step:{second}")));
        open(root.path());
        assert_eq!(picture(&root.path().join("workspace")), before, "{first} {second}");
    }
}
