//! The gate: every tools/call takes this chain, from the model, a button, a schedule or an MCP
//! client. Owns verdicts, questions, grants, pins and the audit. Must not know MCP or chat.

mod abandon;
mod approvals;
mod audit;
mod catalog;
mod chain;
mod copy;
mod frozen;
mod grants;
mod instructions;
mod judge;
mod keep;
mod late;
mod limits;
mod pause;
mod permission;
pub mod permit;
mod pinning;
mod propose;
mod quarantine;
mod reading;
mod shown;
mod stage;
mod start;
mod tap;
mod transparency;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock as RwLockSync};
use std::time::Duration;

use tokio::sync::{RwLock, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use approvals::DecideError;
pub use catalog::Offered;
pub use pause::is_about_a_turn;
pub use quarantine::{Change, PinAnswer, QuarantineError};
pub use stage::{Proposed, StagedList};
pub use tap::Tapped;

use crate::config::Tools;
use crate::domain::{LiveSink, Outcome, ToolCall};
use crate::hub::manifest::Manifest;
use crate::hub::{Hub, Replaced, ServerTools};
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::store::{Artifacts, Store};
use catalog::Catalog;
use late::Late;

/// What the gate is made of.
pub struct GateParts {
    pub store: Store,
    pub hub: Arc<Hub>,
    pub policy: Policy,
    pub redactor: Redactor,
    pub artifacts: Artifacts,
    pub settings: GateSettings,
}

/// The settings of the gate, in their units.
#[derive(Clone, Debug)]
pub struct GateSettings {
    /// Where the tools work.
    pub workspace: PathBuf,
    /// Claw's home.
    pub home: PathBuf,
    /// The home of the user that claw runs as.
    pub user_home: PathBuf,
    /// Whether the operating system keeps our bash server in its box. Found out when it is first
    /// needed.
    pub confined: Arc<LazyLock<bool>>,
    /// The most time that one call may take.
    pub tool_timeout: Duration,
    /// How long a request to a model waits, once, for a server whose tools are not known yet.
    pub server_wait: Duration,
    /// The most bytes of a result that go to the model; the whole is kept as an artifact.
    pub tool_result_bytes: usize,
    /// The most bytes of what a server says about itself that go to the model.
    pub server_instructions_bytes: usize,
    /// How long a question stays open.
    pub question_time: Duration,
    /// The most calls that run side by side in this process.
    pub calls_at_once: usize,
    /// Who may answer questions: principals, separated by commas, for example
    /// `console:uid:1000,telegram:12345`.
    pub owner: String,
    /// The most actions that tools may stage in one turn.
    pub staged_actions_max: usize,
    /// Which tools are there, and which of them models see.
    pub tools: Tools,
    /// Which build of claw this is: its own servers' tools need no yes while it is the same.
    pub program: String,
}

/// What surrounds one call.
#[derive(Clone)]
pub struct CallContext {
    pub live: LiveSink,
    /// Cancelled when the owner stops the turn or pulls the stop switch.
    pub cancel: CancellationToken,
    /// When the time of the turn is up.
    pub deadline: Instant,
}

pub struct Gate {
    store: Store,
    hub: Arc<Hub>,
    /// Replaced when `policy.toml` changes; each verdict is reached by one of them.
    policy: RwLockSync<Arc<Policy>>,
    redactor: Redactor,
    artifacts: Artifacts,
    /// As they were at the start. What can change while claw runs is read by [`Gate::now`].
    settings: GateSettings,
    now: RwLockSync<Arc<GateSettings>>,
    slots: Semaphore,
    catalog: RwLock<Option<Arc<Catalog>>>,
    /// The list of each server that was last compared with its pins.
    reconciled: Mutex<HashMap<String, Arc<ServerTools>>>,
    /// A server that was late has its tools now.
    catalog_is_old: Arc<AtomicBool>,
    late: Late,
}

impl Gate {
    pub fn new(parts: GateParts) -> Self {
        let slots = Semaphore::new(parts.settings.calls_at_once);
        Self {
            store: parts.store,
            hub: parts.hub,
            policy: RwLockSync::new(Arc::new(parts.policy)),
            redactor: parts.redactor,
            artifacts: parts.artifacts,
            now: RwLockSync::new(Arc::new(parts.settings.clone())),
            settings: parts.settings,
            slots,
            catalog: RwLock::new(None),
            reconciled: Mutex::default(),
            catalog_is_old: Arc::default(),
            late: Late::default(),
        }
    }

    /// Takes a call through the whole chain. Asking twice about one call id is safe at any time:
    /// what has an end keeps it, what waits still waits, and what was started and has no end is
    /// reported as unknown, never run again.
    pub async fn call(&self, call: ToolCall, context: CallContext) -> Outcome {
        chain::run(self, call, context).await
    }

    /// If the stop switch is on, ends every server of this process, and with them what still runs.
    pub async fn obey_panic(&self) -> Result<(), crate::store::StoreError> {
        if self.store.read(|tx| tx.panic())?.is_some() {
            self.hub.end_all().await;
        }
        Ok(())
    }

    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub fn policy(&self) -> Arc<Policy> {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on these rules are in force. What was frozen under others is judged, and asked
    /// about, again.
    pub fn set_policy(&self, policy: Policy) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// The settings of this moment.
    fn now(&self) -> Arc<GateSettings> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on these are in force: limits of results, questions and staged actions, and which
    /// tools are there. All else is what it was at the start.
    pub fn set_settings(&self, settings: GateSettings) {
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        self.catalog_is_old.store(true, Ordering::SeqCst);
    }

    /// From now on these are the servers. A step that is under way keeps the tools that it was
    /// given, and its calls end where they began; the next step of any turn has those of the new
    /// servers.
    pub fn set_servers(&self, manifest: Manifest) -> Replaced {
        let replaced = self.hub.replace(manifest);
        let others = || replaced.changed.iter().chain(&replaced.removed);
        self.late.forget(others());
        let mut known = self.reconciled.lock().unwrap_or_else(PoisonError::into_inner);
        others().for_each(|server| drop(known.remove(server)));
        drop(known);
        // Behind the servers, so that a list that is being made meanwhile is made again.
        self.catalog_is_old.store(true, Ordering::SeqCst);
        replaced
    }

    /// Keeps a sentence for the person, until a door fetches it.
    pub fn tell(&self, notice: String) {
        self.late.tell(notice);
    }

    pub fn hub(&self) -> &Hub {
        &self.hub
    }
}

#[cfg(test)]
pub(crate) mod tests;
