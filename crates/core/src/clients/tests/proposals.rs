//! What a client's call proposes waits for its owner, once, within a bound, and under its name.

use serde_json::{Value, json};

use super::rig::{Rig, SOON, name};
use crate::clients::ClientCallState;
use crate::domain::{Address, CallId, CallState, Origin, Outcome, Staged, ToolCall, unseen};
use crate::gate::tests::rig::{Rig as GateRig, allow};
use crate::store::ApprovalRow;

const POLICY: &str = "[classes]\n\"shop/propose\" = \"safe\"\n\"shop/like\" = \"safe\"\n\"shop/change\" = \"safe\"\n";

fn rig() -> Rig {
    Rig::on(GateRig::new(&["shop"], POLICY))
}

fn items(count: usize) -> Value {
    let item =
        |n| json!({"tool": "confirm", "arguments": {"text": format!("a{n}")}, "summary": "Add"});
    json!({"actions": (0..count).map(item).collect::<Vec<_>>()})
}

async fn proposes(rig: &Rig, client: &str, count: usize) -> (bool, String) {
    let client = name(client);
    let begun = rig.clients.begin_call(&client, "shop__propose", items(count), unseen()).await;
    let call = begun.unwrap_or_else(|refused| panic!("{refused}"));
    match rig.clients.end_of(&call, SOON).await.unwrap() {
        ClientCallState::Ended { outcome: Outcome::Ended { output }, .. } => {
            (output.is_error, output.text)
        }
        other => panic!("{other:?}"),
    }
}

/// The questions that wait about what a client has proposed.
async fn open(rig: &Rig, client: &str) -> Vec<ApprovalRow> {
    rig.gate.store.write(|_| Ok(())).await.unwrap();
    let session = name(client).staged_session().unwrap();
    let mut open = rig.gate.store.read(|tx| tx.open_approvals(Some(&session))).unwrap();
    open.retain(|row| matches!(row.question.staged, Some(Staged::Item { .. })));
    open
}

#[tokio::test]
async fn what_a_clients_call_proposes_is_staged_with_its_end_and_wakes_its_session() {
    let rig = rig();
    assert!(!proposes(&rig, "laptop", 1).await.0);
    let asked = open(&rig, "laptop").await;
    assert_eq!(asked.len(), 1, "{asked:?}");
    let row = rig.gate.row(&asked[0].call).await;
    assert_eq!((row.origin, row.principal.as_str()), (Origin::Button, "mcp:laptop"));
    assert_eq!(row.state, CallState::Waiting);
    assert!(rig.clients.sessions(&name("laptop")).unwrap().is_empty(), "no session of its own");
    rig.gate
        .gate
        .calls()
        .decide(&asked[0].id, &allow(crate::domain::Term::Once), crate::gate::tests::rig::OWNER)
        .await
        .unwrap();
    let work = rig.gate.store.read(|tx| tx.sessions_with_work("mcp.", i64::MAX)).unwrap();
    assert_eq!(work, [name("laptop").staged_session().unwrap()]);
    assert!(rig.clients.sessions(&name("laptop")).unwrap().is_empty(), "no session of its own");
    rig.gate.verify();
}

#[tokio::test]
async fn so_many_proposals_of_a_client_wait_and_the_next_is_told_why_it_does_not() {
    let rig = rig();
    for _ in 0..5 {
        assert!(!proposes(&rig, "laptop", 2).await.0);
    }
    let (failed, words) = proposes(&rig, "laptop", 1).await;
    let why = "10 of this client wait for its owner, and 10 may (limits.staged_actions_max)";
    assert!(failed && words.contains(why), "{words}");
    assert_eq!(open(&rig, "laptop").await.len(), 10);
    // Another client has a bound of its own.
    assert!(!proposes(&rig, "phone", 10).await.0);
}

#[tokio::test]
async fn what_a_killed_process_has_not_staged_is_staged_once_by_the_next() {
    let rig = rig();
    let dead = Address("clients/dead".into());
    let number = rig
        .gate
        .store
        .write(move |tx| {
            tx.add_client(&name("laptop"))?;
            tx.add_client_call(&name("laptop"), ("digest", None), (&dead, &dead))
        })
        .await
        .unwrap();
    let call = ToolCall {
        id: CallId::Client { principal: name("laptop").principal(), number },
        server: "shop".into(),
        tool: "propose".into(),
        arguments: items(2),
        origin: Origin::McpClient,
        principal: name("laptop").principal(),
    };
    // The end of the call is on the disk, and the process dies.
    let outcome = rig.gate.call(call).await;
    assert!(matches!(outcome, Outcome::Ended { .. }), "{outcome:?}");
    assert_eq!(open(&rig, "laptop").await.len(), 0);
    rig.clients.shared.take_over().await.unwrap();
    rig.clients.settled().await;
    assert_eq!(open(&rig, "laptop").await.len(), 2);
    rig.clients.shared.take_over().await.unwrap();
    rig.clients.settled().await;
    assert_eq!(open(&rig, "laptop").await.len(), 2);
    rig.gate.verify();
}
