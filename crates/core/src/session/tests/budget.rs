//! The budget of a day: what becomes of the question before its limit, and what a new day forgets.

use super::compactions::long_ago;
use super::rig::{BOUNDS, Rig, main, message, submit_to, worker};
use crate::domain::{CallId, InboundBody, Origin, PauseCause, Term};
use crate::gate::tests::rig::{ALLOW, OWNER, allow, session};
use crate::model::Script;
use crate::session::Ran;
use crate::turn::Bounds;

async fn spend(rig: &Rig, day: &str, tokens: u64) {
    let day = day.to_owned();
    let spent = crate::store::DaySpent { tokens, ..Default::default() };
    rig.gate.store.write(move |tx| tx.add_day_spent(&day, spent)).await.unwrap();
}

/// The one open question.
fn asked(rig: &Rig) -> crate::domain::Question {
    let mut open = rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap();
    assert_eq!(open.len(), 1, "{open:?}");
    open.remove(0).question
}

#[tokio::test]
async fn without_a_yes_the_turn_ends_and_a_message_that_waits_begins_another() {
    let rig = Rig::new(ALLOW, [Script::text("never")]);
    spend(&rig, &rig.worker.settings().budget.today(), 950_000).await;
    assert_eq!(rig.turn("first").await, Ran::Parked);
    let question = asked(&rig);
    assert_eq!(rig.turn("a remark").await, Ran::Parked);
    assert_eq!(asked(&rig).approval, question.approval, "a remark leaves it open");
    rig.gate
        .gate
        .calls()
        .decide(&question.approval, &question.choices[1].answer, OWNER)
        .await
        .unwrap();
    assert_eq!(rig.run().await, Ran::Parked, "the remark begins a turn of its own, which asks");
    assert!(rig.replies().last().unwrap().contains("does not go on"), "{:?}", rig.replies());
    let again = asked(&rig);
    assert_ne!(again.approval, question.approval);
    rig.gate.gate.calls().decide(&again.approval, &again.choices[1].answer, OWNER).await.unwrap();
    assert_eq!(rig.run().await, Ran::Idle);
    assert!(rig.model.requests().is_empty());
}

/// A kill between the question and its place in the log asks nobody twice, and a turn that ends
/// leaves no question behind.
#[tokio::test]
async fn a_question_that_a_kill_kept_out_of_the_log_is_found_again_or_closed() {
    for (spent, ran) in [(950_000, Ran::Parked), (0, Ran::Idle)] {
        let rig = Rig::new(ALLOW, [Script::text("answered")]);
        spend(&rig, &rig.worker.settings().budget.today(), spent).await;
        let call =
            CallId::Pause { session: main(), turn_seq: 1, cause: PauseCause::Budget, nth: 0 };
        let details = serde_json::json!({"tokens_today": 950_000});
        let ask = rig.gate.gate.calls().ask_to_go_on(
            &call,
            Origin::Owner,
            OWNER,
            &details,
            "why".into(),
            "go on",
        );
        let asked = ask.await.unwrap().approval;
        assert_eq!(rig.turn("go").await, ran);
        let open = rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap();
        let found: Vec<_> = open.into_iter().map(|row| row.id).collect();
        assert_eq!(found, if ran == Ran::Parked { vec![asked] } else { vec![] });
        rig.gate.verify();
    }
}

#[tokio::test]
async fn a_stop_closes_the_question() {
    let rig = Rig::new(ALLOW, [Script::text("never")]);
    spend(&rig, &rig.worker.settings().budget.today(), 950_000).await;
    assert_eq!(rig.turn("go").await, Ran::Parked);
    rig.submit(InboundBody::Stop).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert!(rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap().is_empty());
}

#[tokio::test]
async fn a_day_without_tokens_asks_no_model() {
    let rig = Rig::new(ALLOW, [Script::text("never")]);
    let today = rig.worker.settings().budget.today();
    spend(&rig, &today, 1_000_000).await;
    assert_eq!(rig.turn("go").await, Ran::Idle);
    assert!(
        rig.replies()[0].contains("limits.tokens_day_max") && rig.model.requests().is_empty(),
        "{:?}",
        rig.replies()
    );
    spend(&rig, "2000-01-01", 5).await;
    assert_eq!(rig.turn("on another day").await, Ran::Idle);
    assert_eq!(rig.replies().last().unwrap(), "never");
}

/// Neither between turns, nor in one that begins with it.
#[tokio::test]
async fn a_day_without_tokens_has_no_summary() {
    let rig = Rig::new(ALLOW, []);
    long_ago(&rig.gate, 2, &"slowly ".repeat(1_000)).await;
    let today = rig.worker.settings().budget.today();
    spend(&rig, &today, 1_000_000).await;
    rig.submit(InboundBody::Compact).await;
    assert_eq!(rig.run().await, Ran::Idle);
    let told = rig.notices();
    assert!(told.last().unwrap().contains("(today's budget is used up)"), "{told:?}");
    assert_eq!(rig.kinds().last().unwrap(), "compaction.failed");
    // Not dropped either, however little room is left.
    let small = Bounds { window_tokens: 1_000, ..BOUNDS };
    let worker = worker(&rig.gate, rig.model.clone(), small);
    rig.say("and now?").await;
    assert_eq!(worker.run(&main(), &rig.gate.live()).await.unwrap(), Ran::Idle);
    assert!(rig.replies()[0].contains("Today's budget is used up"), "{:?}", rig.replies());
    assert!(!rig.kinds().contains(&"window.dropped".to_owned()), "{:?}", rig.kinds());
    assert!(rig.model.requests().is_empty());
}

/// The other turns that wait for leave are let go on by it, too.
#[tokio::test]
async fn one_yes_is_for_the_turns_of_all_sessions() {
    let rig = Rig::new(ALLOW, ["one", "two"].map(Script::text));
    spend(&rig, &rig.worker.settings().budget.today(), 950_000).await;
    assert_eq!(rig.turn("first").await, Ran::Parked);
    let other = session("other");
    submit_to(&rig.gate, &other, message("second")).await;
    assert_eq!(rig.worker.run(&other, &rig.gate.live()).await.unwrap(), Ran::Parked);
    let open = || rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap();
    assert_eq!(open().len(), 2);
    let mut of_main = open();
    of_main.retain(|row| row.question.session == Some(main()));
    rig.gate.gate.calls().decide(&of_main[0].id, &allow(Term::Once), OWNER).await.unwrap();
    assert_eq!(rig.run().await, Ran::Idle);
    assert!(open().is_empty(), "{:?}", open());
    assert_eq!(rig.worker.run(&other, &rig.gate.live()).await.unwrap(), Ran::Idle);
    assert_eq!(rig.model.requests().len(), 2);
    rig.gate.verify();
}
