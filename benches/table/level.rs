//! What a level costs: one command at each, against the same one in a box without namespaces, which
//! is what all commands had before there were levels. All take turns in one run.
//! `CLAW_BENCH_PROGRAM` names another program than the one that was built with this.

use std::time::Instant;

use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

use crate::home::runtime;
use crate::{Row, median};

const RUNS: usize = 60;
const WARM_UP: usize = 3;

type Client = RunningService<RoleClient, ()>;

pub fn rows() -> Vec<Row> {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("work");
        std::fs::create_dir_all(&workspace).unwrap();
        let (bare, _one) = server(&workspace, &["--without-namespaces"]).await;
        let (whole, _other) = server(&workspace, &[]).await;
        let mut times: [Vec<f64>; 5] = Default::default();
        let mut said = String::new();
        for turn in 0..RUNS + WARM_UP {
            // A host that is named takes the proxy along.
            let hosts = json!({"needs": "network", "hosts": ["example.com"]});
            let calls = [
                (&bare, json!({"needs": "network"})),
                (&whole, json!({"needs": "read"})),
                (&whole, json!({"needs": "write"})),
                (&whole, json!({"needs": "network"})),
                (&whole, hosts),
            ];
            for ((client, arguments), times) in calls.into_iter().zip(&mut times) {
                let (took, label) = run(client, arguments).await;
                said = label.unwrap_or(said);
                if turn >= WARM_UP {
                    times.push(took);
                }
            }
        }
        let [bare, read, write, network, hosts] = times.map(median);
        let over = |what: &str, ms: f64| {
            let note = format!("{:+.1} ms, {:.2} times", ms - bare, ms / bare);
            Row::new(format!("a command at level {what}"), format!("{ms:.1} ms"), note)
        };
        let note = format!("`{COMMAND}` by bare rmcp, without namespaces; below with `{said}`");
        vec![
            Row::new("a command in the box as it was before levels", format!("{bare:.1} ms"), note),
            over("`read`", read),
            over("`write`", write),
            over("`network`", network),
            over("`network` with a host", hosts),
        ]
    })
}

/// A server, and its process, which ends with it.
#[expect(clippy::disallowed_methods, reason = "the server is measured without claw around it")]
async fn server(workspace: &std::path::Path, more: &[&str]) -> (Client, tokio::process::Child) {
    let program = std::env::var("CLAW_BENCH_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_claw").to_owned());
    let mut child = tokio::process::Command::new(program)
        .args(["server", "bash", "--workspace"])
        .arg(workspace)
        .args(more)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let transport = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    (().serve(transport).await.unwrap(), child)
}

/// Most commands print, and the end of its progress is part of a command's time.
const COMMAND: &str = "echo printed";

/// How long one command takes, in ms, and the label of its box. A system that can keep nobody to
/// hosts refuses these at once. rmcp gives every call a token for its progress.
#[expect(clippy::disallowed_methods, reason = "there is no gate around what is measured")]
async fn run(client: &Client, arguments: Value) -> (f64, Option<String>) {
    let mut arguments = arguments.as_object().cloned().unwrap();
    arguments.insert("command".into(), json!(COMMAND));
    let began = Instant::now();
    let call = CallToolRequestParams::new("run").with_arguments(arguments);
    let result = client.call_tool(call).await.unwrap();
    let took = began.elapsed().as_secs_f64() * 1_000.0;
    let label = result.structured_content.and_then(|facts| Some(facts["box"].as_str()?.to_owned()));
    (took, label)
}
