//! Which sessions of a door have something to do. Must not know what is done in a turn.

use std::path::PathBuf;

use super::Mail;
use super::rows::MailError;
use crate::domain::{SessionId, UnixMillis};

impl Mail {
    /// The folder that a session works in, if it is another one than the configured one.
    pub fn session_folder(&self, session: &SessionId) -> Result<Option<PathBuf>, MailError> {
        Ok(self.read(|tx| tx.session_workspace(session))?.map(PathBuf::from))
    }

    /// The sessions whose turn an earlier process has left in the middle.
    pub fn sessions_with_open_turn(&self) -> Result<Vec<SessionId>, MailError> {
        self.read(|tx| tx.sessions_with_open_turn())
    }

    /// The sessions of this prefix in which something waits to be taken in, and those of other
    /// doors in which it has waited since `older_ms`.
    pub fn sessions_with_work(
        &self,
        prefix: &str,
        older_ms: UnixMillis,
    ) -> Result<Vec<SessionId>, MailError> {
        self.read(|tx| tx.sessions_with_work(prefix, older_ms))
    }

    /// Whether nothing but messages waits to be taken in.
    pub fn only_messages_queued(&self, session: &SessionId) -> Result<bool, MailError> {
        self.read(|tx| tx.only_messages_queued(session))
    }

    /// How many messages wait to be taken in.
    pub fn queued_messages(&self, session: &SessionId) -> Result<u32, MailError> {
        self.read(|tx| tx.queued_messages(session))
    }

    /// Whether a turn of the session has begun and has no end yet.
    pub fn turn_open(&self, session: &SessionId) -> Result<bool, MailError> {
        self.read(|tx| tx.turn_open(session))
    }

    /// The principal whose message has begun the open turn; `None` if no turn is open.
    pub fn turn_begun_by(&self, session: &SessionId) -> Result<Option<String>, MailError> {
        self.read(|tx| tx.turn_begun_by(session))
    }
}
