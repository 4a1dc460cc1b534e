//! A server asks in the middle of its call. What it asks is written down and put to the owner; the
//! call goes on from its frozen row, with the answers and nothing else that is new. Must not know
//! how a question is worded or answered.

use serde_json::Value;

use super::{Gate, Pass, start, tasks, transparency};
use crate::calls::Denied;
use crate::calls::rounds::{NewRound, RoundStep, tell};
use crate::domain::Outcome;
use crate::hub::{Permit, RoundInput};
use crate::store::StoreError;

/// How a call goes on whose server has asked.
pub(super) enum Next {
    Send(Box<Permit>),
    Over(Outcome),
}

/// A call that waits for input, once more: its question may be answered.
pub(super) async fn resume(gate: &Gate, pass: &Pass) -> Result<Outcome, StoreError> {
    Ok(match next(gate, pass).await? {
        Next::Send(permit) => Box::pin(take_on(gate, pass, *permit)).await,
        Next::Over(outcome) => outcome,
    })
}

/// Runs what goes on, with what is around every call that runs.
pub(super) async fn take_on(gate: &Gate, pass: &Pass, permit: Permit) -> Outcome {
    let facts = gate.calls.facts(&pass.call, None);
    let changing = match gate.policy().may_change_workspace(&facts) {
        true => match gate.remember(pass).await {
            Ok(changing) => changing,
            Err(_) if permit.task().is_some() && pass.context.leaves.is_cancelled() => {
                return Outcome::Left;
            }
            Err(denied) => {
                return Box::pin(tasks::give_up(gate, &pass.call.id, &denied.reason)).await;
            }
        },
        false => None,
    };
    let outcome = transparency::layer(gate, pass, permit).await;
    start::ended(changing).await;
    outcome
}

/// A server has answered a call with a question.
pub(super) async fn take_in(
    gate: &Gate,
    pass: &Pass,
    requests: Value,
    state: Option<String>,
) -> Result<Next, StoreError> {
    let round = NewRound { in_call: false, requests, state };
    match gate.calls.begin_round(&pass.call.id, round).await? {
        Ok(_nth) => next(gate, pass).await,
        Err(why) => Ok(Next::Over(Box::pin(tasks::give_up(gate, &pass.call.id, &why)).await)),
    }
}

async fn next(gate: &Gate, pass: &Pass) -> Result<Next, StoreError> {
    let asks = pass.context.asks.as_ref();
    let now = gate.calls.next_of_round(&pass.call, asks.is_some()).await?;
    tell(asks, now.told);
    Ok(match now.step {
        RoundStep::Asks(approval) => Next::Over(Outcome::Parked { approval }),
        RoundStep::Answered { nth, input } => go_on(gate, pass, nth, input).await?,
        RoundStep::Unsupported { method } => {
            let why = format!("its server asks for `{method}`, which claw does not give");
            Next::Over(Box::pin(tasks::give_up(gate, &pass.call.id, &why)).await)
        }
        RoundStep::Gone => Next::Over(cut("what its server asked is not known any more")),
    })
}

async fn go_on(gate: &Gate, pass: &Pass, nth: u32, input: RoundInput) -> Result<Next, StoreError> {
    let row = match gate.calls.go_on(&pass.call, nth, &input).await? {
        Ok(row) => row,
        Err(why) => {
            return Ok(Next::Over(Box::pin(tasks::give_up(gate, &pass.call.id, &why)).await));
        }
    };
    let task = gate.calls.task_of(&pass.call.id)?.map(tasks::at_once);
    Ok(Next::Send(Box::new(gate.permit_to_go_on(row, Some(input), task)?)))
}

/// It was started, so that nobody knows how far it got.
pub(super) fn cut(why: &str) -> Outcome {
    Outcome::Unknown { reason: format!("it was not taken on: {why}") }
}

pub(super) fn lost(error: StoreError) -> Outcome {
    cut(&Denied::from(error).reason)
}
