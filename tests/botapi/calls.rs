//! What the bot asked for: every call with its parameters and what came of it. Owns the record.
//! Must not know methods.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::faults::Fault;

/// What came of a call.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No answer yet: a long poll, a delay, a hang.
    Running,
    /// The result; of `getUpdates` the ids alone.
    Done(Value),
    Refused {
        code: u16,
        description: String,
    },
    /// An injected fault answered, or cut the connection, and nothing was done.
    Failed(Fault),
    /// It was done, with this result, and the client never learnt it: a closed connection, a hang,
    /// garbage.
    CutAfter(Value),
    /// The client went away before there was an answer, as a killed process does.
    Abandoned,
}

#[derive(Clone, Debug)]
pub struct Call {
    /// Since the start of the stand-in.
    pub at: Duration,
    /// By the clock of the machine, in milliseconds since 1970.
    pub at_ms: i64,
    /// As it came: teloxide says `SendMessage`.
    pub method: String,
    pub chat: Option<i64>,
    pub params: Value,
    /// Part of the form and number of bytes.
    pub uploads: Vec<(String, usize)>,
    pub outcome: Outcome,
}

impl Call {
    pub fn is(&self, method: &str) -> bool {
        self.method.eq_ignore_ascii_case(method)
    }

    /// Whether the effect happened, whatever the client saw.
    pub fn took_effect(&self) -> bool {
        matches!(self.outcome, Outcome::Done(_) | Outcome::CutAfter(_))
    }

    /// The words of the refusal, if it was refused.
    pub fn refusal(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Refused { description, .. } => Some(description),
            _ => None,
        }
    }
}

pub struct Calls {
    began: Instant,
    kept: Vec<Call>,
    keeps: bool,
}

impl Calls {
    pub fn new() -> Self {
        Self { began: Instant::now(), kept: Vec::new(), keeps: true }
    }

    pub fn keep(&mut self, keep: bool) {
        self.keeps = keep;
    }

    pub fn all(&self) -> &[Call] {
        &self.kept
    }

    pub fn of<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Call> {
        self.kept.iter().filter(move |call| call.is(method))
    }

    /// The number to end it with, if it is kept.
    pub fn begin(&mut self, method: &str, params: &super::params::Params) -> Option<usize> {
        if !self.keeps {
            return None;
        }
        self.kept.push(Call {
            at: self.began.elapsed(),
            at_ms: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |now| now.as_millis() as i64),
            method: method.to_owned(),
            chat: params.chat(),
            params: params.recorded(),
            uploads: params
                .uploads
                .iter()
                .map(|(name, upload)| (name.clone(), upload.bytes.len()))
                .collect(),
            outcome: Outcome::Running,
        });
        Some(self.kept.len() - 1)
    }

    pub fn end(&mut self, number: Option<usize>, outcome: Outcome) {
        if let Some(call) = number.and_then(|number| self.kept.get_mut(number)) {
            call.outcome = outcome;
        }
    }
}
