//! What is due becomes a message or a turn, once. Owns when claw looks at its scheduler, that each
//! firing is written down under its id before it is taken, and how many turns begin in a minute.
//! Must not know times and patterns (the scheduler computes them), doors, or how a turn goes.

mod behind;
mod due;
mod kept;
mod look;
mod take;
mod words;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::domain::{Address, OwnServerName, SessionId};
use crate::gate::Gate;
use crate::store::Store;
use behind::BehindTurns;
use look::Looked;

/// The resource that is subscribed to.
const DUE: &str = "schedule://due";
/// Which jobs there are.
const JOBS: &str = "schedule://jobs";

/// The scheduler says when something is due. This is for what it cannot say: a subscription that
/// was refused, a message that was lost.
const SAFETY_NET: Duration = Duration::from_secs(300);
/// Until the first job is made there is no file, and no server is started to wait for it.
const FILE_LOOK: Duration = Duration::from_secs(2);
/// After a look that has failed, and while the stop switch is on.
const AFTER_FAULT: Duration = Duration::from_secs(30);

/// A conversation, as a job is told there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub session: SessionId,
    pub at: Address,
}

/// Where a job is told, as the door sees it that looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobPlace {
    Here(Spot),
    /// Another door's, which sees to it first. After a while it is told here instead.
    OfAnotherDoor {
        instead: Spot,
    },
    /// Its conversation is not there any more, as `why` says in half a sentence. The owner is told.
    Gone {
        why: String,
        tell: Spot,
    },
    /// Another process has to see to it; it stays due.
    NotMine,
}

/// Where the job of a session is told; `None` is a job of no session.
pub type PlaceOf = Arc<dyn Fn(Option<&SessionId>) -> JobPlace + Send + Sync>;

/// What a door does for its jobs.
#[derive(Clone)]
pub struct JobCallbacks {
    pub place_of: PlaceOf,
    /// Called when something was put into inbox or outbox.
    pub written: Arc<dyn Fn() + Send + Sync>,
}

/// The limits of jobs.
#[derive(Clone, Copy, Debug)]
pub struct JobLimits {
    /// Turns that jobs begin in one minute.
    pub turns_minute_max: u32,
    /// Messages that wait in one session.
    pub queued_messages_max: u32,
}

/// What the room is made of.
pub struct JobsParts {
    pub store: Store,
    pub gate: Arc<Gate>,
    /// The file of the jobs, as far as it is known. Nothing is due while it is not there.
    pub database: Arc<dyn Fn() -> Option<PathBuf> + Send + Sync>,
    pub limits: Arc<dyn Fn() -> JobLimits + Send + Sync>,
}

/// The jobs of one home. Cheap to clone.
#[derive(Clone)]
pub struct Jobs(Arc<JobsParts>);

impl Jobs {
    pub fn new(parts: JobsParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Sees to what is due until it is dropped. A door runs this once.
    // Boxed, so that it is compiled here, and not once more in each door that waits for it.
    pub fn keep(self, callbacks: JobCallbacks) -> BoxFuture<'static, ()> {
        Box::pin(self.keep_on(callbacks))
    }

    async fn keep_on(self, callbacks: JobCallbacks) {
        let mut has_failed = false;
        let mut behind = BehindTurns::default();
        loop {
            let Some(server) = self.0.gate.calls().own_server(OwnServerName::Scheduler) else {
                tokio::time::sleep(AFTER_FAULT).await;
                continue;
            };
            let mut heard = self.0.gate.hub().hear_of(&server, DUE).await;
            if (self.0.database)().is_some_and(|file| !file.exists()) {
                tokio::time::sleep(FILE_LOOK).await;
                continue;
            }
            // Before the look: what comes meanwhile is a reason for another one.
            heard.mark_unchanged();
            let Looked { again, failed } = self.look(&server, &callbacks, &mut behind).await;
            if let Some(why) = &failed
                && !has_failed
            {
                tracing::warn!(server, why, "what is due cannot be seen to; it stays due");
            }
            has_failed = failed.is_some();
            let longest = if has_failed { AFTER_FAULT } else { SAFETY_NET };
            tokio::select! {
                // The hub lives as long as this, so it cannot fail.
                _news = heard.changed() => {}
                () = self.turn_is_over(&behind) => {}
                () = tokio::time::sleep(again.unwrap_or(longest).min(longest)) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
