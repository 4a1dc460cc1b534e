//! Messages of a door that show what is not finished yet. Must not know what they look like.

use futures::future::BoxFuture;

use super::Mail;
use super::rows::{MailError, OutboxMessage};
use crate::domain::{Address, DraftMessage, RunningCall, SessionId};

impl Mail {
    /// Notes that a message shows the beginning of what the model is saying. If the process ends
    /// between the message and this note, the message stays as it is and what it began comes whole
    /// in another one.
    pub fn drafted(&self, draft: DraftMessage) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move { self.write_relaxed(move |tx| tx.add_draft(&draft)).await })
    }

    /// The messages that show a step so far, in order.
    pub fn drafts(
        &self,
        to: &Address,
        session: &SessionId,
        turn_seq: u64,
        step: u32,
    ) -> Result<Vec<i64>, MailError> {
        self.read(|tx| tx.drafts(to, session, turn_seq, step))
    }

    /// The messages that show a beginning of something up to this step, or without a step up to the
    /// end of the turn: after [`Self::said`] nobody knows of them any more.
    pub fn drafts_through(
        &self,
        to: &Address,
        session: &SessionId,
        turn_seq: u64,
        step: Option<u32>,
    ) -> Result<Vec<i64>, MailError> {
        self.read(|tx| tx.drafts_through(to, session, turn_seq, step))
    }

    /// Marks a row after it was shown, like [`Mail::shown`]; what was a draft of it is final.
    /// Without a step, so is all that its turn has said.
    pub fn said<'a>(
        &'a self,
        row: &'a OutboxMessage,
        turn_seq: u64,
        step: Option<u32>,
    ) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let (id, to, session) = (row.id, row.outbound.to.clone(), row.outbound.session.clone());
            self.write_relaxed(move |tx| {
                tx.end_drafts(&to, &session, turn_seq, step)?;
                tx.mark_sent(id)
            })
            .await
        })
    }

    /// Notes that a message shows a call that runs.
    pub fn call_shown(&self, running: RunningCall) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move { self.write_relaxed(move |tx| tx.add_running(&running)).await })
    }

    /// The messages that show a call that runs, or that ran when its process was ended.
    pub fn calls_shown(&self) -> Result<Vec<RunningCall>, MailError> {
        self.read(|tx| tx.running())
    }

    /// The session whose call this message shows.
    pub fn call_shown_at(
        &self,
        to: &Address,
        message: i64,
    ) -> Result<Option<SessionId>, MailError> {
        self.read(|tx| tx.running_at(to, message))
    }

    /// Notes that a message shows how its call has ended.
    pub fn call_ended<'a>(
        &'a self,
        to: &'a Address,
        message: i64,
    ) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let to = to.clone();
            self.write_relaxed(move |tx| tx.end_running(&to, message)).await
        })
    }
}
