//! The rounds of a call in which its server asks a person: each is on the disk before anybody is
//! asked, and what is asked next follows from what is there. Must not know how a call is sent, or
//! doors.
//!
//! A round of a modern server is the result of its call: the call waits in the state
//! `input_required`, and goes on by the same call with the responses. So it does where an older one
//! refuses a call until a page was opened. Otherwise that asks while its call runs (`in_call`): the
//! call stays `started`, and the round ends with it.

mod answer;
mod ask;
mod in_call;
mod news;
mod question;

use claw_kit::counted::counted;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use in_call::InCall;
pub use news::{InputNews, InputSink, tell};

use super::start::close_question;
use super::{Calls, panic_reason};
use crate::calls::frozen::is_intact;
use crate::calls::record::entry;
use crate::domain::{ApprovalId, ApprovalState, CallId, CallState, ToolCall};
use crate::hub::RoundInput;
use crate::killpoint;
use crate::store::{CallRow, RoundRow, StoreError, Tx};

/// The key beside the request of a round in a running call: which tools run, where it is not known
/// for which of them the server asks.
const RUNNING: &str = "running";
/// Why a question is closed whose server wants no answer; a person reads it.
const TAKEN_BACK: &str = "its server does not wait for the answer any more";

/// What a server asks in one round.
#[derive(Clone, Debug)]
pub struct NewRound {
    /// By a request while the call runs.
    pub in_call: bool,
    /// By the server's keys: `{"method", "params"}` each.
    pub requests: Value,
    /// What the server wants to have back.
    pub state: Option<String>,
}

/// What a server may ask about by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderWay {
    Call,
    Task,
}

/// What comes of a round.
#[derive(Clone, Debug, PartialEq)]
pub enum RoundStep {
    /// The owner is asked, and the call waits.
    Asks(ApprovalId),
    /// Every request has its response, which the call goes on with.
    Answered { nth: u32, input: RoundInput },
    /// The server asks for what claw does not give.
    Unsupported { method: String },
    /// There is no open round of this call.
    Gone,
}

/// A round whose responses were worked out, and what the owner should know of it.
#[derive(Debug)]
pub struct RoundNow {
    pub step: RoundStep,
    /// One sentence for each thing that was refused without a question.
    pub told: Vec<String>,
}

/// What is answered of a round, as its row keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Answers {
    /// The responses that are whole, by the server's keys.
    #[serde(default)]
    done: Map<String, Value>,
    /// The values of the form in hand; null is one that was left out.
    #[serde(default)]
    fields: Map<String, Value>,
}

impl Answers {
    fn of(round: &RoundRow) -> Result<Self, StoreError> {
        Ok(serde_json::from_value(round.answers.clone())?)
    }

    fn to_value(&self) -> Result<Value, StoreError> {
        Ok(serde_json::to_value(self)?)
    }

    /// The same with a whole response to one request.
    fn with(&self, key: &str, response: Value) -> Self {
        let mut done = self.done.clone();
        done.insert(key.to_owned(), response);
        Self { done, fields: Map::new() }
    }
}

impl Calls {
    /// Writes down what a server asks: the number of the round. `Err` is why nobody is asked: the
    /// call has had its rounds, or has its end.
    pub async fn begin_round(
        &self,
        call: &CallId,
        new: NewRound,
    ) -> Result<Result<u32, String>, StoreError> {
        let max = self.limits().input_rounds_max;
        let id = call.clone();
        killpoint::here("round.begun.before");
        let begun = self
            .store
            .write(move |tx| {
                let nth = tx.rounds_of(&id)? + 1;
                if nth > max {
                    return Ok(Err(format!(
                        "its server asked more than {} in one call (limits.input_rounds_max)",
                        counted(max, "time")
                    )));
                }
                let moved = match new.in_call {
                    true => tx.call(&id)?.is_some_and(|row| {
                        matches!(row.state, CallState::Started | CallState::Task)
                    }),
                    false => {
                        tx.move_call(&id, CallState::Started, CallState::InputRequired)?
                            || tx.move_call(&id, CallState::Task, CallState::InputRequired)?
                    }
                };
                if !moved {
                    return Ok(Err("the call had ended when its server asked".to_owned()));
                }
                // An answer to what was asked before must not count for what is asked now.
                close_open_round(tx, &id, TAKEN_BACK)?;
                let answers = Answers::default().to_value()?;
                let NewRound { in_call, requests, state } = new;
                let (call, request_state) = (id.clone(), state);
                tx.add_round(&RoundRow { call, nth, in_call, requests, request_state, answers })?;
                Ok(Ok(nth))
            })
            .await?;
        killpoint::here("round.begun.after");
        Ok(begun)
    }

    /// Takes a call that waits for input on, once: its state and the round's are one
    /// compare-and-set, with the last looks that every start has. Gives back the frozen row, from
    /// which it runs.
    pub async fn go_on(
        &self,
        call: &ToolCall,
        nth: u32,
        input: &RoundInput,
    ) -> Result<Result<CallRow, String>, StoreError> {
        let mut responses = json!(input.responses);
        self.redactor.redact_json(&mut responses);
        let continued = entry("continued", call, json!({"round": nth, "responses": responses}));
        let (id, approvers) = (call.id.clone(), self.surroundings.approvers.clone());
        killpoint::here("round.continued.before");
        let row = self
            .store
            .write(move |tx| {
                if let Some(why) = stopped(tx, &id)? {
                    return Ok(Err(why));
                }
                let Some(row) = tx.call(&id)?.filter(|row| is_intact(row, &approvers)) else {
                    return Ok(Err("the stored call is not what was started".to_owned()));
                };
                let on = match tx.task_of(&id)? {
                    Some(_) => CallState::Task,
                    None => CallState::Started,
                };
                if !tx.close_round(&id, nth)? || !tx.move_call(&id, CallState::InputRequired, on)? {
                    return Ok(Err("it was taken on elsewhere at the same moment".to_owned()));
                }
                tx.audit(&continued)?;
                Ok(Ok(row))
            })
            .await?;
        killpoint::here("round.continued.after");
        Ok(row.and_then(|row| match self.is_intact(&row) {
            true => Ok(row),
            false => Err("its folder is not the one in which it was started".to_owned()),
        }))
    }

    /// The answers of a round that a running call waits for are about to be given to its server.
    pub async fn close_round(&self, call: &ToolCall, nth: u32) -> Result<(), StoreError> {
        let (id, continued) = (call.id.clone(), entry("continued", call, json!({"round": nth})));
        self.store
            .write(move |tx| match tx.close_round(&id, nth)? {
                true => tx.audit(&continued),
                false => Ok(()),
            })
            .await
    }

    /// Whether a call runs, or its task, as far as the store knows: what its server asks then is
    /// answered by the process that runs it, or by nobody.
    pub fn under_way(&self, call: &CallId) -> Result<Option<UnderWay>, StoreError> {
        let row = self.store.read(|tx| tx.call(call))?;
        Ok(row.and_then(|row| match row.state {
            CallState::Started => Some(UnderWay::Call),
            CallState::Task => Some(UnderWay::Task),
            _ => None,
        }))
    }

    /// Closes the question of a call whose process is gone while its server waited for the answer,
    /// with this sentence.
    pub async fn close_dead_round(&self, call: &CallId) -> Result<(), StoreError> {
        const WHY: &str = "the connection to its server has ended while it waited";
        let call = call.clone();
        self.store.write(move |tx| close_open_round(tx, &call, WHY)).await
    }

    /// A server does not wait any more for what it asks in this round of a running call: nobody is
    /// asked any longer.
    fn take_back_round(&self, call: &CallId, nth: u32) {
        let call = call.clone();
        self.store.write_soon(move |tx| match tx.close_round(&call, nth)? {
            true => close_question(tx, &call, TAKEN_BACK),
            false => Ok(()),
        });
    }

    /// Whether a question is about what a server wants to know in the middle of its call.
    pub fn is_about_input(&self, id: &ApprovalId) -> Result<bool, StoreError> {
        let row = self.store.read(|tx| tx.approval(id))?;
        Ok(row.is_some_and(|row| row.question.input.is_some()))
    }

    /// What became of the question with this id.
    pub fn answer_to(
        &self,
        id: &ApprovalId,
    ) -> Result<Option<(Option<crate::domain::Answer>, String)>, StoreError> {
        let row = self.store.read(|tx| tx.approval(id))?;
        let row = row.filter(|row| row.state != ApprovalState::Waiting);
        Ok(row.map(|row| (row.answer, row.decided_by.unwrap_or_default())))
    }
}

/// Closes what is open of the rounds of a call, with its question.
fn close_open_round(tx: &Tx<'_>, call: &CallId, why: &str) -> Result<(), StoreError> {
    if let Some(round) = tx.open_round(call)? {
        tx.close_round(call, round.nth)?;
    }
    close_question(tx, call, why)
}

/// Why nothing goes on.
pub(super) fn stopped(tx: &Tx<'_>, call: &CallId) -> Result<Option<String>, StoreError> {
    if let Some(by) = tx.panic()? {
        return Ok(Some(panic_reason(&by)));
    }
    let stops = call.session().map(|session| tx.stop_queued(session)).transpose()?;
    Ok((stops == Some(true)).then(|| "the owner has stopped the turn".to_owned()))
}
