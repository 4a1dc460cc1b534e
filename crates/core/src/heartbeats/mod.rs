//! The agent wakes up by itself, by `heartbeats.toml`. Owns when claw looks, that each
//! time is seen to once, and that a check decides before a model is asked. Must not know
//! doors, or how a turn goes.
//!
//! Times are claw's own and not jobs of the scheduler server: what the file says is all there is,
//! so nothing has to be kept in step, and no tool of a model can change or cancel a heartbeat.

mod check;
mod fire;
mod shown;
mod times;
mod words;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::watch;

use crate::config::Heartbeat;
use crate::domain::Address;
use crate::gate::Gate;
use crate::store::Store;
pub use shown::{HeartbeatShown, shown};
pub use words::schedule;

/// The longest that a time is waited for without a look at the clock: it can be set, and a machine
/// can sleep.
const LOOK: Duration = Duration::from_secs(60);

/// Where a heartbeat tells what it has to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeartbeatPlace {
    Here(Address),
    /// Half a sentence about why nowhere, and where that is said.
    Nowhere {
        why: String,
        tell: Option<Address>,
    },
}

/// What a door does for its heartbeats.
#[derive(Clone)]
pub struct HeartbeatCallbacks {
    /// Where the heartbeat tells that names this chat; `None` is the owner's.
    pub place_of: Arc<dyn Fn(Option<i64>) -> HeartbeatPlace + Send + Sync>,
    /// Called when something was put into inbox or outbox.
    pub written: Arc<dyn Fn() + Send + Sync>,
}

/// What the room is made of.
pub struct HeartbeatsParts {
    pub store: Store,
    pub gate: Arc<Gate>,
    /// The zone of the owner's day.
    pub zone: TimeZone,
    /// Those of the file; another value when it changes.
    pub entries: watch::Receiver<Arc<Vec<Heartbeat>>>,
    /// Messages that may wait in one session.
    pub queued_max: Arc<dyn Fn() -> u32 + Send + Sync>,
}

/// The heartbeats of one agent. Cheap to clone.
#[derive(Clone)]
pub struct Heartbeats(Arc<HeartbeatsParts>);

impl Heartbeats {
    pub fn new(parts: HeartbeatsParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Sees to them until it is dropped. The gateway runs this once for each agent.
    // Boxed, so that it is compiled here, and not once more in each door that waits for it.
    pub fn keep(self, callbacks: HeartbeatCallbacks) -> BoxFuture<'static, ()> {
        Box::pin(self.keep_on(callbacks))
    }

    async fn keep_on(self, callbacks: HeartbeatCallbacks) {
        let mut entries = self.0.entries.clone();
        loop {
            let all = entries.borrow_and_update().clone();
            self.look(&all, Timestamp::now(), &callbacks).await;
            let now = Timestamp::now();
            let next = all.iter().filter_map(|heartbeat| times::next(heartbeat, now)).min();
            let wait = next.map(|at| Duration::try_from(at.duration_since(now)).unwrap_or(LOOK));
            tokio::select! {
                changed = entries.changed() => if changed.is_err() { return },
                () = wait_for(wait.map(|wait| wait.min(LOOK))) => {}
            }
        }
    }
}

/// Without a time it waits for another file.
async fn wait_for(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}

/// When a heartbeat fires next, as a clock in its zone shows it. `None`: not in the next week.
pub fn next_time(heartbeat: &Heartbeat, now: Timestamp) -> Option<String> {
    times::next(heartbeat, now).map(|at| words::local(heartbeat, at))
}

#[cfg(test)]
mod tests;
