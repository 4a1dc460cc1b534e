//! What a conversation has said so far, for a door that shows one from its beginning, and which
//! conversations a door has. Owns what of a log a person is shown; must not know doors.

use std::path::PathBuf;

use serde_json::Value;

use super::ChatCommands;
use crate::domain::{
    Block, CallId, Event, EventBody, Outcome, SessionId, TurnEnd, UnixMillis, text_of,
};
use crate::gate::Gate;
use crate::store::{StoreError, Tx};

/// Of a longer log the newest events are shown; the whole is for `claw sessions show`.
const EVENTS_SHOWN_MAX: u64 = 4_000;
/// Behind the end of a turn stand few events before the next one begins.
const BEHIND_AN_END: u64 = 32;
/// The longest name of a conversation, in characters.
const TITLE_CHARS_MAX: usize = 80;

/// A message, a call or a notice of a conversation. Known secrets are replaced.
#[derive(Clone, Debug, PartialEq)]
pub enum ConversationEntry {
    /// What stands before this is not shown.
    Cut,
    Person {
        text: String,
    },
    Model {
        text: String,
    },
    Call(Box<ConversationCall>),
    /// Words of claw.
    Claw {
        text: String,
    },
}

/// A call, and what came of it; `None` while it waits or runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationCall {
    pub call: CallId,
    pub server: String,
    pub tool: String,
    pub arguments: Value,
    pub outcome: Option<Outcome>,
}

/// A conversation of a door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub session: SessionId,
    /// Where it works.
    pub folder: PathBuf,
    pub last_ms: UnixMillis,
}

impl ChatCommands {
    /// What was said and done in a session, oldest first.
    pub fn entries(&self, session: &SessionId) -> Result<Vec<ConversationEntry>, StoreError> {
        let parts = self.parts();
        parts.store.read(|tx| {
            let last = tx.last_seq(session)?;
            let from = last.saturating_sub(EVENTS_SHOWN_MAX).max(1);
            let events = tx.events_from(session, from)?;
            let mut entries = Vec::new();
            if from > 1 {
                entries.push(ConversationEntry::Cut);
            }
            for event in &events {
                add_event(tx, &parts.gate, session, event, &mut entries)?;
            }
            Ok(entries)
        })
    }

    /// How the newest turn has ended, and the number of that event; `None` while one is open, or
    /// before the first.
    pub fn last_end(&self, session: &SessionId) -> Result<Option<(u64, TurnEnd)>, StoreError> {
        self.parts().store.read(|tx| {
            if tx.turn_open(session)? {
                return Ok(None);
            }
            let from = tx.last_seq(session)?.saturating_sub(BEHIND_AN_END).max(1);
            let mut events = tx.events_from(session, from)?.into_iter().rev();
            Ok(events.find_map(|event| match event.body {
                EventBody::TurnEnded { end } => Some((event.seq, end)),
                _ => None,
            }))
        })
    }

    /// The conversations whose names begin with `prefix`, the newest first.
    pub fn conversations(&self, prefix: &str) -> Result<Vec<Conversation>, StoreError> {
        let parts = self.parts();
        let rows = parts.store.read(|tx| tx.sessions())?;
        let mut found = Vec::new();
        for row in rows.into_iter().filter(|row| row.name.starts_with(prefix)) {
            let Ok(session) = SessionId::new(row.name) else { continue };
            let folder = parts.folder_of(&session)?;
            found.push(Conversation { session, folder, last_ms: row.last_ms });
        }
        Ok(found)
    }

    /// How a conversation began, as its name for a person.
    pub fn title(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        let parts = self.parts();
        let first = parts.store.read(|tx| tx.first_message(session))?;
        let title = first.as_ref().and_then(first_words);
        Ok(title.map(|text| parts.gate.redactor().redact(&text).into_owned()))
    }
}

fn first_words(message: &EventBody) -> Option<String> {
    let EventBody::UserMessage { blocks, .. } = message else { return None };
    let text = text_of(blocks);
    let line = text.lines().find(|line| !line.trim().is_empty())?.trim();
    let cut = line.chars().count() > TITLE_CHARS_MAX;
    Some(line.chars().take(TITLE_CHARS_MAX).chain(cut.then_some('…')).collect())
}

fn add_event(
    tx: &Tx<'_>,
    gate: &Gate,
    session: &SessionId,
    event: &Event,
    entries: &mut Vec<ConversationEntry>,
) -> Result<(), StoreError> {
    let redact = |text: &str| gate.redactor().redact(text).into_owned();
    let claw = |text: &str| ConversationEntry::Claw { text: redact(text) };
    match &event.body {
        EventBody::UserMessage { blocks, .. } => {
            entries.push(ConversationEntry::Person { text: redact(&text_of(blocks)) });
        }
        EventBody::ModelReply { blocks, notice, .. } => {
            if let Some(notice) = notice {
                entries.push(claw(notice));
            }
            let text = text_of(blocks);
            if !text.trim().is_empty() {
                entries.push(ConversationEntry::Model { text: redact(&text) });
            }
            for (block, used) in (0..).zip(blocks) {
                let Block::ToolUse(used) = used else { continue };
                let call = CallId::Reply { session: session.clone(), reply_seq: event.seq, block };
                let call = call_of(tx, gate, call, (&used.name, &used.input))?;
                entries.push(ConversationEntry::Call(Box::new(call)));
            }
        }
        EventBody::ModelPartial { text } => {
            entries.push(ConversationEntry::Model {
                text: format!("{}\n\n*[interrupted]*", redact(text)),
            });
        }
        EventBody::ToolResult { call, outcome } => {
            let outcome = redacted(gate, outcome);
            let of = entries.iter_mut().rev().find_map(|one| match one {
                ConversationEntry::Call(known) if known.call == *call => Some(known),
                _ => None,
            });
            if let Some(of) = of {
                of.outcome = Some(outcome);
            }
        }
        EventBody::TurnEnded { end: TurnEnd::Limit { text } | TurnEnd::Failed { text } } => {
            entries.push(claw(text));
        }
        EventBody::TurnEnded { end: TurnEnd::Stopped { .. } } => entries.push(claw("Stopped.")),
        EventBody::SessionCleared {} => {
            entries.push(claw("A new conversation: the model knows nothing of what stands above."));
        }
        EventBody::ExchangeDropped { .. } => {
            entries.push(claw("The exchange above was dropped from what the model sees."));
        }
        _ => {}
    }
    Ok(())
}

fn call_of(
    tx: &Tx<'_>,
    gate: &Gate,
    call: CallId,
    (name, input): (&str, &Value),
) -> Result<ConversationCall, StoreError> {
    let mut arguments = input.clone();
    gate.redactor().redact_json(&mut arguments);
    // A call of a name that nobody offered has no row.
    let row = tx.call(&call)?.map(|row| (row.server, row.tool));
    let unknown = || {
        let (server, tool) = name.split_once("__").unwrap_or(("", name));
        (server.to_owned(), tool.to_owned())
    };
    let (server, tool) = row.unwrap_or_else(unknown);
    Ok(ConversationCall { call, server, tool, arguments, outcome: None })
}

fn redacted(gate: &Gate, outcome: &Outcome) -> Outcome {
    let redact = |text: &str| gate.redactor().redact(text).into_owned();
    match outcome.clone() {
        Outcome::Ended { mut output } => {
            output.text = redact(&output.text);
            Outcome::Ended { output }
        }
        Outcome::Denied { reason, by } => Outcome::Denied { reason: redact(&reason), by },
        Outcome::Unknown { reason } => Outcome::Unknown { reason: redact(&reason) },
        open @ (Outcome::Parked { .. } | Outcome::Left) => open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Address, Origin};

    fn said(text: &str) -> EventBody {
        EventBody::UserMessage {
            blocks: vec![Block::Text { text: text.to_owned() }],
            inbox_id: 1,
            from: Address("acp/a".to_owned()),
            origin: Origin::Owner,
        }
    }

    #[test]
    fn a_conversation_is_called_by_its_first_line() {
        assert_eq!(first_words(&said("\n  Tidy up \nplease")).as_deref(), Some("Tidy up"));
        let long = first_words(&said(&"x".repeat(200))).unwrap();
        assert_eq!(long.chars().count(), TITLE_CHARS_MAX + 1);
        assert_eq!(first_words(&said(" \n")), None);
    }
}
