//! The permission layer: judge, then run with a permit, ask, or deny. Must not know how a verdict
//! is reached or written.

use super::judge::Judged;
use super::limits::{out_of_time, stopped};
use super::{Gate, Pass, rounds, start, tasks, transparency};
use crate::calls::Denied;
use crate::domain::{CallState, DeniedBy, Outcome};
use crate::store::StoreError;

pub(super) async fn layer(gate: &Gate, pass: &Pass) -> Outcome {
    let resumed = match pass.row.as_ref().map(|row| row.state) {
        Some(CallState::InputRequired) => Box::pin(rounds::resume(gate, pass)).await,
        Some(CallState::Task) => Box::pin(tasks::resume(gate, pass)).await,
        // On the heap, as all of a call that is much.
        _ => return Box::pin(decided(gate, pass)).await.unwrap_or_else(Outcome::from),
    };
    resumed.unwrap_or_else(rounds::lost)
}

async fn decided(gate: &Gate, pass: &Pass) -> Result<Outcome, Denied> {
    let call = &pass.call;
    loop {
        match judged(gate, pass).await? {
            Judged::Allowed(allowed) => {
                let (permit, changing) = gate.start(pass, &allowed).await?;
                let outcome = transparency::layer(gate, pass, permit).await;
                start::ended(changing).await;
                return Ok(outcome);
            }
            Judged::Ask(_, grounds) if call.id.asks_nobody() => {
                let by = DeniedBy::Unasked { rule: grounds.rule.clone() };
                return Ok(gate.calls.deny(call, by, &grounds));
            }
            Judged::Ask(tool, grounds) => {
                if let Some(approval) = gate.calls.ask(call, &tool, &grounds).await? {
                    return Ok(Outcome::Parked { approval });
                }
            }
            Judged::StillWaiting(approval) => return Ok(Outcome::Parked { approval }),
            Judged::Denied(by, grounds) => return Ok(gate.calls.deny(call, by, &grounds)),
        }
    }
}

/// Judging may start a server, which takes its time: a stop must not wait for it.
async fn judged(gate: &Gate, pass: &Pass) -> Result<Judged, Denied> {
    let (cancel, deadline) = (pass.context.cancel.clone(), pass.context.deadline);
    tokio::select! {
        biased;
        judged = judge(gate, pass) => Ok(judged?),
        () = cancel.cancelled() => Err(stopped()),
        () = tokio::time::sleep_until(deadline) => Err(out_of_time()),
    }
}

/// A verdict by the rules that are in force when it is reached: they may be replaced while a server
/// starts.
async fn judge(gate: &Gate, pass: &Pass) -> Result<Judged, StoreError> {
    loop {
        let version = gate.policy().version();
        let judged = gate.judge(pass).await;
        if gate.policy().version() == version {
            return judged;
        }
    }
}
