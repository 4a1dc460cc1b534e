//! What has become of something that a client has said to the agent, read from the log of its
//! session. Must not know how a turn goes.

use serde::Serialize;

use super::answer::OpenQuestion;
use super::{ClientRefusal, Clients};
use crate::domain::{
    ApprovalState, ClientName, InboundBody, SessionId, TurnCallState, TurnEnd, Usage,
};
use crate::store::{StoreError, Tx};
use crate::turn::{Turn, became, last_words};

/// What has become of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum AskState {
    /// It waits behind what the session has to do.
    Queued,
    Working {
        turn_seq: u64,
        calls: Vec<CallOfTurn>,
    },
    /// The turn waits for the owner's answer.
    Waiting {
        turn_seq: u64,
        questions: Vec<OpenQuestion>,
        calls: Vec<CallOfTurn>,
    },
    Done {
        turn_seq: u64,
        text: String,
        end: TurnEnd,
        calls: Vec<CallOfTurn>,
        usage: Usage,
        /// It was said while a turn ran, which an earlier message had begun.
        joined: bool,
    },
}

/// A call that the agent has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallOfTurn {
    /// As a model has it: `server__tool`.
    pub name: String,
    pub state: TurnCallState,
    /// Why it was refused, or why nobody knows how it went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Clients {
    /// What has become of the message with this number of the inbox, if it is this client's.
    pub fn ask_state(
        &self,
        client: &ClientName,
        inbox_id: i64,
    ) -> Result<Option<AskState>, ClientRefusal> {
        Ok(self.shared.store.read(|tx| state_of(tx, client, inbox_id))?)
    }

    /// In which session the message was said, if it is this client's.
    pub fn session_of_ask(
        &self,
        client: &ClientName,
        inbox_id: i64,
    ) -> Result<Option<SessionId>, ClientRefusal> {
        let found = self.shared.store.read(|tx| said(tx, client, inbox_id))?;
        Ok(found.map(|(session, _)| session))
    }
}

/// The session of a client's message, and whether it still waits to be taken in.
fn said(
    tx: &Tx<'_>,
    client: &ClientName,
    inbox_id: i64,
) -> Result<Option<(SessionId, bool)>, StoreError> {
    let Some((row, is_queued)) = tx.inbound(inbox_id)? else { return Ok(None) };
    let inbound = row.inbound;
    let is_theirs = inbound.principal == client.principal() && client.has(&inbound.session);
    let is_message = matches!(inbound.body, InboundBody::Message { .. });
    Ok((is_theirs && is_message).then_some((inbound.session, is_queued)))
}

fn state_of(
    tx: &Tx<'_>,
    client: &ClientName,
    inbox_id: i64,
) -> Result<Option<AskState>, StoreError> {
    let Some((session, is_queued)) = said(tx, client, inbox_id)? else { return Ok(None) };
    if is_queued {
        return Ok(Some(AskState::Queued));
    }
    let Some(begins) = tx.turn_of_message(&session, inbox_id)? else {
        return Ok(Some(AskState::Queued));
    };
    let events = tx.turn_events(&session, begins)?;
    let turn = Turn::of(&session, &events);
    let calls = calls_of(&turn);
    let turn_seq = turn.seq;
    if let Some(end) = turn.end {
        let joined = turn.messages.first().is_some_and(|first| first.inbox_id != inbox_id);
        let (text, end, usage) = (last_words(&turn, end), end.clone(), turn.usage);
        return Ok(Some(AskState::Done { turn_seq, text, end, calls, usage, joined }));
    }
    let mut questions = Vec::new();
    for approval in turn.waiting.values() {
        let row = tx.approval(approval)?;
        let open = row.filter(|row| row.state == ApprovalState::Waiting);
        questions.extend(open.as_ref().map(OpenQuestion::of));
    }
    // What can go on without an answer goes on first.
    let works = turn.unanswered().iter().any(|(id, _)| !turn.waiting.contains_key(id));
    Ok(Some(match questions.is_empty() || works {
        true => AskState::Working { turn_seq, calls },
        false => AskState::Waiting { turn_seq, questions, calls },
    }))
}

fn calls_of(turn: &Turn<'_>) -> Vec<CallOfTurn> {
    let call = |call: &crate::turn::CallInTurn<'_>| {
        let (state, reason) = match call.outcome {
            None if turn.waiting.contains_key(&call.id) => (TurnCallState::Waiting, None),
            None => (TurnCallState::Running, None),
            Some(outcome) => became(outcome),
        };
        CallOfTurn { name: call.tool_use.name.clone(), state, reason }
    };
    turn.calls.iter().map(call).collect()
}
