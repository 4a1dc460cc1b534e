//! Tells our memory server that a proposal got a no, or no answer in time, so that it is not
//! proposed again for a week. Must not know what a proposal says, or who may answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::drive::Drive;
use super::recall::first_line;
use super::worker::SessionError;
use crate::domain::{Action, Origin, Outcome, ToolCall};
use crate::killpoint;

/// The tool that hosts have for that.
const SKIP: &str = "skip";
/// The answer of the owner's is on record; it does not wait for the memory longer than that.
const TIME: Duration = Duration::from_secs(15);

impl Drive<'_> {
    /// Before the answer of `by` stands in the log: who comes after a kill says it once
    /// more, which does no harm. A memory that fails changes nothing about the answer; then
    /// a sentence about it.
    pub(super) async fn close_proposal(
        &self,
        action: &Action,
        expired: bool,
        by: &str,
    ) -> Result<Option<String>, SessionError> {
        let Some(id) = action.arguments.get("id").and_then(Value::as_str) else { return Ok(None) };
        if !self.worker.recall_rests.is_over() {
            return Ok(Some(not_told("it does not answer")));
        }
        let call = ToolCall {
            id: self.worker.gate.calls().look_id(&self.session)?,
            server: action.server.clone(),
            tool: SKIP.to_owned(),
            arguments: json!({ "id": id, "expired": expired }),
            origin: Origin::Button,
            principal: by.to_owned(),
        };
        killpoint::here("proposal.closed.before");
        let called = self.call_unseen(call, self.unseen(TIME)).await;
        killpoint::here("proposal.closed.after");
        if called.was_late {
            self.worker.recall_rests.begin();
        }
        let why = match called.outcome {
            Outcome::Ended { output } if !output.is_error => return Ok(None),
            // The end of its time cancels a call, too.
            _ if called.was_late => format!("it did not answer within {} s", TIME.as_secs()),
            // What is left to do is small, and the answer counts.
            _ if called.was_cancelled => return Ok(None),
            other => first_line(&other.into_reason()),
        };
        tracing::warn!(session = %self.session, why, "the memory was not told of a no");
        Ok(Some(not_told(&why)))
    }
}

fn not_told(why: &str) -> String {
    format!("The memory could not be told, and may propose it again within the week: {why}.")
}
