//! Doors of one person sleep until somebody commits, as a gateway does: the system wakes them, and
//! none of them looks at the store ten times a second.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;

use rustix::process::Signal;

use crate::acp_client::AcpClient;
use crate::program::{House, eventually};

/// The longest that a door slept which looked at the store by the clock, and what a timer adds.
const A_LOOK_MS: u64 = 250;
/// `epoll_wait` of x86_64, `epoll_pwait` of x86_64 and of aarch64. The fourth argument of each is
/// how long it waits at most, in milliseconds.
const EPOLL_WAITS: [&str; 3] = ["232", "281", "22"];

/// A house whose doors look at the store by themselves once an hour.
fn house() -> House {
    let house = House::new();
    house.write("claw.toml", "[limits]\nstore_look_s = 3600\n");
    house
}

/// Waits until the process's own thread waits for longer than a look was apart. One that looks by
/// the clock never does.
fn sleeps(who: &str, process: u32) {
    let at = format!("/proc/{process}/syscall");
    eventually(&format!("{who} sleeps until it is woken"), || {
        let line = fs::read_to_string(&at).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let [number, _, _, _, timeout, ..] = words[..] else { return false };
        let timeout = u64::from_str_radix(timeout.trim_start_matches("0x"), 16).unwrap();
        // Without an end it is -1.
        EPOLL_WAITS.contains(&number) && timeout > A_LOOK_MS
    });
}

#[test]
fn a_console_sleeps_until_somebody_commits_and_hears_it() {
    let house = house();
    let mut console = house.start(&["chat"]);
    sleeps("the console", console.id());
    console.types(b"write a.txt: hello\n");
    eventually("the console asks", || console.out().contains("Create a.txt"));
    sleeps("the console with an open question", console.id());
    house.claw(&["approve", &house.waiting()]).expect(0);
    eventually("the console tells of the answer", || console.out().contains("was allowed once,"));
    console.types(b"/quit\n");
    console.ends().expect(0);
    house.is_whole();
}

#[test]
fn an_editor_sleeps_until_somebody_commits_and_hears_it() {
    let house = house();
    fs::create_dir_all(house.workspace()).unwrap();
    let editor = AcpClient::start(&house);
    let session = editor.new_session(&house.workspace());
    editor.prompts(&session, "write a.txt: hello");
    editor.waits_asked(&session, "a.txt");
    sleeps("the editor's claw", editor.id());
    house.claw(&["approve", &house.waiting()]).expect(0);
    eventually("the editor hears the answer", || editor.asked(&session, "a.txt").is_none());
    editor.ends(&session, 1);
    sleeps("the editor's claw after the turn", editor.id());
    assert_eq!(editor.leaves(), Some(0));
    house.is_whole();
}

#[test]
fn who_waits_for_a_turn_of_its_own_or_follows_the_audit_sleeps_until_somebody_commits() {
    let house = house();
    let follower = house.start(&["audit", "--follow"]);
    sleeps("who follows the audit", follower.id());
    let id = house.ask_parks("write a.txt: hello");
    eventually("the audit is followed", || follower.out().contains("write_file"));
    let mut command = house.command(&["ask", "list", "--own-turn"]);
    command.stdin(std::process::Stdio::null());
    let waiting = house.begin(command);
    eventually("it says that it waits", || waiting.err().contains("waits for its end"));
    sleeps("who waits for a turn of its own", waiting.id());
    house.claw(&["deny", &id]).expect(0);
    waiting.ends().expect(0);
    follower.signal(Signal::INT);
    follower.ends().expect(0);
    house.is_whole();
}
