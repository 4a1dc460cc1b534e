//! The way out for a door that has one instance a home and sends in parts. Must not know what a part is.

use super::Mail;
use crate::domain::{Address, Outbound};
use crate::killpoint;
use crate::store::{OutboxRow, StoreError};

pub use crate::store::PostedRow;

impl Mail {
    /// All that waits for a door, oldest first.
    pub fn waiting_at(&self, door: &str) -> Result<Vec<OutboxRow>, StoreError> {
        self.store.read(|tx| tx.queued_outbound_at(door))
    }

    /// Notes that the part after the first `parts_sent` is being sent. If the process ends now, that part may or may not
    /// have gone out, and it is sent again: this is the one window in which a message can come twice.
    pub async fn sending(&self, id: i64, parts_sent: u32) -> Result<(), StoreError> {
        killpoint::here("delivery.sending.before");
        let marked = self.store.write_relaxed(move |tx| tx.mark_sending(id, parts_sent)).await;
        killpoint::here("delivery.sending.after");
        marked
    }

    /// Notes that a question went out, and in which message.
    pub async fn asked(&self, id: i64, posted: PostedRow) -> Result<(), StoreError> {
        killpoint::here("delivery.asked.before");
        let note = move |tx: &crate::store::Tx<'_>| {
            tx.add_posted(&posted)?;
            tx.mark_sent(id)
        };
        let noted = self.store.write_relaxed(note).await;
        killpoint::here("delivery.asked.after");
        noted
    }

    /// The messages that show questions and may still have to change.
    pub fn posted(&self) -> Result<Vec<PostedRow>, StoreError> {
        self.store.read(|tx| tx.posted())
    }

    /// What is on record of one message.
    pub fn posted_at(&self, at: &Address, message: i64) -> Result<Option<PostedRow>, StoreError> {
        self.store.read(|tx| tx.posted_at(at, message))
    }

    pub async fn add_posted(&self, posted: PostedRow) -> Result<(), StoreError> {
        killpoint::here("delivery.posted.before");
        let noted = self.store.write_relaxed(move |tx| tx.add_posted(&posted)).await;
        killpoint::here("delivery.posted.after");
        noted
    }

    /// Notes that a question stands in a newer message now. The old one still has to say so.
    pub async fn asked_again(&self, old: PostedRow, message: i64) -> Result<(), StoreError> {
        killpoint::here("delivery.again.before");
        let note = move |tx: &crate::store::Tx<'_>| {
            tx.set_posted(&old.address, old.message, "stale")?;
            tx.add_posted(&PostedRow { message, state: "open".into(), ..old.clone() })
        };
        let noted = self.store.write_relaxed(note).await;
        killpoint::here("delivery.again.after");
        noted
    }

    pub async fn set_posted(&self, to: &Address, message: i64, state: &'static str) -> Result<(), StoreError> {
        let to = to.clone();
        killpoint::here("delivery.changed.before");
        let noted = self.store.write_relaxed(move |tx| tx.set_posted(&to, message, state)).await;
        killpoint::here("delivery.changed.after");
        noted
    }

    /// Puts words of claw itself into the outbox.
    pub async fn post(&self, outbound: Outbound) -> Result<i64, StoreError> {
        killpoint::here("delivery.told.before");
        let told = self.store.write(move |tx| tx.add_outbound(&outbound)).await;
        killpoint::here("delivery.told.after");
        told
    }
}
