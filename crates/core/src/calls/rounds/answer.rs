//! What an answer does to an open round: one compare-and-set with its audit row and the wake-up of
//! the call's owner. A value that does not fit changes nothing. Must not know doors.

use serde_json::{Value, json};

use super::Answers;
use crate::calls::Calls;
use crate::calls::approvals::{DecideError, WithDecision};
use crate::calls::wake::wake;
use crate::domain::{
    Answer, ApprovalId, ApprovalState, CallId, Input, InputKind, Term, audit_kind, secret,
};
use crate::killpoint;
use crate::store::{ApprovalRow, AuditEntry, DecideRefused, RoundRow, StoreError, Tx, now_ms};

impl Calls {
    /// Answers a question for a value: waiting → approved, or denied for a "decline".
    pub(in crate::calls) async fn decide_input(
        &self,
        approval: ApprovalRow,
        input: Input,
        answer: &Answer,
        by: &str,
        with: impl WithDecision,
    ) -> Result<ApprovalRow, DecideError> {
        let given = given(&input, answer).map_err(DecideError::NotOffered)?;
        if let Some(value) = &given {
            self.may_be_sent(value).map_err(DecideError::NotOffered)?;
        }
        let answer = match (&given, answer) {
            (Some(value), _) => Answer::Give { value: value.clone() },
            (None, answer) => answer.clone(),
        };
        let (id, by) = (approval.id, by.to_owned());
        killpoint::here("round.answered.before");
        let decided = self
            .store
            .write(move |tx| {
                let decided = decide_in(tx, &id, &input, &answer, &by)?;
                with(tx, decided.as_ref().map(|_| ()))?;
                Ok(decided)
            })
            .await?;
        killpoint::here("round.answered.after");
        Ok(decided?)
    }

    /// No secret goes to a server because it asked.
    fn may_be_sent(&self, value: &Value) -> Result<(), String> {
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let looks_so = texts.iter().any(|text| !secret::in_value(text).is_empty());
        if looks_so || self.secret_in(value).is_some() {
            return Err(format!(
                "That looks like a secret, which claw does not pass on. Answer without it, or \
                 decline; a login is `{} mcp login NAME`, or a variable in mcp.json.",
                self.claw()
            ));
        }
        Ok(())
    }

    /// Closes the question of a call whose server waits, if its time is over: the server hears that
    /// nobody has answered.
    pub(in crate::calls) async fn expire_input(
        &self,
        call: &CallId,
    ) -> Result<Option<ApprovalId>, StoreError> {
        const STATE: ApprovalState = ApprovalState::Expired;
        let call = call.clone();
        self.store
            .write(move |tx| {
                let due = |row: &ApprovalRow| row.expires_ms <= now_ms();
                let Some(approval) = tx.approval_of(&call)?.filter(due) else { return Ok(None) };
                if tx.decide(&approval.id, STATE, None, STATE.as_str())?.is_err() {
                    return Ok(None);
                }
                if let Some(round) = tx.open_round(&call)? {
                    let answers = cancelled(&round, Answers::of(&round)?);
                    tx.answer_round(&round, &answers.to_value()?)?;
                }
                let body = json!({"approval": approval.id.0, "answer": STATE});
                tx.audit(&AuditEntry { kind: audit_kind::ANSWERED, call: call.to_string(), body })?;
                Ok(Some(approval.id))
            })
            .await
    }
}

/// The value that an answer gives; `None` for one that gives none.
fn given(input: &Input, answer: &Answer) -> Result<Option<Value>, String> {
    let value = match answer {
        Answer::Deny { .. } => return Ok(None),
        Answer::Skip if !input.required => return Ok(None),
        Answer::Skip => return Err(format!("“{}” cannot be left out.", input.label)),
        Answer::Give { value } => value.clone(),
        Answer::Allow { term: Term::Once, .. }
            if matches!(input.kind, InputKind::Confirm | InputKind::Page | InputKind::Boolean) =>
        {
            Value::Bool(true)
        }
        Answer::Allow { .. } | Answer::Never | Answer::Press { .. } | Answer::Pick { .. } => {
            return Err(format!("“{}” takes {}.", input.label, input.wants()));
        }
    };
    input.check(&value)?;
    Ok(Some(value))
}

fn decide_in(
    tx: &Tx<'_>,
    id: &ApprovalId,
    input: &Input,
    answer: &Answer,
    by: &str,
) -> Result<Result<ApprovalRow, DecideRefused>, StoreError> {
    let state = match answer {
        Answer::Deny { .. } => ApprovalState::Denied,
        _ => ApprovalState::Approved,
    };
    let approval = match tx.decide(id, state, Some(answer), by)? {
        Ok(approval) => approval,
        Err(refused) => return Ok(Err(refused)),
    };
    let round = tx.open_round(&approval.call)?;
    let in_call = round.as_ref().is_some_and(|round| round.in_call);
    if let Some(round) = &round {
        let answers = answered(Answers::of(round)?, input, answer);
        tx.answer_round(round, &answers.to_value()?)?;
    }
    let nth = round.map(|round| round.nth);
    let body = json!({
        "approval": id.0, "answer": answer, "by": by, "digest": approval.digest, "round": nth,
        "field": input.field,
    });
    tx.audit(&AuditEntry { kind: audit_kind::ANSWERED, call: approval.call.to_string(), body })?;
    // Whoever runs a call looks at the question itself.
    if !in_call {
        wake(tx, &approval, Some(answer), by)?;
    }
    Ok(Ok(approval))
}

fn answered(mut answers: Answers, input: &Input, answer: &Answer) -> Answers {
    let key = &input.request;
    match answer {
        Answer::Give { .. } if matches!(input.kind, InputKind::Page) => {
            answers.with(key, json!({"action": "accept"}))
        }
        Answer::Give { .. } if matches!(input.kind, InputKind::Confirm) => {
            answers.with(key, json!({"action": "accept", "content": {}}))
        }
        Answer::Give { value } => {
            answers.fields.insert(input.field.clone(), value.clone());
            answers
        }
        Answer::Skip => {
            answers.fields.insert(input.field.clone(), Value::Null);
            answers
        }
        _ => answers.with(key, json!({"action": "decline"})),
    }
}

/// Nobody is there to answer what is left.
fn cancelled(round: &RoundRow, mut answers: Answers) -> Answers {
    let keys: Vec<String> =
        round.requests.as_object().map(|it| it.keys().cloned().collect()).unwrap_or_default();
    for key in keys {
        if !answers.done.contains_key(&key) {
            answers = answers.with(&key, json!({"action": "cancel"}));
        }
    }
    answers
}
