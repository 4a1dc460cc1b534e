//! What the hub's tests stand on: a hub with strangers, and an oracle of what reached them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use claw_domain::{CallId, SessionId};
pub(super) use claw_test_kit::{SOON, eventually, example_exe};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::manifest::{Expansion, parse};
use crate::{
    CallControl, CallEnd, Hub, HubNotice, HubSettings, HumanTime, Permit, PermitMint, PermitParts,
    ServerState,
};

pub(super) struct Rig {
    pub(super) hub: Hub,
    mint: PermitMint,
    pub(super) notices: Arc<Mutex<Vec<HubNotice>>>,
    pub(super) log: Arc<Mutex<Vec<String>>>,
    dir: TempDir,
}

impl Rig {
    /// A hub with one server a mode, named like it.
    pub(super) fn new(modes: &[&str]) -> Self {
        Self::with(modes, |_| {})
    }

    pub(super) fn with(modes: &[&str], change: impl FnOnce(&mut HubSettings)) -> Self {
        let dir = TempDir::new().unwrap();
        let servers: serde_json::Map<String, Value> = modes
            .iter()
            .map(|mode| {
                let record = dir.path().join(mode);
                (
                    (*mode).to_owned(),
                    json!({"command": Self::exe(), "args": [mode, record], "env": {"OWN": "yes"}}),
                )
            })
            .collect();
        Self::from_servers(Value::Object(servers), dir, change)
    }

    pub(super) fn from_servers(
        servers: Value,
        dir: TempDir,
        change: impl FnOnce(&mut HubSettings),
    ) -> Self {
        let manifest =
            parse(&json!({"mcpServers": servers}).to_string(), &Expansion::default()).unwrap();
        let mut settings = HubSettings::new(std::env::vars().collect(), dir.path().to_owned());
        settings.supervisor = Some(vec![example_exe("hub-supervisor").into()]);
        settings.shutdown_grace = Duration::from_millis(300);
        let (notices, log) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (notices_in, log_in) = (notices.clone(), log.clone());
        settings.notices = Arc::new(move |notice| notices_in.lock().unwrap().push(notice));
        settings.log = Arc::new(move |_, line| log_in.lock().unwrap().push(line.to_owned()));
        change(&mut settings);
        let (hub, mint) = Hub::new(manifest, settings);
        Self { hub, mint, notices, log, dir }
    }

    pub(super) fn exe() -> PathBuf {
        example_exe("hub-stranger")
    }

    /// The example for users: a server on `rmcp`, which speaks both eras.
    pub(super) fn greeter() -> PathBuf {
        example_exe("greeter_server")
    }

    /// What the server saw, line by line, over all of its lives.
    pub(super) fn record(&self, server: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.dir.path().join(server)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(super) fn starts(&self, server: &str) -> usize {
        self.record(server).iter().filter(|line| line.starts_with("pid ")).count()
    }

    /// A permit with the pin of now.
    pub(super) async fn permit(&self, server: &str, tool: &str, arguments: Value) -> Permit {
        self.permit_for(server, tool, arguments, SOON).await
    }

    pub(super) async fn permit_for(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        limit: Duration,
    ) -> Permit {
        let tools = self.hub.tools(server).await.unwrap();
        let pin = &tools.tool(tool).unwrap_or_else(|| panic!("no tool {tool}")).pin;
        self.permit_of(server, tool, arguments, pin, limit)
    }

    /// A permit of this hub, whatever it says.
    pub(super) fn permit_of(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        pin: &str,
        limit: Duration,
    ) -> Permit {
        self.mint.permit(permit_parts(server, tool, arguments, pin, limit))
    }

    pub(super) async fn call(&self, server: &str, tool: &str, arguments: Value) -> CallEnd {
        let permit = self.permit(server, tool, arguments).await;
        self.hub.call(permit, context()).await
    }

    pub(super) fn state(&self, server: &str) -> ServerState {
        let found = self.hub.servers().into_iter().find(|status| status.name == server);
        found.unwrap().state
    }

    pub(super) fn pid(&self, server: &str) -> u32 {
        match self.state(server) {
            ServerState::Up { pid: Some(pid), .. } => pid,
            other => panic!("{other:?}"),
        }
    }
}

pub(super) fn permit_parts(
    server: &str,
    tool: &str,
    arguments: Value,
    pin: &str,
    timeout: Duration,
) -> PermitParts {
    PermitParts {
        call: CallId::Reply { session: SessionId::new("test").unwrap(), reply_seq: 1, block: 0 },
        server: server.into(),
        tool: tool.into(),
        arguments,
        pin: pin.into(),
        timeout,
        keep_off: &[],
        opened: crate::OpenedNow::nothing(),
        source: None,
        input: None,
        task: None,
    }
}

pub(super) fn context() -> CallControl {
    CallControl {
        cancel: CancellationToken::new(),
        leaves: CancellationToken::new(),
        progress: Arc::new(|_| {}),
        ask: None,
        human: HumanTime::default(),
    }
}

/// The text of a call that ended well.
pub(super) fn text(end: CallEnd) -> String {
    match end {
        CallEnd::Ended(output, _) if !output.is_error => output.text,
        other => panic!("{other:?}"),
    }
}

pub(super) fn unknown(end: CallEnd) -> String {
    match end {
        CallEnd::Unknown { reason } => reason,
        other => panic!("{other:?}"),
    }
}

pub(super) fn not_forwarded(end: CallEnd) -> String {
    match end {
        CallEnd::NotForwarded { reason } => reason,
        other => panic!("{other:?}"),
    }
}

/// Whether a process runs. A zombie that nobody has reaped yet does not.
pub(super) fn runs(pid: u32) -> bool {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    if rustix::process::test_kill_process(pid).is_err() {
        return false;
    }
    let stat =
        std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}
