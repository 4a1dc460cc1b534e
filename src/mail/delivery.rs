//! The way out for a door that has one instance a home and sends in parts. Must not know what a part is.

use super::Mail;
use crate::domain::{Address, ApprovalId, Outbound};
use crate::store::StoreError;

pub use crate::store::PostedRow;

impl Mail {
    /// The addresses at a door for which something waits. What it is comes by [`Mail::waiting`], so that a look does not read
    /// what is being sent already.
    pub fn waiting_at(&self, door: &str) -> Result<Vec<Address>, StoreError> {
        self.store.read(|tx| tx.addresses_with_outbound(door))
    }

    /// Notes that the part after the first `parts_sent` is being sent. If the process ends now, that part may or may not
    /// have gone out, and it is sent again: this is the one window in which a message can come twice.
    pub async fn sending(&self, id: i64, parts_sent: u32) -> Result<(), StoreError> {
        self.store.write_relaxed(move |tx| tx.mark_sending(id, parts_sent)).await
    }

    /// Notes that a question went out, and in which message.
    pub async fn asked(&self, id: i64, posted: PostedRow) -> Result<(), StoreError> {
        self.store
            .write_relaxed(move |tx| {
                tx.add_posted(&posted)?;
                tx.mark_sent(id)
            })
            .await
    }

    /// Those whose question is no longer open: they have to change now, or when the call has ended.
    pub fn posted_and_closed(&self) -> Result<Vec<PostedRow>, StoreError> {
        self.store.read(|tx| tx.posted_and_closed())
    }

    /// The messages that show questions and may still have to change.
    pub fn posted(&self) -> Result<Vec<PostedRow>, StoreError> {
        self.store.read(|tx| tx.posted())
    }

    /// What one message shows, if it shows a question.
    pub fn posted_at(&self, to: &Address, message: i64) -> Result<Option<PostedRow>, StoreError> {
        self.store.read(|tx| tx.posted_at(to, message))
    }

    /// The open questions that no message at this address shows, oldest first.
    pub fn unseen_at(&self, to: &Address) -> Result<Vec<ApprovalId>, StoreError> {
        self.store.read(|tx| tx.open_approvals_unseen_at(to))
    }

    pub async fn add_posted(&self, posted: PostedRow) -> Result<(), StoreError> {
        self.store.write_relaxed(move |tx| tx.add_posted(&posted)).await
    }

    pub async fn set_posted(&self, to: &Address, message: i64, state: &'static str) -> Result<(), StoreError> {
        let to = to.clone();
        self.store.write_relaxed(move |tx| tx.set_posted(&to, message, state)).await
    }

    /// Puts a row back that could not be shown; what is there of it is not shown again.
    pub async fn put_back(&self, id: i64) -> Result<(), StoreError> {
        self.store.write_relaxed(move |tx| tx.mark_queued(id)).await
    }

    /// Puts words of claw itself into the outbox.
    pub async fn post(&self, outbound: Outbound) -> Result<i64, StoreError> {
        self.store.write(move |tx| tx.add_outbound(&outbound)).await
    }
}
