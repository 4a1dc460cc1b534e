//! What is on record of a call from its coming to its end: intent before, outcome after, denials
//! too. Must not know how a verdict is reached.

use serde_json::{Value, json};

use super::Calls;
use super::frozen::Freeze;
use super::start::close_question;
use crate::domain::{
    CallId, CallState, DeniedBy, Outcome, OwnServerName, ToolCall, ToolOutput, audit_kind,
};
use crate::redact;
use crate::store::{AuditEntry, CallRow, StoreError, Tx};

/// `SIGVTALRM` is the longest that Linux has.
const SIGNAL_CHARS_MAX: usize = 12;

impl Calls {
    /// What the store knows of a call. The end of one that this process has just made may still be
    /// queued for the disk, so a call without an end is looked at again behind that queue, before
    /// anybody is told that it may have run.
    pub async fn known(&self, call: &ToolCall) -> Result<Option<CallRow>, StoreError> {
        let row = self.store.read(|tx| tx.call(&call.id))?;
        if row.as_ref().is_none_or(|row| row.state != CallState::Started) {
            return Ok(row);
        }
        let id = call.id.clone();
        self.store.write(move |tx| tx.call(&id)).await
    }

    /// What the store already says about how this call ended. A call that was started by an earlier
    /// runner may have run: it is unknown, unless our own configuration calls the tool idempotent.
    pub fn recorded(&self, row: &CallRow) -> Option<Outcome> {
        match row.state {
            CallState::Ended | CallState::Denied | CallState::Unknown => row.outcome.clone(),
            CallState::Started if self.is_idempotent(&row.server, &row.tool) => None,
            CallState::Started => Some(Outcome::Unknown {
                reason: "claw was ended while it ran; nobody knows how far it got".to_owned(),
            }),
            CallState::Received
            | CallState::Waiting
            | CallState::Approved
            | CallState::InputRequired
            | CallState::Task => None,
        }
    }

    /// Why arguments may not be stored or sent: they hold a known secret, or the mark that one was
    /// replaced with.
    pub fn secret_in(&self, arguments: &Value) -> Option<String> {
        if let Some(name) = self.redactor.contains_secret(arguments) {
            return Some(format!(
                "the arguments hold the secret {name}; secrets stay in claw. Use a form that does \
                 not need it"
            ));
        }
        redact::contains_mark(arguments).then(|| {
            "the arguments hold a `[redacted:…]` mark: the real text was a secret that was hidden \
             from you, and writing the mark would destroy it. Change only the other parts, for \
             example with an edit of the lines around it"
                .to_owned()
        })
    }

    /// A call has come: its row, and its row of the audit.
    pub fn receive(&self, call: &ToolCall) {
        let row = self.freeze(
            call,
            &Freeze { state: CallState::Received, pin: "", env_names: "", rule: "", shown: "" },
        );
        let entry = entry(
            audit_kind::RECEIVED,
            call,
            json!({
                "session": call.session(),
                "server": row.server,
                "tool": row.tool,
                "arguments": call.arguments,
                "origin": row.origin,
                "principal": row.principal,
            }),
        );
        self.store.write_soon(move |tx| {
            tx.put_call(&row)?;
            tx.audit(&entry)
        });
    }

    /// Writes the end of a call, once. What waits for a human has no end yet. A question of an
    /// earlier process that nobody was shown may still be open when the call is judged again and
    /// denied, for example because it was stopped: it ends with it.
    pub fn finish(&self, call: &ToolCall, outcome: Outcome) -> Outcome {
        if matches!(outcome, Outcome::Parked { .. } | Outcome::Left) {
            return outcome;
        }
        let outcome = self.redacted(outcome);
        let (id, kept) = (call.id.clone(), outcome.clone());
        let entry = entry(audit_kind::ENDED, call, describe(&outcome));
        self.store.write_soon(move |tx| {
            if tx.end_call(&id, &kept)? {
                close_question(tx, &id, "the call ended")?;
                if let Outcome::Denied { by: Some(DeniedBy::Never { grant }), .. } = kept {
                    tx.count_use(grant)?;
                }
                tx.audit(&entry)?;
            }
            Ok(())
        });
        outcome
    }

    /// Notes which hosts a command has reached and been refused, as our own bash server has counted
    /// them. What another server says of itself stands in its result alone.
    pub(super) fn note_network(&self, call: &ToolCall, output: &ToolOutput) {
        if self.hub.builtin(&call.server) != Some(OwnServerName::Bash) {
            return;
        }
        let counted = output.structured.as_ref().and_then(|facts| facts.get("network"));
        let Some(Value::Array(hosts)) = counted.filter(|hosts| **hosts != json!([])) else {
            return;
        };
        let mut body = json!({ "hosts": hosts });
        self.redactor.redact_json(&mut body);
        let entry = entry(audit_kind::NETWORK, call, body);
        self.store.write_soon(move |tx| tx.audit(&entry));
    }

    /// Text that leaves a tool is redacted before it reaches the model, the log or the chat.
    fn redacted(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Ended { mut output } => {
                output.text = self.redactor.redact(&output.text).into_owned();
                output.for_user = self.redactor.redact(&output.for_user).into_owned();
                if let Some(structured) = &mut output.structured {
                    self.redactor.redact_json(structured);
                }
                for action in &mut output.actions {
                    self.redact_words(action);
                }
                Outcome::Ended { output }
            }
            Outcome::Denied { reason, by } => {
                Outcome::Denied { reason: self.redactor.redact(&reason).into_owned(), by }
            }
            Outcome::Unknown { reason } => {
                Outcome::Unknown { reason: self.redactor.redact(&reason).into_owned() }
            }
            open @ (Outcome::Parked { .. } | Outcome::Left) => open,
        }
    }
}

/// Whether a row is about this very call. It is not if a power loss took a reply and left its call:
/// then the next reply has the number of the lost one. A result of that call is no answer to this
/// one.
pub fn is_the_call_of(row: &CallRow, call: &ToolCall) -> bool {
    let never_forwarded = matches!(
        row.state,
        CallState::Received | CallState::Waiting | CallState::Approved | CallState::Denied
    );
    let same = || row.arguments == crate::domain::canonical::canonical_json(&call.arguments);
    never_forwarded || (row.server == call.server && row.tool == call.tool && same())
}

/// The outcome in the words of the audit: how it went and how large it was, not the text itself.
/// Gives a call its end with its row of the audit, unless it has one.
pub(super) fn end(tx: &Tx<'_>, call: &CallId, outcome: &Outcome) -> Result<(), StoreError> {
    if tx.end_call(call, outcome)? {
        tx.audit(&AuditEntry {
            kind: audit_kind::ENDED,
            call: call.to_string(),
            body: describe(outcome),
        })?;
    }
    Ok(())
}

pub(super) fn describe(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Ended { output } => {
            let mut body = json!({
                "outcome": "ended", "is_error": output.is_error, "result_bytes": output.text.len()
            });
            // How a command ended, which is no error of its tool.
            let said = |name: &str| output.structured.as_ref().and_then(|said| said.get(name));
            if let Some(code) = said("exit_code").and_then(Value::as_i64) {
                body["exit_code"] = code.into();
            }
            if let Some(signal) =
                said("signal").and_then(Value::as_str).filter(|text| is_signal(text))
            {
                body["signal"] = signal.into();
            }
            body
        }
        Outcome::Denied { reason, by } => {
            json!({"outcome": "denied", "reason": reason, "by": by})
        }
        Outcome::Unknown { reason } => json!({"outcome": "unknown", "reason": reason}),
        Outcome::Parked { approval } => json!({"outcome": "parked", "approval": approval.0}),
        Outcome::Left => json!({"outcome": "left"}),
    }
}

/// The audit takes no other words of a stranger's here.
fn is_signal(text: &str) -> bool {
    text.len() <= SIGNAL_CHARS_MAX
        && text.starts_with("SIG")
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

pub(super) fn entry(kind: &'static str, call: &ToolCall, body: Value) -> AuditEntry {
    AuditEntry { kind, call: call.id.to_string(), body }
}
