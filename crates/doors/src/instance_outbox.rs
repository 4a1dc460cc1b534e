//! What waits at the address of one process: the console, `claw ask`, `claw approve`. Owns what is
//! taken over from processes that are gone, that a row is given out once, and when it is marked as
//! shown. Must not know how a row is shown.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{Address, SessionId};
use crate::mail::{Instance, Mail, MailError, OutboxMessage};

/// The outbox of one session for one instance of a door. It goes with its process; what it has not
/// shown by then is taken over by the next one.
pub struct InstanceOutbox {
    /// A handle of the store.
    pub mail: Mail,
    /// The one that this process shows.
    pub session: SessionId,
    /// Holds the lock that says that this process lives.
    me: Arc<Instance>,
    /// The rows that were given to what shows them, which may not have done it yet.
    given: Mutex<BTreeSet<i64>>,
}

impl InstanceOutbox {
    pub fn new(mail: &Mail, me: Arc<Instance>, session: &SessionId) -> Self {
        Self { mail: mail.clone(), session: session.clone(), me, given: Mutex::default() }
    }

    /// Where it waits.
    pub fn address(&self) -> &Address {
        self.me.address()
    }

    /// Takes over what instances of the same door that are gone have not shown in this session.
    pub async fn adopt(&self) -> Result<(), MailError> {
        self.mail.adopt(&self.me, &self.session).await.map(drop)
    }

    /// What waits and was not given out, oldest first.
    pub fn waiting(&self) -> Result<Vec<OutboxMessage>, MailError> {
        let mut rows = self.mail.waiting(self.me.address())?;
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        rows.retain(|row| !given.contains(&row.id));
        Ok(rows)
    }

    /// A row is on its way to the person, and [`Self::waiting`] has it no more.
    pub fn gave(&self, row: i64) {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).insert(row);
    }

    /// A row was shown: no process shows it again. Before the last of its bytes has left this must
    /// not be said.
    pub async fn shown(&self, row: i64) -> Result<(), MailError> {
        self.mail.shown(row).await
    }
}
