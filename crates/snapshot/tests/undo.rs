//! Turns of changes to real folders, undone. Must not know how a snapshot is kept.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use claw_snapshot::{KeptBecause, Limits, SnapshotError, Snapshots};
use common::picture;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use tempfile::TempDir;

struct Rig {
    workspace: TempDir,
    kept: TempDir,
}

impl Rig {
    fn new() -> Self {
        Self { workspace: tempfile::tempdir().unwrap(), kept: tempfile::tempdir().unwrap() }
    }

    fn open(&self) -> Snapshots {
        self.open_with(Limits::default()).unwrap()
    }

    fn open_with(&self, limits: Limits) -> Result<Snapshots, SnapshotError> {
        Snapshots::open(&self.kept.path().join("s"), self.workspace.path(), limits)
            .map(|(snapshots, _)| snapshots)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.workspace.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }
}

/// One change of a turn. Names are few, so that changes meet.
#[derive(Clone, Debug)]
enum Act {
    Write(String, Vec<u8>),
    Folder(String),
    Link(String, String),
    Remove(String),
    Rename(String, String),
    Mode(String, u32),
}

fn name() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "ü", "c d", ".h"]), 1..4)
        .prop_map(|parts| parts.join("/"))
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (name(), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(at, bytes)| Act::Write(at, bytes)),
        2 => name().prop_map(Act::Folder),
        1 => (name(), name()).prop_map(|(at, to)| Act::Link(at, to)),
        2 => name().prop_map(Act::Remove),
        2 => (name(), name()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (name(), prop::sample::select(vec![0o600, 0o644, 0o755, 0o700, 0o444, 0o555]))
            .prop_map(|(at, mode)| Act::Mode(at, mode)),
    ]
}

/// Whatever is impossible at the moment does nothing.
fn perform(root: &Path, act: &Act) {
    let at = |name: &str| root.join(name);
    match act {
        Act::Write(name, bytes) => {
            let path = at(name);
            // Through no link: the turn changes this workspace alone.
            if !path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                let _ = fs::create_dir_all(path.parent().unwrap());
                let _ = fs::write(path, bytes);
            }
        }
        Act::Folder(name) => drop(fs::create_dir_all(at(name))),
        Act::Link(name, to) => drop(symlink(to, at(name))),
        Act::Remove(name) => {
            let _ = fs::remove_file(at(name)).or_else(|_| fs::remove_dir_all(at(name)));
        }
        Act::Rename(from, to) => drop(fs::rename(at(from), at(to))),
        Act::Mode(name, mode) => {
            let path = at(name);
            let Ok(meta) = path.symlink_metadata() else { return };
            // A folder that its owner cannot look into is left out of a snapshot.
            let mode = if meta.is_dir() { mode | 0o500 } else { *mode };
            if !meta.is_symlink() {
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_an_undo_the_workspace_is_what_it_was(
        first in prop::collection::vec(act(), 0..40),
        turn in prop::collection::vec(act(), 1..40),
    ) {
        let rig = Rig::new();
        first.iter().for_each(|act| perform(rig.workspace.path(), act));
        let snapshots = rig.open();
        snapshots.remember("t1").unwrap();
        let before = picture(rig.workspace.path());
        turn.iter().for_each(|act| perform(rig.workspace.path(), act));
        snapshots.note("t1-after", "t1").unwrap();
        let undone = snapshots.undo("t1", "t1-after").unwrap();
        prop_assert_eq!(&undone.kept, &[]);
        prop_assert_eq!(picture(rig.workspace.path()), before);
        prop_assert!(snapshots.plan("t1", "t1-after").unwrap().is_empty());
    }

    #[test]
    fn an_undo_changes_nothing_that_others_have_changed_since(
        first in prop::collection::vec(act(), 0..30),
        turn in prop::collection::vec(act(), 1..30),
        others in prop::collection::vec(act(), 1..30),
    ) {
        let rig = Rig::new();
        let root = rig.workspace.path();
        first.iter().for_each(|act| perform(root, act));
        let snapshots = rig.open();
        snapshots.remember("t1").unwrap();
        let before = picture(root);
        turn.iter().for_each(|act| perform(root, act));
        snapshots.note("t1-after", "t1").unwrap();
        let after = picture(root);
        others.iter().for_each(|act| perform(root, act));
        let now = picture(root);
        snapshots.undo("t1", "t1-after").unwrap();
        let undone = picture(root);
        for path in now.keys().chain(undone.keys()) {
            let (was, is) = (now.get(path), undone.get(path));
            if was != is {
                prop_assert_eq!(was, after.get(path), "{:?} was changed by others", path);
                prop_assert_eq!(is, before.get(path), "{:?} is something new", path);
            }
        }
    }
}

#[test]
fn fifty_turns_are_undone_one_after_the_other() {
    let rig = Rig::new();
    let snapshots = rig.open();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut pictures = Vec::new();
    for turn in 0..50 {
        snapshots.remember(&format!("t{turn}")).unwrap();
        pictures.push(picture(rig.workspace.path()));
        let acts = prop::collection::vec(act(), 1..20).new_tree(&mut runner).unwrap().current();
        acts.iter().for_each(|act| perform(rig.workspace.path(), act));
        snapshots.note(&format!("t{turn}-after"), &format!("t{turn}")).unwrap();
    }
    for (turn, before) in pictures.iter().enumerate().rev() {
        let undone = snapshots.undo(&format!("t{turn}"), &format!("t{turn}-after")).unwrap();
        assert_eq!(undone.kept, [], "turn {turn}");
        assert_eq!(picture(rig.workspace.path()), *before, "turn {turn}");
    }
}

#[test]
fn ten_thousand_files_are_put_back() {
    let rig = Rig::new();
    for number in 0..10_000 {
        rig.write(&format!("d{}/f{number}", number % 100), &format!("text {number}"));
    }
    let snapshots = rig.open();
    assert_eq!(snapshots.remember("t").unwrap().files(), 10_100);
    let before = picture(rig.workspace.path());
    for number in 0..50 {
        fs::remove_dir_all(rig.at(&format!("d{number}"))).unwrap();
        rig.write(&format!("d{}/f{}", number + 50, number + 50), "changed");
    }
    snapshots.note("t-after", "t").unwrap();
    let undone = snapshots.undo("t", "t-after").unwrap();
    assert_eq!((undone.changed.len(), undone.kept.len()), (50 * 101 + 50, 0));
    assert_eq!(picture(rig.workspace.path()), before);
}

#[test]
fn git_and_what_gitignore_names_is_left_alone() {
    let rig = Rig::new();
    rig.write(".gitignore", "target/\n");
    rig.write("target/out", "1");
    rig.write(".git/HEAD", "1");
    rig.write("sub/.gitignore", "*.log\n");
    rig.write("sub/a.log", "1");
    rig.write("sub/a", "1");
    let snapshots = rig.open();
    snapshots.remember("t").unwrap();
    for path in ["target/out", ".git/HEAD", "sub/a.log", "sub/a"] {
        rig.write(path, "2");
    }
    snapshots.note("t-after", "t").unwrap();
    snapshots.undo("t", "t-after").unwrap();
    let now: Vec<String> =
        ["target/out", ".git/HEAD", "sub/a.log", "sub/a"].map(|path| rig.read(path)).into();
    assert_eq!(now, ["2", "2", "2", "1"]);
}

#[test]
fn a_gitignore_that_the_turn_wrote_hides_nothing_that_was_there_before() {
    let rig = Rig::new();
    rig.write("letter", "1");
    let snapshots = rig.open();
    snapshots.remember("t").unwrap();
    rig.write(".gitignore", "*\n");
    rig.write("letter", "2");
    snapshots.note("t-after", "t").unwrap();
    snapshots.undo("t", "t-after").unwrap();
    assert_eq!(rig.read("letter"), "1");
}

#[test]
fn a_link_out_of_the_workspace_leads_nobody_there() {
    let rig = Rig::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "s").unwrap();
    rig.write("d/secret", "mine");
    let snapshots = rig.open();
    snapshots.remember("t").unwrap();
    fs::remove_dir_all(rig.at("d")).unwrap();
    symlink(outside.path(), rig.at("d")).unwrap();
    snapshots.note("t-after", "t").unwrap();
    snapshots.undo("t", "t-after").unwrap();
    assert_eq!(rig.read("d/secret"), "mine");
    assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "s");
}

#[test]
fn what_is_too_large_is_named_and_a_workspace_over_the_limits_is_no_snapshot() {
    let rig = Rig::new();
    rig.write("big", &"x".repeat(2000));
    rig.write("small", "1");
    let limits = Limits { files_max: 3, bytes_max: 2500, file_bytes_max: 1000 };
    let snapshots = rig.open_with(limits).unwrap();
    let tree = snapshots.remember("t").unwrap();
    assert_eq!((tree.files(), tree.left_out.len()), (1, 1));
    rig.write("big", "now it is small");
    rig.write("small", "2");
    snapshots.note("t-after", "t").unwrap();
    let undone = snapshots.undo("t", "t-after").unwrap();
    assert_eq!(
        undone.kept.iter().map(|kept| kept.why).collect::<Vec<_>>(),
        [KeptBecause::NotRemembered]
    );
    assert_eq!((rig.read("small").as_str(), rig.read("big").as_str()), ("1", "now it is small"));
    for name in ["3", "4", "5"] {
        rig.write(name, &"y".repeat(900));
    }
    assert!(matches!(snapshots.remember("u"), Err(SnapshotError::TooManyFiles { max: 3 })));
    fs::remove_file(rig.at("small")).unwrap();
    fs::remove_file(rig.at("big")).unwrap();
    assert!(matches!(snapshots.remember("u"), Err(SnapshotError::TooLarge { max: 2500 })));
    assert!(matches!(snapshots.tree("u"), Err(SnapshotError::Unknown { .. })));
}

#[test]
fn contents_are_kept_once_and_go_with_the_last_snapshot_that_has_them() {
    let rig = Rig::new();
    rig.write("a", &"x".repeat(10_000));
    let snapshots = rig.open();
    for name in ["t1", "t2", "t3"] {
        snapshots.remember(name).unwrap();
    }
    rig.write("a", &"y".repeat(10_000));
    snapshots.remember("t4").unwrap();
    assert_eq!(snapshots.retain(|name| name == "t3" || name == "t4").unwrap(), 0);
    assert_eq!(snapshots.retain(|name| name == "t4").unwrap(), 10_000);
    assert_eq!(snapshots.names().unwrap(), ["t4"]);
    fs::remove_file(rig.at("a")).unwrap();
    snapshots.note("t4-after", "t4").unwrap();
    snapshots.undo("t4", "t4-after").unwrap();
    assert_eq!(rig.read("a"), "y".repeat(10_000));
}

#[test]
fn a_content_that_was_exchanged_under_the_same_size_and_time_is_read_again() {
    let rig = Rig::new();
    rig.write("a", "1");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let times = fs::FileTimes::new().set_modified(old);
    let snapshots = rig.open();
    let one = snapshots.remember("t1").unwrap();
    fs::write(rig.at("a"), "2").unwrap();
    fs::File::options().write(true).open(rig.at("a")).unwrap().set_times(times).unwrap();
    let two = snapshots.remember("t2").unwrap();
    assert_ne!(one, two);
}

#[test]
fn one_process_at_a_time_works_with_the_snapshots() {
    let rig = Rig::new();
    let _first = rig.open();
    assert!(matches!(rig.open_with(Limits::default()), Err(SnapshotError::Busy)));
}

#[test]
fn names_that_could_leave_the_folder_are_refused() {
    let rig = Rig::new();
    let snapshots = rig.open();
    for name in ["", "../x", "a/b", ".", "a.json", &"x".repeat(129)] {
        assert!(matches!(snapshots.remember(name), Err(SnapshotError::Name { .. })), "{name}");
    }
}
