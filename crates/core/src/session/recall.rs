//! Asks the memory for a message that comes in, through the gate, before the message goes into the
//! log. Owns for whom it is asked, and that a memory that fails is told once. Must not know what is
//! looked for, or what a model is told.

use std::fs::DirEntry;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::drive::Drive;
use super::worker::SessionError;
use crate::domain::{
    Block, CallId, DeniedBy, EventBody, Origin, Outcome, OwnServerName, ToolCall,
    is_alone_with_claw, rule_words,
};
use crate::killpoint;
use crate::store::InboxRow;
use crate::turn::recall::{self, Question, RecallLimits};

const RECALL: &str = "recall";
/// Under what it is remembered that the owner knows of a memory that fails.
const FAULT: &str = "memory";
/// For so long a memory that has kept a message waiting in vain is not asked.
const REST: Duration = Duration::from_secs(60);

/// Until when the memory is not asked, because it has not answered in time.
#[derive(Debug, Default)]
pub(super) struct Rest(Mutex<Option<Instant>>);

impl Rest {
    pub(super) fn is_over(&self) -> bool {
        let until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|until| until <= Instant::now())
    }

    pub(super) fn begin(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + REST);
    }
}

/// What came of asking.
enum Asked {
    /// What a model is told, if there is anything new.
    Answered(Option<Box<EventBody>>),
    /// Somebody has stopped everything; there is nothing to say about the memory.
    Stopped,
    /// A sentence about it.
    Failed(String),
}

impl Drive<'_> {
    /// What the memory holds for the words of this message, as the event that stands before it.
    /// Whatever goes wrong, the message goes on without.
    pub(super) async fn recalled(
        &mut self,
        row: &InboxRow,
        blocks: &[Block],
    ) -> Result<Option<EventBody>, SessionError> {
        let Some(limits) = self.settings.runner.recall.clone() else { return Ok(None) };
        if limits.notes.as_deref().is_some_and(holds_nothing) {
            return Ok(None);
        }
        if !self.is_alone_with_owner(row) || !self.worker.recall_rests.is_over() {
            return Ok(None);
        }
        let Some(server) = self.worker.gate.calls().own_server(OwnServerName::Memory) else {
            return Ok(None);
        };
        let Some(question) = Question::of(blocks, &limits) else { return Ok(None) };
        let question = question.in_role(self.role_now()?);
        let session = self.session.clone();
        let call = ToolCall {
            id: CallId::Recall { session, seq: self.log.next_seq() },
            server,
            tool: RECALL.to_owned(),
            arguments: question.arguments(),
            origin: row.inbound.origin,
            principal: row.inbound.principal.clone(),
        };
        // The id is the number of the next event: what comes before it has to be on the disk
        // first, or after a kill the same number could be another message's.
        self.flush_soon();
        killpoint::here("recall.before");
        let asked = self.ask_memory(call, &question, &limits).await;
        killpoint::here("recall.after");
        Ok(match asked {
            Asked::Answered(event) => {
                self.memory_fault = Some(None);
                event.map(|event| *event)
            }
            Asked::Stopped => None,
            Asked::Failed(why) => {
                tracing::warn!(session = %self.session, why, "nothing was recalled");
                self.memory_fault = Some(Some(why));
                None
            }
        })
    }

    /// Only the owner's own words bring the owner's notes, and only where nobody else reads what
    /// comes of them: not in a group, and not in a conversation that somebody else has taken part
    /// in.
    pub(super) fn is_alone_with_owner(&self, row: &InboxRow) -> bool {
        let inbound = &row.inbound;
        if inbound.origin != Origin::Owner || !is_alone_with_claw(&inbound.principal, &inbound.from)
        {
            return false;
        }
        self.is_owner_alone()
    }

    /// Whether nobody but the owner has taken part in the window, and nobody else reads what is
    /// said in it.
    pub(super) fn is_owner_alone(&self) -> bool {
        let calls = self.worker.gate.calls();
        recall::spoken(&self.log)
            .iter()
            .all(|(by, from)| calls.may_answer(by) && is_alone_with_claw(by, from))
    }

    async fn ask_memory(
        &self,
        call: ToolCall,
        question: &Question,
        limits: &RecallLimits,
    ) -> Asked {
        let (id, server) = (call.id.clone(), call.server.clone());
        let called = self.call_unseen(call, self.unseen(limits.time)).await;
        if called.was_late {
            self.worker.recall_rests.begin();
        }
        let why = match called.outcome {
            Outcome::Ended { output } if !output.is_error => {
                let answer = output.structured.as_ref();
                match recall::event(&self.log, id, question, answer, limits) {
                    Ok(event) => return Asked::Answered(event.map(Box::new)),
                    Err(why) => why,
                }
            }
            _ if called.was_late => format!(
                "it did not answer within {} ms, `memory.recall_time_ms`",
                limits.time.as_millis()
            ),
            Outcome::Denied { by: Some(DeniedBy::Stop | DeniedBy::StopSwitch), .. } => {
                return Asked::Stopped;
            }
            Outcome::Denied { by: Some(DeniedBy::Unasked { rule }), .. } => format!(
                "{} wants a question for it, and claw asks none for what it does by itself",
                rule_words(&rule)
            ),
            _ if called.was_cancelled => return Asked::Stopped,
            other => first_line(&other.into_reason()),
        };
        Asked::Failed(format!(
            "The memory (the server `{server}`) could not be asked, so turns go on without your \
             notes: {why}. `{} tools` says whether the server runs; `recall = false` in \
             `[memory]` of `claw.toml` switches this off.",
            self.worker.gate.calls().claw()
        ))
    }
}

/// A folder that cannot be read is asked about: the server says what is wrong with it.
fn holds_nothing(folder: &Path) -> bool {
    let seen = |entry: io::Result<DirEntry>| {
        entry.map_or(true, |entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
    };
    match folder.read_dir() {
        Ok(mut entries) => !entries.any(seen),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

pub(super) fn first_line(text: &str) -> String {
    const CHARS_MAX: usize = 200;
    let line =
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given");
    line.trim_end_matches('.').chars().take(CHARS_MAX).collect()
}

impl Drive<'_> {
    /// What there is to tell of the memory, once: the same fault keeps its first words, whatever it
    /// says the next time.
    pub(super) fn memory_news(&mut self) -> Result<Option<(String, Option<String>)>, SessionError> {
        let Some(fault) = self.memory_fault.take() else { return Ok(None) };
        let known = self.worker.store.read(|tx| tx.persona_faults())?.remove(FAULT);
        Ok(Some((FAULT.to_owned(), fault.map(|fault| known.unwrap_or(fault)))))
    }
}
