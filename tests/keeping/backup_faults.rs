//! Backups of homes in which something is wrong or changes at that moment: they can be restored,
//! and what is wrong stays to be seen. And places where no home can be made.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use claw_test_kit::skipped;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use rustix::process::Signal;

use crate::keeping::damaged_audit::spoil;
use crate::keeping::{beside, text};
use crate::program::{House, eventually};

/// A home whose audit has four rows.
fn told() -> House {
    let house = House::new();
    for how in ["on", "off", "on", "off"] {
        house.claw(&["panic", how]).expect(0);
    }
    house
}

fn backed_up(house: &House) -> (PathBuf, String) {
    let file = beside(house, "backup");
    let ran = house.claw(&["backup", text(&file)]).expect(0);
    (file, ran.err)
}

#[test]
fn settings_that_change_while_a_backup_is_made_are_in_it_as_they_were() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    house.write("persona/USER.md", "- [ ] buy milk\n");
    house.write("history", "one\n");
    // An artifact that is read when somebody writes it. It is empty, as its name says.
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let pipe = house.home().join("artifacts").join(empty);
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let writes = || {
        let how = OFlag::O_NONBLOCK.bits();
        OpenOptions::new().write(true).custom_flags(how).open(&pipe).ok()
    };
    let file = beside(&house, "backup");
    let backup = house.start(&["backup", text(&file)]);
    let mut writer = None;
    eventually("it has read the settings", || {
        writer = writes();
        writer.is_some()
    });
    house.write("persona/USER.md", "- [x] buy milk\n");
    let mut history = OpenOptions::new().append(true).open(house.home().join("history")).unwrap();
    history.write_all(b"two\n").unwrap();
    drop(writer);
    // It reads the artifact once more, into the file.
    eventually("it has ended", || {
        drop(writes());
        !backup.out().is_empty() || !backup.err().is_empty()
    });
    backup.ends().expect(0);
    let copy = House::new();
    copy.claw(&["restore", text(&file)]).expect(0);
    let says = |name: &str| fs::read_to_string(copy.home().join(name)).unwrap();
    assert_eq!(says("persona/USER.md"), "- [ ] buy milk\n");
    assert_eq!(says("history"), "one\n");
    let left = fs::read_dir(house.home()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_str().unwrap().ends_with(".part")).collect();
    assert!(left.is_empty(), "{left:?}");
    copy.is_whole();
}

/// What it has written by then is a copy of all secrets, at a place where nobody looks for it.
#[test]
fn a_backup_that_is_killed_leaves_nothing_at_its_place() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let folder = beside(&house, "kept");
    fs::create_dir(&folder).unwrap();
    if OpenOptions::new().write(true).custom_flags(OFlag::O_TMPFILE.bits()).open(&folder).is_err() {
        skipped("this file system has no files without a name");
        return;
    }
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let pipe = house.home().join("artifacts").join(empty);
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let file = folder.join("one.tar");
    let backup = house.start(&["backup", text(&file)]);
    let mut writer = None;
    eventually("it reads what goes into the file", || {
        let how = OFlag::O_NONBLOCK.bits();
        writer = OpenOptions::new().write(true).custom_flags(how).open(&pipe).ok();
        writer.is_some()
    });
    backup.signal(Signal::KILL);
    backup.ends();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "a part of it is left");
    // Whoever comes next has the name.
    fs::remove_file(&pipe).unwrap();
    house.claw(&["backup", text(&file)]).expect(0);
    let taken = house.claw(&["backup", text(&file)]).expect(2).err;
    assert!(taken.contains("is there already"), "{taken}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
}

#[test]
fn an_audit_that_was_changed_comes_back_as_it_is_and_is_called_broken_forever() {
    let house = told();
    spoil(&house, "UPDATE audit SET at_ms = at_ms + 1 WHERE id = 2");
    let what = "row 2 was changed (`claw audit verify` says it)";
    let (file, said) = backed_up(&house);
    assert!(said.contains("The audit in claw.db is broken") && said.contains(what), "{said}");
    let copy = House::new();
    let said = copy.claw(&["restore", text(&file)]).expect(0).err;
    assert!(said.contains("stays so in the new home") && said.contains(what), "{said}");
    let broken = || {
        let verified = copy.claw(&["audit", "verify", "--json"]).expect(1).json();
        assert!(verified["row"] == 2 && verified["what"] == "row 2 was changed", "{verified}");
    };
    broken();
    // It is no less of a home than the one before.
    copy.claw(&["ask", "list"]).expect(0);
    copy.claw(&["audit", "anchor", "--accept"]).expect_mistake(&["row 2 was changed"]);
    copy.claw(&["doctor", "--repair", "--yes"]).expect(1);
    broken();
}

/// No row can follow it, so the audit has none of the restore either, and no call runs.
#[test]
fn an_audit_without_its_head_comes_back_without_it_and_the_doctor_mends_it_there() {
    let house = told();
    let head = "UPDATE meta SET value = 'x' WHERE key = 'audit.head'";
    assert_eq!(house.db().execute(head, []).unwrap(), 1);
    let (file, said) = backed_up(&house);
    assert!(said.contains("the head of the audit cannot be read"), "{said}");
    let copy = House::new();
    let said = copy.claw(&["restore", text(&file)]).expect(0).err;
    for told in ["stays so in the new home", "has no row of this restore", "doctor --repair"] {
        assert!(said.contains(told), "{told}: {said}");
    }
    copy.claw(&["audit", "verify"]).expect(1);
    copy.claw(&["doctor", "--repair", "--yes"]);
    copy.claw(&["audit", "anchor", "--accept"]).expect(0);
    let verified = copy.claw(&["audit", "verify"]).expect(0).out;
    assert!(
        verified.contains("head of the audit could not be read and was put back"),
        "{verified}"
    );
}

#[test]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is started where a file system is mounted")]
fn where_no_home_can_be_made_the_restore_says_where_one_can() {
    let from = told();
    let (file, _) = backed_up(&from);
    // Nobody can make a folder there.
    let nowhere = House::new().with("CLAW_HOME", "/proc/claw");
    let next = "set CLAW_HOME to a new folder";
    nowhere.claw(&["restore", text(&file)]).expect_mistake(&["/proc/claw", next]);
    // A mount point is a folder that nothing can take the place of.
    let house = House::new();
    fs::create_dir(house.home()).unwrap();
    let plain = house.command(&["restore", text(&file)]);
    let mounted = |how: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.args(how).args(["sh", "-c", "mount -t tmpfs none \"$0\" && exec \"$@\""]);
        command.arg(house.home()).arg(plain.get_program()).args(plain.get_args());
        command.env_clear().current_dir(house.user_home());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        house.begin(command).ends()
    };
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    let Some(ran) = ways.into_iter().map(mounted).find(|ran| ran.err.starts_with("claw: ")) else {
        claw_test_kit::skipped("this system lets nobody mount anything");
        return;
    };
    let inside = house.home().join("home");
    ran.expect_mistake(&[next, text(&inside), "restore again"]);
    let left: Vec<_> = fs::read_dir(house.user_home()).unwrap().map(Result::unwrap).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
