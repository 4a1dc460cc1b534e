//! Links out of the workspace under a command that nobody was asked about, because it can only
//! look, through the whole program: those that are there before it, also by the names that programs
//! read by themselves, and those that are swapped in while it runs. For that the command waits by
//! itself: first it reads a pipe, which nobody writes until the link is there.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::Path;

use crate::program::{House, eventually, outcomes};
use claw_test_kit::skipped;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

/// Commands at the wider levels may read it, and only it holds the mark.
const OUTSIDE: &str = "/etc/login.defs";
const MARK: &str = "PASS_MAX_DAYS";

fn boxed_house() -> Option<House> {
    let house = House::new();
    house.is_boxed().then_some(house)
}

/// The pipe, once the command has opened it.
fn opened_by_the_command(pipe: &Path) -> File {
    let mut opened = None;
    eventually("the command runs", || {
        opened = OpenOptions::new().write(true).custom_flags(nix::libc::O_NONBLOCK).open(pipe).ok();
        opened.is_some()
    });
    opened.unwrap()
}

/// The text of the newest result.
fn newest(house: &House) -> String {
    outcomes(&house.events("main")).pop().unwrap()["output"]["text"].as_str().unwrap().to_owned()
}

/// What `reader` gives when `name` becomes a link to `outside` after the look.
fn swapped_under(house: &House, name: &str, reader: &str, outside: impl AsRef<Path>) -> String {
    let at = house.workspace();
    let pipe = at.join("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let ask = house.start(&["ask", &format!("run `cat pipe; {reader}` to look")]);
    let held = opened_by_the_command(&pipe);
    symlink(outside, at.join("swapped")).unwrap();
    fs::rename(at.join("swapped"), at.join(name)).unwrap();
    drop(held);
    ask.ends().expect(0);
    for used in [pipe, at.join(name)] {
        fs::remove_file(used).unwrap();
    }
    newest(house)
}

#[test]
fn a_link_that_is_swapped_under_a_command_that_looks_leads_nowhere() {
    let Some(house) = boxed_house() else { return };
    house.write("workspace/notes", "plain\n");
    house.write("workspace/readme", "plain\n");
    let text = swapped_under(&house, "notes", "cat notes", OUTSIDE);
    assert!(
        text.contains("Permission denied") && text.contains("It ran at level `read`"),
        "{text}"
    );
    for (name, reader) in [
        ("notes", "cat notes"),
        (".magic", "file -m .magic readme"),
        ("notes", "grep DAYS notes; head -n 300 notes"),
    ] {
        house.write("workspace/notes", "plain\n");
        let text = swapped_under(&house, name, reader, OUTSIDE);
        assert!(!text.contains(MARK), "`{reader}` has read {OUTSIDE}: {text}");
    }
    let verdicts: Vec<_> =
        house.audit().into_iter().filter(|row| row["kind"] == "verdict").collect();
    assert!(verdicts.iter().all(|row| row["body"]["rule"] == "builtin.level-read"), "{verdicts:?}");
    house.is_whole();
}

/// What `rg` reads by itself.
const IGNORE_FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];
/// With one thread: several write a name into the middle of what another tells of itself.
const LISTS: &str = "rg -j 1 --no-require-git --debug -l plain . 2>&1";

/// Whether `rg` has listed the file, which is what it does where no file that it has read hides it.
#[track_caller]
fn lists(text: &str) -> bool {
    assert!(text.contains("shown.txt"), "rg has not run: {text}");
    text.lines().any(|line| line == "./hidden.txt")
}

/// A file outside of the workspace that hides a file of it from `rg`.
fn house_with_something_to_hide() -> Option<(House, std::path::PathBuf)> {
    let house = boxed_house()?;
    if !Path::new("/usr/bin/rg").exists() {
        skipped("this machine has no rg");
        return None;
    }
    for name in ["hidden.txt", "shown.txt"] {
        house.write(&format!("workspace/{name}"), "plain\n");
    }
    let outside = house.user_home().join("hides");
    fs::write(&outside, "hidden.txt\nMARK-OF-THE-OUTSIDE\n").unwrap();
    Some((house, outside))
}

#[test]
fn a_file_that_a_program_reads_by_itself_is_not_read_through_a_link() {
    let Some((house, outside)) = house_with_something_to_hide() else { return };
    for name in IGNORE_FILES {
        let at = house.workspace().join(name);
        fs::copy(&outside, &at).unwrap();
        house.claw(&["ask", &format!("run `{LISTS}` to look")]).expect(0);
        assert!(!lists(&newest(&house)), "rg does not read {name} at all");
        fs::remove_file(&at).unwrap();
        symlink(&outside, &at).unwrap();
        house.claw(&["ask", &format!("run `{LISTS}` to look")]).expect(0);
        let text = newest(&house);
        assert!(lists(&text) && !text.contains("MARK-OF-THE-OUTSIDE"), "{name}: {text}");
        fs::remove_file(&at).unwrap();
    }
    let magic = house.workspace().join(".magic");
    symlink(&outside, &magic).unwrap();
    for reader in ["file shown.txt", "file -m .magic shown.txt"] {
        house.claw(&["ask", &format!("run `{reader} 2>&1` to look")]).expect(0);
        assert!(!newest(&house).contains("MARK-OF-THE-OUTSIDE"), "{reader}: {}", newest(&house));
    }
    house.is_whole();
}

#[test]
fn a_file_that_a_program_reads_by_itself_is_not_read_through_a_link_that_is_swapped_in() {
    let Some((house, outside)) = house_with_something_to_hide() else { return };
    for name in IGNORE_FILES {
        house.write(&format!("workspace/{name}"), "# nothing\n");
        let text = swapped_under(&house, name, LISTS, &outside);
        assert!(lists(&text) && !text.contains("MARK-OF-THE-OUTSIDE"), "{name}: {text}");
    }
    house.is_whole();
}

#[test]
fn a_command_that_a_person_allowed_reads_what_its_level_shows() {
    let Some(house) = boxed_house() else { return };
    let id = house.ask_parks(&format!("run `cat {OUTSIDE} > copy; wc -l copy`"));
    house.claw(&["approve", &id]).expect(0);
    assert!(house.in_workspace("copy").contains(MARK));
}
