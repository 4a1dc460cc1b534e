//! Behind the layers: the hub takes the permit by value. A server that asks for input has its
//! round, and the call goes on with another permit. What claw answers itself uses up a permit, too,
//! and reaches no server. Must not know verdicts.

use std::sync::Arc;

use tokio::time::Instant;

use super::rounds::{self, Next};
use super::{Gate, Pass, tasks};
use crate::calls::rounds::InCall;
use crate::domain::{DeniedBy, Live, Outcome, OwnServer};
use crate::hub::{CallControl, CallEnd, HumanTime, Permit, TaskAt};
use crate::killpoint;
use crate::store::StoreError;

pub(super) async fn forward(
    gate: &Gate,
    pass: &Pass,
    permit: Permit,
    human: &HumanTime,
) -> Outcome {
    if OwnServer::is_claw_itself(permit.server(), permit.tool()) {
        return Outcome::Ended { output: gate.catalog.answer(permit.arguments()).await };
    }
    sent(gate, pass, permit, human).await.unwrap_or_else(rounds::lost)
}

/// An error of the store says that a call is lost which has begun.
async fn sent(
    gate: &Gate,
    pass: &Pass,
    mut permit: Permit,
    human: &HumanTime,
) -> Result<Outcome, StoreError> {
    let (control, began) = (control(gate, pass, human), Instant::now());
    loop {
        // What was started once is never said not to have run.
        let (has_input, has_task) = (permit.input().is_some(), permit.task().is_some());
        killpoint::here("gate.forward.before");
        let end = gate.hub.call(permit, control.clone()).await;
        killpoint::here("gate.forward.after");
        let next = match end {
            CallEnd::Ended(output, beside) => {
                let output = gate.calls.taken_in(&pass.call, output, beside).await;
                Next::Over(Outcome::Ended { output })
            }
            CallEnd::NotForwarded { reason } if has_task => {
                Next::Over(Box::pin(tasks::not_asked(gate, &pass.call.id, &reason)).await)
            }
            CallEnd::NotForwarded { reason } if has_input => {
                let reason = format!("the answer was not sent to its server: {reason}");
                Next::Over(Outcome::Unknown { reason })
            }
            CallEnd::NotForwarded { reason } => Next::Over(Outcome::denied(DeniedBy::Hub, reason)),
            CallEnd::Unknown { reason } => Next::Over(Outcome::Unknown { reason }),
            CallEnd::Left => Next::Over(Outcome::Left),
            CallEnd::InputRequired { requests, state } => {
                Box::pin(rounds::take_in(gate, pass, requests, state)).await?
            }
            CallEnd::Task { id, wait } => {
                let task = TaskAt { id, wait, spent: began.elapsed() };
                Box::pin(tasks::take_in(gate, pass, task)).await?
            }
        };
        match next {
            Next::Send(next) => permit = *next,
            Next::Over(outcome) => return Ok(outcome),
        }
    }
}

fn control(gate: &Gate, pass: &Pass, human: &HumanTime) -> CallControl {
    let (live, shown) = (pass.context.live.clone(), pass.call.id.clone());
    let redactor = gate.redactor.clone();
    let progress = move |text: String| {
        let text = redactor.redact(&text).into_owned();
        live(Live::CallProgress { call: shown.clone(), text });
    };
    CallControl {
        cancel: pass.context.cancel.clone(),
        leaves: pass.context.leaves.clone(),
        progress: Arc::new(progress),
        ask: Some(InCall::sink(
            gate.calls.clone(),
            pass.call.clone(),
            pass.context.asks.clone(),
            human.clone(),
        )),
        human: human.clone(),
    }
}
