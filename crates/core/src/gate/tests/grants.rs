//! Standing answers: whose calls they cover, of which origin, and what a revocation leaves.

use super::rig::{OWNER, Rig, allow, echo, session};
use crate::calls::Grounds;
use crate::domain::{Answer, DeniedBy, Origin, Term, ToolCall};

/// A rig in which the owner has given this answer to `echo hi` of the session `main`.
async fn answered(answer: &Answer) -> Rig {
    let rig = Rig::new(&["legacy"], "");
    let asked = rig.parked(echo(1, "hi")).await;
    rig.gate.calls().decide(&asked, answer, OWNER).await.unwrap();
    rig
}

fn changed(n: u64, change: impl FnOnce(&mut ToolCall)) -> ToolCall {
    let mut call = echo(n, "hi");
    change(&mut call);
    call
}

#[tokio::test]
async fn a_grant_does_not_reach_lower_origins_or_other_people() {
    let rig = answered(&allow(Term::Always)).await;
    for (n, origin) in
        [Origin::Button, Origin::Schedule, Origin::McpClient, Origin::SubAgent, Origin::Forwarded]
            .into_iter()
            .enumerate()
    {
        rig.parked(changed(10 + n as u64, |call| call.origin = origin)).await;
    }
    rig.parked(changed(20, |call| call.principal = "telegram:666".into())).await;
    assert_eq!(rig.ended(echo(21, "hi")).await, "hi");
}

#[tokio::test]
async fn a_grant_for_a_low_origin_reaches_the_higher_ones() {
    let rig = Rig::new(&["legacy"], "");
    let asked = rig.parked(changed(1, |call| call.origin = Origin::Schedule)).await;
    rig.gate.calls().decide(&asked, &allow(Term::Always), OWNER).await.unwrap();
    assert_eq!(rig.ended(echo(2, "hi")).await, "hi");
    rig.parked(changed(3, |call| call.origin = Origin::SubAgent)).await;
}

#[tokio::test]
async fn a_revoked_grant_covers_nothing() {
    let rig = answered(&allow(Term::Always)).await;
    let id = rig.store.read(|tx| tx.grants()).unwrap()[0].id;
    rig.store.write(move |tx| tx.revoke_grant(id)).await.unwrap();
    rig.parked(echo(2, "hi")).await;
    assert_eq!(
        rig.ended(echo(1, "hi")).await,
        "hi",
        "the call that was approved itself still runs"
    );
}

/// Between the verdict and the start somebody may take it back.
#[tokio::test]
async fn a_grant_that_ends_before_the_start_starts_nothing() {
    let rig = answered(&allow(Term::Always)).await;
    let id = rig.store.read(|tx| tx.grants()).unwrap()[0].id;
    let call = echo(2, "hi");
    let tool = rig.gate.catalog.tool(&call.server, &call.tool).await.unwrap();
    let judged = Grounds { grant: Some(id), ..Grounds::new("grant", "allowed before") };
    rig.store.write(move |tx| tx.revoke_grant(id)).await.unwrap();
    let denied = rig.gate.calls().begin(&call, None, &tool, &judged).await.unwrap_err();
    assert_eq!(denied.by, DeniedBy::Changed);
    assert!(rig.store.read(|tx| tx.call(&call.id)).unwrap().is_none(), "and nothing is left of it");
}

#[tokio::test]
async fn never_is_never_for_everybody_and_beats_a_rule_that_allows() {
    let rig = answered(&Answer::Never).await;
    let allowing = rig.again(super::rig::ALLOW);
    assert!(
        allowing
            .denied(changed(2, |call| call.id.rename_session(&session("other"))))
            .await
            .contains("never")
    );
    allowing.denied(changed(3, |call| call.principal = "telegram:666".into())).await;
    assert_eq!(allowing.ended(echo(4, "other")).await, "other");
    assert_eq!(rig.effects("legacy"), ["other"]);
}
