//! The way out for a door that has one instance a home and sends in parts. Must not know what a part is.

use super::Mail;
use crate::domain::{Address, Outbound, SessionId};
use crate::store::{OutboxRow, StoreError};

pub use crate::store::{DraftRow, PostedRow, RunningRow};

impl Mail {
    /// All that waits for a door, oldest first.
    pub fn waiting_at(&self, door: &str) -> Result<Vec<OutboxRow>, StoreError> {
        self.store.read(|tx| tx.queued_outbound_at(door))
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

    /// The messages that show questions and may still have to change.
    pub fn posted(&self) -> Result<Vec<PostedRow>, StoreError> {
        self.store.read(|tx| tx.posted())
    }

    pub async fn add_posted(&self, posted: PostedRow) -> Result<(), StoreError> {
        self.store.write_relaxed(move |tx| tx.add_posted(&posted)).await
    }

    pub async fn set_posted(&self, to: &Address, message: i64, state: &'static str) -> Result<(), StoreError> {
        let to = to.clone();
        self.store.write_relaxed(move |tx| tx.set_posted(&to, message, state)).await
    }

    /// Notes that a message shows the beginning of what the model is saying. If the process ends between the message and this
    /// note, the message stays as it is and what it began comes whole in another one.
    pub async fn drafted(&self, draft: DraftRow) -> Result<(), StoreError> {
        self.store.write_relaxed(move |tx| tx.add_draft(&draft)).await
    }

    /// The messages that show a step so far, in order.
    pub fn drafts(&self, to: &Address, session: &SessionId, turn_seq: u64, step: u32) -> Result<Vec<i64>, StoreError> {
        self.store.read(|tx| tx.drafts(to, session, turn_seq, step))
    }

    /// Marks a row after it was shown, like [`Mail::shown`]; what was a draft of it is final. Without a step, so is all that
    /// its turn has said.
    pub async fn said(&self, row: &OutboxRow, turn_seq: u64, step: Option<u32>) -> Result<(), StoreError> {
        let (id, to, session) = (row.id, row.outbound.to.clone(), row.outbound.session.clone());
        self.store
            .write_relaxed(move |tx| {
                tx.end_drafts(&to, &session, turn_seq, step)?;
                tx.mark_sent(id)
            })
            .await
    }

    /// Notes that a message shows a call that runs.
    pub async fn call_shown(&self, running: RunningRow) -> Result<(), StoreError> {
        self.store.write_relaxed(move |tx| tx.add_running(&running)).await
    }

    /// The messages that show a call that runs, or that ran when its process was ended.
    pub fn calls_shown(&self) -> Result<Vec<RunningRow>, StoreError> {
        self.store.read(|tx| tx.running())
    }

    /// The session whose call this message shows.
    pub fn call_shown_at(&self, to: &Address, message: i64) -> Result<Option<SessionId>, StoreError> {
        self.store.read(|tx| tx.running_at(to, message))
    }

    /// Notes that a message shows how its call has ended.
    pub async fn call_ended(&self, to: &Address, message: i64) -> Result<(), StoreError> {
        let to = to.clone();
        self.store.write_relaxed(move |tx| tx.end_running(&to, message)).await
    }

    /// Puts words of claw itself into the outbox.
    pub async fn post(&self, outbound: Outbound) -> Result<i64, StoreError> {
        self.store.write(move |tx| tx.add_outbound(&outbound)).await
    }
}
