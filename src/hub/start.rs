//! From a launch entry to a living connection: spawns, opens, and where the first words were the
//! wrong ones, spawns once more. Must not know when a server is needed or how often it failed.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::connection::{Connection, Parts};
use super::manifest::{ServerEntry, StdioLaunch};
use super::process::child::Keepers;
use super::process::spawn::{misplaced, spawn};
use super::rpc::era::Era;
use super::rpc::handshake::{Opening, OpeningError, open};
use super::settings::HubSettings;
use super::tls;
use super::transport::lines::LineReader;
use super::transport::outbox::Outbox;

/// What a start needs.
pub(super) struct Start<'a> {
    pub(super) entry: &'a ServerEntry,
    pub(super) launch: &'a StdioLaunch,
    pub(super) settings: &'a Arc<HubSettings>,
    pub(super) keepers: &'a Keepers,
    /// From an earlier life.
    pub(super) era: Option<Era>,
    /// The last start was silent on the opening that is usually first, so the other one goes first.
    pub(super) doubted: bool,
    /// From the first spawn to the end of the handshake.
    pub(super) limit: Duration,
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
    fn for_good(reason: String) -> Self {
        Self { why: StartFailed { reason, was_silent: false }, again: false }
    }
}

impl Start<'_> {
    /// Two openings at most. One that is silent is not ended for the sake of the other, because it
    /// may be at work: the next start tries the other one first.
    pub(super) async fn run(&self) -> Result<Connection, StartFailed> {
        let begun = Instant::now();
        let (first, second) = match (self.era, self.doubted) {
            (None, false) => (Opening::Probe, Opening::Initialize),
            (None, true) | (Some(Era::Legacy), false) | (Some(Era::Modern), true) => {
                (Opening::Initialize, Opening::Discover)
            }
            (Some(Era::Modern), false) | (Some(Era::Legacy), true) => {
                (Opening::Discover, Opening::Initialize)
            }
        };
        let failed = match self.attempt(first, begun + self.limit).await {
            Ok(connection) => return Ok(connection),
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

    async fn attempt(&self, opening: Opening, by: Instant) -> Result<Connection, Failed> {
        let settings = self.settings;
        let spawned = spawn(&self.entry.name, self.launch, settings, self.keepers);
        let spawned = match timeout_at(by, spawned).await {
            Ok(spawned) => spawned.map_err(Failed::for_good)?,
            Err(_) => return Err(Failed::for_good("its process did not start in time".to_owned())),
        };
        let outbox = Outbox::start(spawned.stdin, settings.queue_bytes_max);
        let mut lines = LineReader::new(spawned.stdout, settings.line_bytes_max);
        let version = &settings.client_version;
        let error =
            match open(&mut lines, &outbox, opening, version, settings.probe_timeout, by).await {
                Ok(agreement) => {
                    let parts = Parts { lines, outbox, child: spawned.child, agreement };
                    return Ok(Connection::new(self.entry, parts, settings.clone()));
                }
                Err(error) => error,
            };
        let was_silent = error == OpeningError::Silent;
        outbox.close();
        let (reason, again) = match error {
            OpeningError::Closed => ("it closed the connection".to_owned(), true),
            OpeningError::Silent => {
                (format!("it did not answer within {} s", self.limit.as_secs_f32()), false)
            }
            OpeningError::Refused(reason) => (reason, opening != Opening::Probe),
        };
        // Its last words say more than ours, once it has ended.
        let ended =
            timeout(settings.shutdown_grace, spawned.child.dead().cancelled()).await.is_ok();
        let last_words = spawned.child.stderr_tail.last_lines(3);
        let mut reason = match (ended, last_words.is_empty()) {
            (true, _) => format!("{reason}; {}", spawned.child.epitaph()),
            (false, false) => format!("{reason}; it said: {last_words}"),
            (false, true) => reason,
        };
        if tls::is_distrusted(&spawned.child.stderr_tail.text()) {
            reason = format!("{reason}; {}", tls::HINT);
        }
        if let Some(hint) = misplaced(self.launch, settings) {
            reason = format!("{reason}; {hint}");
        }
        Err(Failed { why: StartFailed { reason, was_silent }, again })
    }
}
