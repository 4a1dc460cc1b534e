//! A clock that somebody sets while claw is used, back and far ahead, through the whole program: a
//! turn takes the time that it takes, a grant that ended stays ended, and nothing is removed.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::program::{self, House, eventually};
use crate::rounds;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Then, Turn, Wire};
use serde_json::Value;
use tokio::sync::Semaphore;

const MINUTE_S: i64 = 60;
const DAY_S: i64 = 24 * 60 * MINUTE_S;

/// The clock that the programs of a house go by; everything that they start has the machine's.
struct Clock(File);

impl Clock {
    fn of(house: House) -> (House, Self) {
        let file = house.user_home().join("clock");
        let clock = Self(File::create(&file).unwrap());
        clock.is_wrong_by(0);
        let library = program::example("libset_clock.so");
        let house = house.with("LD_PRELOAD", library.to_str().unwrap());
        (house.with("SET_CLOCK_FILE", file.to_str().unwrap()), clock)
    }

    /// From now on, also for what runs.
    fn is_wrong_by(&self, seconds: i64) {
        self.0.write_all_at(format!("{:>20}", seconds * 1000).as_bytes(), 0).unwrap();
    }
}

fn now_s() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}

/// When the newest row of the audit was written, by the clock that is set.
fn newest_row_s(house: &House) -> i64 {
    house
        .db()
        .query_row("SELECT at_ms / 1000 FROM audit ORDER BY id DESC", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_grant_that_ended_stays_ended_when_the_clock_is_set_back() {
    let (house, clock) = Clock::of(House::new());
    let write = "run `echo x >> effects` with the network";
    let id = house.ask_parks(write);
    house.claw(&["approve", &id, "--for", "10m"]).expect(0);
    house.claw(&["ask", write]).expect(0);
    clock.is_wrong_by(11 * MINUTE_S);
    let asked = house.ask_parks(write);
    assert!(newest_row_s(&house) > now_s() + 10 * MINUTE_S, "the clock was not set");
    for wrong_by in [0, -DAY_S] {
        clock.is_wrong_by(wrong_by);
        assert_eq!(house.claw(&["grants", "--json"]).expect(0).rows(), [Value::Null; 0]);
        // The first look is behind the rows of the later time, the second behind one of
        // the earlier.
        house.claw(&["deny", &house.waiting()]).expect(0);
        house.ask_parks(write);
    }
    assert_ne!(asked, house.waiting());
    house.is_whole();
}

#[test]
fn a_grant_lives_no_longer_by_a_clock_that_is_set_back() {
    let (house, clock) = Clock::of(House::new());
    let id = house.ask_parks("run `echo x >> effects` with the network");
    house.claw(&["approve", &id, "--for", "10m"]).expect(0);
    clock.is_wrong_by(-DAY_S);
    house.claw(&["ask", "list"]).expect(0);
    let grants = house.claw(&["grants", "--json"]).expect(0).rows();
    let ends_s = grants[0]["expires_ms"].as_i64().unwrap() / 1000;
    assert!(ends_s <= now_s() - DAY_S + 10 * MINUTE_S, "{grants:?}");
    house.is_whole();
}

/// What it changes has changed since it was asked about, so it is asked about once more.
#[test]
fn a_yes_counts_for_the_last_question_when_the_clock_was_set_back_before_it() {
    let (house, clock) = Clock::of(House::new());
    clock.is_wrong_by(60 * MINUTE_S);
    let first = house.ask_parks("write a.txt: hello");
    clock.is_wrong_by(0);
    fs::write(house.workspace().join("a.txt"), "honey\n").unwrap();
    let again = house.claw(&["approve", &first]).expect(3).err;
    assert!(again.contains("Asked again"), "{again}");
    let second = house.waiting();
    assert_ne!(first, second);
    house.claw(&["approve", &second]).expect(0);
    assert_eq!(house.in_workspace("a.txt"), "hello");
    assert_eq!(house.claw(&["approvals", "--json"]).expect(0).rows(), [Value::Null; 0]);
    house.is_whole();
}

#[test]
fn a_server_asks_for_each_value_once_when_the_clock_is_set_back_in_its_call() {
    let (house, _provider) = rounds::house("legacy", "book");
    let (house, clock) = Clock::of(house);
    clock.is_wrong_by(60 * MINUTE_S);
    let asking = house.start(&["ask", "book it"]);
    for (field, value) in [("seats", "3"), ("class", "eco")] {
        // That no other question is open is looked at there.
        let is_asked = || rounds::open(&house).is_some_and(|it| it["input"]["field"] == field);
        eventually("it asks", is_asked);
        clock.is_wrong_by(0);
        house.claw(&["approve", &house.waiting(), "--value", value]).expect(0);
    }
    asking.ends().expect(0);
    let asked: i64 =
        house.db().query_row("SELECT count(*) FROM approvals", [], |row| row.get(0)).unwrap();
    assert_eq!(asked, 2);
    assert_eq!(rounds::noted(&house, "effect ").len(), 1);
    house.is_whole();
}

/// A turn of two steps; the clock is set in the first one.
fn turn_under(wrong_by: i64, turn_time_s: u64, second: Answer) -> program::Ran {
    let list = Turn::calls(&[Call::new("1", "filesystem__list_dir", r#"{"path":"."}"#)]);
    let gate = Arc::new(Semaphore::new(0));
    let model = Threaded::start(Wire::OpenAi, [Answer::Gated(list, gate.clone()), second]);
    let (house, clock) = Clock::of(House::at("openai-compatible", &model.base_url));
    let limits = format!("turn_time_s = {turn_time_s}\ntool_timeout_s = {turn_time_s}\n");
    house.write("claw.toml", &format!("{}{limits}", program::SERVER_WAIT));
    // A turn that has to start the servers first needs some of its time for that.
    house.claw(&["tools"]).expect(0);
    let mut ask = house.start(&["ask", "What is there?"]);
    ask.closes_input();
    eventually("the model is asked", || !model.recorded().is_empty());
    clock.is_wrong_by(wrong_by);
    gate.add_permits(Semaphore::MAX_PERMITS);
    let ran = ask.ends();
    house.is_whole();
    let rows = house.claw(&["sessions", "show", "main"]).expect(0).out;
    let worked = regex::Regex::new(r"out, (\d+)\.\d s").unwrap();
    let worked_s: i64 = worked.captures(&rows).unwrap()[1].parse().unwrap();
    assert!(worked_s < DAY_S, "the clock was set, and counts as work: {rows}");
    ran
}

#[test]
fn a_clock_that_leaps_ahead_ends_no_turn() {
    for wrong_by in [DAY_S / 2, 40 * DAY_S] {
        let ran = turn_under(wrong_by, 600, Answer::text("Nothing is there."));
        assert_eq!(ran.expect(0).out, "Nothing is there.\n", "{wrong_by}");
    }
}

#[test]
fn a_clock_that_is_set_back_makes_no_turn_endless() {
    let ran = turn_under(-40 * DAY_S, 3, Answer::raw("", Then::Silence));
    assert!(ran.out.contains("stopped after 3 s (limits.turn_time_s)"), "{ran:?}");
}

/// A house with files that are too old by the machine's clock, and more of them than are allowed.
fn house_with_too_much() -> (House, Clock, impl Fn() -> usize) {
    let (house, clock) = Clock::of(House::new());
    house.write("claw.toml", "[retention]\nartifacts_days = 1\nartifacts_bytes_max = 1048576\n");
    house.claw(&["ask", "list"]).expect(0);
    let folder = house.home().join("artifacts");
    let names = ["a", "b", "c"].map(|letter| folder.join(letter.repeat(64)));
    for name in &names {
        fs::write(name, vec![b'x'; 600_000]).unwrap();
        let old = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
        File::options().write(true).open(name).unwrap().set_modified(old).unwrap();
    }
    let there = move || names.iter().filter(|name| name.exists()).count();
    (house, clock, there)
}

#[test]
fn a_clock_that_is_far_from_the_last_time_removes_nothing_and_is_told_of() {
    let (house, clock, there) = house_with_too_much();
    for wrong_by in [40 * DAY_S, -40 * DAY_S] {
        clock.is_wrong_by(wrong_by);
        let said = house.claw(&["ask", "list"]).expect(0).err;
        assert!(
            said.contains("nothing was removed by [retention]: the clock says")
                && said.contains("claw doctor --repair"),
            "{wrong_by}: {said}"
        );
        let doctor = house.claw(&["doctor", "--json"]).expect(1).rows();
        let clock = doctor.iter().find(|row| row["id"] == "clock");
        assert_eq!(clock.map(|row| &row["repair"]), Some(&Value::Bool(true)), "{doctor:?}");
        assert_eq!(there(), 3, "{wrong_by}");
    }
    // When it is right again nothing has to be noted, and what is too old goes.
    clock.is_wrong_by(0);
    house.db().execute("DELETE FROM meta WHERE key = 'told.retention'", []).unwrap();
    let said = house.claw(&["ask", "list"]).expect(0).err;
    assert!(!said.contains("retention"), "{said}");
    assert_eq!(there(), 0);
    house.is_whole();
}

#[test]
fn a_clock_that_was_behind_by_days_and_is_right_again_has_made_no_leap() {
    let (house, clock, there) = house_with_too_much();
    for wrong_by in [-20 * DAY_S, 15 * DAY_S, 0] {
        clock.is_wrong_by(wrong_by);
        house.db().execute("DELETE FROM meta WHERE key = 'told.retention'", []).unwrap();
        let said = house.claw(&["ask", "list"]).expect(0).err;
        assert!(!said.contains("retention"), "{wrong_by}: {said}");
    }
    assert_eq!(there(), 0);
}
