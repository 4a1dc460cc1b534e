//! A round in a running call: what an older server asks by a request is put to the owner, and the
//! answer is given back to it. Must not know how a question is worded or answered, or how a call is
//! sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{InputNews, InputSink, NewRound, RUNNING, RoundNow, RoundStep, tell};
use crate::calls::{Calls, Denied};
use crate::domain::{ApprovalId, ToolCall, escape};
use crate::hub::{AskSink, HumanTime, ServerAsks};
use crate::store::StoreError;

/// The one request of the round.
const REQUEST: &str = "0";

/// Lives as long as its call: the hub holds it, by the sink that it gets with the permit.
pub struct InCall {
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
    /// Who answers what a server asks by a request while this call runs. The question is asked one
    /// at a time, and taken back when the call has its end.
    pub fn sink(
        calls: Arc<Calls>,
        call: ToolCall,
        asks: Option<InputSink>,
        human: HumanTime,
    ) -> AskSink {
        let (turn, has_told) = (Mutex::default(), AtomicBool::new(false));
        let asking = Arc::new(Self { calls, call, asks, human, turn, has_told });
        Arc::new(move |request| {
            let asking = asking.clone();
            Box::pin(async move { asking.answer(request).await })
        })
    }

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
                tell(self.asks.as_ref(), vec![escape::visible(&text)]);
                json!({"action": "cancel"})
            }
        })
    }

    /// The result of the request. The inner `Err` is why there is none.
    async fn round(&self, asks: ServerAsks) -> Result<Result<Value, String>, StoreError> {
        let mut request = asks.request;
        request[RUNNING] = json!(asks.running);
        let new = NewRound { in_call: true, requests: json!({REQUEST: request}), state: None };
        let nth = match self.calls.begin_round(&self.call.id, new).await? {
            Ok(nth) => nth,
            Err(why) => return Ok(Err(why)),
        };
        let mut open = OpenRound { of: self, nth, asks: None, is_over: false };
        loop {
            let can_ask = self.asks.is_some();
            let RoundNow { step, told } = self.calls.next_of_round(&self.call, can_ask).await?;
            tell(self.asks.as_ref(), told);
            match step {
                RoundStep::Asks(approval) => {
                    let call = self.call.id.clone();
                    self.hear(InputNews::Asked { call: call.clone(), approval: approval.clone() });
                    open.asks = Some(approval.clone());
                    let waits = self.human.begin();
                    self.calls.until_decided(&call).await?;
                    drop(waits);
                    open.asks = None;
                    self.hear(InputNews::Answered { call, approval });
                }
                RoundStep::Answered { nth, mut input } => {
                    open.is_over = true;
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

/// A round that the owner is asked about. It goes with its request, so it is dropped early when the
/// server takes that back or the call has its end.
struct OpenRound<'a> {
    of: &'a InCall,
    nth: u32,
    /// The question that is open.
    asks: Option<ApprovalId>,
    /// Its answers are about to be given to the server.
    is_over: bool,
}

impl Drop for OpenRound<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let call = self.of.call.id.clone();
        self.of.calls.take_back_round(&call, self.nth);
        if let Some(approval) = self.asks.take() {
            self.of.hear(InputNews::TakenBack { call, approval });
        }
    }
}
