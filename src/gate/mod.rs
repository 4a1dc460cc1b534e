//! The gate: every tools/call takes this chain, from the model, a button, a schedule or an MCP
//! client. Owns verdicts, questions, grants, pins and the audit. Must not know MCP or chat.

mod abandon;
mod approvals;
mod audit;
mod chain;
mod copy;
mod frozen;
mod grants;
mod judge;
mod keep;
mod limits;
mod pause;
mod permission;
pub mod permit;
mod propose;
mod reading;
mod shown;
mod stage;
mod start;
mod tap;
mod transparency;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, PoisonError, RwLock as RwLockSync};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use approvals::DecideError;
pub use pause::is_about_a_turn;
pub use stage::{Proposed, StagedList};
pub use tap::Tapped;

use crate::catalog::{Catalog, CatalogSettings};
use crate::domain::{Approvers, LiveSink, Outcome, ToolCall};
use crate::hub::Hub;
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::store::{Artifacts, Store};

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
    /// The most bytes of a result that go to the model; the whole is kept as an artifact.
    pub tool_result_bytes: usize,
    /// How long a question stays open.
    pub question_time: Duration,
    /// The most calls that run side by side in this process.
    pub calls_at_once: usize,
    /// Who may answer questions.
    pub owner: Approvers,
    /// The most actions that tools may stage in one turn.
    pub staged_actions_max: usize,
    pub catalog: CatalogSettings,
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
    catalog: Arc<Catalog>,
}

impl Gate {
    pub fn new(parts: GateParts) -> Self {
        let slots = Semaphore::new(parts.settings.calls_at_once);
        let catalog = Catalog::new(
            parts.store.clone(),
            parts.hub.clone(),
            parts.redactor.clone(),
            parts.settings.catalog.clone(),
        );
        Self {
            store: parts.store,
            hub: parts.hub,
            policy: RwLockSync::new(Arc::new(parts.policy)),
            redactor: parts.redactor,
            artifacts: parts.artifacts,
            now: RwLockSync::new(Arc::new(parts.settings.clone())),
            settings: parts.settings,
            slots,
            catalog: Arc::new(catalog),
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
        self.catalog.set_settings(settings.catalog.clone());
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    /// The tools that there are.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    pub fn hub(&self) -> &Hub {
        &self.hub
    }
}

#[cfg(test)]
pub(crate) mod tests;
