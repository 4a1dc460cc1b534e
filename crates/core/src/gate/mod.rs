//! The gate: every tools/call takes these layers, from the model, a button, a schedule or an MCP
//! client. Owns the judge, the way of a call through the layers, and the permit. Must not know MCP,
//! chat, or how a call is stored.
//!
//! Each layer calls the next one, outer to inner: `audit`, `permission`, `transparency`, `limits`,
//! and behind them `forward`. The permit is made by the second and handed on as a value.

mod audit;
mod forward;
mod judge;
mod limits;
mod permission;
mod rounds;
mod start;
mod tasks;
mod transparency;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::calls::openings::HandedOut;
pub use crate::calls::rounds::{InputNews, InputSink};
use crate::calls::{CallLimits, Calls, CallsParts, Surroundings};
use crate::catalog::{Catalog, CatalogSettings};
use crate::domain::{CallId, DeniedBy, LiveSink, Outcome, ToolCall, TurnId, escape, unseen};
use crate::hub::{Hub, PermitMint};
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::store::{Artifacts, CallRow, Store, StoreError};
use crate::undo::TurnSnapshots;

/// What the gate is made of.
pub struct GateParts {
    pub store: Store,
    pub hub: Arc<Hub>,
    /// Makes the permits of `hub`.
    pub mint: PermitMint,
    pub policy: Policy,
    pub redactor: Redactor,
    pub artifacts: Artifacts,
    /// Of the workspace that the tools work in.
    pub snapshots: TurnSnapshots,
    pub settings: GateSettings,
}

/// The settings of the gate and of what it holds, in their units.
#[derive(Clone, Debug)]
pub struct GateSettings {
    /// The most time that one call may take.
    pub tool_timeout: Duration,
    /// The most calls that run side by side in this process.
    pub calls_at_once: usize,
    pub surroundings: Surroundings,
    pub limits: CallLimits,
    pub catalog: CatalogSettings,
}

/// What surrounds one call.
#[derive(Clone)]
pub struct CallContext {
    pub live: LiveSink,
    /// Cancelled when the owner stops the turn or pulls the stop switch.
    pub cancel: CancellationToken,
    /// Cancelled when this process is about to end: what a server works on as a task is left to
    /// the next one then. Never cancelled where none would go on.
    pub leaves: CancellationToken,
    /// When the time of the turn is up.
    pub deadline: Instant,
    /// Whose changes are undone together; none for a call of nobody's turn.
    pub turn: Option<TurnId>,
    /// Whether somebody else than the owner reads what comes of it, or may have: a group, an
    /// allowed user.
    pub heard_by_others: bool,
    /// Who hears what a server asks the owner in the middle of the call. `None` where nobody can
    /// answer: then the server is told so.
    pub asks: Option<InputSink>,
}

impl CallContext {
    /// Of a call that claw makes by itself: no door shows it, it belongs to no turn, no stranger
    /// reads what comes of it, nobody answers what its server asks, and a server that makes a task
    /// of it is waited for. It has this much time from now on.
    pub fn unseen(cancel: CancellationToken, time: Duration) -> Self {
        Self {
            live: unseen(),
            cancel,
            leaves: CancellationToken::new(),
            deadline: Instant::now() + time,
            turn: None,
            heard_by_others: false,
            asks: None,
        }
    }
}

/// A call on its way through the layers.
struct Pass {
    call: ToolCall,
    context: CallContext,
    /// What the store already knows of this call.
    row: Option<CallRow>,
}

/// One for the whole process.
pub struct Gate {
    /// A handle; the app closes it last.
    store: Store,
    /// The app ends its servers when nobody calls any more.
    hub: Arc<Hub>,
    /// The only one: no other part of claw can make a permit.
    mint: PermitMint,
    /// A clone: it learns with all others.
    redactor: Redactor,
    /// Made with the gate, and lives as long as it.
    calls: Arc<Calls>,
    /// The calls hold it, too.
    catalog: Arc<Catalog>,
    /// For servers whose entry names none. The same until the process ends.
    tool_timeout: Duration,
    /// Remembers the workspace before a turn changes it. Lives as long as the gate.
    snapshots: TurnSnapshots,
    /// One for each call that may run; a call holds one from its start to its end.
    slots: Semaphore,
    /// What is open by name and was handed to commands.
    handed_out: Arc<HandedOut>,
}

impl Gate {
    pub fn new(parts: GateParts) -> Self {
        let GateParts { store, hub, mint, policy, redactor, artifacts, snapshots, settings } =
            parts;
        let catalog =
            Arc::new(Catalog::new(store.clone(), hub.clone(), redactor.clone(), settings.catalog));
        let calls = Calls::new(CallsParts {
            store: store.clone(),
            hub: hub.clone(),
            catalog: catalog.clone(),
            policy,
            redactor: redactor.clone(),
            artifacts,
            surroundings: settings.surroundings,
            limits: settings.limits,
        });
        let (tool_timeout, slots) = (settings.tool_timeout, Semaphore::new(settings.calls_at_once));
        let calls = Arc::new(calls);
        let handed_out = HandedOut::new(store.clone(), calls.clone(), hub.clone());
        Self {
            store,
            hub,
            mint,
            redactor,
            calls,
            catalog,
            tool_timeout,
            snapshots,
            slots,
            handed_out,
        }
    }

    /// Takes a call through all layers. Asking twice about one call id is safe at any time:
    /// what has an end keeps it, what waits still waits, and what was started and has no end is
    /// reported as unknown, never run again.
    pub async fn call(&self, call: ToolCall, context: CallContext) -> Outcome {
        // A name is a server's word, and the arguments are nobody's business here.
        let tool = escape::visible(&format!("{}/{}", call.server, call.tool));
        let span = tracing::error_span!("call", id = %call.id, %tool);
        let logged = async {
            let outcome = audit::layer(self, call, context).await;
            tracing::debug!(outcome = %became(&outcome), "the gate is done with it");
            outcome
        };
        // On the heap, because a turn carries one such future for each call of a reply.
        Box::pin(logged.instrument(span)).await
    }

    /// Runs a confirmed action from its frozen row, through all layers. Asking twice is as safe as
    /// for every call.
    pub async fn act(&self, call: &CallId, context: CallContext) -> Result<Outcome, StoreError> {
        let denied = |by, reason: &str| Ok(Outcome::denied(by, reason));
        let Some(call) = self.calls.staged_call(call)? else {
            return denied(DeniedBy::Request, "nothing was staged under this id here");
        };
        match self.call(call, context).await {
            Outcome::Parked { .. } => denied(DeniedBy::Answer, "nobody has confirmed it"),
            outcome => Ok(outcome),
        }
    }

    /// Gives a call its end whose turn ends before it, and tells its server if that works on it as
    /// a task ([`Calls::abandon`]). Only the holder of the session's lock may ask.
    pub async fn abandon(
        &self,
        call: &CallId,
        reason: &'static str,
    ) -> Result<Outcome, StoreError> {
        let beside = tasks::cancel(self, call).await?;
        self.calls.abandon(call, reason, beside).await
    }

    /// If the stop switch is on, ends every server of this process, and with them what still runs.
    pub async fn obey_panic(&self) -> Result<(), StoreError> {
        if self.store.read(|tx| tx.panic())?.is_some() {
            self.hub.end_all().await;
        }
        Ok(())
    }

    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The rules that are in force.
    pub fn policy(&self) -> Arc<Policy> {
        self.calls.policy()
    }

    /// From now on these are in force: limits of results, questions and staged actions, and which
    /// tools are there. All else is what it was at the start.
    pub fn set_settings(&self, settings: GateSettings) {
        self.calls.set_limits(settings.limits);
        self.catalog.set_settings(settings.catalog);
    }

    /// The tools that there are.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The calls that there were, the questions about them, and the answers.
    pub fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// What the workspace was before each turn.
    pub fn snapshots(&self) -> &TurnSnapshots {
        &self.snapshots
    }

    pub fn hub(&self) -> &Hub {
        &self.hub
    }
}

/// An outcome without its contents, for the log.
fn became(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Ended { .. } => "ended",
        Outcome::Denied { .. } => "denied",
        Outcome::Unknown { .. } => "unknown",
        Outcome::Parked { .. } => "waits for an answer",
        Outcome::Left => "is left to the next process",
    }
}

#[cfg(test)]
pub(crate) mod tests;
