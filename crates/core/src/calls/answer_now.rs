//! What the owner's answer about exactly this call, or the tap on a staged action, is worth at this
//! moment. It counts only while everything that was shown is still so: the tool's pin, the rules,
//! and the frozen row. Must not know how a verdict is reached.

use std::path::Path;

use super::approvals::is_over;
use super::{Calls, Grounds};
use crate::catalog::Tool;
use crate::domain::{ApprovalId, ApprovalState, CallState, ToolCall};
use crate::store::{CallRow, StoreError};

/// What the owner's answer about exactly this call comes to.
#[derive(Debug)]
pub enum AnswerNow {
    /// There is none that counts.
    None,
    /// The question about it is open already.
    Waits(ApprovalId),
    /// It was a yes to something that is not so any more: to a difference from a file that has
    /// changed since.
    Outdated,
    /// There is one, and its session has worked in another folder then.
    Moved,
    Yes(Grounds),
}

/// What the tap on a staged action comes to.
#[derive(Debug)]
pub enum TapNow {
    /// Nobody has confirmed it.
    None,
    /// What was confirmed does not hold any more, for this reason.
    Changed(String),
    /// It came, and the time of the action is over.
    Over,
    Yes(Grounds),
    /// Of a button, which has no question.
    Button,
}

impl Calls {
    /// `row` is what the store knows of the call.
    pub async fn answer_now(
        &self,
        row: Option<&CallRow>,
        call: &ToolCall,
        tool: &Tool,
    ) -> Result<AnswerNow, StoreError> {
        let Some(row) = row else { return Ok(AnswerNow::None) };
        let approval = self.store.read(|tx| tx.approval_of(&row.id))?;
        // What its server was told in the middle of it is no leave to run it.
        let Some(approval) = approval.filter(|row| row.question.input.is_none()) else {
            return Ok(AnswerNow::None);
        };
        let counts = self.is_still_frozen(row, call, tool)
            && approval.digest == row.digest
            && !is_over(&approval);
        Ok(match (row.state, approval.state) {
            (CallState::Waiting | CallState::Approved, _) if self.has_moved(row) => {
                AnswerNow::Moved
            }
            _ if !counts => AnswerNow::None,
            (CallState::Waiting, ApprovalState::Waiting) => AnswerNow::Waits(approval.id),
            // One that was started has perhaps changed what was looked at.
            (CallState::Approved, ApprovalState::Approved)
                if !self.is_as_shown(row, &approval, call).await =>
            {
                AnswerNow::Outdated
            }
            (CallState::Approved | CallState::Started, ApprovalState::Approved) => {
                let by = approval.decided_by.unwrap_or_default();
                AnswerNow::Yes(Grounds::by_answer(approval.id, format!("{by} allowed it")))
            }
            _ => AnswerNow::None,
        })
    }

    /// Whether the call was frozen in another folder.
    fn has_moved(&self, row: &CallRow) -> bool {
        !row.cwd.is_empty() && Path::new(&row.cwd) != self.workspace()
    }

    /// The same of an action that was staged; `None` for every other call.
    pub fn tap_now(
        &self,
        row: Option<&CallRow>,
        call: &ToolCall,
        tool: &Tool,
    ) -> Result<Option<TapNow>, StoreError> {
        let Some(row) = row else { return Ok(None) };
        let (staged, approval) =
            self.store.read(|tx| Ok((tx.staged(&row.id)?, tx.approval_of(&row.id)?)))?;
        if staged.is_none() {
            return Ok(None);
        }
        if !matches!(row.state, CallState::Approved | CallState::Started) {
            return Ok(Some(TapNow::None));
        }
        if !self.is_still_frozen(row, call, tool) {
            return Ok(Some(TapNow::Changed(self.what_changed(row, tool))));
        }
        Ok(Some(match approval {
            None => TapNow::Button,
            Some(approval) if is_over(&approval) => TapNow::Over,
            Some(approval)
                if approval.state == ApprovalState::Approved && approval.digest == row.digest =>
            {
                let by = approval.decided_by.unwrap_or_default();
                TapNow::Yes(Grounds::by_answer(approval.id, format!("{by} confirmed it")))
            }
            Some(_) => TapNow::Changed("what was confirmed is not what would run".to_owned()),
        }))
    }
}
