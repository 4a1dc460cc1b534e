//! What comes of a time that has come.

use std::sync::Arc;

use jiff::{Timestamp, ToSpan as _};
use serde_json::json;
use tokio::sync::watch;

use super::super::{HeartbeatCallbacks, HeartbeatPlace, Heartbeats, HeartbeatsParts};
use super::when::heartbeat;
use crate::config::{Heartbeat, HeartbeatCheck, HeartbeatTimes};
use crate::domain::{
    Address, Inbound, Origin, OutboundBody, Term, heartbeat_job, heartbeat_of, heartbeat_session,
    job_principal,
};
use crate::gate::tests::rig::{ALLOW, OWNER, Rig, allow, echo};
use crate::model::{Script, Scripted};
use crate::session::Ran;
use crate::session::tests::rig::{BOUNDS, worker};

const DAY_MINUTES: i64 = 24 * 60;

struct Beats {
    rig: Rig,
    room: Heartbeats,
    heartbeat: Heartbeat,
}

fn room(rig: &Rig) -> Heartbeats {
    Heartbeats::new(HeartbeatsParts {
        store: rig.store.clone(),
        gate: rig.gate.clone(),
        zone: jiff::tz::TimeZone::UTC,
        entries: watch::Sender::new(Arc::default()).subscribe(),
        queued_max: Arc::new(|| 8),
    })
}

fn start() -> Timestamp {
    "2026-11-23T00:00:00Z".parse().unwrap()
}

impl Beats {
    /// Every minute, with a check that says this.
    fn every_minute(policy: &str, check: Option<&str>) -> Self {
        let rig = Rig::new(&["legacy"], policy);
        let every = HeartbeatTimes::EveryMinutes(1);
        let check = check.map(|text| HeartbeatCheck::Tool {
            server: "legacy".into(),
            tool: "echo".into(),
            arguments: json!({"text": text}).as_object().unwrap().clone(),
        });
        let heartbeat = Heartbeat { check, ..heartbeat(every, "UTC") };
        Self { room: room(&rig), rig, heartbeat }
    }

    async fn look(&self, now: Timestamp) {
        look(&self.room, &self.heartbeat, now).await;
    }

    /// Looks once in each of these minutes, and takes in what a worker would. Gives back what came.
    async fn minutes(&self, minutes: std::ops::Range<i64>) -> Vec<Inbound> {
        let mut came = Vec::new();
        for minute in minutes {
            self.look(start().checked_add(minute.minutes()).unwrap()).await;
            came.extend(self.take_in().await);
        }
        came
    }

    async fn take_in(&self) -> Vec<Inbound> {
        let session = heartbeat_session("inbox").unwrap();
        let rows = self.rig.store.read(|tx| tx.queued_inbound(&session)).unwrap();
        for row in &rows {
            let id = row.id;
            self.rig.store.write(move |tx| tx.mark_absorbed(id)).await.unwrap();
        }
        rows.into_iter().map(|row| row.inbound).collect()
    }

    fn notices(&self) -> Vec<String> {
        let rows = self.rig.store.read(|tx| tx.queued_outbound(&Address("console/1".into())));
        let text = |body| match body {
            OutboundBody::Notice { text } => text,
            other => panic!("{other:?}"),
        };
        rows.unwrap().into_iter().map(|row| text(row.outbound.body)).collect()
    }
}

async fn look(room: &Heartbeats, heartbeat: &Heartbeat, now: Timestamp) {
    let callbacks = HeartbeatCallbacks {
        place_of: Arc::new(|_| HeartbeatPlace::Here(Address("console/1".into()))),
        written: Arc::new(|| {}),
    };
    room.look(std::slice::from_ref(heartbeat), now, &callbacks).await;
}

/// Without a message in the inbox no turn begins, and no model is asked.
#[tokio::test]
async fn a_day_of_minutes_with_nothing_new_asks_no_model() {
    let beats = Beats::every_minute(ALLOW, Some(""));
    assert_eq!(beats.minutes(0..DAY_MINUTES).await, []);
    assert_eq!(beats.rig.effects("legacy").len() as i64, DAY_MINUTES - 1, "each was looked at");
    assert_eq!(beats.notices(), Vec::<String>::new());
    let session = heartbeat_session("inbox").unwrap();
    assert_eq!(beats.rig.store.read(|tx| tx.last_seq(&session)).unwrap(), 0, "and no history");
}

#[tokio::test]
async fn a_result_is_new_once_also_after_a_restart() {
    let mut beats = Beats::every_minute(ALLOW, Some("2 mails"));
    let came = beats.minutes(0..5).await;
    let [only] = came.as_slice() else { panic!("{came:?}") };
    assert_eq!((only.origin, heartbeat_of(&only.principal)), (Origin::Schedule, Some("inbox")));
    let text = serde_json::to_string(&only.body).unwrap();
    assert!(text.contains("Look.") && text.contains("> 2 mails"), "{text}");
    beats.rig = beats.rig.again(ALLOW);
    beats.room = room(&beats.rig);
    assert_eq!(beats.minutes(5..8).await, []);
    beats.rig.verify();
}

#[tokio::test]
async fn a_time_is_seen_to_once_by_all_processes_and_a_new_entry_waits_for_its_next() {
    let beats = Beats::every_minute("", None);
    let other = beats.rig.again("");
    let (now, others) = (start(), room(&other));
    beats.look(now).await;
    assert_eq!(beats.take_in().await, [], "it begins with its next time");
    let next = now.checked_add(1.minute()).unwrap();
    for room in [&beats.room, &others, &beats.room] {
        look(room, &beats.heartbeat, next).await;
    }
    assert_eq!(beats.take_in().await.len(), 1);
}

#[tokio::test]
async fn what_is_not_over_is_not_begun_again_and_what_is_late_is_left_out() {
    let beats = Beats::every_minute("", None);
    beats.look(start()).await;
    for minute in 1..4 {
        beats.look(start().checked_add(minute.minutes()).unwrap()).await;
    }
    assert_eq!(beats.take_in().await.len(), 1);
    // As after a sleep of the machine, at a time that is six minutes old.
    let mut hourly = beats.heartbeat.clone();
    hourly.times = HeartbeatTimes::EveryMinutes(60);
    let of = |minutes: i64| start().checked_add(minutes.minutes()).unwrap();
    look(&beats.room, &hourly, of(66)).await;
    assert_eq!(beats.take_in().await, []);
    look(&beats.room, &hourly, of(124)).await;
    assert_eq!(beats.take_in().await.len(), 1);
}

#[tokio::test]
async fn the_stop_switch_holds_it() {
    let beats = Beats::every_minute("", None);
    beats.look(start()).await;
    beats.rig.store.write(|tx| tx.set_panic(Some("the owner"))).await.unwrap();
    assert_eq!(beats.minutes(1..5).await, []);
    beats.rig.store.write(|tx| tx.set_panic(None)).await.unwrap();
    assert_eq!(beats.minutes(5..6).await.len(), 1);
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_told_once_a_day() {
    let beats = Beats::every_minute("", None);
    beats.look(start()).await;
    let spend = |day: &'static str| {
        beats.rig.store.write(move |tx| {
            let mut state = tx.heartbeat("inbox")?;
            (0..20).for_each(|_| state.add_request(day, 10));
            tx.set_heartbeat("inbox", &state)
        })
    };
    spend("2026-11-23").await.unwrap();
    assert_eq!(beats.minutes(1..DAY_MINUTES).await, []);
    let told = beats.notices();
    assert_eq!(
        told,
        ["The heartbeat `inbox` has stopped for today: it has used 20 of 20 requests to a model \
          (`requests_day_max`). It goes on tomorrow; `heartbeats.toml` has its budget."]
    );
    assert_eq!(beats.minutes(DAY_MINUTES..DAY_MINUTES + 2).await.len(), 2, "a new day");
    spend("2026-11-24").await.unwrap();
    assert_eq!(beats.minutes(DAY_MINUTES + 2..DAY_MINUTES + 9).await, []);
    assert_eq!(beats.notices().len(), 2);
}

#[tokio::test]
async fn the_check_of_a_time_is_made_once_by_all_processes() {
    let beats = Beats::every_minute(ALLOW, Some(""));
    let other = beats.rig.again(ALLOW);
    let others = room(&other);
    beats.look(start()).await;
    let next = start().checked_add(1.minute()).unwrap();
    for room in [&beats.room, &others, &beats.room] {
        look(room, &beats.heartbeat, next).await;
    }
    assert_eq!(beats.rig.effects("legacy").len(), 1);
}

#[tokio::test]
async fn what_was_granted_to_it_ends_when_its_entry_is_another_one() {
    let mut beats = Beats::every_minute("", None);
    let mut call = echo(1, "hi");
    call.origin = Origin::Schedule;
    call.principal = job_principal(&heartbeat_job("inbox"), beats.heartbeat.revision);
    let asked = beats.rig.parked(call).await;
    beats.rig.gate.calls().decide(&asked, &allow(Term::Always), OWNER).await.unwrap();
    let grants = |beats: &Beats| beats.rig.store.read(|tx| tx.grants()).unwrap().len();
    beats.minutes(0..2).await;
    assert_eq!(grants(&beats), 1, "the entry is as it was");
    beats.heartbeat.revision += 1;
    beats.minutes(2..3).await;
    assert_eq!(grants(&beats), 0);
}

#[tokio::test]
async fn another_text_of_its_entry_gives_it_no_new_budget() {
    let mut beats = Beats::every_minute("", None);
    beats.look(start()).await;
    let spend = |tx: &crate::store::Tx<'_>| {
        let mut state = tx.heartbeat("inbox")?;
        (0..20).for_each(|_| state.add_request("2026-11-23", 10));
        tx.set_heartbeat("inbox", &state)
    };
    beats.rig.store.write(spend).await.unwrap();
    beats.heartbeat.prompt = "Look again.".into();
    beats.heartbeat.revision += 1;
    assert_eq!(beats.minutes(1..5).await, []);
    assert_eq!(beats.notices().len(), 1, "it says that it has stopped");
}

/// A whole day with a model that has nothing to tell: as many requests as the budget has, one word.
#[tokio::test]
async fn a_day_of_minutes_with_a_model_keeps_to_its_budget_and_says_once_that_it_has_stopped() {
    let beats = Beats::every_minute("", None);
    let model = Arc::new(Scripted::new((0..100).map(|_| Script::text("HEARTBEAT_OK"))));
    let worker = worker(&beats.rig, model.clone(), BOUNDS);
    let session = heartbeat_session("inbox").unwrap();
    // What a worker uses counts for the day of the real clock.
    let today = || Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let day = today();
    let start = day.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
    for minute in 0..DAY_MINUTES {
        beats.look(start.checked_add(minute.minutes()).unwrap()).await;
        let ran = worker.run(&session, &beats.rig.live()).await.unwrap();
        assert_eq!(ran, Ran::Idle);
    }
    if today() != day {
        return;
    }
    assert_eq!(model.requests().len(), 20, "its budget of a day");
    let told = beats.notices();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("`inbox` has stopped for today: it has used 20 of 20"), "{told:?}");
}

#[tokio::test]
async fn a_check_that_would_ask_is_refused_and_told_once() {
    let beats = Beats::every_minute("", Some("x"));
    assert_eq!(beats.minutes(0..6).await, []);
    let told = beats.notices();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("wants a question for its check"), "{told:?}");
    assert!(beats.rig.store.read(|tx| tx.open_approvals(None)).unwrap().is_empty());
    assert!(beats.rig.effects("legacy").is_empty());
}
