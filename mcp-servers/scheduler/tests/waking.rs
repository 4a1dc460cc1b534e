//! Hosts are woken in both eras, by what this process and what another one does; two processes race
//! for one firing.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::{Room, Server};

const UPDATED: &str = "notifications/resources/updated";

fn every_minute() -> Value {
    json!({"say": "x", "cron": "* * * * *", "if_missed": "all"})
}

/// One that is not mended by its own next minute when nobody was woken.
fn every_hour() -> Value {
    json!({"say": "x", "cron": "0 * * * *", "if_missed": "all"})
}

#[test]
fn a_legacy_client_is_told_to_look() {
    let room = Room::new();
    let mut server = room.start();
    let reply = server.request("resources/subscribe", json!({"uri": "schedule://due"}));
    assert!(reply.get("result").is_some(), "{reply}");
    server.ok("schedule", every_hour());
    assert!(!server.has_heard(UPDATED), "nothing is due yet");
    // As another process would do it: nobody calls this server.
    room.minutes_pass(60);
    let told = server.hear(UPDATED);
    assert_eq!(told["uri"], "schedule://due");
    assert!(told.get("due").is_none(), "it says look, and nothing else: {told}");
    let (due, _) = server.ok("due", json!({}));
    assert!(due["cursor"].as_i64().unwrap() >= 1, "{due}");
    let unknown = server.request("resources/subscribe", json!({"uri": "schedule://other"}));
    assert!(unknown.get("error").is_some(), "{unknown}");
}

#[test]
fn a_modern_client_listens() {
    let room = Room::new();
    let mut server = support::spawn(&room.database, &[]);
    server.be_modern();
    let asked = json!({"notifications": {"resourceSubscriptions": ["schedule://due"]}});
    server.begin("subscriptions/listen", asked);
    let accepted = server.hear("notifications/subscriptions/acknowledged");
    assert!(accepted.to_string().contains("schedule://due"), "{accepted}");
    server.ok("schedule", every_hour());
    room.minutes_pass(60);
    assert_eq!(server.hear(UPDATED)["uri"], "schedule://due");
}

#[test]
fn what_was_due_before_is_told_to_whoever_comes() {
    let room = Room::new();
    let mut server = room.start();
    server.ok("schedule", every_minute());
    room.minutes_pass(2);
    drop(server);
    let mut server = room.start();
    server.request("resources/subscribe", json!({"uri": "schedule://due"}));
    assert_eq!(server.hear(UPDATED)["uri"], "schedule://due");
}

#[test]
fn a_job_of_one_process_wakes_the_host_of_another() {
    let room = Room::new();
    let mut sleeper = room.start();
    sleeper.request("resources/subscribe", json!({"uri": "schedule://due"}));
    let mut other = room.start();
    // The real clock, one second ahead.
    other.ok("schedule", json!({"say": "x", "in_minutes": 0.01}));
    assert_eq!(sleeper.hear(UPDATED)["uri"], "schedule://due");
    let (due, _) = sleeper.ok("due", json!({}));
    assert_eq!(due["due"].as_array().unwrap().len(), 1);
}

/// Takes everything that is due until nothing is left: the firings that it got.
fn take_all(server: &mut Server) -> Vec<String> {
    let mut taken = Vec::new();
    loop {
        let (due, _) = server.ok("due", json!({"limit": 7}));
        let due = due["due"].as_array().unwrap().clone();
        if due.is_empty() {
            return taken;
        }
        for firing in due {
            let id = firing["firing"].as_str().unwrap();
            let (output, _) = server.ok("take", json!({"firing": id}));
            if output["taken"] == true {
                taken.push(id.to_owned());
            }
        }
    }
}

#[test]
fn of_all_that_race_for_a_firing_one_gets_it() {
    let room = Room::new();
    let mut first = room.start();
    first.ok("schedule", every_minute());
    room.minutes_pass(90);
    let taken: Vec<String> = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..4)
            .map(|_| {
                let room = &room;
                scope.spawn(move || take_all(&mut room.start()))
            })
            .collect();
        takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
    });
    let distinct: BTreeSet<&String> = taken.iter().collect();
    assert_eq!(distinct.len(), taken.len(), "a firing was taken twice");
    let all = room.query::<i64>("SELECT count(*) FROM firings WHERE state = 'taken'")[0];
    assert_eq!(taken.len() as i64, all);
    assert!(all >= 90, "{all}");
    assert!(room.query::<i64>("SELECT 1 FROM firings WHERE state = 'due'").len() <= 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_that_waits_uses_no_cpu() {
    let room = Room::new();
    let mut server = room.start();
    server.request("resources/subscribe", json!({"uri": "schedule://due"}));
    server.ok("schedule", json!({"say": "x", "every": "1h"}));
    // What it was called for may still be on its way in the first of these windows. A loop that
    // looks once a second is woken at least three times in each.
    let woken: Vec<u64> = (0..5)
        .map(|_| {
            let before = server.switches().unwrap();
            std::thread::sleep(std::time::Duration::from_secs(3));
            server.switches().unwrap() - before
        })
        .take_while(|woken| *woken > 1)
        .collect();
    assert!(woken.len() < 5, "woken so often in 3 seconds each: {woken:?}");
}
