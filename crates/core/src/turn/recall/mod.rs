//! What claw looks for in the memory when a message comes in, and what of it a model is told. Pure.
//! Must not know how the memory is asked, or who may have it asked.

mod found;
mod past;
mod text;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::estimate;
use super::log::Log;
use crate::domain::{Address, Block, CallId, EventBody, RecalledNote, text_of};
use crate::redact::without_marks;
use found::FoundNote;
use past::Past;

/// How much may be recalled for one message. The owner can change it while claw runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallLimits {
    /// Estimated tokens of what is given with one message.
    pub tokens_max: u64,
    /// Notes that are asked for.
    pub hits_max: u32,
    /// How long the message waits for them.
    pub time: Duration,
    /// Where the notes are. An empty folder is not asked about: who keeps no notes pays for no
    /// memory.
    pub notes: Option<PathBuf>,
}

/// How much of a message is looked for, in bytes. The server takes its first 64 different words.
const QUERY_BYTES_MAX: usize = 2048;

/// The question that is put to the memory for a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    words: String,
    past: Past,
    hits_max: u32,
    /// Whose own thesaurus counts as well.
    role: Option<String>,
}

impl Question {
    /// `None` for a message without a word.
    pub fn of(blocks: &[Block], limits: &RecallLimits) -> Option<Self> {
        let text = without_marks(&text_of(blocks));
        let words = beginning(&text, QUERY_BYTES_MAX).trim();
        let (past, rest) = Past::asked(words);
        let is_question = |text: &str| text.contains(char::is_alphanumeric);
        // "Früher?" is looked for as it stands.
        let looked_for = if is_question(&rest) { rest.trim() } else { words };
        is_question(words).then(|| Self {
            words: looked_for.to_owned(),
            past,
            hits_max: limits.hits_max,
            role: None,
        })
    }

    /// The same, asked in a role.
    #[must_use]
    pub fn in_role(self, role: Option<String>) -> Self {
        Self { role, ..self }
    }

    /// The arguments of `recall`: the same message gives the same, at any time.
    pub fn arguments(&self) -> Value {
        let mut arguments = json!({"query": self.words, "limit": self.hits_max});
        match &self.past {
            Past::No => {}
            Past::Words => arguments["superseded"] = json!(true),
            Past::AsOf(day) => arguments["as_of"] = json!(day),
        }
        if let Some(role) = &self.role {
            arguments["role"] = json!(role);
        }
        arguments
    }
}

/// The event for what the memory has answered, without what stands in the window already.
/// `Ok(None)`: nothing new was found.
///
/// # Errors
/// Half a sentence about an answer that cannot be read.
pub fn event(
    log: &Log,
    call: CallId,
    question: &Question,
    answer: Option<&Value>,
    limits: &RecallLimits,
) -> Result<Option<EventBody>, String> {
    let hits = answer
        .and_then(|answer| answer.get("hits"))
        .and_then(Value::as_array)
        .ok_or("its answer has no list of hits")?;
    let stands: Vec<&RecalledNote> = standing(log).collect();
    let (mut notes, mut body, mut left_out) = (Vec::new(), String::new(), 0);
    for hit in hits {
        let found = FoundNote::read(hit, &question.words)?;
        let note = &found.note;
        // It is one note in one version: its words are there.
        if stands.iter().any(|other| {
            (&other.id, &other.version, &other.superseded_by)
                == (&note.id, &note.version, &note.superseded_by)
        }) {
            continue;
        }
        let is_new_version = stands.iter().any(|other| other.id == note.id);
        let words = text::of(&found, is_new_version, &stands);
        if estimate::of_text(&format!("{body}{words}")) > limits.tokens_max {
            left_out += 1;
            continue;
        }
        body.push_str(&words);
        notes.push(found.note);
    }
    if notes.is_empty() && left_out == 0 {
        return Ok(None);
    }
    let text = text::whole(&body, left_out, &question.past);
    Ok(Some(EventBody::TurnRecalled { call, text, notes, left_out }))
}

/// The notes that a model sees in this window, each as it was recalled last.
pub fn standing(log: &Log) -> impl Iterator<Item = &RecalledNote> {
    let mut seen = BTreeSet::new();
    let newest_first = log.events().iter().rev().filter_map(|event| match &event.body {
        EventBody::TurnRecalled { notes, .. } => Some(notes),
        _ => None,
    });
    newest_first.flatten().filter(move |note| seen.insert(note.id.as_str()))
}

/// Who began each turn of the window, with the place of each message in it: who has taken part, and
/// from where.
pub fn spoken(log: &Log) -> Vec<(&str, &Address)> {
    let (mut by, mut all) = ("", Vec::new());
    for event in log.events() {
        match &event.body {
            EventBody::TurnStarted { principal, .. } => by = principal,
            // Of a turn whose beginning has left the window nothing else is known.
            EventBody::UserMessage { from, .. } if !by.is_empty() => all.push((by, from)),
            _ => {}
        }
    }
    all
}

fn beginning(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
