//! The limits layer: how many calls run side by side, how long one may take, how much of a result
//! goes to the model. Must not know what a call does.

use super::{Gate, Pass, forward, tasks};
use crate::calls::{Denied, KeptResult};
use crate::domain::{DeniedBy, Outcome};
use crate::hub::{HumanTime, Permit};

pub(super) async fn layer(gate: &Gate, pass: &Pass, permit: Permit) -> Outcome {
    let call = KeptResult::of(&pass.call);
    let (cancel, deadline) = (pass.context.cancel.clone(), pass.context.deadline);
    let goes_on = permit.task().is_some() || permit.input().is_some();
    let slot = tokio::select! {
        biased;
        () = pass.context.leaves.cancelled(), if permit.task().is_some() => return Outcome::Left,
        slot = gate.slots.acquire() => slot,
        () = cancel.cancelled() => return not_begun(gate, pass, goes_on, stopped()).await,
        () = tokio::time::sleep_until(deadline) => {
            return not_begun(gate, pass, goes_on, out_of_time()).await;
        }
    };
    if slot.is_err() {
        return Outcome::denied(DeniedBy::Stop, "claw is shutting down");
    }
    // Waiting for a person is no time of the turn's.
    let human = HumanTime::default();
    let running = forward::forward(gate, pass, permit, &human);
    tokio::pin!(running);
    // The hub ends a call at its own time limit; the turn's end cuts it the same way, through the
    // cancel token, so that the server is told and its children are ended.
    let outcome = tokio::select! {
        outcome = &mut running => outcome,
        () = human.sleep_until(deadline) => {
            cancel.cancel();
            running.await
        }
    };
    match outcome {
        Outcome::Ended { output } => Outcome::Ended { output: gate.calls.cut(&call, output).await },
        other => other,
    }
}

/// What was started once, and was to go on, is never said not to have run.
async fn not_begun(gate: &Gate, pass: &Pass, goes_on: bool, denied: Denied) -> Outcome {
    if goes_on {
        const WHY: &str = "the turn was stopped, or its time is over";
        return Box::pin(tasks::give_up(gate, &pass.call.id, WHY)).await;
    }
    denied.into()
}

/// The end of a call that was stopped while it waited.
pub(super) fn stopped() -> Denied {
    Denied::new(DeniedBy::Stop, "it was stopped before it ran")
}

/// The end of a call that waited until the time of its turn was up.
pub(super) fn out_of_time() -> Denied {
    const KEY: &str = "limits.turn_time_s";
    let by = DeniedBy::Limit { key: KEY.to_owned() };
    Denied::new(by, format!("the turn's time was up before it ran ({KEY})"))
}
