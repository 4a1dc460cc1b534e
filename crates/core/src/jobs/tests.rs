//! A firing that is known already is written down nowhere again, and a minute has so many turns.

use serde_json::json;

use super::behind::BehindTurns;
use super::due::Firing;
use super::kept::{WriteOutcome, inbound, row};
use super::*;
use crate::domain::{Event, EventBody, Origin, Outbound, OutboundBody};
use crate::gate::tests::rig::{OWNER, Rig, echo};
use crate::store::FiringBecame;

const LIMITS: JobLimits = JobLimits { turns_minute_max: 5, queued_messages_max: 64 };

fn room(rig: &Rig) -> Jobs {
    Jobs::new(JobsParts {
        store: rig.store.clone(),
        gate: rig.gate.clone(),
        database: Arc::new(|| None),
        limits: Arc::new(|| LIMITS),
    })
}

fn spot() -> Spot {
    spot_in("main")
}

fn spot_in(session: &str) -> Spot {
    Spot { session: SessionId::new(session).unwrap(), at: Address("console/1".into()) }
}

fn firing(number: usize) -> Firing {
    let moment =
        json!({"weekday": "Monday", "local": "2026-11-23 09:00:00", "utc": "2026-11-23T09:00:00Z"});
    serde_json::from_value(json!({
        "firing": format!("j1.1-{number}"), "job": "j1", "revision": 1, "planned": moment,
        "since": moment, "text": "Look.", "session": "main",
    }))
    .unwrap()
}

impl Jobs {
    async fn says(&self, numbers: &[usize]) {
        let rows = numbers
            .iter()
            .map(|number| row(&firing(*number), FiringBecame::Words, format!("number {number}")));
        let say = |new: &[crate::store::NewFiring]| {
            let text = new.iter().map(|row| row.title.clone()).collect::<Vec<_>>().join(", ");
            let body = OutboundBody::Notice { text };
            Some(Outbound { session: spot().session, to: spot().at, body })
        };
        self.keep_words(rows.collect(), say).await.unwrap();
    }

    async fn begins(&self, number: usize) -> WriteOutcome {
        self.begins_in("main", number).await
    }

    async fn begins_in(&self, session: &str, number: usize) -> WriteOutcome {
        let firing = firing(number);
        let body = self.message(&firing, "Look.", None);
        let row = row(&firing, FiringBecame::Turn, "Look.".into());
        self.keep_turn(row, inbound(&firing, spot_in(session), body), LIMITS).await.unwrap()
    }
}

fn told(rig: &Rig) -> Vec<String> {
    let rows = rig.store.read(|tx| tx.queued_outbound(&spot().at)).unwrap();
    let text = |body| match body {
        OutboundBody::Notice { text } => text,
        other => panic!("{other:?}"),
    };
    rows.into_iter().map(|row| text(row.outbound.body)).collect()
}

fn begun(rig: &Rig) -> usize {
    begun_in(rig, "main")
}

fn begun_in(rig: &Rig, session: &str) -> usize {
    rig.store.read(|tx| tx.queued_inbound(&spot_in(session).session)).unwrap().len()
}

#[tokio::test]
async fn a_firing_that_is_known_is_told_nowhere_again_by_whichever_process() {
    let rig = Rig::new(&[], "");
    let other = rig.again("");
    room(&rig).says(&[1]).await;
    room(&other).says(&[1]).await;
    room(&rig).says(&[1]).await;
    assert_eq!(told(&rig), ["number 1"]);
    room(&other).says(&[1, 2]).await;
    assert_eq!(told(&rig), ["number 1", "number 2"], "what is known stays out of the message");
}

#[tokio::test]
async fn a_firing_that_is_known_begins_no_second_turn_by_whichever_process() {
    let rig = Rig::new(&[], "");
    let other = rig.again("");
    for room in [room(&rig), room(&other), room(&rig)] {
        assert_eq!(room.begins(1).await, WriteOutcome::Yes, "it is taken, but not done again");
    }
    assert_eq!(begun(&rig), 1);
}

#[tokio::test]
async fn the_sixth_turn_of_a_minute_waits_until_the_first_is_a_minute_old() {
    let rig = Rig::new(&[], "");
    let other = rig.again("");
    // Each in a session of its own: in one of them each would wait for the one before.
    let session = |number: usize| format!("s{number}");
    for number in 1..=5 {
        let of = if number % 2 == 0 { room(&other) } else { room(&rig) };
        let began = of.begins_in(&session(number), number).await;
        assert_eq!(began, WriteOutcome::Yes, "{number}");
    }
    let WriteOutcome::NotBefore(ms) = room(&other).begins_in(&session(6), 6).await else {
        panic!("a sixth has begun")
    };
    assert!((1..=60_000).contains(&ms), "{ms}");
    let begun: Vec<_> = (1..=6).map(|number| begun_in(&rig, &session(number))).collect();
    assert_eq!(begun, [1, 1, 1, 1, 1, 0]);
    let knows = rig.store.read(|tx| tx.knows_firing("j1.1-6")).unwrap();
    assert!(!knows, "it stays due");
    // Words are no turns, and come whatever the minute has had.
    room(&rig).says(&[7]).await;
    assert_eq!(told(&rig), ["number 7"]);
}

#[tokio::test]
async fn while_the_stop_switch_is_on_nobody_looks_at_what_is_due() {
    let rig = Rig::new(&[], "");
    let callbacks =
        JobCallbacks { place_of: Arc::new(|_| JobPlace::NotMine), written: Arc::new(|| {}) };
    let look =
        || async { room(&rig).look("scheduler", &callbacks, &mut BehindTurns::default()).await };
    rig.store.write(|tx| tx.set_panic(Some("the owner"))).await.unwrap();
    let looked = look().await;
    assert_eq!((looked.again, looked.failed), (Some(AFTER_FAULT), None));
    rig.store.write(|tx| tx.set_panic(None)).await.unwrap();
    assert!(look().await.failed.is_some(), "it has asked the scheduler, which is not there");
}

#[tokio::test]
async fn a_task_waits_for_a_turn_that_goes_on_and_for_none_that_was_left() {
    let rig = Rig::new(&["legacy"], "");
    let (room, main) = (room(&rig), spot().session);
    let body =
        EventBody::TurnStarted { origin: Origin::Owner, principal: OWNER.into(), role: None };
    let (began, session) = (Event { seq: 1, at_ms: 1, body }, main.clone());
    assert!(rig.store.write(move |tx| tx.import_log(&session, &[began])).await.unwrap());
    // Somebody runs it.
    let held = rig.store.lock_session(&main).unwrap().unwrap();
    assert_eq!(room.begins(1).await, WriteOutcome::BehindTurn);
    held.release();
    // It waits for an answer.
    rig.parked(echo(1, "hi")).await;
    assert_eq!(room.begins(1).await, WriteOutcome::BehindTurn);
    assert_eq!(begun(&rig), 0);
    assert!(!rig.store.read(|tx| tx.knows_firing("j1.1-1")).unwrap(), "it stays due");
    // Nobody comes any more: whoever takes in the task ends the turn.
    let db = rusqlite::Connection::open(rig.home().join("claw.db")).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(db.execute("UPDATE approvals SET expires_ms = 1", []).unwrap(), 1);
    assert_eq!(room.begins(1).await, WriteOutcome::Yes);
    // The next one waits behind what is to be taken in.
    assert_eq!(room.begins(2).await, WriteOutcome::BehindTurn);
    assert_eq!(room.begins(1).await, WriteOutcome::Yes, "it is taken, but not done again");
    assert_eq!(begun(&rig), 1);
}

#[test]
fn what_a_task_waits_behind_a_turn_is_no_absence_of_claw() {
    let (mut behind, task) = (BehindTurns::default(), firing(1));
    assert_eq!(behind.first_late_ms(&task, Some(400_000)), Some(400_000));
    behind.waits(&task, spot().session, None);
    assert_eq!((behind.first_late_ms(&task, Some(400_000)), behind.free_ms(&task)), (None, None));
    for now_ms in [10, 20] {
        behind.look_anew(now_ms);
        assert_eq!(behind.free_ms(&task), Some(10), "since the first look that said nothing else");
    }
    behind.keep_due(&[]);
    assert_eq!(behind.first_late_ms(&task, Some(400_000)), Some(400_000));
}
