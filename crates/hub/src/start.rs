//! From a launch entry to an open connection: spawns or dials, makes the handshake, and where a
//! server ended at the first opening or refused it, spawns once more. Must not know when a server
//! is needed or how often it failed.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::connection::{Connection, Parts, root_for};
use super::in_flight::InFlight;
use super::login;
use super::manifest::{HttpLaunch, ServerEntry, StdioLaunch};
use super::process::spawn::{misplaced, spawn};
use super::rpc::era::Era;
use super::rpc::{Introduction, Opening, OpeningError, open};
use super::settings::HubSettings;
use super::tls;
use super::transport::http::Times;
use super::transport::{Http, Stdio, Transport as _};

/// What a start needs.
pub(super) struct Start<'a> {
    pub(super) entry: &'a ServerEntry,
    pub(super) way: Way<'a>,
    pub(super) settings: &'a Arc<HubSettings>,
    pub(super) reapers: &'a InFlight,
    /// From an earlier life.
    pub(super) era: Option<Era>,
    /// The last start was silent on the opening that is usually first, so the other one goes first.
    pub(super) doubted: bool,
    /// From the first spawn to the end of the handshake.
    pub(super) limit: Duration,
}

/// How a server is reached.
#[derive(Clone, Copy)]
pub(super) enum Way<'a> {
    Process(&'a StdioLaunch),
    Http(&'a HttpLaunch),
}

/// A server that is up.
pub(super) struct Up {
    pub(super) connection: Connection,
    pub(super) pid: Option<u32>,
}

/// Why there is no connection.
pub(super) struct StartFailed {
    /// In words for the owner.
    pub(super) reason: String,
    /// It said nothing at all.
    pub(super) was_silent: bool,
}

/// Why an attempt failed, and whether another opening may do better at once.
struct Failed {
    why: StartFailed,
    again: bool,
}

impl Failed {
    fn permanently(reason: String) -> Self {
        Self { why: StartFailed { reason, was_silent: false }, again: false }
    }
}

impl Start<'_> {
    /// Two openings at most. One that is silent is not ended for the sake of the other, because it
    /// may be at work: the next start tries the other one first.
    pub(super) async fn run(&self) -> Result<Up, StartFailed> {
        let begun = Instant::now();
        let (first, second) = Opening::order(self.era, self.doubted);
        let failed = match self.attempt(first, begun + self.limit).await {
            Ok(up) => return Ok(up),
            Err(failed) => failed,
        };
        if !failed.again {
            return Err(failed.why);
        }
        // What the first one has installed need not be installed again, so half of the time is
        // plenty.
        let by = (begun + self.limit).max(Instant::now() + self.limit / 2);
        self.attempt(second, by).await.map_err(|failed| failed.why)
    }

    fn introduction(&self) -> Introduction<'_> {
        let roots = root_for(self.entry, self.settings).is_some();
        Introduction { version: &self.settings.client_version, roots }
    }

    async fn attempt(&self, opening: Opening, by: Instant) -> Result<Up, Failed> {
        match self.way {
            Way::Process(launch) => self.start(launch, opening, by).await,
            Way::Http(launch) => self.dial(launch, opening, by).await,
        }
    }

    async fn start(
        &self,
        launch: &StdioLaunch,
        opening: Opening,
        by: Instant,
    ) -> Result<Up, Failed> {
        let settings = self.settings;
        let spawned = spawn(&self.entry.name, launch, settings, self.reapers);
        let spawned = match timeout_at(by, spawned).await {
            Ok(spawned) => spawned.map_err(Failed::permanently)?,
            Err(_) => {
                return Err(Failed::permanently("its process did not start in time".to_owned()));
            }
        };
        let (stdio, mut receiver) = Stdio::new(spawned, settings.limits());
        let (claw, probe_timeout) = (self.introduction(), settings.probe_timeout);
        let agreed = open(&mut receiver, &stdio, opening, claw, probe_timeout, by).await;
        let error = match agreed {
            Ok(agreement) => {
                let pid = stdio.process().pid;
                let parts = Parts { transport: Arc::new(stdio), receiver, agreement };
                let connection = Connection::new(self.entry, parts, settings.clone());
                return Ok(Up { connection, pid: Some(pid) });
            }
            Err(error) => error,
        };
        Err(self.failed(error, launch, opening, &stdio).await)
    }

    async fn dial(&self, launch: &HttpLaunch, opening: Opening, by: Instant) -> Result<Up, Failed> {
        let settings = self.settings;
        let request = self.entry.startup_timeout.unwrap_or(settings.startup_timeout);
        let times = Times { request, ..settings.times };
        let bearer = login::bearer(&self.entry.name, launch, settings);
        let lookup = settings.lookup.clone();
        let http = Http::new(launch, settings.limits(), times, lookup, bearer);
        let (http, mut receiver) = http.map_err(Failed::permanently)?;
        let (claw, probe_timeout) = (self.introduction(), settings.probe_timeout);
        let agreed = open(&mut receiver, &http, opening, claw, probe_timeout, by).await;
        let error = match agreed {
            Ok(agreement) => {
                let parts = Parts { transport: Arc::new(http), receiver, agreement };
                let connection = Connection::new(self.entry, parts, settings.clone());
                return Ok(Up { connection, pid: None });
            }
            Err(error) => error,
        };
        let was_silent = error == OpeningError::Silent;
        let (reason, again) = match error {
            OpeningError::Closed => (http.end_reason(), http.was_reached()),
            OpeningError::Failed(reason) => (reason, http.was_reached()),
            OpeningError::Silent => (self.silent(), false),
            OpeningError::Refused(reason) => (reason, opening != Opening::Probe),
        };
        Err(Failed { why: StartFailed { reason, was_silent }, again })
    }

    fn silent(&self) -> String {
        format!("it did not answer within {} s", self.limit.as_secs_f32())
    }

    async fn failed(
        &self,
        error: OpeningError,
        launch: &StdioLaunch,
        opening: Opening,
        stdio: &Stdio,
    ) -> Failed {
        let (settings, stderr) = (self.settings, &stdio.process().stderr_tail);
        let was_silent = error == OpeningError::Silent;
        stdio.close_stdin();
        let (reason, again) = match error {
            OpeningError::Closed => ("it closed the connection".to_owned(), true),
            OpeningError::Failed(reason) => (reason, true),
            OpeningError::Silent => (self.silent(), false),
            OpeningError::Refused(reason) => (reason, opening != Opening::Probe),
        };
        // Its exit reason says more than ours, once it has ended.
        let ended = timeout(settings.shutdown_grace, stdio.ended().cancelled()).await.is_ok();
        let last_lines = stderr.last_lines(3);
        let mut reason = match (ended, last_lines.is_empty()) {
            (true, _) => format!("{reason}; {}", stdio.end_reason()),
            (false, false) => format!("{reason}; it said: {last_lines}"),
            (false, true) => reason,
        };
        if tls::is_distrusted(&stderr.text()) {
            reason = format!("{reason}; {}", tls::HINT);
        }
        if let Some(hint) = misplaced(launch, settings) {
            reason = format!("{reason}; {hint}");
        }
        Failed { why: StartFailed { reason, was_silent }, again }
    }
}
