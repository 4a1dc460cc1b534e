//! A gate with its store and its servers in a folder of its own, and an oracle of what really ran.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use claw_test_kit::{example_exe, program_exe};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::calls::{CallLimits, Calls, CallsParts, Surroundings};
use crate::catalog::{Catalog, CatalogSettings};
use crate::domain::{
    Answer, ApprovalId, Approvers, CallId, HeldLevels, Live, LiveSink, Origin, Outcome, Scope,
    SessionId, Term, ToolCall,
};
use crate::gate::{CallContext, Gate, GateParts};
use crate::hub::manifest::{Expansion, parse};
use crate::hub::{Hub, HubSettings};
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::snapshot::Limits;
use crate::store::{Artifacts, CallRow, Store};
use crate::undo::TurnSnapshots;

pub(crate) const OWNER: &str = "console:uid:1";
/// The first words of a command that acts on a named agent.
pub(crate) const WORK: &str = "claw --agent work";
pub(crate) const SECRET: &str = "s3cr3t-value-0001";
/// Every tool of the server may run without a question.
pub(crate) const ALLOW: &str =
    "[[rule]]\nserver = \"legacy\"\ndecision = \"allow\"\nwhy = \"tests\"\n";

pub(crate) struct Rig {
    pub(crate) gate: Arc<Gate>,
    pub(crate) store: Store,
    pub(crate) lives: Arc<Mutex<Vec<Live>>>,
    servers: Vec<String>,
    dir: Arc<TempDir>,
}

/// What starts a server of this name.
fn entry(name: &str, home: &Path) -> Value {
    let stranger = example_exe("hub-stranger");
    match name {
        // `claw server bash` is our own server by its launch command; here the stranger plays it.
        "bash" => json!({"command": "claw", "args": ["server", "bash"]}),
        "asks-modern" | "asks-legacy" => {
            let era = &name["asks-".len()..];
            json!({"command": example_exe("asking-server"), "args": [era, home.join(name)]})
        }
        "filesystem" => {
            let artifacts = home.join("artifacts");
            std::fs::create_dir_all(&artifacts).unwrap();
            let args = json!(["--workspace", home, "--artifacts", artifacts]);
            json!({"command": program_exe("claw-mcp-filesystem"), "args": args})
        }
        _ => json!({"command": stranger, "args": [name, home.join(name)], "env": {"OWN": SECRET}}),
    }
}

/// What may be changed before a gate is built.
pub(crate) struct RigSettings {
    pub(crate) limits: CallLimits,
    pub(crate) catalog: CatalogSettings,
    surroundings: Surroundings,
}

pub(crate) type Change = fn(&mut RigSettings);

fn snapshots_at(home: &Path, store: Store) -> TurnSnapshots {
    let (folder, workspace) = (home.join("snapshots"), home.join("w"));
    TurnSnapshots::new(store, folder, workspace, Limits::default(), WORK.to_owned())
}

impl Rig {
    /// One server a mode of the stranger, named like it.
    pub(crate) fn new(servers: &[&str], policy: &str) -> Self {
        Self::with(servers, policy, |_| {})
    }

    pub(crate) fn with(servers: &[&str], policy: &str, change: Change) -> Self {
        let servers = servers.iter().map(|name| (*name).to_owned()).collect();
        Self::at(Arc::new(TempDir::new().unwrap()), servers, policy, change)
    }

    /// Another process on the same home.
    pub(crate) fn again(&self, policy: &str) -> Self {
        self.again_with(policy, |_| {})
    }

    pub(crate) fn again_with(&self, policy: &str, change: Change) -> Self {
        Self::at(self.dir.clone(), self.servers.clone(), policy, change)
    }

    fn at(dir: Arc<TempDir>, servers: Vec<String>, policy: &str, change: Change) -> Self {
        let home = dir.path().to_owned();
        let entries: serde_json::Map<String, Value> =
            servers.iter().map(|name| (name.clone(), entry(name, &home))).collect();
        let expansion = Expansion { claw_exe: example_exe("hub-stranger"), ..Expansion::default() };
        let manifest = parse(&json!({"mcpServers": entries}).to_string(), &expansion).unwrap();
        let mut hub = HubSettings::new(std::env::vars().collect(), home.clone());
        hub.shutdown_grace = Duration::from_millis(300);
        let mut settings = RigSettings {
            surroundings: Surroundings {
                workspace: home.clone(),
                usual_workspace: home.clone(),
                home: home.clone(),
                user_home: home.clone(),
                tried: Arc::new(LazyLock::new(|| HeldLevels::ALL)),
                approvers: Approvers::parse(OWNER),
                harmless_variables: Vec::new(),
                zone: jiff::tz::TimeZone::UTC,
                preview_job: crate::calls::PreviewJob::none(),
                claw: WORK.to_owned(),
            },
            limits: CallLimits {
                tool_result_bytes: 1024,
                question_time: Duration::from_secs(3600),
                staged_actions_max: 10,
                input_rounds_max: 8,
                grant_offer_days: 7,
                mode_idle_time: Duration::from_secs(3600),
                openings: Vec::new(),
            },
            catalog: CatalogSettings {
                server_wait: Duration::from_secs(10),
                server_instructions_bytes: 200,
                tools: crate::config::Tools::default(),
                program: "test".into(),
                claw: WORK.to_owned(),
            },
        };
        change(&mut settings);
        let store = Store::open(&home.join("claw.db")).unwrap();
        let (hub, mint) = Hub::new(manifest, hub);
        let hub = Arc::new(hub);
        let redactor = Redactor::new([("OWN".to_owned(), SECRET.to_owned())]).unwrap();
        let RigSettings { limits, catalog, surroundings } = settings;
        let catalog = Catalog::new(store.clone(), hub.clone(), redactor.clone(), catalog);
        let catalog = Arc::new(catalog);
        let calls = Calls::new(CallsParts {
            store: store.clone(),
            hub: hub.clone(),
            catalog: catalog.clone(),
            policy: Policy::load(Some(policy)).unwrap(),
            redactor: redactor.clone(),
            artifacts: Artifacts::new(&home.join("artifacts")),
            surroundings,
            limits,
        });
        let gate = Arc::new(Gate::new(GateParts {
            hub,
            mint,
            calls: Arc::new(calls),
            catalog,
            redactor,
            snapshots: snapshots_at(&home, store.clone()),
            tool_timeout: Duration::from_secs(10),
            calls_at_once: 8,
        }));
        Self { gate, store, lives: Arc::default(), servers, dir }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// What a server has received and done, a line each.
    pub(crate) fn record(&self, server: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(server)).unwrap_or_default()
    }

    /// The text of every `echo` that ran, in order, over all processes.
    pub(crate) fn effects(&self, server: &str) -> Vec<String> {
        let text = self.record(server);
        text.lines().filter_map(|line| line.strip_prefix("effect ")).map(str::to_owned).collect()
    }

    pub(crate) fn live(&self) -> LiveSink {
        let lives = self.lives.clone();
        Arc::new(move |live| lives.lock().unwrap().push(live))
    }

    pub(crate) fn context(&self) -> CallContext {
        CallContext {
            live: self.live(),
            cancel: CancellationToken::new(),
            leaves: CancellationToken::new(),
            deadline: Instant::now() + Duration::from_secs(60),
            turn: None,
            heard_by_others: false,
            asks: None,
        }
    }

    pub(crate) async fn call(&self, call: ToolCall) -> Outcome {
        self.gate.call(call, self.context()).await
    }

    pub(crate) async fn parked(&self, call: ToolCall) -> ApprovalId {
        match self.call(call).await {
            Outcome::Parked { approval } => approval,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn ended(&self, call: ToolCall) -> String {
        match self.call(call).await {
            Outcome::Ended { output } if !output.is_error => output.text,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn denied(&self, call: ToolCall) -> String {
        match self.call(call).await {
            Outcome::Denied { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn unknown(&self, call: ToolCall) -> String {
        match self.call(call).await {
            Outcome::Unknown { reason } => reason,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn row(&self, call: &CallId) -> CallRow {
        self.store.write(|_| Ok(())).await.unwrap();
        self.store.read(|tx| tx.call(call)).unwrap().unwrap()
    }

    pub(crate) fn verify(&self) {
        self.store.read(|tx| tx.verify_audit(None)).unwrap().unwrap();
    }
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// `echo` of the server `legacy`: the `n`-th call of the session `main`.
pub(crate) fn echo(n: u64, text: &str) -> ToolCall {
    tool(n, "echo", json!({"text": text}))
}

pub(crate) fn tool(n: u64, tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: CallId::Reply { session: session("main"), reply_seq: n, block: 0 },
        server: "legacy".into(),
        tool: tool.into(),
        arguments,
        origin: Origin::Owner,
        principal: OWNER.into(),
    }
}

pub(crate) fn allow(term: Term) -> Answer {
    Answer::Allow { term, scope: Scope::Exact }
}
