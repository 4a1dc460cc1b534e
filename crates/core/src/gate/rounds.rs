//! A server asks in the middle of its call. What it asks is written down and put to the owner; the
//! call goes on from its frozen row, with the answers and nothing else that is new. Must not know
//! how a question is worded or answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{Gate, InputNews, InputSink, Pass, start, tasks, transparency};
use crate::calls::rounds::{NewRound, RUNNING, RoundNow, RoundStep};
use crate::calls::{Calls, Denied};
use crate::domain::{Outcome, ToolCall};
use crate::hub::{AskSink, HumanTime, Permit, RoundInput, ServerAsks};
use crate::store::StoreError;

/// The one request of a round in a running call.
const REQUEST: &str = "0";

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
        Ok(()) => next(gate, pass).await,
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

fn tell(asks: Option<&InputSink>, told: Vec<String>) {
    for text in told {
        match asks {
            Some(sink) => sink(InputNews::Notice { text }),
            None => tracing::warn!("{text}"),
        }
    }
}

/// Who answers what a server asks by a request while its call runs. The question is asked one at a
/// time, and taken back when the call has its end.
pub(super) fn in_call(gate: &Gate, pass: &Pass, human: &HumanTime) -> AskSink {
    let asking = Arc::new(InCall {
        calls: gate.calls.clone(),
        call: pass.call.clone(),
        asks: pass.context.asks.clone(),
        human: human.clone(),
        turn: Mutex::default(),
        has_told: AtomicBool::new(false),
    });
    Arc::new(move |request| {
        let asking = asking.clone();
        Box::pin(async move { asking.answer(request).await })
    })
}

/// Lives as long as its call: the hub holds it, by the sink that it gets with the permit.
struct InCall {
    /// The gate's own.
    calls: Arc<Calls>,
    /// A copy of what runs.
    call: ToolCall,
    /// Of whoever waits for the call; `None` where nobody can be asked.
    asks: Option<InputSink>,
    /// Shared with the call's limit on time, which does not count it.
    human: HumanTime,
    /// Held by the request that is asked about.
    turn: Mutex<()>,
    /// Why a question was cancelled is said once: a server may ask without end.
    has_told: AtomicBool,
}

impl InCall {
    /// `None`: nobody can be asked here, and another call of the server may be the one.
    async fn answer(&self, asks: ServerAsks) -> Option<Value> {
        if self.asks.is_none() && !asks.running.is_empty() {
            return None;
        }
        let _mine = self.turn.lock().await;
        let response = self.round(asks).await;
        Some(match response.unwrap_or_else(|error| Err(Denied::from(error).reason)) {
            Ok(response) => response,
            Err(_) if self.has_told.swap(true, Ordering::SeqCst) => json!({"action": "cancel"}),
            Err(why) => {
                let (server, tool) = (&self.call.server, &self.call.tool);
                let text = format!("A question of `{server}/{tool}` was cancelled: {why}.");
                tell(self.asks.as_ref(), vec![crate::domain::escape::visible(&text)]);
                json!({"action": "cancel"})
            }
        })
    }

    /// The result of the request. The inner `Err` is why there is none.
    async fn round(&self, asks: ServerAsks) -> Result<Result<Value, String>, StoreError> {
        let mut request = asks.request;
        request[RUNNING] = json!(asks.running);
        let new = NewRound { in_call: true, requests: json!({REQUEST: request}), state: None };
        if let Err(why) = self.calls.begin_round(&self.call.id, new).await? {
            return Ok(Err(why));
        }
        loop {
            let can_ask = self.asks.is_some();
            let RoundNow { step, told } = self.calls.next_of_round(&self.call, can_ask).await?;
            tell(self.asks.as_ref(), told);
            match step {
                RoundStep::Asks(approval) => {
                    let call = self.call.id.clone();
                    self.hear(InputNews::Asked { call: call.clone(), approval: approval.clone() });
                    let waits = self.human.begin();
                    self.calls.until_decided(&call).await?;
                    drop(waits);
                    self.hear(InputNews::Answered { call, approval });
                }
                RoundStep::Answered { nth, mut input } => {
                    self.calls.close_round(&self.call, nth).await?;
                    return Ok(Ok(input.responses.remove(REQUEST).unwrap_or_default()));
                }
                RoundStep::Unsupported { method } => {
                    return Ok(Err(format!("it asks for `{method}`, which claw does not give")));
                }
                RoundStep::Gone => return Ok(Err("the call has its end".to_owned())),
            }
        }
    }

    fn hear(&self, news: InputNews) {
        if let Some(sink) = &self.asks {
            sink(news);
        }
    }
}
