//! Claw and its scheduler are killed around firings, at any moment and at the points
//! between the row of a firing and its end: each firing becomes exactly one message or one turn.
//! `CLAW_JOB_KILLS` says how many kills; 12 by default.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use crate::jobs_rig::{jobs_of, schedule, schedule_of, taken};
use crate::program::{House, Running, eventually};
use crate::telegram_rig::Rig;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const KILLS: &str = "CLAW_JOB_KILLS";
const POINTS: [&str; 4] =
    ["jobs.row.before", "jobs.row.after", "jobs.take.before", "jobs.take.after"];
/// Deaths are what is tried, and so are more turns than a minute has.
const SETTINGS: &str =
    "[limits]\ndeaths_of_turn_max = 1000000\njob_turns_minute_max = 600\nserver_wait_ms = 60000\n";
/// Between starting claw and its end, at most.
const LIVES_MS: u64 = 1_500;

/// The scheduler of this house, if it runs.
fn kill_scheduler(house: &House) {
    let file = house.home().join("schedule").display().to_string();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if line.contains("server\0scheduler\0")
            && line.contains(&file)
            && let Some(pid) = pid.and_then(Pid::from_raw)
        {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Numbers that look like chance and are the same at each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % most
    }
}

fn gateway(rig: &Rig, kill: usize) -> Running {
    let mut command = rig.house.command(&["gateway"]);
    if kill.is_multiple_of(2) {
        command.env("CLAW_KILL_AT", format!("{}:1", POINTS[kill / 2 % POINTS.len()]));
    }
    rig.house.begin(command)
}

/// A chat gets about one message a second, so many of them are waited for as long as
/// they get fewer.
fn all_is_delivered(rig: &Rig) {
    let left = || rig.number("SELECT count(*) FROM outbox WHERE state <> 'sent'");
    loop {
        match left() {
            0 => return,
            before => eventually("one more is delivered", || left() < before),
        }
    }
}

#[test]
fn each_firing_becomes_exactly_one_message_or_one_turn() {
    let kills = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let rig = Rig::new();
    rig.house.write("claw.toml", SETTINGS);
    let first = rig.start();
    drop(first);
    let session = rig.session(&rig.anna);
    let far = |mut fields: serde_json::Value| {
        fields["cron"] = json!("0 0 29 2 *");
        fields["session"] = json!(session);
        schedule(&rig.house, fields)
    };
    let words = far(json!({"say": "Words of a job."}));
    let turn = far(json!({"text": "help"}));
    let mut chance = Chance(16);
    for kill in 0..kills {
        let jobs = jobs_of(&rig.house);
        jobs.fire(&words).unwrap();
        if kill % 3 == 0 {
            jobs.fire(&turn).unwrap();
        }
        let running = gateway(&rig, kill);
        std::thread::sleep(Duration::from_millis(chance.below(LIVES_MS)));
        if kill % 5 == 4 {
            kill_scheduler(&rig.house);
            std::thread::sleep(Duration::from_millis(chance.below(LIVES_MS)));
        }
        running.signal(Signal::KILL);
        drop(running);
    }
    let last = rig.house.start(&["gateway"]);
    let due = "SELECT count(*) FROM firings WHERE state = 'due'";
    let schedule = schedule_of(&rig.house);
    // Turns of one chat begin one behind the other.
    let left = || schedule.query_row(due, [], |row| row.get::<_, i64>(0)).unwrap();
    loop {
        match left() {
            0 => break,
            before => eventually("less is due", || left() < before),
        }
    }
    let turns = rig.number("SELECT count(*) FROM firings WHERE became = 'turn'");
    let begun =
        "SELECT count(*) FROM events WHERE type = 'turn.started' AND body LIKE '%schedule:j%'";
    eventually("every turn was begun", || rig.number(begun) == turns);
    // What was killed may have done all of it, and this one be still on its way up: until it
    // answers, SIGTERM ends it as any program that has not said what it does then.
    all_is_delivered(&rig);
    rig.anna.says(rig.anna.private(), "/model");
    rig.telegram.wait_for_text(rig.anna.id, "The model is");
    rig.wait_delivered();
    rig.stop(last);
    let ids = |db: &rusqlite::Connection, sql: &str| -> BTreeSet<String> {
        let mut query = db.prepare(sql).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let fired = ids(&schedule, "SELECT id FROM firings WHERE state = 'taken'");
    assert_eq!(fired.len() as i64, taken(&rig.house));
    assert_eq!(fired.len(), kills + kills.div_ceil(3), "each was due, and was taken");
    let kept = ids(&rig.house.db(), "SELECT id FROM firings WHERE id NOT LIKE 'away %'");
    assert_eq!(kept, fired, "each was written down, and nothing else");
    let said = "SELECT count(*) FROM outbox WHERE body LIKE '%\"reminder\"%'";
    let spoken = rig.number("SELECT count(*) FROM firings WHERE became = 'words'");
    assert_eq!(rig.number(said), spoken, "each word once");
    let rows = "SELECT count(*) FROM inbox WHERE body LIKE '%schedule:j%' AND kind = 'message'";
    assert_eq!((rig.number(rows), rig.number(begun)), (turns, turns), "each turn once");
}
