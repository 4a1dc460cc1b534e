//! Whether one message may still be sent, and whether it was. Owns the certainty of "not
//! forwarded". Must not know what a message says.

use std::sync::atomic::{AtomicU8, Ordering};

use super::SendError;

/// Held by the caller and by the transport that sends its message. It is settled once: by the
/// transport before the first byte can leave, or by the caller who gives up before that.
#[derive(Debug, Default)]
pub(crate) struct Ticket(AtomicU8);

impl Ticket {
    const OPEN: u8 = 0;
    const SENT: u8 = 1;
    const REVOKED: u8 = 2;

    /// Marks the message as sent, then hands it over with `put`. If `put` refuses it, the ticket is
    /// revoked. A message without a ticket is only handed over.
    ///
    /// # Errors
    /// [`SendError::GivenUp`] without calling `put` if the caller has revoked the ticket;
    /// else those of `put`.
    pub(crate) fn settle(
        ticket: Option<&Self>,
        put: impl FnOnce() -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let Some(Self(state)) = ticket else { return put() };
        let marked =
            state.compare_exchange(Self::OPEN, Self::SENT, Ordering::SeqCst, Ordering::SeqCst);
        if marked.is_err() {
            return Err(SendError::GivenUp);
        }
        put().inspect_err(|_| state.store(Self::REVOKED, Ordering::SeqCst))
    }

    /// The caller has given up, and nothing was sent.
    pub(crate) fn is_revoked(&self) -> bool {
        self.0.load(Ordering::SeqCst) == Self::REVOKED
    }

    /// True if the message was not sent and never will be.
    pub(crate) fn revoke(&self) -> bool {
        match self.0.compare_exchange(Self::OPEN, Self::REVOKED, Ordering::SeqCst, Ordering::SeqCst)
        {
            Ok(_) => true,
            Err(state) => state == Self::REVOKED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_settled_once_and_a_refused_message_was_not_sent() {
        let sent = Ticket::default();
        Ticket::settle(Some(&sent), || Ok(())).unwrap();
        assert!(!sent.revoke());

        let given_up = Ticket::default();
        assert!(given_up.revoke());
        let put = || panic!("it was given up");
        assert!(matches!(Ticket::settle(Some(&given_up), put), Err(SendError::GivenUp)));

        let refused = Ticket::default();
        Ticket::settle(Some(&refused), || Err(SendError::Closed)).unwrap_err();
        assert!(refused.revoke());
    }
}
