//! The open questions and what became of those that are closed, as a door shows them. Must not know
//! who may answer, or what an answer does.

use super::Mail;
use super::rows::{AnsweredCall, AskedQuestion, CallSubject, MailError, all, one};
use crate::domain::{Answer, ApprovalId, ApprovalState, CallId, Question, SessionId, Staged};
use crate::store::{CallRow, StoreError, now_ms};

impl Mail {
    /// A question, open or closed, and its answer.
    pub fn asked_question(&self, id: &ApprovalId) -> Result<Option<AskedQuestion>, MailError> {
        one(self.read(|tx| tx.approval(id)))
    }

    /// The same, if it is still open and in its time.
    pub fn open_question(&self, id: &ApprovalId) -> Result<Option<Question>, MailError> {
        let row = self.asked_question(id)?;
        let open =
            |row: &AskedQuestion| row.state == ApprovalState::Waiting && row.expires_ms > now_ms();
        Ok(row.filter(open).map(|row| row.question))
    }

    /// The open questions of one session, or of all, oldest first, without those whose time is
    /// over. What a list asks stands in it alone.
    pub fn open_questions(
        &self,
        session: Option<&SessionId>,
    ) -> Result<Vec<AskedQuestion>, MailError> {
        all(self.read(|tx| tx.open_questions(session)))
    }

    /// Those whose time is over and which their session has not closed yet.
    pub fn overdue_questions(&self) -> Result<Vec<AskedQuestion>, MailError> {
        all(self.read(|tx| tx.overdue_questions()))
    }

    /// Whether the session was told to stop what it does, and has not heard of it yet.
    pub fn stop_queued(&self, session: &SessionId) -> Result<bool, MailError> {
        self.read(|tx| tx.stop_queued(session))
    }

    /// The list in which an action was staged.
    pub fn list_of(&self, action: &CallId) -> Result<Option<CallId>, MailError> {
        Ok(self.read(|tx| tx.staged(action))?.map(|staged| staged.list))
    }

    /// What a call is about; `None` for one that was never frozen.
    pub fn call_subject(&self, call: &CallId) -> Result<Option<CallSubject>, MailError> {
        one(self.read(|tx| tx.call(call)))
    }

    /// The calls that an answer is about: of several buttons the one that was pressed, and of all
    /// items those that it has answered.
    pub fn calls_of(&self, row: &AskedQuestion) -> Result<Vec<AnsweredCall>, MailError> {
        all(self.read(|tx| {
            let ids = match (&row.question.staged, &row.answer) {
                (Some(Staged::All { .. }), _) => {
                    tx.staged_in(&row.call)?.into_iter().map(|staged| staged.call).collect()
                }
                (Some(Staged::Buttons { .. }), Some(Answer::Press { index })) => {
                    let mut buttons = tx.staged_in(&row.call)?;
                    buttons.retain(|button| button.number == index + 1);
                    buttons.into_iter().map(|button| button.call).collect()
                }
                _ => vec![row.call.clone()],
            };
            let rows: Result<Vec<Option<CallRow>>, StoreError> =
                ids.iter().map(|id| tx.call(id)).collect();
            Ok(rows?.into_iter().flatten().collect())
        }))
    }
}
