//! The permission layer: judge, then run with a permit, ask, or deny. Must not know how a verdict
//! is reached or written.

use super::judge::Judged;
use super::limits::{out_of_time, stopped};
use super::{Gate, Pass, rounds, start, tasks, transparency};
use crate::calls::Grounds;
use crate::domain::{CallId, CallState, DeniedBy, Outcome};
use crate::store::StoreError;

pub(super) async fn layer(gate: &Gate, pass: &Pass) -> Outcome {
    let call = &pass.call;
    match pass.row.as_ref().map(|row| row.state) {
        Some(CallState::InputRequired) => return Box::pin(rounds::resume(gate, pass)).await,
        Some(CallState::Task) => return Box::pin(tasks::resume(gate, pass)).await,
        _ => {}
    }
    loop {
        match judged(gate, pass).await {
            Ok(Judged::Allowed(allowed)) => {
                return match gate.start(pass, &allowed).await {
                    Ok((permit, changing)) => {
                        let outcome = transparency::layer(gate, pass, permit).await;
                        start::ended(changing).await;
                        outcome
                    }
                    Err(denied) => denied.into(),
                };
            }
            // Claw does it by itself, and nobody is asked about what nobody has asked for.
            Ok(Judged::Ask(_, grounds)) if is_of_claw_itself(&call.id) => {
                let by = DeniedBy::Unasked { rule: grounds.rule.clone() };
                return gate.calls.deny(call, by, &grounds);
            }
            Ok(Judged::Ask(tool, grounds)) => match gate.calls.ask(call, &tool, &grounds).await {
                Ok(Some(approval)) => return Outcome::Parked { approval },
                Ok(None) => {}
                Err(error) => {
                    let why = format!("the question could not be stored: {error}");
                    return Outcome::denied(DeniedBy::Failure, why);
                }
            },
            Ok(Judged::StillWaiting(approval)) => return Outcome::Parked { approval },
            Ok(Judged::Denied(by, grounds)) => return gate.calls.deny(call, by, &grounds),
            Err(outcome) => return outcome,
        }
    }
}

/// An order that changes something has its frozen row and its yes, and is never asked about.
fn is_of_claw_itself(call: &CallId) -> bool {
    use CallId::{Git, Heartbeat, Jobs, Named, Order, Recall};
    matches!(
        call,
        Recall { .. } | Git { .. } | Named { .. } | Order { .. } | Jobs { .. } | Heartbeat { .. }
    )
}

/// Judging may start a server, which takes its time: a stop must not wait for it.
async fn judged(gate: &Gate, pass: &Pass) -> Result<Judged, Outcome> {
    let (cancel, deadline) = (pass.context.cancel.clone(), pass.context.deadline);
    let judged = tokio::select! {
        biased;
        judged = judge(gate, pass) => judged,
        () = cancel.cancelled() => return Err(stopped()),
        () = tokio::time::sleep_until(deadline) => return Err(out_of_time()),
    };
    Ok(judged.unwrap_or_else(|error| {
        let why = format!("the store cannot be read: {error}");
        Judged::Denied(DeniedBy::Failure, Grounds::new("builtin.store", why))
    }))
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
