//! What somebody asks for beside the times of a job: a firing now, an end that is taken away, and
//! the jobs as a program has them.

use serde_json::json;

use super::{Held, second};
use crate::args::Args;
use crate::library::Jobs;
use crate::store::history::{self, Event};

#[test]
fn a_firing_that_somebody_asks_for_changes_nothing_of_the_jobs_own() {
    let mut held = Held::at("2026-11-23T08:00Z");
    let job = held.add(json!({"say": "x", "cron": "0 9 * * *"}));
    let first = held.schedule.run(job.number).unwrap().1;
    let second_one = held.schedule.run(job.number).unwrap().1;
    assert_ne!(first.id, second_one.id);
    // Both still wait when the job's own firing comes, and it is not left out for them.
    held.set(second("2026-11-23T09:00Z"));
    let due = held.due();
    assert_eq!(due.len(), 3, "{due:#?}");
    for firing in &due {
        assert!(held.schedule.take(&firing.id).unwrap().1);
        assert!(!held.schedule.take(&firing.id).unwrap().1, "each once");
    }
    let rows = history::page(&held.schedule.db, Some(job.number), i64::MAX, 100).unwrap();
    let count = |event| rows.iter().filter(|row| row.event == event).count();
    assert_eq!((count(Event::Run), count(Event::Due), count(Event::Overlapped)), (2, 1, 0));
    held.schedule.pause(job.number).unwrap();
    assert!(held.schedule.run(job.number).is_ok(), "also of a job that is paused");
    held.schedule.cancel(job.number).unwrap();
    assert!(held.schedule.run(job.number).unwrap_err().to_string().contains("no job"));
}

#[test]
fn a_paused_job_fires_nothing_and_nothing_of_that_time_is_made_up() {
    let mut held = Held::at("2026-11-23T08:00Z");
    let all = json!({"say": "x", "cron": "0 9 * * *", "if_missed": "all"});
    let job = held.add(all);
    assert_eq!(held.schedule.pause(job.number).unwrap().planned, None);
    held.set(second("2026-11-26T12:00Z"));
    assert!(held.due().is_empty(), "it is paused");
    let resumed = held.schedule.resume(job.number).unwrap();
    assert_eq!(resumed.planned, Some(second("2026-11-27T09:00Z")));
    assert!(held.due().is_empty(), "three days are not made up");
    // Also where it had fired before.
    assert_eq!(held.pass(second("2026-11-27T10:00Z")).len(), 1);
    held.schedule.pause(job.number).unwrap();
    held.set(second("2026-11-30T12:00Z"));
    held.schedule.resume(job.number).unwrap();
    assert!(held.due().is_empty());
    assert_eq!(held.pass(second("2026-12-01T10:00Z")).len(), 1);
}

#[tokio::test]
async fn an_end_is_taken_away_by_never() {
    let folder = tempfile::tempdir().unwrap();
    let args = Args { database: Some(folder.path().join("jobs.db")), ..Args::default() };
    let jobs = Jobs::open(&args).unwrap();
    let fields = json!({"say": "x", "every": "1h", "until": "2090-01-01", "zone": "UTC"});
    let made = jobs.run("schedule", fields).await.unwrap().structured;
    assert_eq!(made["until"]["weekday"], "Sunday");
    let change = |to| json!({"id": "j1", "revision": 1, "to": to});
    let kept = jobs.run("change", change(json!({"say": "y"}))).await.unwrap().structured;
    assert_eq!(kept["until"]["weekday"], "Sunday", "what is not given stays");
    let change = json!({"id": "j1", "revision": 2, "to": {"until": "never"}});
    let changed = jobs.run("change", change).await.unwrap().structured;
    assert!(changed.get("until").is_none(), "{changed}");
    assert!(jobs.fire("j1").unwrap().text.contains("j1.3-run1"));
    assert!(jobs.fire("j2").unwrap_err().contains("no job `j2`"));
}
