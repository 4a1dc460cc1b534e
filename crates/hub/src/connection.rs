//! One open connection: a transport, and `rmcp`'s client above it. Owns listing; must not know what
//! kind of transport it is, or when a server is started again.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use claw_domain::HeldLevels;
use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientNotification, ClientRequest, CustomNotification,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerPeerInfo, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RunningService, serve_directly};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::announced::{announce_changes, changes, listen, tell_updates};
use super::catalog::{LEADS_BACK, PAGES_MAX, ServerTools, read_instructions, read_page};
use super::manifest::{Launch, ServerEntry};
use super::offers::Offers;
use super::pins::{launch_pin, schema_pin, tool_pin};
use super::resources;
use super::rpc::era::Era;
use super::rpc::{
    Agreement, Bridge, LOG_LINES_MAX, News, Root, RpcState, ServerLog, capabilities, in_words,
};
use super::settings::{HubNotice, HubSettings};
use super::task::Spelling;
use super::transport::http::mirror;
use super::transport::{Receive, Transport};

/// What was just sent may still be on its way into the pipe.
const STUCK_TIMEOUT: Duration = Duration::from_millis(250);

/// How long a list of a server over HTTP that would not announce a change is believed.
const LIST_FRESH: Duration = Duration::from_secs(60);

/// By which our bash server hears what is closed again.
const CLOSED: &str = "notifications/claw/closed";
/// Where our bash server's capabilities say what its box holds.
const BOX: &str = "/experimental/claw~1box";

const ODD_NOTICES_MAX: usize = 10;
const REASON_BYTES_MAX: usize = 500;

/// A server's output closes a moment before its process is reaped, which says more.
const REASON_TIMEOUT: Duration = Duration::from_secs(2);

/// Owned by its [`super::server::Server`] until it has ended; calls hold it while they last.
/// Dropping it ends the transport.
pub(super) struct Connection {
    /// Its name in `mcp.json`.
    pub(super) server: String,
    /// What the handshake has agreed on; the same until the end.
    pub(super) era: Era,
    /// The revision, agreed on in the same way.
    pub(super) protocol: String,
    /// What the server said about itself in its first answer.
    instructions: Option<String>,
    /// What it has besides tools, as it said there.
    pub(super) offers: Offers,
    /// Whether it tells of resources that change, as it said there.
    tells_updates: bool,
    /// Of the entry by which it was started.
    pub(super) launch_pin: String,
    /// A handle of `service`: after its end each request fails.
    pub(super) peer: Peer<RoleClient>,
    /// Ends with the connection; who else holds it only waits for that.
    pub(super) transport: Arc<dyn Transport>,
    /// The hub's own, shared by all of its servers.
    pub(super) settings: Arc<HubSettings>,
    /// It is one of claw's own servers, whose texts say all that a model needs.
    pub(super) own: bool,
    /// What the box of our bash server holds, as it says itself.
    pub(super) held: Option<HeldLevels>,
    /// When its handshake was over.
    pub(super) started: Instant,
    /// For each page of its list.
    pub(super) list_timeout: Duration,
    /// We asked for the end, so it is no failure.
    pub(super) ending: AtomicBool,
    /// Why we asked for the end, where that was a failure of the server.
    ended_because: OnceLock<String>,
    /// What `rmcp`'s task and the connection share; gone with the later of both.
    pub(super) state: Arc<RpcState>,
    /// Dropping it ends `rmcp`'s task, which owns the [`Bridge`].
    service: Mutex<Option<RunningService<RoleClient, ClientConfig>>>,
    /// Whether a change of the tools would be announced: the server does not announce changes, or
    /// the announcements come.
    hears_changes: Arc<AtomicBool>,
    /// How it speaks of tasks; `None` for one that makes none.
    pub(super) tasks: Option<Spelling>,
    /// It is reached over HTTP.
    pub(super) remote: bool,
    /// It has said that it announces changes of its tools.
    announces: bool,
    /// The same of its prompts.
    pub(super) announces_prompts: bool,
    /// What [`RpcState::prompt_changes`] was before the prompts were listed last, plus one; zero
    /// before that.
    pub(super) prompts_listed: AtomicU64,
    /// The tools as they were listed last.
    listed: tokio::sync::Mutex<Option<Listed>>,
    /// Of the last list, plus one; zero before it.
    tool_count: AtomicUsize,
    /// The resources that were subscribed to.
    subscribed: Mutex<BTreeSet<String>>,
}

/// A list of tools, and what says whether it is still true.
struct Listed {
    tools: Arc<ServerTools>,
    /// The count of changes before it was asked for.
    changes: u64,
    /// By which stream changes were heard of then.
    hearing: Option<u64>,
    at: Instant,
}

/// What the handshake leaves.
pub(super) struct Parts<R> {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) receiver: R,
    pub(super) agreement: Agreement,
}

impl Connection {
    pub(super) fn new<R: Receive>(
        entry: &ServerEntry,
        parts: Parts<R>,
        settings: Arc<HubSettings>,
    ) -> Self {
        let Parts { transport, receiver, agreement } = parts;
        let state = Arc::new(RpcState::default());
        let root = root_for(entry, &settings).filter(|_| agreement.era == Era::Legacy);
        let shows_roots = root.is_some();
        let bridge = Bridge::new(
            transport.clone(),
            receiver,
            state.clone(),
            ServerLog::new(entry.name.clone(), settings.log.clone(), LOG_LINES_MAX),
            News {
                list_changed: announce_changes(&entry.name, &settings),
                updated: tell_updates(&entry.name, &settings),
            },
            root,
        );
        let protocol: ProtocolVersion = protocol_version(agreement.era, &agreement.protocol);
        let declared: ClientCapabilities =
            serde_json::from_value(capabilities(agreement.era, shows_roots)).unwrap_or_default();
        let mut config = ClientConfig::new(
            declared,
            Implementation::new("claw", settings.client_version.clone()),
        );
        config.protocol_version = protocol.clone();
        let capabilities: ServerCapabilities =
            serde_json::from_value(agreement.capabilities.clone()).unwrap_or_default();
        let service =
            serve_directly(config, bridge, Some(ServerPeerInfo::new(protocol, capabilities)));
        let says = |what: &str| agreement.capabilities.pointer(what) == Some(&Value::Bool(true));
        let announces = says("/tools/listChanged");
        let announces_prompts = says("/prompts/listChanged");
        let tasks = Spelling::of(agreement.era, &agreement.protocol, &agreement.capabilities);
        let is_modern = agreement.era == Era::Modern;
        let hears_changes = Arc::new(AtomicBool::new(!(announces && is_modern)));
        let peer = service.peer().clone();
        if is_modern && (announces || announces_prompts) {
            let filter = changes(announces, announces_prompts);
            claw_kit::task::spawn(listen(peer.clone(), filter, hears_changes.clone()));
        }
        let own = matches!(&entry.launch, Launch::Stdio(launch) if launch.own.is_some());
        Self {
            server: entry.name.clone(),
            era: agreement.era,
            protocol: agreement.protocol,
            instructions: agreement.instructions,
            tasks,
            offers: Offers::of(&agreement.capabilities),
            tells_updates: agreement.capabilities.pointer("/resources/subscribe")
                == Some(&Value::Bool(true)),
            launch_pin: launch_pin(entry),
            peer,
            transport,
            own,
            held: own.then(|| held_levels(&agreement.capabilities)).flatten(),
            list_timeout: entry.startup_timeout.unwrap_or(settings.startup_timeout),
            settings,
            started: Instant::now(),
            ending: AtomicBool::new(false),
            ended_because: OnceLock::new(),
            state,
            service: Mutex::new(Some(service)),
            hears_changes,
            remote: matches!(&entry.launch, Launch::Http(_)),
            announces,
            announces_prompts,
            prompts_listed: AtomicU64::new(0),
            listed: tokio::sync::Mutex::new(None),
            tool_count: AtomicUsize::new(0),
            subscribed: Mutex::default(),
        }
    }

    /// Subscribes to what somebody wants to hear of, once a connection. A stranger is asked only if
    /// it has said that it tells.
    pub(super) fn subscribe(&self) {
        for uri in self.settings.resources.uris_of(&self.server) {
            let mut known = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            if (self.own || self.tells_updates) && known.insert(uri.clone()) {
                let (peer, server) = (self.peer.clone(), self.server.clone());
                claw_kit::task::spawn(resources::subscribe(peer, self.era, server, uri));
            }
        }
    }

    pub(super) fn is_dead(&self) -> bool {
        self.transport.ended().is_cancelled()
            || self.transport.closed().is_cancelled()
            || self.peer.is_transport_closed()
    }

    pub(super) fn tool_count(&self) -> Option<usize> {
        self.tool_count.load(Ordering::Relaxed).checked_sub(1)
    }

    /// The jobs that it says it runs in the background. Only claw's own servers are believed; a
    /// dead one runs none.
    pub(super) fn background_jobs(&self) -> u32 {
        if self.own && !self.is_dead() { self.state.background_jobs() } else { 0 }
    }

    /// Tells one of claw's own servers that what was opened to its calls is closed. One that takes
    /// nothing is ended, and what it runs with it.
    pub(super) async fn tell_closed(&self, opening: &'static str, why: &'static str) {
        if !self.own {
            return;
        }
        let params = json!({"opening": opening, "why": why});
        let told = CustomNotification::new(CLOSED, Some(params));
        let told = self.peer.send_notification(ClientNotification::CustomNotification(told));
        if !matches!(timeout(STUCK_TIMEOUT, told).await, Ok(Ok(()))) {
            self.request_end();
            return;
        }
        self.end_if_stuck().await;
    }

    /// A server that does not read what is sent to it will not end by itself either (trap 3).
    /// Waits at most [`STUCK_TIMEOUT`] for it to read.
    pub(super) async fn end_if_stuck(&self) -> bool {
        let mut queued = self.transport.queued_bytes();
        let stuck = timeout(STUCK_TIMEOUT, queued.wait_for(|bytes| *bytes == 0)).await.is_err();
        if stuck {
            self.request_end();
        }
        stuck
    }

    /// After a call was given up. A server that is told so stops or goes on beside its other work;
    /// one that answers nothing any more is of no use, and what it still does is nothing that
    /// anybody waits for. One question, no polling.
    pub(super) async fn end_if_busy(self: Arc<Self>) {
        // What it is busy with may be somebody else's call.
        if self.state.has_calls() {
            return;
        }
        let grace = self.settings.busy_grace;
        if timeout(grace, self.page(None)).await.is_err() && !self.is_dead() {
            let why = format!(
                "it was told to give up a call, answered nothing for {} s, and was ended",
                grace.as_secs_f32()
            );
            // Written once; who comes later has the same to say.
            let _ = self.ended_because.set(why);
            self.request_end();
        }
    }

    /// Ends `rmcp`'s task and the transport. Returns at once.
    pub(super) fn request_end(&self) {
        drop(self.service.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.transport.request_end();
    }

    /// Ends the connection and waits until nothing of it is left; bounded by the graces of the
    /// settings.
    pub(super) async fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
        self.request_end();
        let longest = self.settings.shutdown_grace * 2 + Duration::from_secs(1);
        // The transport's own limits are shorter; this one is for a runtime that is itself late.
        let _ = timeout(longest, self.transport.ended().cancelled()).await;
    }

    /// The tools, remembered while no change is announced.
    pub(super) async fn tools(&self) -> Result<Arc<ServerTools>, String> {
        let mut listed = self.listed.lock().await;
        if let Some(listed) = listed.as_ref().filter(|listed| self.is_true(listed)) {
            return Ok(listed.tools.clone());
        }
        // Read before listing: a change that comes meanwhile makes this list old.
        let (changes, hearing) = (self.state.list_changes(), self.transport.hearing());
        let tools = Arc::new(self.list().await?);
        self.state.note_listed();
        self.tool_count.store(tools.tools.len() + 1, Ordering::Relaxed);
        *listed = Some(Listed { tools: tools.clone(), changes, hearing, at: Instant::now() });
        Ok(tools)
    }

    /// Nothing has been heard of a change since, and one would have been heard of. What runs on
    /// another machine may be replaced without its end being seen here.
    fn is_true(&self, listed: &Listed) -> bool {
        let would_hear = match self.announces {
            true if self.era == Era::Modern => self.hears_changes.load(Ordering::SeqCst),
            true => self.transport.hearing().is_some_and(|now| listed.hearing == Some(now)),
            false => !self.remote,
        };
        let is_fresh = self.remote && listed.at.elapsed() < LIST_FRESH;
        listed.changes == self.state.list_changes() && (would_hear || is_fresh)
    }

    async fn list(&self) -> Result<ServerTools, String> {
        let (mut tools, mut odd) = (Vec::new(), Vec::new());
        let (mut cursor, mut cursors) = (None, BTreeSet::new());
        let mut pages = 0;
        loop {
            pages += 1;
            let limit = self.list_timeout;
            let page = match timeout(limit, self.page(cursor.take())).await {
                Ok(page) => page?,
                Err(_) => {
                    self.end_if_stuck().await;
                    return Err(format!("it did not answer within {} s", limit.as_secs_f32()));
                }
            };
            let (known, told) = (tools.len(), odd.len());
            cursor = read_page(page, &|raw| self.pin(raw), &mut tools, &mut odd)?;
            let Some(next) = &cursor else { break };
            if !cursors.insert(next.clone()) && tools.len() == known {
                odd.truncate(told);
                odd.push(LEADS_BACK.to_owned());
                break;
            }
            if pages >= PAGES_MAX {
                return Err(format!("its list has more than {PAGES_MAX} pages"));
            }
        }
        // What such a tool would be called with is not what its server expects.
        if self.remote && self.era == Era::Modern {
            tools.retain(|tool| match mirror::check(&tool.input_schema) {
                Ok(()) => true,
                Err(why) => {
                    odd.push(format!("its tool `{}` is left out: {why}", tool.name));
                    false
                }
            });
        }
        // Reported once a connection: a server that announces no changes is listed before every
        // use.
        let first_list = self.tool_count().is_none();
        for text in odd.into_iter().filter(|_| first_list).take(ODD_NOTICES_MAX) {
            (self.settings.notices)(HubNotice::Odd { server: self.server.clone(), text });
        }
        let instructions =
            self.instructions.as_deref().map(|text| read_instructions(text, &|raw| self.pin(raw)));
        let (server, launch_pin) = (self.server.clone(), self.launch_pin.clone());
        let offers = self.offers;
        Ok(ServerTools { server, launch_pin, era: self.era, tools, instructions, offers })
    }

    fn pin(&self, raw: &Value) -> String {
        let by_schema = self.settings.schema_pinned.contains(&self.server);
        if by_schema { schema_pin(raw, &self.launch_pin) } else { tool_pin(raw, &self.launch_pin) }
    }

    /// Through `send_request_with_option`, which has no cache (trap 8).
    #[expect(clippy::disallowed_methods, reason = "tools/list is no action; only the hub lists")]
    async fn page(&self, cursor: Option<String>) -> Result<Value, String> {
        let mut request = ListToolsRequest::default();
        if let Some(cursor) = cursor {
            request.params = Some(PaginatedRequestParams::default().with_cursor(Some(cursor)));
        }
        let request = ClientRequest::ListToolsRequest(request);
        let sent =
            self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let answer = match sent {
            Ok(handle) => handle.await_response().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(ServerResult::CustomResult(result)) => Ok(result.0),
            Ok(_) => Err("its answer has an unknown shape".to_owned()),
            Err(rmcp::ServiceError::McpError(error)) => Err(in_words(&error, REASON_BYTES_MAX)),
            Err(_) => Err(self.wait_for_end_reason().await),
        }
    }

    /// Why the connection ended.
    pub(super) async fn wait_for_end_reason(&self) -> String {
        let _ = timeout(REASON_TIMEOUT, self.transport.ended().cancelled()).await;
        self.ended_because.get().cloned().unwrap_or_else(|| self.transport.end_reason())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The task of `rmcp` holds the transport, too, and ends a moment later.
        self.transport.request_end();
    }
}

/// What the server of this entry may be told of the workspace.
pub(super) fn root_for(entry: &ServerEntry, settings: &HubSettings) -> Option<Root> {
    Root::of(settings.workspace.as_deref().filter(|_| entry.roots)?)
}

/// A stranger may say what it likes: only claw's own servers are believed.
fn held_levels(capabilities: &Value) -> Option<HeldLevels> {
    serde_json::from_value(capabilities.pointer(BOX)?.clone()).ok()
}

/// `rmcp` keeps known versions as constants; the handshake admits no others.
fn protocol_version(era: Era, protocol: &str) -> ProtocolVersion {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|version| version.as_str() == protocol);
    known.cloned().unwrap_or(match era {
        Era::Legacy => ProtocolVersion::LATEST_WITH_INITIALIZE,
        Era::Modern => ProtocolVersion::V_2026_07_28,
    })
}
