//! The worker of a session: takes the lock, does what there is to do, lets go, and looks once more,
//! whoever else is at it.
//! Must not know what a step does.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;

use super::budget::Budget;
use super::drive::Drive;
use super::ending::Ending;
use super::named::Attached;
use super::recall::Rest;
use super::recent::Recent;
use super::watch::Watch;
use crate::config::{HeartbeatBudgets, ServeSection};
use crate::domain::{InboundBody, LiveSink, SessionId};
use crate::gate::Gate;
use crate::store::{InboxRow, SessionLock, Store, StoreError};
use crate::turn::run::Runner;

/// How often a session that somebody else holds is looked at again. The holder may have been
/// killed.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What goes wrong in a session. The session lives on: everything that was committed is still
/// there.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "what was said in the session `{session}` cannot be taken in, which is a bug in claw; \
         nothing is lost, and `--session` starts another one"
    )]
    Stuck { session: String },
}

impl crate::domain::Blamed for SessionError {
    fn blame(&self) -> crate::domain::Blame {
        match self {
            Self::Store(error) => error.blame(),
            Self::Stuck { .. } => crate::domain::Blame::Broken,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// Nothing is left to do.
    Idle,
    /// A turn is open, and everything in it waits for a human.
    Parked,
    /// The process is about to end. What is left to do is left to whoever comes next, or to whoever
    /// holds the session.
    Interrupted,
}

/// What a worker is made of.
pub struct WorkerParts {
    pub store: Store,
    pub gate: Arc<Gate>,
    pub settings: TurnSettings,
    /// One for all workers of a process.
    pub ending: Ending,
}

/// What a turn goes by. One that has begun keeps what it began with, until it ends or waits for
/// somebody.
pub struct TurnSettings {
    pub runner: Runner,
    /// The most time that a turn may take, in seconds, waiting for a human not counted.
    pub turn_time_s: u64,
    /// After this many deaths of the process in one step the owner is asked before the turn goes
    /// on.
    pub deaths_of_turn_max: u32,
    /// Seconds without an event, after which the next turn begins with a summary of what was
    /// before; 0 is never.
    pub idle_window_s: u64,
    pub budget: Budget,
    /// Of each heartbeat.
    pub heartbeats: HeartbeatBudgets,
    /// Of MCP clients.
    pub serve: ServeSection,
}

/// Runs any session of a home, one at a time each. Made at the first turn; the app holds it until
/// the process ends.
pub struct Worker {
    /// A handle of the app's. It commits what is left with the last handle.
    pub(super) store: Store,
    /// The app's, whose servers end when that closes.
    pub(super) gate: Arc<Gate>,
    /// Of the turns that begin from now on.
    settings: RwLock<Arc<TurnSettings>>,
    /// Begun once, when the process is to end; it never goes back.
    ending: Ending,
    /// The steps that run, each until it has ended.
    pub(super) watch: Watch,
    /// The windows of the sessions that ran last; the oldest goes when there are too many.
    pub(super) recent: Recent,
    /// Until when the memory is left alone. Lives as long as the worker.
    pub(super) recall_rests: Rest,
    /// Until when git is left alone. Lives as long as the worker.
    pub(super) git_rests: Rest,
    /// What is heard of the resources that sessions have attached. Lives as long as the worker.
    pub(super) attached: Attached,
}

impl Worker {
    pub fn new(parts: WorkerParts) -> Self {
        let WorkerParts { store, gate, settings, ending } = parts;
        Self {
            store,
            gate,
            settings: RwLock::new(Arc::new(settings)),
            ending,
            watch: Watch::default(),
            recent: Recent::default(),
            recall_rests: Rest::default(),
            git_rests: Rest::default(),
            attached: Attached::default(),
        }
    }

    /// By which the process tells all its sessions that it ends.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// For a process that ends now.
    pub fn leave_windows(&self) {
        self.recent.leave();
    }

    /// What a turn goes by that begins now.
    pub fn settings(&self) -> Arc<TurnSettings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on turns begin with these.
    pub fn set_settings(&self, settings: TurnSettings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    /// Does everything that waits in the session. While another process or task holds it, or works
    /// in its folder, waits for that one, unless this process ends.
    // Boxed, so that it is compiled here, and not once more in each door that waits for it.
    pub fn run<'a>(
        &'a self,
        session: &'a SessionId,
        live: &'a LiveSink,
    ) -> BoxFuture<'a, Result<Ran, SessionError>> {
        Box::pin(self.work_off(session, live))
    }

    async fn work_off(&self, session: &SessionId, live: &LiveSink) -> Result<Ran, SessionError> {
        let mut left_before = Vec::new();
        loop {
            let Some(lock) = self.lock_here(session)? else {
                if self.ending.has_begun() {
                    return Ok(Ran::Interrupted);
                }
                tokio::time::sleep(LOOK_AGAIN).await;
                continue;
            };
            crate::killpoint::here("session.locked");
            let mut drive = Drive::open(self, &lock, session, live.clone())?;
            let ran = loop {
                if let Some(ran) = drive.step().await? {
                    break ran;
                }
            };
            drive.let_go().await?;
            crate::killpoint::here("session.unlock.before");
            lock.release();
            // A row that came between the last look and letting go found the lock taken; so look
            // once more.
            let left = self.store.read(|tx| tx.queued_inbound(session))?;
            // A message that came while the turn waits for an answer goes in behind the answer.
            let waits = |row: &InboxRow| {
                ran == Ran::Parked && matches!(row.inbound.body, InboundBody::Message { .. })
            };
            if left.iter().all(waits) || self.ending.has_begun() {
                return Ok(ran);
            }
            let left: Vec<i64> = left.iter().map(|row| row.id).collect();
            if left == left_before {
                // A row that cannot come in stays where it is; trying forever would only burn a
                // processor.
                return Err(SessionError::Stuck { session: session.to_string() });
            }
            left_before = left;
        }
    }

    /// The session's lock, if nobody else has it and the session works in this folder: its words
    /// are about that one, and a process that works there goes on with it.
    fn lock_here(&self, session: &SessionId) -> Result<Option<SessionLock>, SessionError> {
        if !self.works_here(session)? {
            return Ok(None);
        }
        let lock = self.store.lock_session(session)?;
        // An owner may have given it another folder in between.
        Ok(if self.works_here(session)? { lock } else { None })
    }

    /// Whether an earlier run, or time, left something that can be done without anybody saying
    /// more.
    pub fn left_over(&self, session: &SessionId) -> Result<bool, SessionError> {
        Ok(self.store.read(|tx| {
            Ok(tx.turn_open(session)?
                || !tx.queued_inbound(session)?.is_empty()
                || tx.staged_is_due(session, crate::store::now_ms())?)
        })?)
    }

    /// Somebody speaks to the session here: it works in this process' workspace from now on.
    pub async fn keep_here(&self, session: &SessionId) -> Result<(), SessionError> {
        Ok(self.gate.calls().keep_session_here(session).await?)
    }

    fn works_here(&self, session: &SessionId) -> Result<bool, SessionError> {
        let folder = self.store.read(|tx| tx.session_workspace(session))?;
        Ok(folder.is_none_or(|folder| Path::new(&folder) == self.gate.calls().workspace()))
    }
}
