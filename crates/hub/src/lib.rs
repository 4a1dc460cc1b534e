//! The hub: the only MCP client of claw and the only spawner of servers. Reads `mcp.json`,
//! starts each server on first need, keeps its tools with their pins, forwards calls that carry a
//! [`Permit`], and ends every process group. Must not know turns, SQL, chat or policy.

mod announced;
mod call;
mod catalog;
mod connection;
mod error;
mod files;
mod frame;
mod health;
mod human_time;
mod in_flight;
mod known;
pub mod login;
pub mod manifest;
mod method;
pub mod names;
mod needed_page;
mod offers;
mod output;
mod permit;
pub mod pins;
mod process;
mod refused;
mod replace;
mod resources;
mod rpc;
pub mod schema;
pub mod secrets;
mod server;
mod settings;
mod start;
mod starting;
mod structured;
mod task;
mod text;
mod tls;
mod transport;
mod web_page;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use claw_domain::{HeldLevels, OwnServer, OwnServerName};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

pub use call::{Beside, CallControl, CallEnd};
pub use catalog::{INSTRUCTIONS, ServerTools, ToolEntry};
pub use error::HubError;
pub use files::ResultFile;
pub use human_time::{HumanTime, HumanWait};
pub use method::Method;
pub use offers::{Offers, PromptArgument, PromptEntry, ServerPrompt};
pub use permit::{
    CallSource, Opened, OpenedFolder, OpenedNow, Permit, PermitMint, PermitParts, RoundInput,
    TaskAt,
};
pub use process::supervisor;
pub use replace::Replaced;
pub use rpc::era::{self, Era};
pub use rpc::{AskSink, ServerAsks};
pub use settings::{
    BASIC_VARIABLES, HubNotice, HubSettings, INHERITED_VARIABLES, LogSink, NoticeSink, ServerState,
    ServerStatus,
};
pub use structured::STRUCTURED_HEADING;
pub use web_page::host_of_page;

use in_flight::{InFlight, InFlightGuard};
use manifest::Manifest;
use permit::HubMark;
use server::Server;

/// All servers of one `mcp.json`. There is no lock that two servers share, so that a broken one
/// holds up nobody else. Needs a Tokio runtime with time and IO.
pub struct Hub {
    /// By name. Replaced when `mcp.json` changes while claw runs; never held across an await.
    servers: RwLock<BTreeMap<String, Arc<Server>>>,
    /// Those that another manifest has taken out, until what they work on has ended and they are
    /// gone.
    leaving: Leaving,
    /// The same until the process ends.
    settings: Arc<HubSettings>,
    /// Cancelled once, when the hub closes: nothing is started after that.
    closing: CancellationToken,
    /// Ends of servers that are under way; `close` waits for them.
    reapers: InFlight,
    /// What a person should hear, until somebody fetches it.
    heard: Heard,
    /// Which permits are for this hub.
    mark: HubMark,
}

type Leaving = Arc<Mutex<Vec<Arc<Server>>>>;

/// Notices that nobody has fetched yet.
type Heard = Arc<Mutex<Vec<HubNotice>>>;

/// More would be old news.
const HEARD_MAX: usize = 50;

/// For the processes of starts that were given up, after all others are gone.
const STRAGGLERS_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server has to start and to hear that nobody waits for its task any more.
pub const CANCEL_TASK_TIMEOUT: Duration = Duration::from_secs(10);

impl Hub {
    /// Starts nothing yet. The mint is handed out here and nowhere else: whoever holds it decides
    /// which calls this hub forwards.
    pub fn new(manifest: Manifest, mut settings: HubSettings) -> (Self, PermitMint) {
        let heard = Heard::default();
        settings.notices = keeping(heard.clone(), settings.notices);
        let settings = Arc::new(settings);
        let closing = CancellationToken::new();
        let reapers = InFlight::new();
        let build =
            |entry| Arc::new(Server::new(entry, settings.clone(), &closing, reapers.clone()));
        let servers =
            manifest.servers.into_iter().map(|(name, entry)| (name, build(entry))).collect();
        let mark = HubMark::default();
        let mint = PermitMint::new(mark.clone());
        let hub = Self {
            servers: RwLock::new(servers),
            leaving: Leaving::default(),
            settings,
            closing,
            reapers,
            heard,
            mark,
        };
        (hub, mint)
    }

    /// All servers in the order of their names, with what is known of them now.
    pub fn servers(&self) -> Vec<ServerStatus> {
        self.servers
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .map(|server| server.status())
            .collect()
    }

    /// The jobs that claw's own servers run in the background now, as they say themselves. Servers
    /// that were taken out count until they have ended.
    pub fn background_jobs(&self) -> u32 {
        self.all().iter().fold(0, |sum, server| sum.saturating_add(server.background_jobs()))
    }

    /// What a person should hear of servers and has not been fetched yet, oldest first.
    pub fn take_notices(&self) -> Vec<HubNotice> {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// SHA-256 over the launch entry of a server, see [`pins::launch_form`]. `None` for an unknown
    /// server.
    pub fn launch_pin(&self, server: &str) -> Option<String> {
        Some(pins::launch_pin(&self.get(server)?.entry))
    }

    /// What the launch pin covers, for a human.
    pub fn launch_form(&self, server: &str) -> Option<Value> {
        Some(pins::launch_form(&self.get(server)?.entry))
    }

    /// Which of our own servers this is, by its launch command: `claw server NAME`. `None` for a
    /// stranger, whatever its name in `mcp.json` is.
    pub fn builtin(&self, server: &str) -> Option<OwnServerName> {
        match &self.get(server)?.entry.launch {
            manifest::Launch::Stdio(launch) if launch.own.is_some() => match launch.args.as_slice()
            {
                [server, name, ..] if server == "server" => {
                    OwnServer::named(name).map(|own| own.name)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What the box of our bash server holds, as the newest process of it has told. `None` as long
    /// as none was up, and for every other server.
    pub fn held_levels(&self, server: &str) -> Option<HeldLevels> {
        self.get(server)?.health().held
    }

    /// Starts the process that the next call meets, if need be, so that [`Hub::held_levels`] knows
    /// what it has told. A start that fails is told where failures are.
    pub async fn start_for_levels(&self, server: &str) {
        if let Some(server) = self.get(server) {
            server.start_for_levels().await;
        }
    }

    /// The servers that are this one of ours ([`Hub::builtin`]), by their names.
    pub fn servers_of(&self, own: OwnServerName) -> Vec<String> {
        let names = self.servers().into_iter().map(|server| server.name);
        names.filter(|name| self.builtin(name) == Some(own)).collect()
    }

    /// The names of the variables that the entry of a server sets, sorted. Never the values.
    pub fn env_names(&self, server: &str) -> Vec<String> {
        match self.get(server).as_ref().map(|server| &server.entry.launch) {
            Some(manifest::Launch::Stdio(launch)) => launch.env.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// The `PATH` that a server is started with. `None` for servers that are not started here, and
    /// where there is none.
    pub fn search_path(&self, server: &str) -> Option<String> {
        self.get(server)?.search_path()
    }

    /// The limit of a call to this server, where `mcp.json` sets one.
    pub fn call_timeout(&self, server: &str) -> Option<Duration> {
        self.get(server)?.entry.timeout
    }

    /// The tools of a server. Starts it if need be; remembered while it lives and tells of no
    /// change. Bounded by `startup_timeout` for the start and again for each page of the list.
    ///
    /// # Errors
    /// Unknown, disabled, remote or unusable servers; one that does not start or list; one that
    /// failed too often lately.
    pub async fn tools(&self, server: &str) -> Result<Arc<ServerTools>, HubError> {
        self.find(server)?.tools().await
    }

    /// The prompts of a server, which is started if need be. To list is no action, so that no
    /// permit is needed. Bounded by `startup_timeout` for the start and again for the list.
    ///
    /// # Errors
    /// As [`Hub::tools`].
    pub async fn prompts(&self, server: &str) -> Result<Vec<PromptEntry>, HubError> {
        self.find(server)?.prompts().await
    }

    /// Whether a server that is up has said that its prompts are others than it listed last.
    /// Nothing is started or asked for it.
    pub async fn has_changed_prompts(&self, server: &str) -> bool {
        match self.get(server) {
            Some(server) => server.has_changed_prompts().await,
            None => false,
        }
    }

    /// Wants to hear when a resource changes, from every connection that there is or will be; the
    /// server is not started for that. What is received changes whenever the server has said so;
    /// for one of claw's own servers also where the connection has ended, which is a reason to
    /// look.
    pub async fn hear_of(&self, server: &str, uri: &str) -> watch::Receiver<u64> {
        let heard = self.settings.resources.hear(server, uri);
        if let Some(server) = self.get(server) {
            server.subscribe().await;
        }
        heard
    }

    /// The text of a resource of one of claw's own servers, which is started if need be. To read
    /// is no action, so that no permit is needed; strangers are not asked.
    ///
    /// # Errors
    /// As [`Hub::tools`]; a server that is not claw's own, or gives no text.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<String, HubError> {
        self.find(server)?.read_resource(uri).await
    }

    /// Forwards one call, once: the permit is used up, whatever comes of it. Refuses a permit of
    /// another hub's mint, and when the tool's present pin is not the permit's. This is the only
    /// way to a `tools/call`.
    pub async fn call(&self, permit: Permit, context: CallControl) -> CallEnd {
        if !self.mark.is_of(&permit) {
            let reason = "its permit was made for other servers than these".to_owned();
            return CallEnd::NotForwarded { reason };
        }
        match self.find_for_call(permit.server()) {
            Ok((server, _under_way)) => server.call(permit, context).await,
            Err(error) => CallEnd::NotForwarded { reason: error.to_string() },
        }
    }

    /// Tells a server that nobody waits any more for the task that the permit names; whether it has
    /// heard so within [`CANCEL_TASK_TIMEOUT`], its start included. Where it may not be started,
    /// one whose process is not there hears nothing.
    pub async fn cancel_task(&self, permit: Permit, may_start: bool) -> bool {
        if !self.mark.is_of(&permit) {
            return false;
        }
        let Ok((server, _under_way)) = self.find_for_call(permit.server()) else { return false };
        timeout(CANCEL_TASK_TIMEOUT, server.cancel_task(permit, may_start)).await.unwrap_or(false)
    }

    /// Closes to what claw's own servers run something that was opened to it, and says why. Servers
    /// that were taken out count until they have ended; one that does not listen is ended.
    pub async fn tell_closed(&self, opening: &'static str, why: &'static str) {
        let tells = self.all().into_iter().map(|server| async move {
            server.tell_closed(opening, why).await;
        });
        futures::future::join_all(tells).await;
    }

    /// Ends all children, in parallel: stdin closed, a grace, SIGTERM, a grace, SIGKILL, always to
    /// the group. Calls in flight become unknown. The next need starts a server again.
    pub async fn end_all(&self) {
        let mut ends = JoinSet::new();
        for server in self.all() {
            ends.spawn(async move { server.end().await });
        }
        while ends.join_next().await.is_some() {}
        // Nothing is left to do about a process that survives even this; the kernel has been told
        // to kill it.
        let _ = timeout(STRAGGLERS_TIMEOUT, self.reapers.all_done()).await;
    }

    /// Like [`Hub::end_all`], and nothing starts again. At most about 2 s with the default graces.
    pub async fn shutdown(&self) {
        self.closing.cancel();
        self.end_all().await;
    }

    /// Also those that were taken out and have not ended yet.
    fn all(&self) -> Vec<Arc<Server>> {
        let mut all: Vec<_> =
            self.servers.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        all.extend(self.leaving.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
        all
    }

    fn get(&self, server: &str) -> Option<Arc<Server>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).get(server).cloned()
    }

    fn find(&self, server: &str) -> Result<Arc<Server>, HubError> {
        self.get(server).ok_or_else(|| HubError::UnknownServer { server: server.to_owned() })
    }

    /// With what keeps the server from being taken out while the call goes on. Both are had at the
    /// same moment, so that no call reaches a server behind its end.
    fn find_for_call(&self, server: &str) -> Result<(Arc<Server>, InFlightGuard), HubError> {
        let servers = self.servers.read().unwrap_or_else(PoisonError::into_inner);
        let found = servers
            .get(server)
            .ok_or_else(|| HubError::UnknownServer { server: server.to_owned() })?;
        Ok((found.clone(), found.calls.enter()))
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        // A start goes on by itself, and nobody would end it.
        self.closing.cancel();
    }
}

fn keeping(heard: Heard, sink: NoticeSink) -> NoticeSink {
    Arc::new(move |notice| {
        let mut kept = heard.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < HEARD_MAX {
            kept.push(notice.clone());
        }
        drop(kept);
        sink(notice);
    })
}

#[cfg(test)]
mod tests;
