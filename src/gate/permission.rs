//! The permission layer: judge, then run with a permit, ask, or deny. Must not know how a verdict
//! is reached or written.

use super::Gate;
use super::chain::{Next, Pass};
use super::judge::Judged;
use crate::domain::Outcome;

pub(super) async fn layer(gate: &Gate, mut pass: Pass, next: Next<'_>) -> Outcome {
    // Judging may start a server, which takes its time: a stop must not wait for it.
    let (cancel, deadline) = (pass.context.cancel.clone(), pass.context.deadline);
    let judged = tokio::select! {
        biased;
        judged = judge(gate, &pass) => judged,
        () = cancel.cancelled() => return Outcome::Denied { reason: "it was stopped before it ran".into() },
        () = tokio::time::sleep_until(deadline) => {
            return Outcome::Denied { reason: "the turn's time was up before it ran (limits.turn_time_s)".into() };
        }
    };
    match judged {
        Judged::Allowed(tool, verdict) => match gate.start(&pass, &tool, &verdict).await {
            Ok(permit) => {
                pass.permit = Some(permit);
                next.run(pass).await
            }
            Err(reason) => Outcome::Denied { reason },
        },
        Judged::Ask(tool, verdict) => match gate.ask(&pass, &tool, &verdict).await {
            Ok(approval) => Outcome::Parked { approval },
            Err(error) => {
                Outcome::Denied { reason: format!("the question could not be stored: {error}") }
            }
        },
        Judged::StillWaiting(approval) => Outcome::Parked { approval },
        Judged::Denied(verdict) => gate.deny(&pass, &verdict),
    }
}

/// A verdict by the rules that are in force when it is reached: they may be replaced while a server
/// starts.
async fn judge(gate: &Gate, pass: &Pass) -> Judged {
    loop {
        let version = gate.policy().version();
        let judged = gate.judge(pass).await;
        if gate.policy().version() == version {
            return judged;
        }
    }
}
