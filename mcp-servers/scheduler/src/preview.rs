//! When a job would fire, before anybody makes it. Nothing is written. Must not know who asks.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::args::Limits;
use crate::clock::Clock;
use crate::schedule::Schedule;
use crate::tools::JobRequest;
use crate::zone::Zone;

/// Firings that are named.
const NEXT: usize = 3;

/// What a person reads of a job that is not made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// When it fires, in words.
    pub when: String,
    /// The next three firings: `Monday 2026-11-30 09:00`.
    pub next: Vec<String>,
}

/// The preview of the fields of `schedule`. `None` where they name no time, or are refused.
pub fn preview(fields: &Value, zone: &str) -> Option<Preview> {
    let mut fields = fields.as_object()?.clone();
    // What is said plays no part in when.
    for name in ["text", "say", "id", "revision"] {
        fields.remove(name);
    }
    fields.insert("say".to_owned(), json!("-"));
    let asked: JobRequest = serde_json::from_value(Value::Object(fields)).ok()?;
    let schedule = Schedule {
        db: Connection::open_in_memory().ok()?,
        path: "-".into(),
        clock: Clock::System,
        zone: Zone::named(zone).ok()?,
        limits: Limits::default(),
        caller: None,
    };
    let plan = asked.plan(&schedule).ok()?;
    let zone = plan.zone().ok()?;
    let next = plan.next(schedule.now(), NEXT).ok()?;
    let next = next.into_iter().map(|at| {
        let at = zone.moment(at);
        format!("{} {}", at.weekday, at.local)
    });
    let named = match plan.zone == schedule.zone.name {
        true => String::new(),
        false => format!(" ({})", plan.zone),
    };
    Some(Preview { when: format!("{}{named}", plan.rule.line(&zone)), next: next.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_seen_before_it_is_made() {
        let fields = json!({"text": "Look.", "cron": "0 9 * * 1", "session": "x"});
        let seen = preview(&fields, "Europe/Berlin").unwrap();
        assert_eq!(seen.when, "every Monday at 09:00");
        assert_eq!(seen.next.len(), 3);
        assert!(seen.next.iter().all(|at| at.starts_with("Monday ") && at.ends_with(" 09:00")));
        let far = json!({"text": "Look.", "cron": "0 9 * * 1", "zone": "Asia/Tokyo"});
        let far = preview(&far, "Europe/Berlin").unwrap();
        assert_eq!(far.when, "every Monday at 09:00 (Asia/Tokyo)");
        assert_eq!(preview(&json!({"text": "Look."}), "Europe/Berlin"), None, "no time");
        assert_eq!(preview(&json!({"cron": "no"}), "Europe/Berlin"), None);
    }
}
