//! One server's life: started on first need, started again after its death, left alone for a while
//! when that fails. Must not know the other servers.

mod calling;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::catalog::ServerTools;
use super::connection::Connection;
use super::error::HubError;
use super::health::{Backoff, Health, Phase};
use super::in_flight::InFlight;
use super::manifest::{Launch, ServerEntry};
use super::settings::{HubNotice, HubSettings, ServerStatus};
use super::start::Way;
use super::starting::Starting;
pub(super) use calling::allowed_tool;

pub(super) struct Server {
    /// As `mcp.json` says. A changed entry is another server, which takes its place.
    pub(super) entry: ServerEntry,
    /// The hub's own, shared by its servers.
    pub(super) settings: Arc<HubSettings>,
    /// The hub is ending, or the server was taken out and has no call any more: it starts no more.
    pub(super) closing: CancellationToken,
    /// The hub's; cancelled once.
    hub_is_closing: CancellationToken,
    /// The hub's; what ends here is counted there.
    pub(super) reapers: InFlight,
    /// The calls under way.
    pub(super) calls: InFlight,
    /// It was taken out and has ended.
    pub(super) gone: CancellationToken,
    /// The end of the server whose place it has taken; both must not work on the same things at
    /// once.
    pub(super) behind: Option<CancellationToken>,
    /// What runs, and what starts now.
    pub(super) slot: tokio::sync::Mutex<Slot>,
    /// Never held across an await.
    health: Mutex<Health>,
}

/// What there is of the server now. Its lock is held briefly: nobody waits for a start with it.
#[derive(Default)]
pub(super) struct Slot {
    /// What answers now; taken out when it has ended.
    pub(super) up: Option<Arc<Connection>>,
    /// The one start that is under way. It goes on when those who wait for it give up.
    pub(super) start: Option<Starting>,
}

impl Server {
    pub(super) fn new(
        entry: ServerEntry,
        settings: Arc<HubSettings>,
        hub_is_closing: &CancellationToken,
        reapers: InFlight,
    ) -> Self {
        let era = settings.known_eras.get(&entry.name).copied();
        Self {
            entry,
            settings,
            closing: hub_is_closing.child_token(),
            hub_is_closing: hub_is_closing.clone(),
            reapers,
            calls: InFlight::new(),
            gone: CancellationToken::new(),
            behind: None,
            slot: tokio::sync::Mutex::default(),
            health: Mutex::new(Health::new(era)),
        }
    }

    /// One whose entry is new, whatever was known of another one by its name.
    pub(super) fn starting_behind(self, behind: Option<CancellationToken>) -> Self {
        Self { health: Mutex::new(Health::new(None)), behind, ..self }
    }

    /// Ends it permanently, behind the calls that it works on.
    pub(super) async fn leave(&self) {
        self.calls.all_done().await;
        self.closing.cancel();
        self.end().await;
        self.gone.cancel();
    }

    pub(super) fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn status(&self) -> ServerStatus {
        ServerStatus {
            name: self.entry.name.clone(),
            state: self.health().state(),
            disabled: self.entry.disabled,
        }
    }

    pub(super) fn background_jobs(&self) -> u32 {
        match &self.health().phase {
            Phase::Up { connection, .. } => {
                connection.upgrade().map_or(0, |up| up.background_jobs())
            }
            Phase::Idle | Phase::Starting | Phase::Failed { .. } => 0,
        }
    }

    /// The `PATH` that it is started with.
    pub(super) fn search_path(&self) -> Option<String> {
        match &self.entry.launch {
            Launch::Stdio(launch) => {
                super::process::spawn::child_env(launch, &self.settings).ok()?.remove("PATH")
            }
            _ => None,
        }
    }

    pub(super) async fn tools(self: &Arc<Self>) -> Result<Arc<ServerTools>, HubError> {
        let connection = self.connection().await?;
        self.list(&connection).await
    }

    async fn list(&self, connection: &Connection) -> Result<Arc<ServerTools>, HubError> {
        let list = |reason| HubError::List { server: self.entry.name.clone(), reason };
        connection.tools().await.map_err(list)
    }

    /// The connection, which is opened if need be, and the tools.
    pub(super) async fn ready(
        self: &Arc<Self>,
    ) -> Result<(Arc<Connection>, Arc<ServerTools>), HubError> {
        let connection = self.connection().await?;
        let tools = self.list(&connection).await?;
        Ok((connection, tools))
    }

    /// Ends the connection, if there is one, and gives up a start in progress.
    pub(super) async fn end(&self) {
        let Slot { up, start } = std::mem::take(&mut *self.slot.lock().await);
        if let Some(start) = start {
            start.give_up().await;
        }
        if let Some(connection) = up {
            connection.end().await;
            self.health().phase = Phase::Idle;
        }
    }

    /// A call that is still to be sent looks itself at what is open.
    pub(super) async fn tell_closed(&self, opening: &'static str, why: &'static str) {
        let up = self.slot.lock().await.up.clone();
        if let Some(connection) = up {
            connection.tell_closed(opening, why).await;
        }
    }

    /// The longest that a start may take, from its place on, and each page of the list.
    pub(super) fn startup_timeout(&self) -> Duration {
        self.entry.startup_timeout.unwrap_or(self.settings.startup_timeout)
    }

    /// Starts the server if need be; what its box holds stands in its health then.
    pub(super) async fn start_for_levels(self: &Arc<Self>) {
        // A failure has its own notice, and stands in the health, too.
        let _ = self.connection().await;
    }

    /// What somebody wants to hear of, from the connection that is there.
    pub(super) async fn subscribe(&self) {
        let up = self.slot.lock().await.up.clone();
        if let Some(connection) = up {
            connection.subscribe();
        }
    }

    pub(super) async fn read_resource(self: &Arc<Self>, uri: &str) -> Result<String, HubError> {
        let read = |reason| HubError::Read { server: self.entry.name.clone(), reason };
        let connection = self.connection().await?;
        if !connection.own {
            return Err(read("it is not one of claw's own".to_owned()));
        }
        super::resources::read(&connection.peer, uri).await.map_err(read)
    }

    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, HubError> {
        self.way()?;
        let up = self.slot.lock().await.up.clone();
        if let Some(up) = up {
            up.ask_whether_known().await;
        }
        let joined = {
            let mut slot = self.slot.lock().await;
            if let Some(connection) = slot.up.as_ref().filter(|connection| !connection.is_dead()) {
                return Ok(connection.clone());
            }
            if let Some(dead) = slot.up.clone() {
                // The watcher may not have run yet; the failure counts before the next start.
                // Whoever waits here may be stopped, and then the watcher still needs what is dead.
                self.note_death(&dead).await;
                slot.up = None;
            }
            match slot.start.as_ref().and_then(Starting::join) {
                Some(joined) => joined,
                None => {
                    if self.closing.is_cancelled() {
                        return Err(self.why_closed());
                    }
                    self.check_backoff()?;
                    let (start, joined) = Starting::begin(self);
                    slot.start = Some(start);
                    joined
                }
            }
        };
        joined.wait(self.startup_timeout()).await
    }

    /// A start has come to its good end.
    pub(super) async fn is_up(self: &Arc<Self>, connection: &Arc<Connection>, pid: Option<u32>) {
        self.slot.lock().await.up = Some(connection.clone());
        connection.subscribe();
        {
            let mut health = self.health();
            health.phase = Phase::Up { connection: Arc::downgrade(connection), pid };
            health.era = Some(connection.era);
            health.held = connection.held;
        }
        let (server, weak) = (Arc::downgrade(self), Arc::downgrade(connection));
        claw_kit::task::spawn(watch(server, connection.transport.ended().clone(), weak));
        claw_kit::task::spawn(end_when_closed(
            connection.transport.closed().clone(),
            Arc::downgrade(connection),
        ));
    }

    /// A start has failed, or takes longer than it may.
    pub(super) fn is_not_up(&self, reason: &str) {
        let is_news = {
            let mut health = self.health();
            health.note_failure(reason);
            health.is_news()
        };
        if is_news {
            let (server, reason) = (self.entry.name.clone(), reason.to_owned());
            (self.settings.notices)(HubNotice::Failed { server, reason });
        }
    }

    pub(super) fn way(&self) -> Result<Way<'_>, HubError> {
        let server = self.entry.name.clone();
        if self.entry.disabled {
            return Err(HubError::Disabled { server });
        }
        match &self.entry.launch {
            Launch::Stdio(launch) => Ok(Way::Process(launch)),
            Launch::Http(launch) => Ok(Way::Http(launch)),
            Launch::Unusable { reason } => {
                Err(HubError::Unusable { server, reason: reason.clone() })
            }
        }
    }

    /// Why it starts no more.
    pub(super) fn why_closed(&self) -> HubError {
        if self.hub_is_closing.is_cancelled() {
            return HubError::ShuttingDown;
        }
        HubError::TakenOut { server: self.entry.name.clone() }
    }

    fn check_backoff(&self) -> Result<(), HubError> {
        match self.health().backoff() {
            None => Ok(()),
            Some(Backoff { failures, retry_in, reason }) => Err(HubError::BackingOff {
                server: self.entry.name.clone(),
                failures,
                retry_in,
                reason,
            }),
        }
    }

    async fn note_death(&self, connection: &Arc<Connection>) {
        if connection.ending.load(Ordering::SeqCst) {
            return;
        }
        let lived = connection.started.elapsed();
        let reason = match connection.transport.ended_in_peace() {
            true => None,
            false => Some(connection.wait_for_end_reason().await),
        };
        // Reported once, by whoever comes first. Whoever waits for the reason may be stopped, so
        // nothing waits from here on.
        if connection.ending.swap(true, Ordering::SeqCst) {
            return;
        }
        let Some(reason) = reason else {
            self.health().phase = Phase::Idle;
            return;
        };
        let is_news = {
            let mut health = self.health();
            health.note_death(&reason, lived);
            health.is_news()
        };
        if is_news {
            (self.settings.notices)(HubNotice::Died { server: self.entry.name.clone(), reason });
        }
    }
}

/// Notes a death that nobody asked for, also when nobody is calling.
async fn watch(server: Weak<Server>, ended: CancellationToken, connection: Weak<Connection>) {
    ended.cancelled().await;
    let Some(server) = server.upgrade() else { return };
    if let Some(connection) = connection.upgrade() {
        server.note_death(&connection).await;
    }
    // A stranger's resource is not looked at because of it, so that nothing is to be told.
    if matches!(&server.entry.launch, Launch::Stdio(launch) if launch.own.is_some()) {
        server.settings.resources.connection_ended(&server.entry.name);
    }
}

/// A server that closed one of its ends is of no use any more; what is left of it is ended.
async fn end_when_closed(closed: CancellationToken, connection: Weak<Connection>) {
    closed.cancelled().await;
    if let Some(connection) = connection.upgrade() {
        connection.request_end();
    }
}
