//! What an answer to a question about something staged does, in one transaction: one action, all of
//! a list, one of several buttons; and the end of their time. Must not know doors, or how an action
//! is run.

use serde_json::{Value, json};

use super::Calls;
use super::approvals::{DecideError, call_of_row, decide_in};
use super::record::end;
use super::wake::wake;
use crate::domain::{
    Action, Address, Answer, ApprovalId, ApprovalState, CallId, CallState, DeniedBy, Outcome,
    SessionId, Staged, ToolCall, ToolOutput, audit_kind,
};
use crate::killpoint;
use crate::store::{ApprovalRow, AuditEntry, DecideRefused, StagedRow, StoreError, Tx, now_ms};

/// The action that an answer was about.
#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredAction {
    pub call: CallId,
    pub action: Action,
    pub told: Vec<Address>,
}

impl Calls {
    pub(super) async fn decide_staged(
        &self,
        approval: ApprovalRow,
        answer: &Answer,
        by: &str,
    ) -> Result<ApprovalRow, DecideError> {
        if !approval.question.choices.iter().any(|choice| choice.answer == *answer) {
            let keys: Vec<_> =
                approval.question.choices.iter().map(|choice| choice.key.as_str()).collect();
            let text = format!(
                "only {} can be answered to what was staged, once and as it was shown",
                keys.join(" or ")
            );
            return Err(DecideError::NotOffered(text));
        }
        let (answer, by) = (answer.clone(), by.to_owned());
        killpoint::here("gate.decided.before");
        let decided = self.store.write(move |tx| settle(tx, &approval, &answer, &by)).await?;
        killpoint::here("gate.decided.after");
        Ok(decided?)
    }

    /// Closes what was staged in a session and whose time is over; the session hears of it by its
    /// inbox, in the same transaction.
    pub async fn expire_staged(&self, session: &SessionId) -> Result<(), StoreError> {
        if !self.store.read(|tx| tx.staged_is_due(session, now_ms()))? {
            return Ok(());
        }
        let session = session.clone();
        killpoint::here("gate.closed.before");
        self.store.write(move |tx| expire(tx, &session)).await?;
        killpoint::here("gate.closed.after");
        Ok(())
    }

    /// Whether a question is about something staged.
    pub fn is_staged(&self, id: &ApprovalId) -> Result<bool, StoreError> {
        Ok(self.store.read(|tx| tx.approval(id))?.is_some_and(|row| row.question.staged.is_some()))
    }

    /// Which action an answer was about. `None` for one about a whole list: each of its actions is
    /// told by itself.
    pub fn tapped(
        &self,
        id: &ApprovalId,
        answer: Option<&Answer>,
    ) -> Result<Option<AnsweredAction>, StoreError> {
        self.store.read(|tx| {
            let Some(approval) = tx.approval(id)? else { return Ok(None) };
            let call = match (&approval.question.staged, answer) {
                (Some(Staged::Item { .. }), _) => Some(approval.call),
                (Some(Staged::Buttons { .. }), Some(Answer::Press { index })) => {
                    pressed(&tx.staged_in(&approval.call)?, *index).map(|row| row.call.clone())
                }
                _ => None,
            };
            let Some(call) = call else { return Ok(None) };
            let (Some(row), Some(staged)) = (tx.call(&call)?, tx.staged(&call)?) else {
                return Ok(None);
            };
            let arguments = serde_json::from_str(&row.arguments)?;
            let action =
                Action { server: row.server, tool: row.tool, arguments, summary: staged.summary };
            Ok(Some(AnsweredAction { call, action, told: staged.told }))
        })
    }

    /// Who hears what becomes of an action.
    pub fn told_of(&self, call: &CallId) -> Result<Vec<Address>, StoreError> {
        Ok(self.store.read(|tx| tx.staged(call))?.map(|row| row.told).unwrap_or_default())
    }

    /// The frozen call of an action. `None` if nothing was staged under this id.
    pub fn staged_call(&self, call: &CallId) -> Result<Option<ToolCall>, StoreError> {
        let (row, staged) = self.store.read(|tx| Ok((tx.call(call)?, tx.staged(call)?)))?;
        row.filter(|_| staged.is_some()).map(|row| call_of_row(&row)).transpose()
    }
}

fn pressed(rows: &[StagedRow], index: u32) -> Option<&StagedRow> {
    rows.iter().find(|row| row.number == index + 1)
}

fn settle(
    tx: &Tx<'_>,
    approval: &ApprovalRow,
    answer: &Answer,
    by: &str,
) -> Result<Result<ApprovalRow, DecideRefused>, StoreError> {
    match &approval.question.staged {
        Some(Staged::All { .. }) => settle_all(tx, approval, answer, by),
        Some(Staged::Buttons { .. }) => press(tx, approval, answer, by),
        Some(Staged::Item { .. }) | None => {
            let decided = decide_in(tx, &approval.id, &approval.call, answer, by, None)?;
            close_settled_list(tx, &approval.call)?;
            Ok(decided)
        }
    }
}

/// Every action of the list that still waits gets this answer, each with its own row in the audit
/// and its own wake-up.
fn settle_all(
    tx: &Tx<'_>,
    approval: &ApprovalRow,
    answer: &Answer,
    by: &str,
) -> Result<Result<ApprovalRow, DecideRefused>, StoreError> {
    let allowed = matches!(answer, Answer::Allow { .. });
    let decided = match tx.decide(
        &approval.id,
        if allowed { ApprovalState::Approved } else { ApprovalState::Denied },
        Some(answer),
        by,
    )? {
        Ok(decided) => decided,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut settled = Vec::new();
    for staged in tx.staged_in(&approval.call)? {
        let Some(item) = tx.approval_of(&staged.call)? else { continue };
        // One that was answered before keeps its answer; one whose time is over is closed as such.
        if decide_in(tx, &item.id, &staged.call, answer, by, None)?.is_ok() {
            settled.push(staged.call.to_string());
        }
    }
    let were = if settled.len() == 1 { "was" } else { "were" };
    let text = format!(
        "{} of {} actions {were} answered with it",
        settled.len(),
        approval.question.arguments.len()
    );
    let outcome = if allowed { ended(text) } else { Outcome::denied(DeniedBy::Answer, text) };
    let body = json!({"approval": approval.id.0, "answer": answer, "by": by, "calls": settled});
    close_row(tx, &approval.call, &outcome, body)?;
    Ok(Ok(decided))
}

/// The first press is the answer; the other buttons of the group go with it.
fn press(
    tx: &Tx<'_>,
    approval: &ApprovalRow,
    answer: &Answer,
    by: &str,
) -> Result<Result<ApprovalRow, DecideRefused>, StoreError> {
    let buttons = tx.staged_in(&approval.call)?;
    let chosen = match answer {
        Answer::Press { index } => pressed(&buttons, *index),
        _ => None,
    };
    let Some(chosen) = chosen else {
        return Ok(Err(DecideRefused::NotFound(approval.id.0.clone())));
    };
    let decided = match tx.decide(&approval.id, ApprovalState::Approved, Some(answer), by)? {
        Ok(decided) => decided,
        Err(refused) => return Ok(Err(refused)),
    };
    tx.move_call(&chosen.call, CallState::Waiting, CallState::Approved)?;
    let body = json!({"approval": approval.id.0, "answer": answer, "by": by});
    tx.audit(&AuditEntry {
        kind: audit_kind::ANSWERED,
        call: chosen.call.to_string(),
        body: body.clone(),
    })?;
    for other in buttons.iter().filter(|button| button.call != chosen.call) {
        end(tx, &other.call, &Outcome::denied(DeniedBy::Answer, "another button was pressed"))?;
    }
    close_row(tx, &approval.call, &ended(format!("button {} was pressed", chosen.number)), body)?;
    wake(tx, approval, Some(answer), by)?;
    Ok(Ok(decided))
}

fn expire(tx: &Tx<'_>, session: &SessionId) -> Result<(), StoreError> {
    let now = now_ms();
    let mut due = tx.open_approvals(Some(session))?;
    due.retain(|row| row.question.staged.is_some() && row.expires_ms <= now);
    // A question about a list lasts as long as the last of its actions, and is over with it.
    due.sort_by_key(|row| matches!(row.question.staged, Some(Staged::Item { .. })));
    for row in due {
        if tx.decide(&row.id, ApprovalState::Expired, None, "expired")?.is_err() {
            continue;
        }
        let outcome = Outcome::denied(DeniedBy::Expiry, "nobody confirmed it in time");
        let body = json!({"approval": row.id.0, "answer": "expired"});
        close_row(tx, &row.call, &outcome, body)?;
        match &row.question.staged {
            Some(Staged::Item { .. }) => {
                wake(tx, &row, None, "expired")?;
                close_settled_list(tx, &row.call)?;
            }
            Some(Staged::Buttons { .. }) => {
                for button in tx.staged_in(&row.call)? {
                    end(tx, &button.call, &outcome)?;
                }
            }
            Some(Staged::All { .. }) | None => {}
        }
    }
    Ok(())
}

/// When no action of a list waits any more, nothing is left to answer about all of them.
fn close_settled_list(tx: &Tx<'_>, item: &CallId) -> Result<(), StoreError> {
    let Some(list) = tx.staged(item)?.map(|row| row.list).filter(|list| list != item) else {
        return Ok(());
    };
    for staged in tx.staged_in(&list)? {
        if tx.approval_of(&staged.call)?.is_some_and(|row| row.state == ApprovalState::Waiting) {
            return Ok(());
        }
    }
    let Some(all) = tx.approval_of(&list)?.filter(|row| row.state == ApprovalState::Waiting) else {
        return Ok(());
    };
    if tx.decide(&all.id, ApprovalState::Superseded, None, "each was answered by itself")?.is_ok() {
        let outcome = Outcome::denied(DeniedBy::Answer, "each action was answered by itself");
        close_row(tx, &list, &outcome, json!({"approval": all.id.0, "answer": "superseded"}))?;
    }
    Ok(())
}

/// The end of a row that no server ever sees, or of a question, with its answer in the audit.
fn close_row(
    tx: &Tx<'_>,
    call: &CallId,
    outcome: &Outcome,
    answered: Value,
) -> Result<(), StoreError> {
    tx.audit(&AuditEntry { kind: audit_kind::ANSWERED, call: call.to_string(), body: answered })?;
    tx.end_call(call, outcome)?;
    Ok(())
}

fn ended(text: String) -> Outcome {
    Outcome::Ended { output: ToolOutput { text, ..ToolOutput::default() } }
}
