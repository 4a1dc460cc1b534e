//! A firing that is known already is written down nowhere again, and a minute has so many turns.

use serde_json::json;

use super::due::Firing;
use super::kept::{WriteOutcome, inbound, row};
use super::*;
use crate::domain::{Outbound, OutboundBody};
use crate::gate::tests::rig::Rig;
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
    Spot { session: SessionId::new("main").unwrap(), at: Address("console/1".into()) }
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
        let firing = firing(number);
        let body = self.message(&firing, "Look.", None);
        let row = row(&firing, FiringBecame::Turn, "Look.".into());
        self.keep_turn(row, inbound(&firing, spot(), body), LIMITS).await.unwrap()
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
    rig.store.read(|tx| tx.queued_inbound(&spot().session)).unwrap().len()
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
    for number in 1..=5 {
        let of = if number % 2 == 0 { room(&other) } else { room(&rig) };
        assert_eq!(of.begins(number).await, WriteOutcome::Yes, "{number}");
    }
    let WriteOutcome::NotBefore(ms) = room(&other).begins(6).await else {
        panic!("a sixth has begun")
    };
    assert!((1..=60_000).contains(&ms), "{ms}");
    assert_eq!(begun(&rig), 5);
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
    let look = || async { room(&rig).look("scheduler", &callbacks).await };
    rig.store.write(|tx| tx.set_panic(Some("the owner"))).await.unwrap();
    let looked = look().await;
    assert_eq!((looked.again, looked.failed), (Some(AFTER_FAULT), None));
    rig.store.write(|tx| tx.set_panic(None)).await.unwrap();
    assert!(look().await.failed.is_some(), "it has asked the scheduler, which is not there");
}
