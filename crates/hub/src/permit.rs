//! The permit: the only thing that the hub forwards. It is made by the mint of this hub, which
//! [`Hub::new`](crate::Hub::new) hands out once, and the hub consumes it by value, so that no call
//! can be forwarded without, or twice. Must not know how a verdict is reached.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use claw_domain::{CallId, Origin, SessionId};
use serde::Serialize;
use serde_json::{Map, Value};

/// Makes the permits of one hub. Whoever holds it decides which calls run, so it is handed out
/// once, with the hub itself, and it cannot be copied:
///
/// ```compile_fail,E0599
/// fn two(mint: claw_hub::PermitMint) -> [claw_hub::PermitMint; 2] {
///     [mint.clone(), mint]
/// }
/// ```
///
/// or made:
///
/// ```compile_fail,E0423
/// let mint = claw_hub::PermitMint(Default::default());
/// ```
#[derive(Debug)]
pub struct PermitMint(HubMark);

/// Which hub a mint and its permits belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct HubMark(Arc<()>);

impl HubMark {
    pub(crate) fn is_of(&self, permit: &Permit) -> bool {
        Arc::ptr_eq(&self.0, &permit.hub.0)
    }
}

/// Leave to forward one call, once. Its fields are private and it is made from the frozen row of
/// the call, by [`PermitMint::permit`] alone:
///
/// ```compile_fail,E0451
/// fn another(permit: claw_hub::Permit) -> claw_hub::Permit {
///     claw_hub::Permit { tool: "another".to_owned(), ..permit }
/// }
/// ```
///
/// It is used up by the call:
///
/// ```compile_fail,E0382
/// async fn twice(hub: &claw_hub::Hub, permit: claw_hub::Permit, context: claw_hub::CallControl) {
///     hub.call(permit, context.clone()).await;
///     hub.call(permit, context).await;
/// }
/// ```
///
/// ```
/// async fn once(hub: &claw_hub::Hub, permit: claw_hub::Permit, context: claw_hub::CallControl) {
///     hub.call(permit, context).await;
/// }
/// ```
#[derive(Debug)]
pub struct Permit {
    hub: HubMark,
    call: CallId,
    server: String,
    tool: String,
    arguments: Value,
    pin: String,
    timeout: Duration,
    keep_off: &'static [&'static str],
    opened: OpenedNow,
    source: Option<CallSource>,
    input: Option<RoundInput>,
    task: Option<TaskAt>,
}

/// A call that its server has made a task of (`io.modelcontextprotocol/tasks`): it is followed, and
/// not sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskAt {
    /// As the server has named it.
    pub id: String,
    /// How long to wait before the first look.
    pub wait: Duration,
    /// What the call has had of its time.
    pub spent: Duration,
}

/// What a call that its server has answered with a question goes on with (a multi round-trip
/// request of 2026-07-28).
#[derive(Clone, Debug, PartialEq)]
pub struct RoundInput {
    /// A response to each request, by the server's key.
    pub responses: Map<String, Value>,
    /// What the server wanted to have back, as it was.
    pub state: Option<String>,
}

/// From whose words a call came, and in which turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallSource {
    pub origin: Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The conversation, which is named like its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<SessionId>,
    /// The number of the event that the turn began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Whether somebody else than the owner reads what comes of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub heard_by_others: bool,
}

/// What is open to the command of a call, asked for at the moment at which the call is sent: it may
/// have waited, and what was closed meanwhile is not handed on.
#[derive(Clone)]
pub struct OpenedNow(Arc<dyn Fn() -> Opened + Send + Sync>);

/// What of the owner's machine is open to one command.
#[derive(Clone, Debug, Default)]
pub struct Opened {
    /// By name.
    pub services: Vec<&'static str>,
    pub folders: Vec<OpenedFolder>,
}

#[derive(Clone, Debug, Serialize)]
pub struct OpenedFolder {
    pub path: String,
    /// Also for changes.
    pub write: bool,
}

impl OpenedNow {
    pub fn new(look: impl Fn() -> Opened + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub fn nothing() -> Self {
        Self::new(Opened::default)
    }
}

impl fmt::Debug for OpenedNow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenedNow")
    }
}

/// What a permit says: which call, and within which bounds.
#[derive(Clone, Debug)]
pub struct PermitParts {
    pub call: CallId,
    pub server: String,
    pub tool: String,
    pub arguments: Value,
    /// The pin of the tool as it was approved.
    pub pin: String,
    /// The longest that this call may take.
    pub timeout: Duration,
    /// Names of files and folders that this call may not change, by whatever path. Our own
    /// filesystem server is told.
    pub keep_off: &'static [&'static str],
    /// What the command of this call may reach of the owner's. Our own bash server is told.
    pub opened: OpenedNow,
    /// From whose words it came. Our own memory server is told, and no other.
    pub source: Option<CallSource>,
    /// The answers that it goes on with; `None` for a call that begins.
    pub input: Option<RoundInput>,
    /// The task that is followed; `None` for a call that is sent.
    pub task: Option<TaskAt>,
}

impl PermitMint {
    pub(crate) fn new(hub: HubMark) -> Self {
        Self(hub)
    }

    /// Leave to forward this call, once.
    pub fn permit(&self, parts: PermitParts) -> Permit {
        let PermitParts { call, server, tool, arguments, pin, timeout, .. } = parts;
        let PermitParts { keep_off, opened, source, input, task, .. } = parts;
        let hub = self.0.clone();
        Permit {
            hub,
            call,
            server,
            tool,
            arguments,
            pin,
            timeout,
            keep_off,
            opened,
            source,
            input,
            task,
        }
    }
}

impl Permit {
    pub fn call(&self) -> &CallId {
        &self.call
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    pub fn tool(&self) -> &str {
        &self.tool
    }

    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The pin of the tool as it was approved. The hub refuses to forward to a tool whose pin
    /// differs.
    pub fn pin(&self) -> &str {
        &self.pin
    }

    /// The longest that this call may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// What the command of this call may reach of the owner's, as of now.
    pub fn opened(&self) -> Opened {
        self.opened.0()
    }

    /// From whose words it came, where its server is told.
    pub fn source(&self) -> Option<&CallSource> {
        self.source.as_ref()
    }

    /// The answers that it goes on with.
    pub fn input(&self) -> Option<&RoundInput> {
        self.input.as_ref()
    }

    /// The task that is followed.
    pub fn task(&self) -> Option<&TaskAt> {
        self.task.as_ref()
    }

    /// Names of files and folders that this call may not change.
    pub fn keep_off(&self) -> &'static [&'static str] {
        self.keep_off
    }
}
