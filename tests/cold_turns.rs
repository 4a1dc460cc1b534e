//! What a turn of a new process does not do: read again what others have read, or try what it does
//! not need. Counted by what the program opens, tries and leaves, not by the clock.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::program::House;
use claw_test_kit::skipped;

/// Tells how often a file, or something in a folder, was opened.
struct Opened(OwnedFd);

impl Opened {
    fn of(path: &Path) -> Self {
        let fd = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        // What is the same and comes in a row is told once, so reads have to be told of, too: each
        // connection reads.
        inotify::add_watch(&fd, path, WatchFlags::OPEN | WatchFlags::ACCESS).unwrap();
        Self(fd)
    }

    fn times(&self) -> usize {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.0, &mut buffer);
        let mut opened = 0;
        while let Ok(event) = events.next() {
            opened += usize::from(event.events().contains(ReadFlags::OPEN));
        }
        opened
    }
}

/// Each connection that reads parses the whole schema, and reads the whole write-ahead log.
#[test]
fn a_turn_opens_its_store_once_to_read_and_once_to_write() {
    let house = House::new();
    house.claw(&["ask", "hello"]).expect(0);
    let opened = Opened::of(&house.home().join("claw.db"));
    house.claw(&["ask", "hello"]).expect(0);
    assert_eq!(opened.times(), 2);
}

#[test]
fn a_long_write_ahead_log_is_not_left_for_the_next_turn_to_read() {
    let house = House::new();
    house.write("workspace/large.txt", &"x".repeat(60_000));
    let log = || fs::metadata(house.home().join("claw.db-wal")).map_or(0, |log| log.len());
    for _ in 0..12 {
        house.claw(&["ask", "show large.txt"]).expect(0);
        // 128 frames of a page and a header each, and the header of the log.
        assert!(log() <= 128 * (4096 + 24) + 32, "{} bytes are left", log());
    }
}

#[test]
fn a_turn_does_not_walk_through_the_files_of_all_zones() {
    if !Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
        skipped("this system has no files of zones");
        return;
    }
    let house = House::new();
    let zones = house.user_home().join("zones");
    fs::create_dir(&zones).unwrap();
    fs::copy("/usr/share/zoneinfo/Europe/Berlin", zones.join("Berlin")).unwrap();
    let house = house.with("TZDIR", zones.to_str().unwrap());
    house.write("claw.toml", "time_zone = \"Europe/Berlin\"\n");
    house.claw(&["ask", "hello"]).expect(0);
    let opened = Opened::of(&zones);
    house.claw(&["ask", "hello"]).expect(0);
    assert_eq!(opened.times(), 0, "the folder of all zones was looked through");
    // Nor where the environment names it, as in many containers.
    fs::create_dir(zones.join("Europe")).unwrap();
    fs::copy(zones.join("Berlin"), zones.join("Europe/Berlin")).unwrap();
    house.write("claw.toml", "");
    let house = house.with("TZ", "Europe/Berlin");
    opened.times();
    house.claw(&["ask", "hello"]).expect(0);
    assert_eq!(opened.times(), 0, "the folder of all zones was looked through for TZ");
    // This is where a program looks that has to look for a zone.
    let house = house.with("TZ", "Berlin");
    house.claw(&["audit"]).expect(0);
    assert!(opened.times() > 0, "nothing would be noticed here");
}

#[test]
fn a_turn_without_a_tool_does_not_try_the_box() {
    let house = House::new().with("CLAW_LOG", "claw=debug");
    for _ in 0..2 {
        let ran = house.claw(&["ask", "hello"]).expect(0);
        assert_eq!(ran.err.matches("the box is tried by a process").count(), 0, "{}", ran.err);
    }
}
