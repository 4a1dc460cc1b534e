//! The limits layer: how many calls run side by side, how long one may take, how much of a result
//! goes to the model. Must not know what a call does.

use super::{Gate, Pass, forward};
use crate::calls::KeptResult;
use crate::domain::Outcome;
use crate::hub::Permit;

pub(super) async fn layer(gate: &Gate, pass: &Pass, permit: Permit) -> Outcome {
    let call = KeptResult::of(&pass.call);
    let (cancel, deadline) = (pass.context.cancel.clone(), pass.context.deadline);
    let slot = tokio::select! {
        slot = gate.slots.acquire() => slot,
        () = cancel.cancelled() => return Outcome::Denied { reason: "it was stopped before it ran".into() },
        () = tokio::time::sleep_until(deadline) => {
            return Outcome::Denied { reason: "the turn's time was up before it ran (limits.turn_time_s)".into() };
        }
    };
    if slot.is_err() {
        return Outcome::Denied { reason: "claw is shutting down".into() };
    }
    let running = forward::forward(gate, pass, permit);
    tokio::pin!(running);
    // The hub ends a call at its own time limit; the turn's end cuts it the same way, through the
    // cancel token, so that the server is told and its children are ended.
    let outcome = tokio::select! {
        outcome = &mut running => outcome,
        () = tokio::time::sleep_until(deadline) => {
            cancel.cancel();
            running.await
        }
    };
    match outcome {
        Outcome::Ended { output } => Outcome::Ended { output: gate.calls.cut(&call, output).await },
        other => other,
    }
}
