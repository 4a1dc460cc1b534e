//! A standing answer that has just been given answers the open questions that it covers, in the
//! same transaction. Must not know how a standing answer is given, or doors.

use serde_json::json;

use super::approvals::call_of_row;
use super::grants::{Reach, why};
use super::wake::wake;
use crate::domain::{
    Answer, ApprovalState, CallState, DeniedBy, GrantEffect, Outcome, UnixMillis, audit_kind,
};
use crate::killpoint;
use crate::store::{ApprovalRow, AuditEntry, CallRow, GrantRow, StoreError, Tx, now_ms};

/// Answers the open questions of all sessions that this grant covers, as far as `by`, who has given
/// it, may answer them. A call that is allowed so is judged again: it runs if the grant still holds
/// then, and by the rules that are in force then.
pub(super) fn settle(
    tx: &Tx<'_>,
    reach: &Reach,
    grant: Option<i64>,
    answer: &Answer,
    by: &str,
) -> Result<(), StoreError> {
    let Some(grant) = grant.map(|id| tx.grant(id)).transpose()?.flatten() else { return Ok(()) };
    let now = now_ms();
    killpoint::here("grant.given.inside");
    let open = match tx.open_approvals(None) {
        // A damaged question must not keep the answer to another one from counting.
        Err(error @ StoreError::Unreadable { .. }) => {
            tracing::warn!(%error, "no other question was answered by the new grant");
            return Ok(());
        }
        open => open?,
    };
    for question in open {
        if is_open_to(&question, by, now)
            && let Some(row) = call_asked_about(tx, reach, &grant, &question)?
        {
            answer_by(tx, &grant, &question, &row, answer, by)?;
            killpoint::here("grant.settled.inside");
        }
    }
    Ok(())
}

/// What was staged is answered by itself alone; of a list each call has a question of its own.
fn is_open_to(question: &ApprovalRow, by: &str, now: UnixMillis) -> bool {
    question.question.staged.is_none()
        && question.question.input.is_none()
        && question.question.list.is_none()
        && question.approvers.include(by)
        && question.expires_ms > now
}

/// The frozen call of a question that the grant covers.
fn call_asked_about(
    tx: &Tx<'_>,
    reach: &Reach,
    grant: &GrantRow,
    question: &ApprovalRow,
) -> Result<Option<CallRow>, StoreError> {
    let found = match tx.call(&question.call) {
        Err(StoreError::Unreadable { .. }) => None,
        found => found?,
    };
    let Some(row) = found else { return Ok(None) };
    // An allowance is for the folder in which it was given.
    let here = grant.effect == GrantEffect::Deny || row.cwd == reach.workspace().to_string_lossy();
    let is_asked = row.state == CallState::Waiting && row.digest == question.digest && here;
    let covered = is_asked && reach.covers(grant, &call_of_row(&row)?, &row.rule);
    Ok(covered.then_some(row))
}

fn answer_by(
    tx: &Tx<'_>,
    grant: &GrantRow,
    question: &ApprovalRow,
    row: &CallRow,
    answer: &Answer,
    given_by: &str,
) -> Result<(), StoreError> {
    let (by, id) = (format!("grant {}", grant.id), &question.id);
    let state = match grant.effect {
        GrantEffect::Allow => ApprovalState::Approved,
        GrantEffect::Deny => ApprovalState::Denied,
    };
    if tx.decide(id, state, Some(answer), &by)?.is_err() {
        return Ok(());
    }
    match grant.effect {
        GrantEffect::Allow => {
            tx.move_call(&row.id, CallState::Waiting, CallState::Received)?;
        }
        GrantEffect::Deny => {
            let by = DeniedBy::Never { grant: grant.id };
            tx.end_call(
                &row.id,
                &Outcome::denied(by, format!("{} (grant.{})", why(grant), grant.id)),
            )?;
            tx.count_use(grant.id)?;
        }
    }
    let body = json!({
        "approval": id.0, "answer": answer, "by": by, "digest": question.digest,
        "covered_by": {"id": grant.id, "says": grant.says, "given_by": given_by},
    });
    tx.audit(&AuditEntry { kind: audit_kind::ANSWERED, call: row.id.to_string(), body })?;
    wake(tx, question, Some(answer), &by)
}
