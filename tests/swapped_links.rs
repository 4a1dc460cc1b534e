//! A link that is swapped under a command that nobody was asked about, because it can only look,
//! through the whole program. The command waits for the swap by itself: first it reads a
//! pipe, which nobody writes until the link is there.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::Path;

use crate::program::{House, eventually, outcomes};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

/// Commands at the wider levels may read it, and only it holds the mark.
const OUTSIDE: &str = "/etc/login.defs";
const MARK: &str = "PASS_MAX_DAYS";

fn boxed_house() -> Option<House> {
    let house = House::new();
    let doctor = house.claw(&["doctor", "--json"]).rows();
    let boxed = doctor.iter().any(|row| row["id"] == "box" && row["ok"] == true);
    if !boxed {
        eprintln!("skipped: this kernel has no box, and claw asks for every command");
    }
    boxed.then_some(house)
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

/// What `reader` gives when `name` becomes a link to the outside after the look.
fn swapped_under(house: &House, name: &str, reader: &str) -> String {
    let at = house.workspace();
    let pipe = at.join("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let ask = house.start(&["ask", &format!("run `cat pipe; {reader}` to look")]);
    let held = opened_by_the_command(&pipe);
    symlink(OUTSIDE, at.join("swapped")).unwrap();
    fs::rename(at.join("swapped"), at.join(name)).unwrap();
    drop(held);
    ask.ends().expect(0);
    for used in [pipe, at.join(name)] {
        fs::remove_file(used).unwrap();
    }
    outcomes(&house.events("main")).pop().unwrap()["output"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_link_that_is_swapped_under_a_command_that_looks_leads_nowhere() {
    let Some(house) = boxed_house() else { return };
    house.write("workspace/notes", "plain\n");
    house.write("workspace/readme", "plain\n");
    let text = swapped_under(&house, "notes", "cat notes");
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
        let text = swapped_under(&house, name, reader);
        assert!(!text.contains(MARK), "`{reader}` has read {OUTSIDE}: {text}");
    }
    let verdicts: Vec<_> =
        house.audit().into_iter().filter(|row| row["kind"] == "verdict").collect();
    assert!(verdicts.iter().all(|row| row["body"]["rule"] == "builtin.level-read"), "{verdicts:?}");
    house.is_whole();
}

#[test]
fn a_command_that_a_person_allowed_reads_what_its_level_shows() {
    let Some(house) = boxed_house() else { return };
    let id = house.ask_parks(&format!("run `cat {OUTSIDE} > copy; wc -l copy`"));
    house.claw(&["approve", &id]).expect(0);
    assert!(house.in_workspace("copy").contains(MARK));
}
