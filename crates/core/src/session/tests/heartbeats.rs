//! Turns that heartbeats have begun: what they tell, what they see, what they may take.

use super::compactions::{long_ago, told};
use super::rig::{Rig, echoes, main, message};
use crate::domain::{Address, EventBody, Inbound, Origin, heartbeat_job, job_principal};
use crate::gate::tests::rig::ALLOW;
use crate::model::Script;
use crate::session::Ran;
use crate::store::{DaySpent, HeartbeatState};

/// A heartbeat may do it, too.
fn allows_schedules() -> String {
    format!("{ALLOW}origin = [\"owner\", \"schedule\"]\n")
}

async fn beat(rig: &Rig, text: &str) -> Ran {
    let inbound = Inbound {
        session: main(),
        from: Address("console/1".into()),
        principal: job_principal(&heartbeat_job("inbox"), 1),
        origin: Origin::Schedule,
        body: message(text),
    };
    rig.gate.store.write(move |tx| tx.add_inbound(&inbound, 64)).await.unwrap();
    rig.run().await
}

fn outbox(rig: &Rig) -> usize {
    let at = Address("console/1".into());
    rig.gate.store.read(|tx| tx.queued_outbound(&at)).unwrap().len()
}

#[tokio::test]
async fn nothing_to_tell_is_told_to_nobody_and_not_seen_again() {
    let script = [echoes(&["a"]), Script::text("HEARTBEAT_OK"), Script::text("2 mails.")];
    let rig = Rig::new(&allows_schedules(), script);
    assert_eq!(beat(&rig, "first").await, Ran::Idle);
    assert_eq!(outbox(&rig), 0);
    assert_eq!(rig.gate.effects("legacy"), ["a"]);
    assert_eq!(beat(&rig, "second").await, Ran::Idle);
    assert_eq!(rig.replies(), ["*Heartbeat* `inbox`\n\n2 mails."]);
    assert_eq!(outbox(&rig), 1);
    assert_eq!(rig.model.requests().last().unwrap().messages.len(), 1, "the first one is gone");
}

#[tokio::test]
async fn its_window_stays_small() {
    let rig = Rig::new("", (0..9).map(|number| Script::text(format!("{number}"))));
    for number in 0..9 {
        beat(&rig, &format!("beat {number}")).await;
    }
    let asked: Vec<_> = rig.model.requests().iter().map(|asked| asked.messages.len()).collect();
    assert_eq!(asked, [1, 3, 5, 7, 9, 11, 11, 11, 11]);
    assert_eq!(rig.replies().len(), 9);
}

#[tokio::test]
async fn after_a_long_pause_it_sees_its_turns_and_no_summary() {
    let rig = Rig::new("", [Script::text("2 mails.")]);
    long_ago(&rig.gate, 24, &"slowly ".repeat(1_000)).await;
    assert_eq!(beat(&rig, "and now?").await, Ran::Idle);
    assert_eq!(rig.model.requests().len(), 1);
    assert!(told(&rig, 0).contains("slowly slowly"), "{}", told(&rig, 0));
    assert!(!rig.kinds().contains(&"window.idle".to_owned()), "{:?}", rig.kinds());
}

#[tokio::test]
async fn its_budget_holds_within_a_turn_and_says_so_once() {
    let rig = Rig::new(&allows_schedules(), [echoes(&["a"]), echoes(&["b"]), Script::text("no")]);
    let today = rig.worker.settings().budget.today();
    let spend = move |tx: &crate::store::Tx<'_>| {
        let mut state = tx.heartbeat("inbox")?;
        (0..18).for_each(|_| state.add_request(&today, 1));
        tx.set_heartbeat("inbox", &state)
    };
    rig.gate.store.write(spend).await.unwrap();
    assert_eq!(beat(&rig, "go").await, Ran::Idle);
    assert_eq!(rig.model.requests().len(), 2);
    let told = rig.replies();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("`inbox` has stopped for today: it has used 20 of 20"), "{told:?}");
    assert!(rig.log().iter().any(|body| matches!(body, EventBody::LimitReached { .. })));
    let state = rig.gate.store.read(|tx| tx.heartbeat("inbox")).unwrap();
    assert!(state.stopped_until_ms > crate::store::now_ms(), "nobody says it again today");
    // The owner's own messages have another budget.
    let rig = Rig::new("", [Script::text("yes")]);
    rig.turn("hello").await;
    assert_eq!(rig.gate.store.read(|tx| tx.heartbeats()).unwrap(), []);
}

#[tokio::test]
async fn a_model_that_cannot_be_reached_is_told_of_once_until_it_can() {
    let rig = Rig::new("", [Script::fail("down"), Script::fail("down"), Script::text("up")]);
    beat(&rig, "1").await;
    beat(&rig, "2").await;
    assert_eq!(rig.replies().len(), 1, "{:?}", rig.replies());
    beat(&rig, "3").await;
    assert_eq!(rig.replies().len(), 2);
    let state = rig.gate.store.read(|tx| tx.heartbeat("inbox")).unwrap();
    assert_eq!(state.turn_fault, None);
}

#[tokio::test]
async fn a_fault_that_names_another_time_each_time_is_told_once() {
    let at = ["17:15:42", "2026-11-28 00:03:30"];
    let rig = Rig::new("", at.map(|at| Script::fail(format!("try again at {at}"))));
    beat(&rig, "1").await;
    beat(&rig, "2").await;
    assert_eq!(rig.replies().len(), 1, "{:?}", rig.replies());
    let state = rig.gate.store.read(|tx| tx.heartbeat("inbox")).unwrap();
    assert!(state.turn_fault.is_some_and(|fault| fault.contains("00:03:30")), "the newest is kept");
    rig.model.push(Script::fail("the key is refused"));
    beat(&rig, "3").await;
    assert_eq!(rig.replies().len(), 2, "another fault: {:?}", rig.replies());
}

#[tokio::test]
async fn that_the_day_of_all_sessions_is_used_up_is_told_once() {
    let rig = Rig::new("", []);
    let today = rig.worker.settings().budget.today();
    let spent = DaySpent { tokens: 1_000_000, ..DaySpent::default() };
    rig.gate.store.write(move |tx| tx.add_day_spent(&today, spent)).await.unwrap();
    for text in ["1", "2", "3"] {
        assert_eq!(beat(&rig, text).await, Ran::Idle);
    }
    let told = rig.replies();
    assert!(told.len() == 1 && told[0].contains("Today's budget is used up"), "{told:?}");
    assert!(rig.model.requests().is_empty());
}

#[tokio::test]
async fn what_its_check_found_is_new_again_after_a_turn_that_failed() {
    for (script, is_told) in [(Script::text("2 mails."), true), (Script::fail("down"), false)] {
        let rig = Rig::new("", [script]);
        let found = |tx: &crate::store::Tx<'_>| {
            let check_digest = Some("of two mails".to_owned());
            tx.set_heartbeat("inbox", &HeartbeatState { check_digest, ..HeartbeatState::default() })
        };
        rig.gate.store.write(found).await.unwrap();
        beat(&rig, "two mails").await;
        let state = rig.gate.store.read(|tx| tx.heartbeat("inbox")).unwrap();
        assert_eq!(state.check_digest.is_some(), is_told, "{state:?}");
    }
}
