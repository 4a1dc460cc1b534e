//! Staged actions in a session: what a cancel, time, a kill, a stop, other rules and another turn
//! do to them.

use serde_json::json;

use super::rig::{BOUNDS, Rig, main, worker};
use super::staging::{POLICY, item, no, proposing, staged};
use crate::domain::{CallState, InboundBody, Outcome, Term};
use crate::gate::tests::rig::{OWNER, Rig as GateRig, allow};
use crate::model::Script;
use crate::session::Ran;

#[tokio::test]
async fn what_is_cancelled_is_not_run_and_everybody_hears_it() {
    let rig = staged(json!([item("*apples*")])).await;
    rig.decide(&rig.open("apples"), no()).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert!(rig.gate.effects("shop").is_empty() && rig.results().is_empty());
    assert_eq!(rig.last_notice(), "Cancelled: Add \\*apples\\* to the cart.");
    rig.turn("well").await;
    let told = &rig.last_asked()[0];
    assert!(
        told.starts_with("[claw: the owner cancelled")
            && told.contains(r#"(shop/confirm {"text":"*apples*"})"#),
        "{told}"
    );
    rig.is_whole();
}

/// Time is over without a turn, and the holder may be killed when the store has said so and the log
/// has not.
#[tokio::test]
async fn what_nobody_confirms_expires_once_whoever_says_it() {
    for killed in [false, true] {
        let rig = staged(json!([item("a"), item("b")])).await;
        assert!(!rig.worker.left_over(&main()).unwrap());
        let open = rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap();
        rig.gate.store.write(|tx| tx.let_staged_expire(crate::store::now_ms())).await.unwrap();
        let late =
            rig.gate.gate.calls().decide(&open[0].id, &allow(Term::Once), OWNER).await.unwrap_err();
        assert!(late.to_string().contains("expired"), "{late}");
        assert!(
            rig.worker.left_over(&main()).unwrap(),
            "there is something to do, although no turn is open"
        );
        if killed {
            rig.gate.gate.calls().expire_staged(&main()).await.unwrap();
            assert!(rig.worker.left_over(&main()).unwrap());
        }
        assert_eq!(rig.run().await, Ran::Idle);
        assert!(!rig.worker.left_over(&main()).unwrap());
        assert_eq!(rig.run().await, Ran::Idle);
        let expired =
            "Expired: Add b to the cart. Nobody confirmed it in time, and nothing was done.";
        assert_eq!((rig.notices().len(), rig.last_notice().as_str()), (2, expired));
        assert!(rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap().is_empty());
        rig.turn("well").await;
        assert!(rig.last_asked()[0].starts_with("[claw: nobody confirmed a staged action in time"));
        assert!(rig.gate.effects("shop").is_empty());
        rig.is_whole();
    }
}

#[tokio::test]
async fn a_process_that_ends_between_tap_and_run_leaves_it_to_the_next_one() {
    let rig = staged(json!([item("a")])).await;
    rig.decide(&rig.open("Add a"), allow(Term::Once)).await;
    rig.worker.ending().begin();
    assert_eq!(rig.run().await, Ran::Interrupted);
    assert_eq!(rig.kinds().last().unwrap(), "action.answered");
    let work = rig.gate.store.read(|tx| tx.sessions_with_work("main", 0)).unwrap();
    assert_eq!(work, [main()], "the row of its answer still waits");
    let next = worker(&rig.gate, rig.model.clone(), BOUNDS);
    assert!(next.left_over(&main()).unwrap());
    assert_eq!(next.run(&main(), &rig.gate.live()).await.unwrap(), Ran::Idle);
    assert_eq!(rig.gate.effects("shop"), ["confirm a"]);
    assert!(!next.left_over(&main()).unwrap());
    rig.is_whole();
}

#[tokio::test]
async fn an_action_that_was_started_and_has_no_end_is_unknown_and_not_run_again() {
    let rig = staged(json!([item("a")])).await;
    rig.decide(&rig.open("Add a"), allow(Term::Once)).await;
    let id = rig.questions_asked().remove(0);
    let call = rig.gate.gate.calls().call_of(&id).unwrap().unwrap();
    rig.gate
        .store
        .write(move |tx| tx.move_call(&call, CallState::Approved, CallState::Started))
        .await
        .unwrap();
    assert_eq!(rig.run().await, Ran::Idle);
    assert!(matches!(&rig.results()[..], [Outcome::Unknown { .. }]));
    assert!(
        rig.last_notice().starts_with("Interrupted: Add a to the cart. It may or may not have run")
    );
    assert!(rig.gate.effects("shop").is_empty());
    rig.is_whole();
}

#[tokio::test]
async fn a_stop_or_a_new_conversation_in_hand_is_not_overtaken() {
    for order in [InboundBody::Stop, InboundBody::Clear] {
        let rig = staged(json!([item("a"), item("b")])).await;
        rig.decide(&rig.open("Add a"), allow(Term::Once)).await;
        rig.submit(order.clone()).await;
        assert_eq!(rig.run().await, Ran::Idle);
        assert!(rig.gate.effects("shop").is_empty());
        let reason = "Not run: Add a to the cart. The owner has stopped it before it ran";
        assert!(rig.notices().iter().any(|text| text == reason), "{:?}", rig.notices());
        // What nobody has answered stays open, also over `/new`.
        rig.decide(&rig.open("Add b"), allow(Term::Once)).await;
        assert_eq!(rig.run().await, Ran::Idle);
        assert_eq!(rig.gate.effects("shop"), ["confirm b"]);
        rig.is_whole();
    }
}

#[tokio::test]
async fn what_is_confirmed_behind_new_waits_for_the_end_of_the_turn_and_is_done() {
    let script = vec![
        proposing(json!([item("a")])),
        Script::text("look"),
        Script::tool_use("legacy__echo", json!({"text": "one"})),
    ];
    let rig = Rig::on(GateRig::new(&["shop", "legacy"], POLICY), script);
    assert_eq!(rig.turn("go").await, Ran::Idle);
    assert_eq!(rig.turn("and now").await, Ran::Parked);
    let asked = rig.open("Add a");
    rig.submit(InboundBody::Clear).await;
    rig.decide(&asked, allow(Term::Once)).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert_eq!(rig.gate.effects("shop"), ["confirm a"]);
    assert!(rig.gate.effects("legacy").is_empty());
    assert!(!rig.notices().iter().any(|text| text.starts_with("Not run")), "{:?}", rig.notices());
    let kinds = rig.kinds();
    let at = |kind: &str| kinds.iter().position(|it| it == kind).unwrap();
    assert!(at("session.cleared") < at("action.answered"), "{kinds:?}");
    rig.is_whole();
}

#[tokio::test]
async fn a_tap_is_carried_out_while_a_turn_waits_for_another_answer() {
    let script = vec![
        proposing(json!([item("a")])),
        Script::text("look"),
        Script::tool_use("legacy__echo", json!({"text": "one"})),
        Script::text("done"),
    ];
    let rig = Rig::on(GateRig::new(&["shop", "legacy"], POLICY), script);
    assert_eq!(rig.turn("go").await, Ran::Idle);
    assert_eq!(rig.turn("and now").await, Ran::Parked);
    rig.decide(&rig.open("Add a"), allow(Term::Once)).await;
    assert_eq!(rig.run().await, Ran::Parked, "the turn still waits");
    assert_eq!(
        (rig.gate.effects("shop"), rig.gate.effects("legacy")),
        (vec!["confirm a".to_owned()], vec![])
    );
    rig.allow().await;
    assert_eq!(rig.run().await, Ran::Idle);
    let told = rig.last_asked();
    assert!(
        told[0] == "result one" && told[1].starts_with("[claw: the owner confirmed"),
        "{told:?}"
    );
    rig.is_whole();
}

#[tokio::test]
async fn rules_and_tools_that_have_changed_since_are_not_asked_about_again_but_told() {
    let denying = "[[rule]]\ntool = \"confirm\"\ndecision = \"deny\"\nwhy = \"not today\"\n";
    let other_rule = format!(
        "{POLICY}\n[[rule]]\ntool = \"something_else\"\ndecision = \"ask\"\nwhy = \"it is new\"\n"
    );
    let changed = "The rules of policy.toml have changed";
    for (policy, says) in
        [(denying, "Not today (the rule policy.toml:1)"), (&other_rule, changed), (POLICY, "")]
    {
        let rig = staged(json!([item("a")])).await;
        let asked = rig.open("Add a");
        rig.decide(&asked, allow(Term::Once)).await;
        let other = rig.gate.again(policy);
        let next = worker(&other, rig.model.clone(), BOUNDS);
        assert_eq!(next.run(&main(), &rig.gate.live()).await.unwrap(), Ran::Idle);
        assert_eq!(rig.gate.effects("shop").is_empty(), !says.is_empty());
        assert!(rig.last_notice().contains(says), "{}", rig.last_notice());
        assert!(rig.questions().is_empty());
        rig.is_whole();
    }
    // The tool has changed: withheld, although it was confirmed.
    let rig = staged(json!([item("a")])).await;
    rig.turn("well").await;
    rig.model.push(Script::tool_use("shop__change", json!({})));
    rig.model.push(Script::text("changed"));
    rig.turn("change").await;
    rig.decide(&rig.open("Add a"), allow(Term::Once)).await;
    rig.run().await;
    assert!(rig.last_notice().contains("withheld"), "{}", rig.last_notice());
    assert!(rig.gate.effects("shop").is_empty());
    rig.is_whole();
}

#[tokio::test]
async fn a_turn_stages_only_so_many() {
    let gate = GateRig::with(&["shop"], POLICY, |settings| settings.limits.staged_actions_max = 3);
    let two = || proposing(json!([item("a"), item("b")]));
    let rig = Rig::on(gate, [two(), two(), Script::text("look")]);
    rig.turn("go").await;
    assert!(
        rig.last_asked()[0]
            .contains("this turn has staged 2, and may stage 3 (limits.staged_actions_max)")
    );
    assert_eq!(rig.questions().len(), 3, "two actions, and all of them");
    rig.is_whole();
}

#[tokio::test]
async fn an_undo_forgets_the_exchange_and_not_what_was_done() {
    let rig = staged(json!([item("a")])).await;
    rig.decide(&rig.open("Add a"), allow(Term::Once)).await;
    rig.submit(InboundBody::Undo).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert_eq!(rig.gate.effects("shop"), ["confirm a"]);
    rig.turn("what now").await;
    let told = rig.last_asked();
    assert!(told.len() == 2 && told[0].starts_with("[claw: the owner confirmed"), "{told:?}");
    rig.is_whole();
}
