//! What 1,000 and 10,000 jobs cost: how late a host is woken, `list` and `due` over stdio, and
//! memory. `cargo bench -p claw-mcp-scheduler --bench lateness`.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::print_stdout, reason = "it prints a table")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use support::{Room, Server};

const CALLS: usize = 200;

/// Jobs that come while this bench looks, spread over so many seconds.
const COMING: usize = 200;
const SECONDS: usize = 40;

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// Half of all calls take no longer, and nearly all.
fn times(mut call: impl FnMut()) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..CALLS)
        .map(|_| {
            let began = Instant::now();
            call();
            began.elapsed()
        })
        .collect();
    times.sort();
    (times[CALLS / 2], times[CALLS * 95 / 100])
}

/// The server with so many jobs: most of them daily, made by copying one in its file.
fn with_jobs(room: &Room, jobs: usize) -> Server {
    let arguments = ["--jobs-max", "20000", "--history-rows-max", "20000", "--due-max", "20000"];
    let mut server = support::spawn(&room.database, &arguments);
    server.initialize("2025-11-25");
    server.ok("schedule", json!({"text": "x".repeat(200), "cron": "0 3 * * *", "jitter_s": 3600}));
    let db = rusqlite::Connection::open(&room.database).unwrap();
    db.busy_timeout(claw_test_kit::SOON).unwrap();
    let copies = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO jobs (number, revision, paused, chat, plan, planned, due_at)
        SELECT i, 1, 0, 'c' || (i % 50), j.plan, j.planned, j.due_at + i % 3600 FROM n, jobs j WHERE j.number = 1";
    db.execute(copies, [jobs as i64]).unwrap();
    server
}

/// How late the host knows of firings that come at whole seconds.
fn lateness(server: &mut Server) -> Vec<Duration> {
    server.request("resources/subscribe", json!({"uri": "schedule://due"}));
    for job in 0..COMING {
        let minutes = (5 + job % SECONDS) as f64 / 60.0;
        server.ok("schedule", json!({"say": "x", "in_minutes": minutes}));
    }
    let mut late = Vec::new();
    let mut cursor = 0;
    while late.len() < COMING {
        server.hear("notifications/resources/updated");
        let (due, _) = server.ok("due", json!({"after": cursor}));
        cursor = due["cursor"].as_i64().unwrap();
        for firing in due["due"].as_array().unwrap() {
            late.push(now().saturating_sub(planned(firing)));
            server.ok("take", json!({"firing": firing["firing"]}));
        }
    }
    late.sort();
    late
}

fn planned(firing: &Value) -> Duration {
    let id = firing["firing"].as_str().unwrap();
    Duration::from_secs(id.rsplit('-').next().unwrap().parse().unwrap())
}

fn main() {
    println!("jobs    list p50, p95      due p50, p95       late p50, p99      resident");
    for jobs in [1_000, 10_000] {
        let room = Room::new();
        let mut server = with_jobs(&room, jobs);
        let list = times(|| drop(server.ok("list", json!({"limit": 20}))));
        let due = times(|| drop(server.ok("due", json!({}))));
        let late = lateness(&mut server);
        println!(
            "{jobs:>6}  {:>7.1?} {:>7.1?}  {:>7.1?} {:>7.1?}  {:>7.0?} {:>7.0?}  {} KiB",
            list.0,
            list.1,
            due.0,
            due.1,
            late[COMING / 2],
            late[COMING * 99 / 100],
            server.resident_kib().unwrap_or_default()
        );
    }
}
