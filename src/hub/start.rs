//! From a launch entry to a living connection: spawns, opens, and where the first words were the wrong ones, spawns once
//! more. Must not know when a server is needed or how often it failed.

use std::sync::Arc;

use tokio::time::{Instant, timeout, timeout_at};

use super::child::Keepers;
use super::connect::{Opening, OpeningError, open};
use super::connection::{Connection, Parts};
use super::era::Era;
use super::lines::LineReader;
use super::manifest::{ServerEntry, StdioLaunch};
use super::outbox::Outbox;
use super::settings::HubSettings;
use super::spawn::spawn;

/// What a start needs.
pub(super) struct Start<'a> {
    pub(super) entry: &'a ServerEntry,
    pub(super) launch: &'a StdioLaunch,
    pub(super) settings: &'a Arc<HubSettings>,
    pub(super) keepers: &'a Keepers,
    /// From an earlier life.
    pub(super) era: Option<Era>,
}

/// Why an attempt failed, in words for the owner, and whether another opening may do better.
struct Failed {
    reason: String,
    again: bool,
}

impl Start<'_> {
    /// Two openings at most, within one `startup_timeout`.
    pub(super) async fn run(&self) -> Result<Connection, String> {
        let whole = self.settings.startup_timeout;
        let begun = Instant::now();
        let (first, second) = match self.era {
            None => (Opening::Probe, Opening::Initialize),
            Some(Era::Legacy) => (Opening::Initialize, Opening::Discover),
            Some(Era::Modern) => (Opening::Discover, Opening::Initialize),
        };
        // A server that is known to be legacy gets all of the time; what is only guessed leaves some for the other way.
        let first_deadline = if first == Opening::Initialize { begun + whole } else { begun + whole * 3 / 4 };
        let failed = match self.attempt(first, first_deadline).await {
            Ok(connection) => return Ok(connection),
            Err(failed) => failed,
        };
        if !failed.again || Instant::now() >= begun + whole {
            return Err(failed.reason);
        }
        self.attempt(second, begun + whole).await.map_err(|failed| failed.reason)
    }

    async fn attempt(&self, opening: Opening, by: Instant) -> Result<Connection, Failed> {
        let settings = self.settings;
        let spawned = spawn(&self.entry.name, self.launch, settings, self.keepers);
        let spawned = match timeout_at(by, spawned).await {
            Ok(spawned) => spawned.map_err(|reason| Failed { reason, again: false })?,
            Err(_) => return Err(Failed { reason: "its process did not start in time".to_owned(), again: false }),
        };
        let outbox = Outbox::start(spawned.stdin, settings.queue_bytes_max);
        let mut lines = LineReader::new(spawned.stdout, settings.line_bytes_max);
        let version = &settings.client_version;
        let error = match open(&mut lines, &outbox, opening, version, settings.probe_timeout, by).await {
            Ok(agreement) => {
                let parts = Parts { lines, outbox, child: spawned.child, agreement };
                return Ok(Connection::new(self.entry, parts, settings.clone()));
            }
            Err(error) => error,
        };
        outbox.close();
        let (reason, again) = match error {
            OpeningError::Closed => ("it closed the connection".to_owned(), true),
            OpeningError::Silent => {
                let limit = settings.startup_timeout.as_secs_f32();
                (format!("it did not answer within {limit} s"), opening != Opening::Initialize)
            }
            OpeningError::Refused(reason) => (reason, opening != Opening::Probe),
        };
        // Its last words say more than ours, once it has ended.
        let ended = timeout(settings.shutdown_grace, spawned.child.dead().cancelled()).await.is_ok();
        let reason = if ended { format!("{reason}; {}", spawned.child.epitaph()) } else { reason };
        Err(Failed { reason, again })
    }
}
