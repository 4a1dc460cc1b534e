//! One server's life: started on first need, started again after its death, left alone for a while when that fails.
//! Must not know the other servers.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::call::{CallContext, CallEnd, forward};
use super::catalog::ServerTools;
use super::connect::{Opening, OpeningError, open};
use super::connection::{Connection, Parts};
use super::era::Era;
use super::error::HubError;
use super::lines::LineReader;
use super::manifest::{Launch, ServerEntry, StdioLaunch};
use super::outbox::Outbox;
use super::settings::{HubNotice, HubSettings, ServerState, ServerStatus};
use super::spawn::{Keepers, spawn};
use crate::gate::permit::Permit;

/// A server that lived this long did not fail at its start.
const STABLE_AFTER: Duration = Duration::from_secs(60);
const BACKOFF_MAX: Duration = Duration::from_secs(60);

pub(super) struct Server {
    pub(super) entry: ServerEntry,
    settings: Arc<HubSettings>,
    /// The hub is ending.
    closing: CancellationToken,
    keepers: Keepers,
    /// Gives up a start in progress.
    interrupt: Notify,
    /// Held while the server is being started, so that it is started once. Only users of this server wait for it.
    slot: tokio::sync::Mutex<Option<Arc<Connection>>>,
    /// Never held across an await.
    health: Mutex<Health>,
}

struct Health {
    phase: Phase,
    /// Failures in a row; a call that ended sets it back.
    failures: u32,
    not_before: Option<Instant>,
    era: Option<Era>,
}

enum Phase {
    Idle,
    Starting,
    Up(Weak<Connection>),
    Failed { reason: String, at: Instant },
}

impl Server {
    pub(super) fn new(
        entry: ServerEntry,
        settings: Arc<HubSettings>,
        closing: CancellationToken,
        keepers: Keepers,
    ) -> Self {
        let era = settings.known_eras.get(&entry.name).copied();
        let health = Mutex::new(Health { phase: Phase::Idle, failures: 0, not_before: None, era });
        let (interrupt, slot) = (Notify::new(), tokio::sync::Mutex::new(None));
        Self { entry, settings, closing, keepers, interrupt, slot, health }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn status(&self) -> ServerStatus {
        let state = match &self.health().phase {
            Phase::Idle => ServerState::Idle,
            Phase::Starting => ServerState::Starting,
            Phase::Failed { reason, at } => ServerState::Failed { reason: reason.clone(), since: at.elapsed() },
            Phase::Up(connection) => match connection.upgrade() {
                Some(up) => ServerState::Up {
                    era: up.era,
                    protocol: up.protocol.clone(),
                    pid: up.child.pid,
                    tool_count: up.tool_count(),
                },
                None => ServerState::Idle,
            },
        };
        ServerStatus { name: self.entry.name.clone(), state, disabled: self.entry.disabled }
    }

    pub(super) async fn tools(self: &Arc<Self>) -> Result<Arc<ServerTools>, HubError> {
        let connection = self.connection().await?;
        self.list(&connection).await
    }

    async fn list(&self, connection: &Connection) -> Result<Arc<ServerTools>, HubError> {
        let list = |reason| HubError::List { server: self.entry.name.clone(), reason };
        connection.tools().await.map_err(list)
    }

    /// Starts the server if need be, compares the pin, forwards. `permit.timeout()` bounds the start and the call each.
    pub(super) async fn call(self: &Arc<Self>, permit: Permit, context: CallContext) -> CallEnd {
        let not_forwarded = |reason: String| CallEnd::NotForwarded { reason };
        let ready = async {
            let connection = self.connection().await?;
            let tools = self.list(&connection).await?;
            Ok::<_, HubError>((connection, tools))
        };
        let (connection, tools) = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return not_forwarded("it was stopped before it was sent".to_owned()),
            ready = timeout(permit.timeout(), ready) => match ready {
                Ok(Ok(ready)) => ready,
                Ok(Err(error)) => return not_forwarded(error.to_string()),
                Err(_) => return not_forwarded("the server was not ready in time".to_owned()),
            },
        };
        let Some(tool) = tools.tool(permit.tool()) else {
            return not_forwarded(format!(
                "the server `{}` has no tool `{}` (any more)",
                permit.server(),
                permit.tool()
            ));
        };
        if tool.pin != permit.pin() {
            return not_forwarded(format!("the tool `{}` has changed since the call was allowed", permit.tool()));
        }
        let end = forward(&connection, permit, context).await;
        if matches!(end, CallEnd::Ended(_) | CallEnd::InputRequired { .. }) {
            self.health().failures = 0;
        }
        end
    }

    /// Ends the child, if there is one, and gives up a start in progress.
    pub(super) async fn end(&self) {
        self.interrupt.notify_waiters();
        let connection = self.slot.lock().await.take();
        if let Some(connection) = connection {
            connection.end().await;
            self.health().phase = Phase::Idle;
        }
    }

    async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, HubError> {
        let launch = self.launch()?;
        let mut slot = self.slot.lock().await;
        if let Some(connection) = slot.as_ref().filter(|connection| !connection.is_dead()) {
            return Ok(connection.clone());
        }
        if let Some(dead) = slot.take() {
            // The watcher may not have run yet; the failure counts before the next start.
            self.note_death(&dead).await;
        }
        if self.closing.is_cancelled() {
            return Err(HubError::ShuttingDown);
        }
        self.check_backoff()?;
        let _starting = self.note_start();
        let started = tokio::select! {
            biased;
            () = self.closing.cancelled() => return Err(HubError::ShuttingDown),
            () = self.interrupt.notified() => return Err(HubError::Interrupted { server: self.entry.name.clone() }),
            started = self.start(launch) => started,
        };
        match started {
            Ok(connection) => {
                let connection = Arc::new(connection);
                {
                    let mut health = self.health();
                    health.phase = Phase::Up(Arc::downgrade(&connection));
                    health.era = Some(connection.era);
                }
                let (server, weak) = (Arc::downgrade(self), Arc::downgrade(&connection));
                tokio::spawn(watch(server, connection.child.dead().clone(), weak));
                tokio::spawn(end_when_closed(connection.outbox.closed().clone(), Arc::downgrade(&connection)));
                *slot = Some(connection.clone());
                Ok(connection)
            }
            Err(reason) => {
                self.note_failure(&reason);
                let server = self.entry.name.clone();
                (self.settings.notices)(HubNotice::Failed { server: server.clone(), reason: reason.clone() });
                Err(HubError::Start { server, reason })
            }
        }
    }

    fn launch(&self) -> Result<&StdioLaunch, HubError> {
        let server = self.entry.name.clone();
        if self.entry.disabled {
            return Err(HubError::Disabled { server });
        }
        match &self.entry.launch {
            Launch::Stdio(launch) => Ok(launch),
            Launch::Http { .. } => Err(HubError::Remote { server }),
            Launch::Unusable { reason } => Err(HubError::Unusable { server, reason: reason.clone() }),
        }
    }

    /// Two openings at most, within one `startup_timeout`.
    async fn start(&self, launch: &StdioLaunch) -> Result<Connection, String> {
        let whole = self.settings.startup_timeout;
        let begun = Instant::now();
        let (first, second) = match self.health().era {
            None => (Opening::Probe, Opening::Initialize),
            Some(Era::Legacy) => (Opening::Initialize, Opening::Discover),
            Some(Era::Modern) => (Opening::Discover, Opening::Initialize),
        };
        // A server that is known to be legacy gets all of the time; what is only guessed leaves some for the other way.
        let first_deadline = if first == Opening::Initialize { begun + whole } else { begun + whole * 3 / 4 };
        let (reason, again) = match self.attempt(launch, first, first_deadline).await {
            Ok(connection) => return Ok(connection),
            Err(failed) => failed,
        };
        if !again || Instant::now() >= begun + whole {
            return Err(reason);
        }
        self.attempt(launch, second, begun + whole).await.map_err(|(second_reason, _)| second_reason)
    }

    /// Spawns and opens. The flag of a failure says whether another opening may do better.
    async fn attempt(&self, launch: &StdioLaunch, opening: Opening, by: Instant) -> Result<Connection, (String, bool)> {
        let settings = &self.settings;
        let spawned = spawn(&self.entry.name, launch, settings, &self.keepers).map_err(|reason| (reason, false))?;
        let outbox = Outbox::start(spawned.stdin, settings.queue_bytes_max);
        let mut lines = LineReader::new(spawned.stdout, settings.line_bytes_max);
        let version = &settings.client_version;
        match open(&mut lines, &outbox, opening, version, settings.probe_timeout, by).await {
            Ok(agreement) => {
                let parts = Parts { lines, outbox, child: spawned.child, agreement };
                Ok(Connection::new(&self.entry, parts, settings.clone()))
            }
            Err(error) => {
                outbox.close();
                let (what, again) = match error {
                    OpeningError::Closed => ("it closed the connection".to_owned(), true),
                    OpeningError::Silent => {
                        let text = format!("it did not answer within {} s", settings.startup_timeout.as_secs_f32());
                        (text, opening != Opening::Initialize)
                    }
                    OpeningError::Refused(what) => (what, opening != Opening::Probe),
                };
                // Its last words say more than ours, once it has ended.
                let ended = timeout(settings.shutdown_grace, spawned.child.dead().cancelled()).await.is_ok();
                let what = if ended { format!("{what}; {}", spawned.child.epitaph()) } else { what };
                Err((what, again))
            }
        }
    }

    fn check_backoff(&self) -> Result<(), HubError> {
        let health = self.health();
        let retry_in = health.not_before.map(|at| at.saturating_duration_since(Instant::now())).unwrap_or_default();
        match &health.phase {
            Phase::Failed { reason, .. } if !retry_in.is_zero() => Err(HubError::BackingOff {
                server: self.entry.name.clone(),
                failures: health.failures,
                retry_in,
                reason: reason.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// A start that is given up in the middle must not be shown as starting for ever.
    fn note_start(&self) -> impl Drop + '_ {
        struct Starting<'a>(&'a Server);
        impl Drop for Starting<'_> {
            fn drop(&mut self) {
                let mut health = self.0.health();
                if matches!(health.phase, Phase::Starting) {
                    health.phase = Phase::Idle;
                }
            }
        }
        self.health().phase = Phase::Starting;
        Starting(self)
    }

    /// The first failure may be tried again at once; after that 1 s, 2 s, 4 s, … up to a minute.
    fn note_failure(&self, reason: &str) {
        let mut health = self.health();
        health.failures += 1;
        let doublings = health.failures.saturating_sub(2).min(6);
        let wait = if health.failures < 2 { Duration::ZERO } else { Duration::from_secs(1 << doublings) };
        health.not_before = Some(Instant::now() + wait.min(BACKOFF_MAX));
        health.phase = Phase::Failed { reason: reason.to_owned(), at: Instant::now() };
    }

    async fn note_death(&self, connection: &Arc<Connection>) {
        // Told once, by whoever sees it first.
        if connection.ending.swap(true, Ordering::SeqCst) {
            return;
        }
        if connection.started.elapsed() >= STABLE_AFTER {
            self.health().failures = 0;
        }
        let reason = connection.wait_for_epitaph().await;
        self.note_failure(&reason);
        (self.settings.notices)(HubNotice::Died { server: self.entry.name.clone(), reason });
    }
}

/// Notes a death that nobody asked for, also when nobody is calling.
async fn watch(server: Weak<Server>, dead: CancellationToken, connection: Weak<Connection>) {
    dead.cancelled().await;
    if let (Some(server), Some(connection)) = (server.upgrade(), connection.upgrade()) {
        server.note_death(&connection).await;
    }
}

/// A server that closed one of its ends is of no use any more; what is left of it is ended.
async fn end_when_closed(closed: CancellationToken, connection: Weak<Connection>) {
    closed.cancelled().await;
    if let Some(connection) = connection.upgrade() {
        connection.request_end();
    }
}
