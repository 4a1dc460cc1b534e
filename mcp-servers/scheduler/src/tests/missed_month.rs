//! A month down with a hundred jobs: each does as it says, and what is not made up is counted.

use serde_json::json;

use super::{Held, second};
use crate::args::Limits;
use crate::store::history::{self, Event};

const DAY: i64 = 86_400;

/// Days from 1 November 09:00 to 1 December 12:00.
const DAYS: u64 = 31;

#[test]
fn after_a_month_each_job_does_as_it_says() {
    let limits = Limits { made_up_max: 20, ..Limits::default() };
    let mut held = Held::with("2026-11-01T06:00Z", limits);
    for n in 0..100 {
        let mut fields = json!({"say": "x", "cron": "0 9 * * *"});
        match n % 4 {
            0 => fields["if_missed"] = json!("skip"),
            1 => fields["if_missed"] = json!("latest"),
            2 => fields["if_missed"] = json!("all"),
            _ => {
                fields["if_missed"] = json!("all");
                fields["not_later_than_minutes"] = json!(3 * 24 * 60);
            }
        }
        held.add(fields);
    }
    held.set(second("2026-12-01T12:00Z"));
    let due = held.due();
    let newest = second("2026-12-01T09:00Z");
    for number in 1..=100 {
        let planned: Vec<i64> =
            due.iter().filter(|one| one.job == number).map(|one| one.planned).collect();
        let wanted: Vec<i64> = match (number - 1) % 4 {
            0 => vec![],
            1 => vec![newest],
            // The newest twenty: the server's own limit.
            2 => (0..20).rev().map(|day| newest - day * DAY).collect(),
            _ => (0..3).rev().map(|day| newest - day * DAY).collect(),
        };
        let rows = history::page(&held.schedule.db, Some(number), i64::MAX, 100).unwrap();
        let missed: u64 =
            rows.iter().filter(|row| row.event == Event::Missed).map(|row| row.count).sum();
        assert_eq!(planned, wanted, "job {number}");
        assert_eq!(planned.len() as u64 + missed, DAYS, "job {number}: every day is told");
    }
    // From here on all is as before.
    held.take_all();
    assert_eq!(held.pass(newest + DAY).len(), 100);
}

#[test]
fn a_restart_of_minutes_loses_no_firing_and_a_late_one_expires_where_it_was_said() {
    let mut held = Held::at("2026-11-23T08:59Z");
    held.add(json!({"say": "skip", "cron": "0 9 * * *", "if_missed": "skip"}));
    held.add(json!({"say": "late", "cron": "0 9 * * *", "not_later_than_minutes": 60}));
    held.set(second("2026-11-23T09:00:13Z"));
    assert_eq!(held.due().len(), 2, "thirteen seconds are not missed");
    held.set(second("2026-11-23T10:00:00Z"));
    assert_eq!(held.due().len(), 2);
    held.set(second("2026-11-23T10:00:01Z"));
    let due = held.due();
    assert_eq!(due.len(), 1, "the other one stays until it is taken");
    let rows = history::page(&held.schedule.db, Some(2), i64::MAX, 1).unwrap();
    assert_eq!(rows[0].event, Event::Expired);
}

#[test]
fn bounds_hold_and_are_said() {
    let limits = Limits { jobs_max: 5, due_max: 3, history_rows_max: 30, ..Limits::default() };
    let mut held = Held::with("2026-11-23T12:00Z", limits);
    for _ in 0..5 {
        held.add(json!({"say": "x", "cron": "* * * * *"}));
    }
    let said = held.try_add(json!({"say": "x", "in_minutes": 1})).unwrap_err().to_string();
    assert!(said.contains("there are 5 jobs"), "{said}");
    held.set(held.now() + 60);
    assert_eq!(held.due().len(), 3, "the others wait for room");
    assert_eq!(held.schedule.tick().unwrap().next, None, "and nobody turns in circles meanwhile");
    held.take_all();
    assert_eq!(held.due().len(), 2, "none of them is lost");
    held.pass(held.now() + 3_600);
    let rows = history::page(&held.schedule.db, None, i64::MAX, 1_000).unwrap();
    assert_eq!(rows.len(), 30);
    let kept: i64 =
        held.schedule.db.query_row("SELECT count(*) FROM firings", [], |row| row.get(0)).unwrap();
    assert!(kept <= 31, "{kept}");
}

#[test]
fn two_years_of_minutes_are_counted_and_not_more() {
    let mut held = Held::at("2022-01-01T00:00Z");
    held.add(json!({"say": "x", "cron": "* * * * *"}));
    held.add(json!({"say": "x", "every": "1m"}));
    held.set(second("2026-01-01T00:00Z"));
    assert_eq!(held.due().len(), 2);
    let minutes = (held.now() - second("2022-01-01T00:00Z")).unsigned_abs() / 60;
    let missed = history::missed(&held.schedule.db).unwrap();
    assert_eq!(missed, minutes - 1 + 2 * 366 * 1_440, "by arithmetic all, by pattern two years");
}

#[test]
fn a_zone_that_the_system_has_lost_holds_up_no_other_job() {
    let mut held = Held::at("2026-11-23T12:00Z");
    held.add(json!({"say": "x", "cron": "0 * * * *"}));
    held.add(json!({"say": "y", "cron": "0 * * * *"}));
    let lost = "UPDATE jobs SET plan = replace(plan, 'UTC', 'Mars/Olympus') WHERE number = 1";
    assert_eq!(held.schedule.db.execute(lost, []).unwrap(), 1);
    assert_eq!(held.pass(second("2026-11-23T15:30Z")).len(), 3, "the other one goes on");
    let rows = history::page(&held.schedule.db, Some(1), i64::MAX, 1).unwrap();
    assert_eq!(rows[0].event, Event::Paused);
    assert!(rows[0].line.as_deref().unwrap().contains("there is no zone `Mars/Olympus`"));
}
