//! Who hears of an answer: the owner of the call, of which the log of a session is one kind. Must
//! not know what an answer changes.

use super::Calls;
use crate::domain::{
    Address, Answer, ApprovalState, CallId, CallOwner, Inbound, InboundBody, Origin,
};
use crate::store::{ApprovalRow, StoreError, Tx, now_ms, time_until};

/// Tells the owner of a call what became of the question about it, in the transaction that decides
/// it.
pub(super) fn wake(
    tx: &Tx<'_>,
    approval: &ApprovalRow,
    answer: Option<&Answer>,
    by: &str,
) -> Result<(), StoreError> {
    match approval.call.owner() {
        CallOwner::Session(session) => {
            let wake = Inbound {
                session: session.clone(),
                from: Address("gate/answer".to_owned()),
                principal: by.to_owned(),
                origin: Origin::Owner,
                body: InboundBody::Answered {
                    approval: approval.id.clone(),
                    answer: answer.cloned(),
                    by: by.to_owned(),
                },
            };
            tx.add_inbound(&wake, u32::MAX)?;
            Ok(())
        }
        // Whoever waits for a client looks at the question's row itself (`until_decided`).
        CallOwner::Client(_) | CallOwner::Claw => Ok(()),
    }
}

impl Calls {
    /// Waits until the newest question about a call is no longer open, whichever process answers
    /// it; one whose time is over is closed. For the owner of a call that stands in no log.
    pub async fn until_decided(&self, call: &CallId) -> Result<(), StoreError> {
        let (mut seen, mut ends_ms) = (None, now_ms());
        let mut changes = self.store.changes();
        loop {
            // The version first: what is committed after it is seen by the next look.
            let version = self.store.data_version()?;
            if seen.replace(version) != Some(version) || ends_ms <= now_ms() {
                self.expire(call).await?;
                let newest = self.store.read(|tx| tx.approval_of(call))?;
                match newest.filter(|row| row.state == ApprovalState::Waiting) {
                    Some(open) => ends_ms = open.expires_ms,
                    None => return Ok(()),
                }
            }
            changes.wait_at_most(time_until(ends_ms)).await;
        }
    }
}
