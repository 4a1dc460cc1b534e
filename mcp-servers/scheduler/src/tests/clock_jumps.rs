//! The system's clock is set: nothing twice, nothing lost.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Held, second};
use crate::job::number_of;
use crate::store::history;

const HOUR: i64 = 3_600;

#[test]
fn an_hour_back_fires_nothing_twice() {
    let mut held = Held::at("2026-11-23T12:00Z");
    held.add(json!({"say": "half-hourly", "cron": "0,30 * * * *"}));
    held.add(json!({"say": "quarterly", "every": "15m"}));
    let mut fired = held.pass(second("2026-11-23T15:40Z"));
    held.set(held.now() - HOUR);
    fired.extend(held.pass(second("2026-11-23T17:00Z")));
    let distinct: BTreeSet<_> = fired.iter().map(|(_, planned, job)| (*planned, *job)).collect();
    assert_eq!(distinct.len(), fired.len(), "twice");
    assert_eq!(fired.len(), 10 + 20, "five hours of each");
    assert!(fired.iter().all(|(now, planned, _)| now == planned));
}

#[test]
fn a_change_after_an_hour_back_does_not_repeat_what_has_fired() {
    let mut held = Held::at("2026-11-23T12:00Z");
    let job = held.add(json!({"say": "x", "cron": "0 * * * *"}));
    held.pass(second("2026-11-23T15:10Z"));
    held.set(held.now() - HOUR);
    let changed = held.schedule.change(job.number, 1, job.plan.clone()).unwrap();
    assert_eq!(changed.planned, Some(second("2026-11-23T16:00Z")));
    held.schedule.pause(job.number).unwrap();
    let resumed = held.schedule.resume(job.number).unwrap();
    assert_eq!(resumed.planned, Some(second("2026-11-23T16:00Z")));
}

#[test]
fn a_day_forward_loses_nothing() {
    let mut held = Held::at("2026-11-23T12:00Z");
    for if_missed in ["skip", "latest", "all"] {
        held.add(json!({"say": if_missed, "cron": "30 * * * *", "if_missed": if_missed}));
    }
    let once = held.add(json!({"say": "once", "in_minutes": 100}));
    held.pass(second("2026-11-23T13:00Z"));
    held.set(held.now() + 24 * HOUR);
    let fired = held.take_all();
    let of = |name: &str| fired.iter().filter(|one| one.what.say.as_deref() == Some(name)).count();
    assert_eq!((of("skip"), of("latest"), of("all"), of("once")), (0, 1, 24, 1));
    assert_eq!(
        history::missed(&held.schedule.db).unwrap(),
        24 + 23,
        "what was not made up is told"
    );
    assert!(held.schedule.cancel(once.number).is_err(), "it has ended");
    // And back again: what was fired in between comes no second time.
    held.set(held.now() - 24 * HOUR);
    assert!(held.pass(second("2026-11-24T13:00Z")).is_empty());
    assert_eq!(held.pass(second("2026-11-24T14:00Z")).len(), 3);
}

#[test]
fn a_firing_is_due_until_it_is_taken_and_taken_once() {
    let mut held = Held::at("2026-11-23T12:00Z");
    let job = held.add(json!({"say": "x", "cron": "* * * * *"}));
    held.set(held.now() + 60);
    let due = held.due();
    assert_eq!(due.len(), 1);
    held.set(held.now() + 60);
    assert_eq!(held.due(), due, "the next one is left out while it waits");
    assert!(held.schedule.take(&due[0].id).unwrap().1);
    assert!(!held.schedule.take(&due[0].id).unwrap().1, "twice");
    assert!(held.due().is_empty());
    held.set(held.now() + 60);
    assert_eq!(held.due().len(), 1);
    assert_eq!(held.schedule.cancel(job.number).unwrap().1, 1, "it is taken back");
    assert!(held.due().is_empty());
    // One that has ended with its only time is cancelled as long as that waits.
    let once = held.add(json!({"say": "once", "in_minutes": 1}));
    held.set(held.now() + 60);
    assert_eq!(held.due().len(), 1);
    let (what, withdrawn) = held.schedule.cancel(once.number).unwrap();
    assert_eq!((what.say.as_deref(), withdrawn), (Some("once"), 1));
    assert!(held.due().is_empty());
    assert!(held.schedule.cancel(once.number).is_err(), "nothing of it is left");
    assert!(number_of("nonsense").is_err() && number_of("j1").is_ok());
}

#[test]
fn a_job_ends_at_its_end() {
    let mut held = Held::at("2026-11-23T12:00Z");
    let job = held.add(json!({"say": "x", "cron": "0 9 * * *", "until": "2026-11-26"}));
    assert_eq!(held.pass(second("2026-12-24T00:00Z")).len(), 3);
    assert!(held.schedule.pause(job.number).is_err());
}

#[test]
fn jobs_that_start_together_are_moved_apart_and_stay_so() {
    let mut held = Held::at("2026-11-23T12:00Z");
    for _ in 0..50 {
        held.add(json!({"say": "x", "cron": "0 * * * *", "jitter_s": 600}));
    }
    let hour = second("2026-11-23T13:00Z");
    let first = held.pass(hour + 600);
    let second_hour = held.pass(hour + HOUR + 600);
    let starts: BTreeSet<_> = first.iter().map(|(now, _, _)| *now).collect();
    assert_eq!((first.len(), second_hour.len()), (50, 50));
    assert!(starts.len() > 30 && starts.iter().all(|at| (hour..=hour + 600).contains(at)));
    let later: Vec<_> =
        first.iter().map(|(at, planned, job)| (at + HOUR, planned + HOUR, *job)).collect();
    assert_eq!(second_hour, later);
}
