//! One call through the gate and the hub, against the same call by bare rmcp, to the same server,
//! in one run. The commit that a call waits for is counted apart, by the store, in the very same
//! calls. And the same call of an MCP client, whose row, end and budget are on the disk, too.

use std::time::{Duration, Instant};

use claw_core::clients::ClientCallState;
use claw_core::domain::{CallId, ClientName, Origin, Outcome, SessionId, ToolCall, unseen};
use claw_core::gate::CallContext;
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::home::{Home, runtime};
use crate::{Row, median};

const CALLS: usize = 500;
const WARM_UP: usize = 20;

pub fn rows() -> Vec<Row> {
    runtime().block_on(async {
        let home = Home::new();
        let workspace = home.dir.path().join("work");
        std::fs::create_dir_all(&workspace).unwrap();
        // In this process `claw` would mean the benchmark, so the server is named by its path, and
        // classed by hand.
        let server =
            json!({"command": env!("CARGO_BIN_EXE_claw"), "args": ["server", "filesystem", "--workspace", workspace]});
        home.write("mcp.json", &json!({"mcpServers": {"filesystem": server}}).to_string());
        home.write("policy.toml", "[classes]\n\"filesystem/*\" = \"safe\"\n");
        home.write("claw.toml", "[serve]\ncalls_day_max = 1000000\n");
        let app = home.app();
        std::fs::write(workspace.join("a.txt"), "a\n").unwrap();
        let bare = bare(&workspace).await;
        let (gated, commits) = gated(&app).await;
        let (of_client, its_commits) = of_client(&app).await;
        app.close().await;
        let own = gated - commits - bare;
        let over = of_client - its_commits - bare;
        vec![
            Row::new("a call by bare rmcp", format!("{bare:.0} µs"), "`filesystem/read_file`, one small file"),
            Row::new("the same through gate and hub", format!("{gated:.0} µs"), "audit and commits included"),
            Row::new("its commit alone", format!("{commits:.0} µs"), "counted by the store in the same calls"),
            Row::new(
                "gate and hub over bare rmcp",
                format!("{:+.0} %", own / bare * 100.0),
                format!("{own:+.0} µs apart from the commit"),
            ),
            Row::new(
                "the same call of an MCP client",
                format!("{of_client:.0} µs"),
                format!("{over:+.0} µs over bare rmcp, apart from {its_commits:.0} µs of commits"),
            ),
        ]
    })
}

#[expect(clippy::disallowed_methods, reason = "bare rmcp is what the gate is compared with")]
async fn bare(workspace: &std::path::Path) -> f64 {
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_claw"))
        .args(["server", "filesystem", "--workspace"])
        .arg(workspace)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let transport = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = ().serve(transport).await.unwrap();
    let mut times = Vec::new();
    for turn in 0..CALLS + WARM_UP {
        let arguments = json!({"path": "a.txt"}).as_object().cloned().unwrap();
        let began = Instant::now();
        let result = client
            .call_tool(CallToolRequestParams::new("read_file").with_arguments(arguments))
            .await
            .unwrap();
        assert_ne!(result.is_error, Some(true));
        if turn >= WARM_UP {
            times.push(micros(began));
        }
    }
    median(times)
}

/// The median of a call, and of what the store's commits took of it.
async fn gated(app: &claw_core::app::App) -> (f64, f64) {
    let (mut times, mut commits) = (Vec::new(), Vec::new());
    for number in 0..CALLS + WARM_UP {
        let call = ToolCall {
            id: id(number as u64 + 1),
            server: "filesystem".into(),
            tool: "read_file".into(),
            arguments: json!({"path": "a.txt"}),
            origin: Origin::Owner,
            principal: "bench".into(),
        };
        let context = CallContext {
            asks: None,
            live: unseen(),
            cancel: CancellationToken::new(),
            leaves: CancellationToken::new(),
            deadline: tokio::time::Instant::now() + Duration::from_secs(60),
            turn: None,
            heard_by_others: false,
        };
        let before = app.store.commits_spent().1;
        let began = Instant::now();
        let outcome = app.gate.call(call, context).await;
        let took = micros(began);
        let committed = app.store.commits_spent().1 - before;
        assert!(matches!(outcome, Outcome::Ended { .. }), "{outcome:?}");
        if number >= WARM_UP {
            times.push(took);
            commits.push(committed as f64);
        }
    }
    (median(times), median(commits))
}

/// The same of a client, from its request to its end.
async fn of_client(app: &claw_core::app::App) -> (f64, f64) {
    let name = ClientName::new("bench").unwrap();
    let (mut times, mut commits) = (Vec::new(), Vec::new());
    for number in 0..CALLS + WARM_UP {
        let before = app.store.commits_spent().1;
        let began = Instant::now();
        let arguments = json!({"path": "a.txt"});
        let call =
            app.clients.begin_call(&name, "filesystem__read_file", arguments, unseen()).await;
        let end = app.clients.end_of(&call.unwrap(), Duration::from_secs(60)).await.unwrap();
        let took = micros(began);
        let committed = app.store.commits_spent().1 - before;
        assert!(matches!(end, ClientCallState::Ended { .. }), "{end:?}");
        if number >= WARM_UP {
            times.push(took);
            commits.push(committed as f64);
        }
    }
    (median(times), median(commits))
}

fn id(reply_seq: u64) -> CallId {
    CallId::Reply { session: SessionId::new("bench").unwrap(), reply_seq, block: 0 }
}

fn micros(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000_000.0
}
