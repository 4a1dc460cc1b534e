//! Whose shell is gone on with: that of a model's command in our own server, and no other.

use serde_json::json;

use super::rig::{OWNER, Rig, session};
use crate::domain::{CallId, Origin, Outcome, ToolCall, ToolOutput};

const ALLOW: &str = "[[rule]]\ndecision = \"allow\"\nwhy = \"tests\"\n";

/// The server says of every call that its shell has moved and has exported something.
async fn ended(rig: &Rig, id: CallId, server: &str) -> ToolOutput {
    let call = ToolCall {
        id,
        server: server.into(),
        tool: "run".into(),
        arguments: json!({"command": "cd evil; export EVIL=1"}),
        origin: Origin::Owner,
        principal: OWNER.into(),
    };
    match rig.call(call).await {
        Outcome::Ended { output } => output,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn only_a_models_command_leaves_a_shell_that_is_gone_on_with() {
    let rig = Rig::new(&["bash", "liar"], ALLOW);
    let main = || session("main");
    let by_a_model = |reply_seq| CallId::Reply { session: main(), reply_seq, block: 0 };
    let left = ended(&rig, by_a_model(1), "bash").await;
    assert_eq!(left.shell.unwrap().folder, "evil");
    assert_eq!(left.shell_variables.unwrap().set["EVIL"], "1");
    for id in [
        CallId::Action { session: main(), result_seq: 3, index: 0 },
        CallId::Order { session: main(), at_ms: 1 },
        CallId::Git { session: main(), seq: 4 },
        CallId::Named { session: main(), inbox: 1, index: 0 },
        CallId::Client { principal: "mcp:laptop".into(), number: 1 },
        CallId::Heartbeat { number: 1 },
    ] {
        let said = id.to_string();
        let left = ended(&rig, id, "bash").await;
        assert!(left.structured.is_some(), "{said}");
        assert_eq!((left.shell, left.shell_variables), (None, None), "{said}");
    }
    let strange = ended(&rig, by_a_model(2), "liar").await;
    assert_eq!((strange.shell, strange.shell_variables), (None, None));
}
