//! What becomes of a call whose turn ends before it has an end. Must not know why the turn ends.

use serde_json::json;

use super::Calls;
use super::record::end;
use super::start::close_question;
use crate::domain::{CallId, CallState, DeniedBy, Outcome, audit_kind};
use crate::store::{AuditEntry, StoreError};

impl Calls {
    /// Gives a call its end: the one it already has; unknown, if it was started; else denied with
    /// `reason`, and its open question is closed. `beside` is what else is known of what its server
    /// does. Only the holder of the session's lock may ask.
    pub async fn abandon(
        &self,
        call: &CallId,
        reason: &'static str,
        beside: &'static str,
    ) -> Result<Outcome, StoreError> {
        let call = call.clone();
        self.store
            .write(move |tx| {
                let row = tx.call(&call)?;
                if let Some(outcome) = row.as_ref().and_then(|row| row.outcome.clone()) {
                    return Ok(outcome);
                }
                let state = row.as_ref().map(|row| row.state);
                let outcome = if state == Some(CallState::InputRequired) {
                    let reason = "its server waited for an answer when the turn ended";
                    Outcome::Unknown { reason: format!("{reason}{beside}") }
                } else if state == Some(CallState::Task) {
                    let reason = "its server worked on it as a task when the turn ended";
                    Outcome::Unknown { reason: format!("{reason}{beside}") }
                } else if state == Some(CallState::Started) {
                    Outcome::Unknown { reason: "it was running when the turn ended".to_owned() }
                } else {
                    Outcome::denied(DeniedBy::Stop, reason)
                };
                close_question(tx, &call, reason)?;
                end(tx, &call, &outcome)?;
                if row.is_none() {
                    tx.audit(&AuditEntry {
                        kind: audit_kind::DROPPED,
                        call: call.to_string(),
                        body: json!({"reason": reason}),
                    })?;
                }
                Ok(outcome)
            })
            .await
    }
}
