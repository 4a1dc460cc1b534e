//! The permission layer: judge, then run with a permit, ask, or deny. Must not know how a verdict is reached or written.

use super::Gate;
use super::chain::{Next, Pass};
use super::judge::Judged;
use crate::domain::Outcome;

pub(super) async fn layer(gate: &Gate, mut pass: Pass, next: Next<'_>) -> Outcome {
    match gate.judge(&pass).await {
        Judged::Allowed(tool, verdict) => match gate.start(&pass, &tool, &verdict).await {
            Ok(permit) => {
                pass.permit = Some(permit);
                next.run(pass).await
            }
            Err(reason) => Outcome::Denied { reason },
        },
        Judged::Ask(tool, verdict) => match gate.ask(&pass, &tool, &verdict).await {
            Ok(approval) => Outcome::Parked { approval },
            Err(error) => Outcome::Denied { reason: format!("the question could not be stored: {error}") },
        },
        Judged::StillWaiting(approval) => Outcome::Parked { approval },
        Judged::Denied(verdict) => gate.deny(&pass, &verdict),
    }
}
