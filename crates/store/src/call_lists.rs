//! Questions about several calls: which questions stand in them, what has become of each, and that
//! such a question is over with the last of them. Must not know who answers.

use rusqlite::params;
use serde_json::json;

use super::{ApprovalRow, AuditEntry, StoreError, Tx};
use claw_domain::{ApprovalId, ApprovalState, DeniedBy, Outcome, UnixMillis, audit_kind};

/// Who closed a list of which every call was answered by itself.
const ONE_BY_ONE: &str = "each was answered by itself";

impl Tx<'_> {
    /// From now on these open questions are asked by this list, and last as long as it.
    pub fn put_in_list(
        &self,
        list: &ApprovalId,
        members: &[ApprovalId],
        expires_ms: UnixMillis,
    ) -> Result<(), StoreError> {
        let mut update = self.conn.prepare_cached(
            "UPDATE approvals SET list = ?2, expires_ms = ?3 WHERE id = ?1 AND state = 'waiting'",
        )?;
        for member in members {
            update.execute(params![member.0, list.0, expires_ms])?;
        }
        Ok(())
    }

    /// The row of a list with what has become of each of its calls.
    pub(super) fn with_states(&self, mut row: ApprovalRow) -> Result<ApprovalRow, StoreError> {
        let Some(list) = &mut row.question.list else { return Ok(row) };
        let mut query = self.conn.prepare_cached("SELECT state FROM approvals WHERE id = ?1")?;
        for item in &mut list.items {
            let mut found = query.query([&item.approval.0])?;
            // Retention may have taken it.
            item.state = match found.next()? {
                Some(found) => ApprovalState::parse(&found.get::<_, String>(0)?),
                None => None,
            }
            .unwrap_or(ApprovalState::Superseded);
        }
        Ok(row)
    }

    /// A question was closed, so the list that asks it may have nothing left to ask.
    pub(super) fn close_list_of(
        &self,
        closed: &ApprovalRow,
        state: ApprovalState,
        by: &str,
    ) -> Result<(), StoreError> {
        match &closed.list {
            Some(list) => self.close_list(list, state, by),
            None => Ok(()),
        }
    }

    /// Closes a list of which nothing waits any more. `state` and `by` are of the last of its
    /// calls.
    pub fn close_list(
        &self,
        list: &ApprovalId,
        state: ApprovalState,
        by: &str,
    ) -> Result<(), StoreError> {
        let waits: bool = self
            .conn
            .prepare_cached(
                "SELECT EXISTS(SELECT 1 FROM approvals WHERE list = ?1 AND state = 'waiting')",
            )?
            .query_row([&list.0], |row| row.get(0))?;
        if waits {
            return Ok(());
        }
        let (state, by, denied) = match state {
            ApprovalState::Expired => (state, by, DeniedBy::Expiry),
            ApprovalState::Superseded => (state, by, DeniedBy::Stop),
            _ => (ApprovalState::Superseded, ONE_BY_ONE, DeniedBy::Answer),
        };
        // One that was answered as a whole is closed already.
        let Ok(row) = self.decide(list, state, None, by)? else { return Ok(()) };
        self.end_call(&row.call, &Outcome::denied(denied, by))?;
        let body = json!({"approval": list.0, "answer": state, "by": by});
        self.audit(&AuditEntry { kind: audit_kind::ANSWERED, call: row.call.to_string(), body })?;
        Ok(())
    }
}
