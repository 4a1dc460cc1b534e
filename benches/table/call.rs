//! One call through the gate and the hub, against the same call by bare rmcp, to the same server, in one run. The commits
//! are counted apart: the same rows are written again without a call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use claw::app::unseen;
use claw::domain::{CallId, CallState, Origin, Outcome, SessionId, ToolCall};
use claw::gate::CallContext;
use claw::store::{AuditEntry, CallRow, Store, now_ms};
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
        // In this process `claw` would mean the benchmark, so the server is named by its path, and classed by hand.
        let server =
            json!({"command": env!("CARGO_BIN_EXE_claw"), "args": ["server", "filesystem", "--workspace", workspace]});
        home.write("mcp.json", &json!({"mcpServers": {"filesystem": server}}).to_string());
        home.write("policy.toml", "[classes]\n\"filesystem/*\" = \"safe\"\n");
        let app = home.app();
        std::fs::write(workspace.join("a.txt"), "a\n").unwrap();
        let bare = bare(&workspace).await;
        let gated = gated(&app).await;
        let commits = commits(&app.store).await;
        app.close().await;
        let own = gated - commits - bare;
        vec![
            Row::new("a call by bare rmcp", format!("{bare:.0} µs"), "`filesystem/read_file`, one small file"),
            Row::new("the same through gate and hub", format!("{gated:.0} µs"), "audit and commits included"),
            Row::new("its commits alone", format!("{commits:.0} µs"), "the same rows, no call"),
            Row::new(
                "gate and hub over bare rmcp",
                format!("{:+.0} %", own / bare * 100.0),
                format!("{own:+.0} µs apart from commits"),
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
        let result = client.call_tool(CallToolRequestParams::new("read_file").with_arguments(arguments)).await.unwrap();
        assert_ne!(result.is_error, Some(true));
        if turn >= WARM_UP {
            times.push(micros(began));
        }
    }
    median(times)
}

async fn gated(app: &claw::app::App) -> f64 {
    let mut times = Vec::new();
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
            live: unseen(),
            cancel: CancellationToken::new(),
            deadline: tokio::time::Instant::now() + Duration::from_secs(60),
        };
        let began = Instant::now();
        let outcome = app.gate.call(call, context).await;
        let took = micros(began);
        assert!(matches!(outcome, Outcome::Ended { .. }), "{outcome:?}");
        if number >= WARM_UP {
            times.push(took);
        }
    }
    median(times)
}

/// What one allowed call waits for: one commit with its row, three audit rows and its move to started; the rows of its end
/// go with the next commit.
async fn commits(store: &Store) -> f64 {
    let mut times = Vec::new();
    for number in 0..CALLS + WARM_UP {
        let row = Arc::new(row(number as u64 + 1_000_000));
        let (received, started) = (row.clone(), row.clone());
        let began = Instant::now();
        store.write_soon(move |tx| {
            tx.put_call(&received)?;
            tx.audit(&entry("received"))
        });
        store
            .write(move |tx| {
                tx.put_call(&CallRow { state: CallState::Approved, ..(*started).clone() })?;
                tx.move_call(&started.id, CallState::Approved, CallState::Started)?;
                tx.audit(&entry("verdict"))?;
                tx.audit(&entry("started"))
            })
            .await
            .unwrap();
        let took = micros(began);
        let outcome = Outcome::Denied { reason: "bench".into() };
        store.write_soon(move |tx| {
            tx.end_call(&row.id, &outcome)?;
            tx.audit(&entry("ended"))
        });
        if number >= WARM_UP {
            times.push(took);
        }
    }
    median(times)
}

fn entry(kind: &'static str) -> AuditEntry {
    AuditEntry { kind, call: "bench:1:0".into(), body: json!({"server": "filesystem", "arguments": {"path": "a.txt"}}) }
}

fn id(reply_seq: u64) -> CallId {
    CallId { session: SessionId::new("bench").unwrap(), reply_seq, block: 0 }
}

fn row(number: u64) -> CallRow {
    CallRow {
        id: id(number),
        server: "filesystem".into(),
        tool: "read_file".into(),
        arguments: r#"{"path":"a.txt"}"#.into(),
        origin: "owner".into(),
        principal: "bench".into(),
        state: CallState::Received,
        pin: "0".repeat(64),
        cwd: "/".into(),
        env_names: String::new(),
        policy_version: "0".repeat(64),
        digest: "0".repeat(64),
        rule: "class.safe".into(),
        outcome: None,
        received_ms: now_ms(),
        started_ms: None,
        ended_ms: None,
    }
}

fn micros(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000_000.0
}
