//! The way out for a door that has one instance a home and sends in parts. Must not know what a
//! part is.

use futures::future::BoxFuture;

use super::Mail;
use super::rows::MailError;
use crate::domain::{Address, ApprovalId, Outbound, OutboundBody, PostedQuestion, PostedState};
use crate::killpoint;

impl Mail {
    /// The addresses at a door for which something waits. What it is comes by [`Mail::waiting`], so
    /// that a look does not read what is being sent already.
    pub fn waiting_at(&self, door: &str) -> Result<Vec<Address>, MailError> {
        self.read(|tx| tx.addresses_with_outbound(door))
    }

    /// Notes that the part after the first `parts_sent` is being sent. If the process ends now,
    /// that part may or may not have gone out, and it is sent again: this is the one window in
    /// which a message can come twice.
    pub fn sending(&self, id: i64, parts_sent: u32) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            killpoint::here("delivery.sending.before");
            let marked = self.write_relaxed(move |tx| tx.mark_sending(id, parts_sent)).await;
            killpoint::here("delivery.sending.after");
            marked
        })
    }

    /// Notes that a question went out, and in which message. Gives back the messages that have
    /// shown it before: they still have to say where it is now.
    pub fn asked(
        &self,
        id: i64,
        posted: PostedQuestion,
    ) -> BoxFuture<'_, Result<Vec<PostedQuestion>, MailError>> {
        Box::pin(async move {
            killpoint::here("delivery.asked.before");
            let note = move |tx: &crate::store::Tx<'_>| {
                let mut older = tx.posted_of(&posted.approval)?;
                older.retain(|row| {
                    row.state.is_live()
                        && (&row.address, row.message) != (&posted.address, posted.message)
                });
                for row in &mut older {
                    row.state = PostedState::Stale;
                    tx.set_posted(&row.address, row.message, row.state)?;
                }
                tx.add_posted(&posted)?;
                tx.mark_sent(id)?;
                Ok(older)
            };
            let noted = self.write_relaxed(note).await;
            killpoint::here("delivery.asked.after");
            noted
        })
    }

    /// Ends a row that its address does not take, and puts what is sent instead behind what else
    /// waits, in one transaction.
    pub fn sent_elsewhere(
        &self,
        id: i64,
        instead: Vec<Outbound>,
    ) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            let move_on = move |tx: &crate::store::Tx<'_>| {
                tx.mark_sent(id)?;
                instead.iter().try_for_each(|outbound| tx.add_outbound(outbound).map(drop))
            };
            self.write(move_on).await
        })
    }

    /// Those whose question is no longer open: they have to change now, or when the call has ended.
    pub fn posted_and_closed(&self) -> Result<Vec<PostedQuestion>, MailError> {
        self.read(|tx| tx.posted_and_closed())
    }

    /// Those that show a list which is open, and of which something is answered.
    pub fn posted_lists(&self) -> Result<Vec<PostedQuestion>, MailError> {
        self.read(|tx| tx.posted_lists())
    }

    /// The messages that show questions and may still have to change.
    pub fn posted(&self) -> Result<Vec<PostedQuestion>, MailError> {
        self.read(|tx| tx.posted())
    }

    /// What one message shows, if it shows a question.
    pub fn posted_at(
        &self,
        to: &Address,
        message: i64,
    ) -> Result<Option<PostedQuestion>, MailError> {
        self.read(|tx| tx.posted_at(to, message))
    }

    /// What one message shows, by the address of its chat: it may be in any topic of that.
    pub fn posted_in_chat(
        &self,
        chat: &Address,
        message: i64,
    ) -> Result<Option<PostedQuestion>, MailError> {
        self.read(|tx| tx.posted_in_chat(chat, message))
    }

    /// The open questions that no message at this address shows, oldest first.
    pub fn unseen_at(&self, to: &Address) -> Result<Vec<ApprovalId>, MailError> {
        self.read(|tx| tx.open_approvals_unseen_at(to))
    }

    /// The messages at this address that show a question which waits for an answer.
    pub fn posted_open_at(&self, to: &Address) -> Result<Vec<PostedQuestion>, MailError> {
        self.read(|tx| tx.posted_open_at(to))
    }

    /// The messages that show this question, wherever they are.
    pub fn posted_of(&self, approval: &ApprovalId) -> Result<Vec<PostedQuestion>, MailError> {
        self.read(|tx| tx.posted_of(approval))
    }

    /// Notes that a question has arrived in a message although its delivery was cut, and ends that
    /// delivery in the same transaction. An older message there still has to say so. A later start
    /// must not look for the message instead: it may have brought that in step with the answer by
    /// then, and would ask once more.
    pub fn arrived(&self, posted: PostedQuestion) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            killpoint::here("delivery.posted.before");
            let note = move |tx: &crate::store::Tx<'_>| {
                for row in tx.queued_outbound(&posted.address)? {
                    if row.sending && asks(&row.outbound.body, &posted.approval) {
                        tx.mark_sent(row.id)?;
                    }
                }
                for old in tx.posted_of(&posted.approval)? {
                    if old.address == posted.address && old.state == PostedState::Open {
                        tx.set_posted(&old.address, old.message, PostedState::Stale)?;
                    }
                }
                tx.add_posted(&posted)
            };
            let noted = self.write_relaxed(note).await;
            killpoint::here("delivery.posted.after");
            noted
        })
    }

    pub fn add_posted(&self, posted: PostedQuestion) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            killpoint::here("delivery.posted.before");
            let noted = self.write_relaxed(move |tx| tx.add_posted(&posted)).await;
            killpoint::here("delivery.posted.after");
            noted
        })
    }

    /// Notes that a question stands in a newer message now. The old one still has to say so.
    pub fn asked_again(
        &self,
        old: PostedQuestion,
        new: PostedQuestion,
    ) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            killpoint::here("delivery.again.before");
            let note = move |tx: &crate::store::Tx<'_>| {
                tx.set_posted(&old.address, old.message, PostedState::Stale)?;
                tx.add_posted(&new)
            };
            let noted = self.write_relaxed(note).await;
            killpoint::here("delivery.again.after");
            noted
        })
    }

    pub fn set_posted<'a>(
        &'a self,
        to: &'a Address,
        message: i64,
        state: PostedState,
    ) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let to = to.clone();
            killpoint::here("delivery.changed.before");
            let noted = self.write_relaxed(move |tx| tx.set_posted(&to, message, state)).await;
            killpoint::here("delivery.changed.after");
            noted
        })
    }

    /// Puts a row back that could not be shown; what is there of it is not shown again.
    pub fn put_back(&self, id: i64) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move { self.write_relaxed(move |tx| tx.mark_queued(id)).await })
    }
}

fn asks(body: &OutboundBody, approval: &ApprovalId) -> bool {
    matches!(body, OutboundBody::Question { question, .. } if question.approval == *approval)
}
