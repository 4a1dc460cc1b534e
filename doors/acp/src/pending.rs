//! The prompts of one conversation that wait for the end of what runs. Owns their order and how
//! each
//! is answered. Must not know what runs.

use std::sync::{Mutex, PoisonError};

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{PromptResponse, StopReason};

use crate::domain::TurnEnd;

/// The end of a turn, and the number of its event.
pub type End = (u64, TurnEnd);

#[derive(Default)]
pub struct Prompts(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    /// How many there were.
    count: u64,
    prompts: Vec<Pending>,
}

struct Pending {
    responder: Responder<PromptResponse>,
    /// How many prompts came before it.
    number: u64,
    /// The end of the newest turn before it.
    before: Option<u64>,
    /// The editor has asked to stop it.
    cancelled: bool,
}

impl Prompts {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A prompt that waits, whose message is committed. `before`: the number of the newest end of a
    /// turn when it came.
    pub fn add(&self, responder: Responder<PromptResponse>, before: Option<u64>) {
        let mut waiting = self.waiting();
        let number = waiting.count;
        waiting.count += 1;
        waiting.prompts.push(Pending { responder, number, before, cancelled: false });
    }

    /// How many there were until now.
    pub fn count(&self) -> u64 {
        self.waiting().count
    }

    pub fn is_empty(&self) -> bool {
        self.waiting().prompts.is_empty()
    }

    /// The editor has asked to stop all that wait.
    pub fn cancel(&self) {
        self.waiting().prompts.iter_mut().for_each(|pending| pending.cancelled = true);
    }

    /// Whether some wait of which none is being stopped.
    pub fn go_on(&self) -> bool {
        let waiting = self.waiting();
        !waiting.prompts.is_empty() && waiting.prompts.iter().all(|pending| !pending.cancelled)
    }

    /// Answers those among the first `count` that wait, by the end of the newest turn.
    pub fn answer(&self, count: u64, end: impl FnOnce() -> Option<End>) {
        let all = std::mem::take(&mut self.waiting().prompts);
        let (done, rest): (Vec<_>, _) = all.into_iter().partition(|one| one.number < count);
        self.waiting().prompts.splice(0..0, rest);
        let end = if done.is_empty() { None } else { end() };
        for pending in done {
            // That of an earlier turn says nothing about this one.
            let end = end.as_ref().filter(|(seq, _)| Some(*seq) != pending.before);
            let reason = reason(pending.cancelled, end.map(|(_, end)| end));
            // An editor that has gone waits for no answer.
            let _ = pending.responder.respond(PromptResponse::new(reason));
        }
    }
}

/// Why an editor waits no longer. `end` is that of a turn since the prompt.
fn reason(cancelled: bool, end: Option<&TurnEnd>) -> StopReason {
    match end {
        _ if cancelled => StopReason::Cancelled,
        Some(TurnEnd::Stopped { .. }) => StopReason::Cancelled,
        Some(TurnEnd::Limit { .. }) => StopReason::MaxTurnRequests,
        Some(TurnEnd::Answered | TurnEnd::Failed { .. }) | None => StopReason::EndTurn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_a_stop_whatever_the_turn_says() {
        assert_eq!(reason(true, Some(&TurnEnd::Answered)), StopReason::Cancelled);
        let stopped = TurnEnd::Stopped { by: "telegram:5".into() };
        assert_eq!(reason(false, Some(&stopped)), StopReason::Cancelled);
        let limit = TurnEnd::Limit { text: "…".into() };
        assert_eq!(reason(false, Some(&limit)), StopReason::MaxTurnRequests);
        assert_eq!(reason(false, None), StopReason::EndTurn);
    }
}
