//! A client of others at `claw serve`: rmcp's own, in both eras, over the standard streams of a
//! real process. Must not know what is tested.
#![allow(dead_code, reason = "each test module uses its own part of this one")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a client of claw talks to an MCP server")]

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, JsonObject,
    ProgressNotificationParam, ProtocolVersion, Tool,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext,
    RunningService, ServiceError,
};
use rmcp::{ClientHandler, RoleClient};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::program::{House, eventually};

/// How a client begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// `initialize`, up to 2025-11-25.
    Legacy,
    /// `server/discover`, from 2026-07-28 on.
    Modern,
}

pub const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// Settings with which a call stays open until its owner has answered, also on a busy machine.
pub const PATIENT: &str = "[serve]\nanswer_wait_s = 600\n";

/// What a client says when it is asked.
pub type Elicited = Arc<dyn Fn(&str) -> (ElicitationAction, Option<Value>) + Send + Sync>;

/// What a client hears beside answers.
#[derive(Clone, Default)]
pub struct Listener {
    progress: Arc<Mutex<Vec<String>>>,
    /// `None`: it cannot be asked.
    elicited: Option<Elicited>,
    asked: Arc<Mutex<Vec<String>>>,
    /// It knows tasks.
    tasks: bool,
}

impl Listener {
    /// Of a client that knows tasks.
    pub fn with_tasks() -> Self {
        Self { tasks: true, ..Self::default() }
    }
}

impl ClientHandler for Listener {
    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(told.message.unwrap_or_default());
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let (action, content) = match &self.elicited {
            Some(answer) => answer(&message),
            None => (ElicitationAction::Decline, None),
        };
        self.asked.lock().unwrap().push(message);
        let mut result = ElicitResult::new(action);
        result.content = content;
        Ok(result)
    }

    fn get_info(&self) -> ClientConfig {
        let builder = ClientCapabilities::builder();
        let mut capabilities = match self.elicited {
            Some(_) => builder.enable_elicitation().build(),
            None => builder.build(),
        };
        if self.tasks {
            capabilities.extensions =
                ClientCapabilities::builder().enable_tasks().build().extensions;
        }
        // The name proves nothing: this one is somebody else's.
        let mut config = ClientConfig::new(capabilities, Implementation::new("mallory", "6.6.6"));
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }
}

type Service = RunningService<RoleClient, Listener>;

/// A client with its process. It is ended with the test.
pub struct Client {
    service: Arc<Service>,
    child: Child,
    handle: Handle,
    ends: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
    listener: Listener,
}

/// A call that is under way.
pub struct Begun(tokio::task::JoinHandle<Result<CallToolResult, ServiceError>>, Handle);

impl Begun {
    pub fn ends(self) -> Result<CallToolResult, ServiceError> {
        self.1.block_on(self.0).unwrap()
    }

    pub fn has_ended(&self) -> bool {
        self.0.is_finished()
    }

    /// The client gives it up.
    pub fn give_up(&self) {
        self.0.abort();
    }
}

impl Client {
    pub fn start(house: &House, args: &[&str], era: Era) -> Self {
        Self::of(house.command(&[&["serve"], args].concat()), era, Listener::default())
    }

    /// One that can be asked.
    pub fn that_elicits(house: &House, args: &[&str], era: Era, elicited: Elicited) -> Self {
        let listener = Listener { elicited: Some(elicited), ..Listener::default() };
        Self::of(house.command(&[&["serve"], args].concat()), era, listener)
    }

    pub fn of(mut command: Command, era: Era, listener: Listener) -> Self {
        let stderr = if std::env::var_os("SERVE_STDERR").is_some() {
            Stdio::inherit()
        } else {
            Stdio::null()
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap();
        let reads: OwnedFd = child.stdout.take().unwrap().into();
        let writes: OwnedFd = child.stdin.take().unwrap().into();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (handle, ends) = (runtime.handle().clone(), Arc::new(Notify::new()));
        let end = ends.clone();
        let thread = std::thread::spawn(move || runtime.block_on(end.notified()));
        let hears = listener.clone();
        let service = handle.block_on(async move {
            let reads = tokio::net::unix::pipe::Receiver::from_owned_fd(reads).unwrap();
            let writes = tokio::net::unix::pipe::Sender::from_owned_fd(writes).unwrap();
            let mode = match era {
                Era::Legacy => ClientLifecycleMode::Initialize,
                Era::Modern => ClientLifecycleMode::Discover {
                    preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                },
            };
            hears.serve_with_lifecycle((reads, writes), mode).await.unwrap()
        });
        let thread = Some(thread);
        Self { service: Arc::new(service), child, handle, ends, thread, listener }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id() as i32).unwrap(), signal).unwrap();
    }

    /// Waits for the end of its process.
    pub fn ended(&mut self) -> std::process::ExitStatus {
        let mut status = None;
        eventually("the process ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Closes the connection as a client does that is closed, and waits for the process.
    pub fn closes(mut self) -> std::process::ExitStatus {
        self.handle.block_on(async { self.service.cancellation_token().cancel() });
        self.ended()
    }

    pub fn tools(&self) -> Vec<Tool> {
        self.handle.block_on(self.service.list_tools(None)).unwrap().tools
    }

    pub fn tool_names(&self) -> Vec<String> {
        self.tools().into_iter().map(|tool| tool.name.to_string()).collect()
    }

    /// What the server says of itself.
    pub fn server(&self) -> Value {
        serde_json::to_value(self.service.peer_info().as_deref()).unwrap()
    }

    pub fn begin(&self, tool: &str, arguments: &Value) -> Begun {
        let arguments: JsonObject = arguments.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let service = self.service.clone();
        let task = self.handle.spawn(async move { service.call_tool(params).await });
        Begun(task, self.handle.clone())
    }

    #[track_caller]
    pub fn call(&self, tool: &str, arguments: &Value) -> CallToolResult {
        let called = || self.begin(tool, arguments).ends().unwrap();
        asked_again(called, |result| state(result)["state"] == "running")
    }

    /// The structured result of a call that did not fail.
    #[track_caller]
    pub fn done(&self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result.is_error, Some(true), "{tool} {arguments}: {}", text(&result));
        result.structured_content.unwrap_or_default()
    }

    /// The words of a call that failed.
    #[track_caller]
    pub fn fails(&self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result.is_error, Some(true), "{tool} {arguments}: {}", text(&result));
        text(&result)
    }

    pub fn progress(&self) -> Vec<String> {
        self.listener.progress.lock().unwrap().clone()
    }

    /// What the client was asked.
    pub fn asked(&self) -> Vec<String> {
        self.listener.asked.lock().unwrap().clone()
    }

    pub fn service(&self) -> (&Service, &Handle) {
        (&self.service, &self.handle)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.ends.notify_one();
        self.thread.take().map(JoinHandle::join);
    }
}

/// The first answer to a call that says more than that it still runs. Clients are told to make the
/// same call again then, and a busy machine takes longer than many tests let claw wait.
pub fn asked_again<T>(mut called: impl FnMut() -> T, is_running: impl Fn(&T) -> bool) -> T {
    let mut answer = None;
    eventually("the call is over, or waits", || !is_running(answer.insert(called())));
    answer.unwrap()
}

/// What `claw clients revoke` does to the client itself.
pub fn revoke(house: &House, client: &str) {
    let sql = "INSERT INTO clients(name, since_ms, revoked_ms) VALUES (?1, 1, 1)
               ON CONFLICT(name) DO UPDATE SET revoked_ms = 1";
    assert_eq!(house.db().execute(sql, [client]).unwrap(), 1);
}

/// The words of a result.
pub fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    texts.map(|block| block.text.clone()).collect::<Vec<_>>().join("\n")
}

/// What claw says of a call for programs.
pub fn state(result: &CallToolResult) -> Value {
    serde_json::to_value(&result.meta).unwrap()["claw/call"].clone()
}
