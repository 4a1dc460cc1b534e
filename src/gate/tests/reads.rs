//! Commands that only read, on the way from the verdict to the start.

use std::sync::{Arc, LazyLock};

use serde_json::json;

use super::rig::{Rig, tool};
use crate::catalog::Tool;
use crate::domain::ToolCall;
use crate::gate::Pass;

fn run(n: u64, command: &str) -> ToolCall {
    ToolCall { server: "bash".into(), ..tool(n, "run", json!({"command": command})) }
}

#[tokio::test]
async fn what_a_command_reads_is_looked_at_again_just_before_it_starts() {
    let rig = Rig::new(&["bash"], "");
    let input_schema = serde_json::Value::Null;
    let known = Tool {
        pin: "p".into(),
        input_schema,
        destructive_hint: None,
        title: None,
        env_names: String::new(),
        hidden: false,
    };
    let start = async |call: ToolCall| {
        let allowed = rig.gate.reads_only(&call).unwrap().allow(known.clone());
        let grounds = &allowed.grounds;
        assert_eq!(
            (grounds.rule.as_str(), grounds.why.as_str()),
            ("builtin.reads-only", "reads only: cat")
        );
        if call.id.seq() == Some(2) {
            std::os::unix::fs::symlink("/etc/passwd", rig.home().join("a")).unwrap();
        }
        let pass = Pass { call, context: rig.context(), row: None };
        rig.gate.start(&pass, &allowed).await.err().map(|denied| denied.reason)
    };
    assert_eq!(start(run(1, "cat a")).await, None);
    assert!(start(run(2, "cat a")).await.unwrap().contains("has just changed"));
    assert!(rig.gate.reads_only(&run(3, "cat a")).is_none());
}

#[tokio::test]
async fn only_a_plain_call_of_our_shell_reads() {
    let rig = Rig::new(&["bash"], "");
    assert!(rig.gate.reads_only(&run(1, "ls")).is_some());
    for arguments in [
        json!({"command": "ls", "cwd": "..", "timeout_s": 1}),
        json!({"command": "ls", "cwd": 1}),
        json!({"command": "ls", "env": {}}),
        json!({"command": ["ls"]}),
        json!({"cmd": "ls"}),
        json!("ls"),
    ] {
        let call = ToolCall { arguments, ..run(2, "") };
        assert!(rig.gate.reads_only(&call).is_none(), "{}", call.arguments);
    }
    assert!(rig.gate.reads_only(&ToolCall { tool: "start".into(), ..run(3, "ls") }).is_none());
    assert!(rig.gate.reads_only(&ToolCall { server: "legacy".into(), ..run(4, "ls") }).is_none());
    let open = Rig::with(&["bash"], "", |settings| {
        settings.surroundings.confined = Arc::new(LazyLock::new(|| false))
    });
    assert!(open.gate.reads_only(&run(5, "ls")).is_none());
}
