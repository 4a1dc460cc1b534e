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
mod of_folders;
mod permission;
mod rounds;
mod start;
mod tasks;
mod transparency;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tracing::Instrument as _;

pub use self::of_folders::GatesOfFolders;
pub use crate::calls::CallContext;
use crate::calls::Calls;
use crate::calls::openings::HandedOut;
pub use crate::calls::rounds::{InputNews, InputSink};
use crate::catalog::Catalog;
use crate::domain::{CallId, DeniedBy, Outcome, ToolCall, escape};
use crate::hub::{Hub, PermitMint};
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::store::{CallRow, StoreError};
use crate::undo::TurnSnapshots;

/// What the gate is made of.
pub struct GateParts {
    pub hub: Arc<Hub>,
    /// Makes the permits of `hub`.
    pub mint: PermitMint,
    pub calls: Arc<Calls>,
    pub catalog: Arc<Catalog>,
    pub redactor: Redactor,
    /// Of the workspace that the tools work in.
    pub snapshots: TurnSnapshots,
    /// The most time that one call may take.
    pub tool_timeout: Duration,
    /// The most calls that run side by side in this process.
    pub calls_at_once: usize,
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
    /// The app ends its servers when nobody calls any more.
    hub: Arc<Hub>,
    /// The only one: no other part of claw can make a permit.
    mint: PermitMint,
    /// A clone: it learns with all others.
    redactor: Redactor,
    /// Lives as long as the gate.
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
        Self {
            handed_out: HandedOut::new(parts.calls.clone()),
            hub: parts.hub,
            mint: parts.mint,
            redactor: parts.redactor,
            calls: parts.calls,
            catalog: parts.catalog,
            tool_timeout: parts.tool_timeout,
            snapshots: parts.snapshots,
            slots: Semaphore::new(parts.calls_at_once),
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
            tracing::debug!(outcome = %outcome.in_a_word(), "the gate is done with it");
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
        if self.calls.stopped_by()?.is_some() {
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

#[cfg(test)]
pub(crate) mod tests;
