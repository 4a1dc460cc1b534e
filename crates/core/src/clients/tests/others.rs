//! What a client may not: another's calls, its owner's leave, its owner's answers, more than its
//! budget.

use serde_json::json;

use super::rig::{Rig, name};
use crate::calls::DecideError;
use crate::domain::{Answer, Outcome, Scope, Term, unseen};
use crate::gate::tests::rig::{allow, echo};
use crate::store::DecideRefused;

const ALWAYS: Answer = Answer::Allow { term: Term::Always, scope: Scope::Exact };

#[tokio::test]
async fn no_client_gets_the_call_of_another_one_however_alike_their_names_are() {
    let rig = Rig::new("");
    let question = rig.waits("laptop", "x").await;
    rig.allows(&question).await;
    rig.did(&["x"]).await;
    for other in ["laptop-2", "lapto", "laptop1", "x"] {
        let asked = rig.waits(other, "x").await;
        assert_ne!(asked.id, question.id, "{other}");
    }
    assert_eq!(rig.gets("laptop", "x").await, "x");
    assert_eq!(rig.effects(), ["x"]);
}

#[tokio::test]
async fn a_question_names_its_client_and_always_is_for_that_one_until_it_is_revoked() {
    let rig = Rig::new("");
    // What an owner has allowed a chat of theirs says nothing of a client.
    let own = rig.gate.parked(echo(1, "x")).await;
    rig.gate
        .gate
        .calls()
        .decide(&own, &allow(Term::Always), crate::gate::tests::rig::OWNER)
        .await
        .unwrap();
    let asked = rig.waits("laptop", "x").await;
    let question = rig.gate.gate.calls().question(&asked.id).unwrap().unwrap();
    let effect = question.effect.unwrap();
    assert_eq!(effect.asker.as_deref(), Some("MCP client “laptop” asks"));
    let offered = question.choices.iter().find(|choice| Some(&choice.key) == effect.offer.as_ref());
    assert_eq!(offered.map(|choice| &choice.answer), Some(&ALWAYS));
    rig.answers(&asked, &ALWAYS).await;
    assert_eq!(rig.gets("laptop", "x").await, "x");
    assert_eq!(rig.gets("laptop", "x").await, "x", "without a question");
    rig.waits("phone", "x").await;
    let grants = rig.gate.store.read(|tx| tx.grants()).unwrap();
    let of_client = grants.iter().find(|grant| grant.principal == "mcp:laptop").unwrap();
    assert!(of_client.says.starts_with("MCP client laptop: legacy/echo"), "{}", of_client.says);
    let revoked = rig.clients.revoke(&name("laptop"), "tests").await.unwrap().unwrap();
    assert_eq!((revoked.token, revoked.grants, revoked.questions), (false, 1, 0));
    rig.clients.add(&name("laptop"), "tests").await.unwrap();
    rig.waits("laptop", "x").await;
    rig.gate.verify();
}

#[tokio::test]
async fn no_client_answers_its_own_question() {
    let rig = Rig::new("");
    let asked = rig.waits("laptop", "x").await;
    for by in ["mcp:laptop", "laptop", "mcp", ""] {
        let refused = rig.gate.gate.calls().decide(&asked.id, &allow(Term::Once), by).await;
        let is_not_theirs =
            matches!(refused, Err(DecideError::Refused(DecideRefused::NotYours { .. })));
        assert!(is_not_theirs, "{by}: {refused:?}");
    }
    assert!(rig.effects().is_empty());
}

#[tokio::test]
async fn a_day_has_so_many_calls_and_the_owner_hears_once_that_they_are_used_up() {
    let rig = Rig::new("");
    rig.set(|serve| serve.calls_day_max = 2);
    rig.waits("laptop", "a").await;
    rig.waits("laptop", "b").await;
    let (session, to) = (
        crate::domain::SessionId::new("main").unwrap(),
        crate::domain::Address("telegram/7/5".into()),
    );
    assert!(rig.clients.tell_owner(&session, &to).await.unwrap());
    let words = rig.refused("laptop", "c").await;
    assert!(words.contains("2 calls (serve.calls_day_max)"), "{words}");
    assert!(rig.clients.may_ask(&name("laptop")).await.is_err());
    // The same call again is none more, and others have a day of their own.
    rig.waits("laptop", "a").await;
    rig.waits("phone", "c").await;
    assert!(!rig.clients.tell_owner(&session, &to).await.unwrap(), "once");
    let told = rig.gate.store.read(|tx| tx.queued_outbound(&to)).unwrap();
    assert_eq!(told.len(), 1);
    let budget = rig.clients.budget(&name("laptop")).unwrap();
    assert_eq!((budget.calls_today, budget.calls_day_max), (2, 2));
    assert_eq!(rig.clients.budget(&name("nobody")).unwrap().calls_today, 0);
}

#[tokio::test]
async fn a_flood_ends_at_the_calls_that_have_no_end() {
    let rig = Rig::new("");
    rig.set(|serve| serve.calls_open_max = 3);
    for text in ["a", "b", "c"] {
        rig.waits("laptop", text).await;
    }
    for text in ["d", "e"] {
        let words = rig.refused("laptop", text).await;
        assert!(words.contains("3 calls of the client `laptop`"), "{words}");
    }
    let asked = rig.waits("laptop", "a").await;
    rig.answers(&asked, &Answer::Deny { word: None }).await;
    let call = rig.begin("laptop", "a").await;
    assert!(matches!(rig.end(&call).await.0, Outcome::Denied { .. }));
    rig.waits("laptop", "d").await;
}

#[tokio::test]
async fn a_rule_that_names_a_client_speaks_about_that_one_alone() {
    let rule = "[[rule]]\nserver = \"legacy\"\nclient = \"laptop\"\ndecision = \"allow\"\n\
                why = \"the laptop may\"\nmatch = [{ tool = \"echo\" }]\n\
                not_match = [{ tool = \"echo\", client = \"phone\" }, { tool = \"echo\", origin = \"owner\" }]\n";
    let rig = Rig::new(rule);
    assert_eq!(rig.gets("laptop", "x").await, "x");
    rig.waits("laptop-2", "x").await;
    rig.gate.parked(echo(1, "x")).await;
}

#[tokio::test]
async fn a_secret_in_arguments_is_not_sent_and_not_kept() {
    let rig = Rig::new("");
    let arguments = json!({"text": crate::gate::tests::rig::SECRET});
    let call = rig.clients.begin_call(&name("laptop"), "legacy__echo", arguments, unseen()).await;
    let call = call.unwrap();
    let (outcome, _) = rig.end(&call).await;
    assert!(matches!(outcome, Outcome::Denied { .. }), "{outcome:?}");
    let row = rig.gate.row(&call.id()).await;
    assert_eq!(row.arguments, "{}");
}
