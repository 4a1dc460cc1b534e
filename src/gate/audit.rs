//! The audit layer: intent before, outcome after, denials too. It also keeps known secrets out of
//! the store, and answers for calls that already have an end. Must not know verdicts.

use serde_json::{Value, json};

use super::Gate;
use super::chain::{Next, Pass};
use super::frozen::Freeze;
use super::start::close_question;
use crate::domain::{CallState, Outcome, ToolCall};
use crate::killpoint;
use crate::redact;
use crate::store::{AuditEntry, CallRow, StoreError};

pub(super) async fn layer(gate: &Gate, mut pass: Pass, next: Next<'_>) -> Outcome {
    match known(gate, &pass.call).await {
        Err(error) => {
            return Outcome::Denied { reason: format!("the store cannot be read: {error}") };
        }
        Ok(None) => {}
        Ok(Some(row)) if !is_the_call_of(&row, &pass.call) => {
            return Outcome::Denied {
                reason: "another call has run under this id, which the log has lost; send the call again".to_owned(),
            };
        }
        Ok(Some(row)) => match recorded(gate, &row) {
            Some(outcome) => return finish(gate, &pass.call, outcome),
            None => pass.row = Some(row),
        },
    }
    if let Some(reason) = secret_in(gate, &pass.call.arguments) {
        pass.call.arguments = json!({});
        receive(gate, &pass.call);
        return finish(gate, &pass.call, Outcome::Denied { reason });
    }
    if pass.row.is_none() {
        receive(gate, &pass.call);
    }
    let call = pass.call.clone();
    let outcome = next.run(pass).await;
    killpoint::here("gate.outcome.before");
    let outcome = finish(gate, &call, outcome);
    killpoint::here("gate.outcome.after");
    outcome
}

/// What the store knows of a call. The end of one that this process has just made may still be
/// queued for the disk, so a call without an end is looked at again behind that queue, before
/// anybody is told that it may have run.
async fn known(gate: &Gate, call: &ToolCall) -> Result<Option<CallRow>, StoreError> {
    let row = gate.store.read(|tx| tx.call(&call.id))?;
    if row.as_ref().is_none_or(|row| row.state != CallState::Started) {
        return Ok(row);
    }
    let id = call.id.clone();
    gate.store.write(move |tx| tx.call(&id)).await
}

/// Whether a row is about this wish. It is not when a reply was lost on its way to the disk and its
/// call was not: the next reply then has the number of the lost one. What ran for another wish is
/// no answer to this one.
fn is_the_call_of(row: &CallRow, call: &ToolCall) -> bool {
    let never_forwarded =
        !matches!(row.state, CallState::Started | CallState::Ended | CallState::Unknown);
    let same = || row.arguments == crate::domain::canonical::canonical_json(&call.arguments);
    never_forwarded || (row.server == call.server && row.tool == call.tool && same())
}

/// What the store already says about how this call ended. A call that was started by an earlier
/// runner may have run: it is unknown, unless our own configuration calls the tool idempotent.
fn recorded(gate: &Gate, row: &CallRow) -> Option<Outcome> {
    match row.state {
        CallState::Ended | CallState::Denied | CallState::Unknown => row.outcome.clone(),
        CallState::Started if gate.is_idempotent(&row.server, &row.tool) => None,
        CallState::Started => Some(Outcome::Unknown {
            reason: "claw was ended while it ran; nobody knows how far it got".to_owned(),
        }),
        CallState::Received | CallState::Waiting | CallState::Approved => None,
    }
}

/// Why arguments may not be stored or sent: they hold a known secret, or the mark that a secret was
/// replaced with.
fn secret_in(gate: &Gate, arguments: &Value) -> Option<String> {
    if let Some(name) = gate.redactor.contains_secret(arguments) {
        return Some(format!(
            "the arguments hold the secret {name}; secrets stay in claw. Use a form that does not need it"
        ));
    }
    redact::contains_mark(arguments).then(|| {
        "the arguments hold a `[redacted:…]` mark: the real text was a secret that was hidden from you, and writing the mark \
         would destroy it. Change only the other parts, for example with an edit of the lines around it"
            .to_owned()
    })
}

fn receive(gate: &Gate, call: &ToolCall) {
    let row =
        gate.freeze(call, &Freeze { state: CallState::Received, pin: "", env_names: "", rule: "" });
    let entry = entry(
        "received",
        call,
        json!({
            "session": call.session().as_str(),
            "server": row.server,
            "tool": row.tool,
            "arguments": call.arguments,
            "origin": row.origin,
            "principal": row.principal,
        }),
    );
    gate.store.write_soon(move |tx| {
        tx.put_call(&row)?;
        tx.audit(&entry)
    });
}

/// Writes the end of a call, once. What waits for a human has no end yet. A question of an earlier
/// process that nobody was shown may still be open when the call is judged again and denied, for
/// example because it was stopped: it ends with it.
fn finish(gate: &Gate, call: &ToolCall, outcome: Outcome) -> Outcome {
    if matches!(outcome, Outcome::Parked { .. }) {
        return outcome;
    }
    let outcome = gate.redacted(outcome);
    let (id, kept) = (call.id.clone(), outcome.clone());
    let entry = entry("ended", call, describe(&outcome));
    gate.store.write_soon(move |tx| {
        if tx.end_call(&id, &kept)? {
            close_question(tx, &id, "the call ended")?;
            tx.audit(&entry)?;
        }
        Ok(())
    });
    outcome
}

/// The outcome in the words of the audit: how it went and how large it was, not the text itself.
pub(super) fn describe(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Ended { output } => {
            json!({"outcome": "ended", "is_error": output.is_error, "result_bytes": output.text.len()})
        }
        Outcome::Denied { reason } => json!({"outcome": "denied", "reason": reason}),
        Outcome::Unknown { reason } => json!({"outcome": "unknown", "reason": reason}),
        Outcome::Parked { approval } => json!({"outcome": "parked", "approval": approval.0}),
    }
}

pub(super) fn entry(kind: &'static str, call: &ToolCall, body: Value) -> AuditEntry {
    AuditEntry { kind, call: call.id.to_string(), body }
}

impl Gate {
    /// Text that leaves a tool is redacted before it reaches the model, the log or the chat.
    fn redacted(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Ended { mut output } => {
                output.text = self.redactor.redact(&output.text).into_owned();
                if let Some(structured) = &mut output.structured {
                    self.redactor.redact_json(structured);
                }
                for action in &mut output.actions {
                    self.redact_words(action);
                }
                Outcome::Ended { output }
            }
            Outcome::Denied { reason } => {
                Outcome::Denied { reason: self.redactor.redact(&reason).into_owned() }
            }
            Outcome::Unknown { reason } => {
                Outcome::Unknown { reason: self.redactor.redact(&reason).into_owned() }
            }
            parked @ Outcome::Parked { .. } => parked,
        }
    }
}
