//! A server that is killed at each of its points around firings: each is due once and taken once,
//! and what it had said to have done is done.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "it starts real processes, to be killed")]

mod support;

use std::collections::BTreeSet;
use std::process::Command;
use std::time::SystemTime;

use claw_test_kit::mortal::Mortal;
use serde_json::{Value, json};
use support::Room;

const POINTS: [&str; 7] = [
    "schedule-changing",
    "schedule-changed",
    "schedule-firing-one",
    "schedule-firing",
    "schedule-fired",
    "schedule-taking",
    "schedule-taken",
];

const DAYS: i64 = 5;
const DAY_S: i64 = 24 * 3600;

/// Once a day, half a day from now: the real clock brings no firing while the test looks.
fn daily() -> Value {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let hour = (now.as_secs() / 3600 + 12) % 24;
    json!({"say": "x", "cron": format!("0 {hour} * * *"), "zone": "UTC", "if_missed": "all"})
}

/// Makes a job, lets its firings come and takes them. Ends when the server is killed: whether it
/// was, and what was said to be taken.
fn days(room: &Room, kill_at: &str) -> (bool, Vec<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-scheduler"));
    command.arg("--database").arg(&room.database).env("CLAW_KILL_AT", kill_at);
    let mut server = Mortal::start(&mut command);
    let mut taken = Vec::new();
    let mut work = || -> Option<()> {
        server.call("schedule", daily())?;
        room.minutes_pass(DAYS * DAY_S / 60);
        let due = server.call("due", json!({}))?;
        for firing in due["due"].as_array().unwrap() {
            let firing = firing["firing"].as_str().unwrap();
            if server.call("take", json!({"firing": firing}))?["taken"] == true {
                taken.push(firing.to_owned());
            }
        }
        Some(())
    };
    let survived = work().is_some();
    server.end();
    (!survived, taken)
}

#[test]
fn a_server_that_is_killed_anywhere_fires_each_once() {
    let mut kills = 0;
    for point in POINTS {
        for count in 1.. {
            let at = format!("{point}:{count}");
            let room = Room::new();
            let (was_killed, mut taken) = days(&room, &at);
            let mut server = room.start();
            let (due, _) = server.ok("due", json!({}));
            for firing in due["due"].as_array().unwrap() {
                let firing = firing["firing"].as_str().unwrap();
                assert!(!taken.contains(&firing.to_owned()), "{at}: {firing} is due again");
                let (output, _) = server.ok("take", json!({"firing": firing}));
                assert_eq!(output["taken"], true, "{at}");
                taken.push(firing.to_owned());
            }
            for firing in &taken {
                let (output, _) = server.ok("take", json!({"firing": firing}));
                assert_eq!(output["taken"], false, "{at}: {firing} was taken twice");
            }
            drop(server);
            for event in ["due", "taken"] {
                let sql = format!("SELECT firing FROM history WHERE event = '{event}'");
                let told = room.query::<String>(&sql);
                let distinct: BTreeSet<&String> = told.iter().collect();
                let made = room.query::<String>("SELECT id FROM firings");
                let made: BTreeSet<&String> = made.iter().collect();
                assert_eq!(distinct, made, "{at}: the history and the firings differ in {event}");
                assert_eq!(told.len(), distinct.len(), "{at}: {event} twice");
                let jobs_made = !room
                    .query::<i64>("SELECT 1 FROM history WHERE event = 'scheduled'")
                    .is_empty();
                let came = !taken.is_empty() || jobs_made && told.len() as i64 == DAYS;
                assert!(came || was_killed, "{at}: {event} is lost");
            }
            let planned = room.query::<i64>("SELECT planned FROM firings ORDER BY planned");
            assert!(
                planned.windows(2).all(|pair| pair[1] - pair[0] == DAY_S),
                "{at}: a day is missing: {planned:?}"
            );
            if !was_killed {
                assert_eq!(planned.len() as i64, DAYS, "{planned:?}");
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 20, "only {kills} kills");
}
