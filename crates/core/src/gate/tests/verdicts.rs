//! What runs and what does not after a kill, a stop or a row that is of another call; and secrets
//! in arguments, whoever sends them.

use serde_json::json;

use super::rig::{ALLOW, OWNER, Rig, SECRET, echo, session, tool};
use crate::domain::{
    Address, Approvers, CallState, DeniedBy, Inbound, InboundBody, Origin, Outcome,
};

#[tokio::test]
async fn an_unknown_server_or_tool_is_a_denial_with_a_reason() {
    let rig = Rig::new(&["legacy"], ALLOW);
    assert!(rig.denied(tool(1, "nothing", json!({}))).await.contains("no tool `nothing`"));
    let mut call = echo(2, "x");
    call.server = "nobody".into();
    assert!(rig.denied(call).await.contains("nobody"));
}

#[tokio::test]
async fn what_our_configuration_calls_idempotent_runs_again() {
    let policy = format!("idempotent = [\"legacy/echo\"]\n{ALLOW}");
    let rig = Rig::new(&["legacy"], &policy);
    let call = echo(1, "hi");
    let row = {
        // Started under the same rules by a process that was killed.
        assert_eq!(rig.ended(echo(9, "pin")).await, "pin");
        let mut row = rig.row(&echo(9, "pin").id).await;
        (row.id, row.arguments) = (call.id.clone(), r#"{"text":"hi"}"#.into());
        (row.state, row.outcome) = (CallState::Started, None);
        row.digest = crate::calls::digest_of(&row, &Approvers::parse(OWNER));
        row
    };
    rig.store.write(move |tx| tx.put_call(&row)).await.unwrap();
    assert_eq!(rig.again(&policy).ended(call).await, "hi");
    assert_eq!(rig.effects("legacy"), ["pin", "hi"]);
}

#[tokio::test]
async fn a_stop_that_waits_in_the_inbox_keeps_a_call_from_starting() {
    let rig = Rig::new(&["legacy"], ALLOW);
    let stop = |name: &str| Inbound {
        session: session(name),
        from: Address("console/1".into()),
        principal: OWNER.into(),
        origin: Origin::Owner,
        body: InboundBody::Stop,
    };
    let (mine, other) = (stop("main"), stop("other"));
    rig.store.write(move |tx| tx.add_inbound(&other, 9)).await.unwrap();
    assert_eq!(rig.ended(echo(1, "hi")).await, "hi", "another session's stop is none of ours");
    rig.store.write(move |tx| tx.add_inbound(&mine, 9)).await.unwrap();
    assert!(rig.denied(echo(2, "no")).await.contains("stopped the turn"));
    assert_eq!(rig.effects("legacy"), ["hi"]);
}

#[tokio::test]
async fn arguments_with_a_secret_are_denied_and_never_stored() {
    let rig = Rig::new(&["legacy"], ALLOW);
    let reason = rig.denied(echo(1, &format!("the key is {SECRET}"))).await;
    assert!(reason.contains("OWN") && !reason.contains(SECRET), "{reason}");
    assert!(rig.denied(echo(2, "[redacted:OWN]")).await.contains("mark"));
    // A key is a place to hide, too.
    rig.denied(tool(3, "echo", json!({SECRET: 1}))).await;
    rig.store.write(|_| Ok(())).await.unwrap();
    for file in ["claw.db", "claw.db-wal"] {
        let bytes = std::fs::read(rig.home().join(file)).unwrap_or_default();
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{file}");
    }
    assert!(rig.effects("legacy").is_empty());
}

/// A reply that was lost on its way to the disk while its call was not: the next reply has the same
/// number.
#[tokio::test]
async fn the_outcome_of_one_call_is_no_answer_to_another_one() {
    let rig = Rig::new(&["legacy"], ALLOW);
    assert_eq!(rig.ended(echo(1, "first")).await, "first");
    assert!(rig.denied(echo(1, "second")).await.contains("another call"));
    let asking = rig.again("");
    asking.parked(echo(2, "shown")).await;
    let allowing = rig.again(ALLOW);
    assert_eq!(
        allowing.ended(echo(2, "rerun")).await,
        "rerun",
        "it is judged for what it is, and that is what runs"
    );
    assert_eq!(rig.effects("legacy"), ["first", "rerun"]);
}

/// A kill between the question and its place in the log: the call is judged again, and this time it
/// is denied.
#[tokio::test]
async fn the_question_of_a_call_that_is_denied_after_all_is_closed() {
    let rig = Rig::new(&["legacy"], "");
    let waits = echo(1, "a");
    let asked = rig.parked(waits.clone()).await;
    let strict = rig.again(&ALLOW.replace("allow", "deny"));
    strict.denied(waits).await;
    let late = strict
        .gate
        .calls()
        .decide(&asked, &super::rig::allow(crate::domain::Term::Once), OWNER)
        .await;
    assert!(late.unwrap_err().to_string().contains("superseded"), "its question is closed");
    rig.verify();
}

#[tokio::test]
async fn a_call_whose_turn_ends_gets_the_end_that_it_has() {
    let rig = Rig::new(&["legacy"], "");
    let waits = echo(1, "a");
    let asked = rig.parked(waits.clone()).await;
    let outcome = rig.gate.abandon(&waits.id, "the turn ended").await.unwrap();
    assert_eq!(outcome, Outcome::denied(DeniedBy::Stop, "the turn ended"));
    let late =
        rig.gate.calls().decide(&asked, &super::rig::allow(crate::domain::Term::Once), OWNER).await;
    assert!(late.unwrap_err().to_string().contains("already answered"), "its question is closed");
    assert_eq!(rig.gate.abandon(&waits.id, "again").await.unwrap(), outcome, "the first end stays");

    let ran = rig.again(ALLOW);
    assert_eq!(ran.ended(echo(2, "b")).await, "b");
    let kept = ran.gate.abandon(&echo(2, "b").id, "no").await.unwrap();
    assert!(matches!(kept, Outcome::Ended { output } if output.text == "b"));
    let never = ran.gate.abandon(&echo(3, "c").id, "never received").await.unwrap();
    assert!(matches!(never, Outcome::Denied { .. }));
    rig.verify();
}

#[tokio::test]
async fn a_call_whose_rows_cannot_be_read_is_denied_as_a_failure_and_does_not_run() {
    let rig = Rig::new(&["legacy"], "");
    let ids = [(1, "UPDATE approvals SET question = '{'"), (2, "UPDATE calls SET state = 'none'")];
    for (n, breaks) in ids {
        rig.parked(echo(n, "x")).await;
        let rows = rusqlite::Connection::open(rig.home().join("claw.db")).unwrap();
        rows.execute(breaks, []).unwrap();
        match rig.call(echo(n, "x")).await {
            Outcome::Denied { by: Some(DeniedBy::Failure), reason } => {
                assert!(reason.starts_with("the store cannot be used: "), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(rig.effects("legacy"), [""; 0]);
}
