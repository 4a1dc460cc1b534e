//! Why an answer did not count, as a door hears it. Must not know doors, or what a door says of it.

use crate::calls;
use crate::domain::{Blame, Blamed};
use crate::mail::MailError;

/// Why an answer did not count. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is no such question, it is closed already, or somebody else has to answer it.
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    NotOffered(String),
    /// Nobody has judged the answer.
    #[error(transparent)]
    Failed(#[from] MailError),
}

impl From<calls::DecideError> for DecideError {
    fn from(error: calls::DecideError) -> Self {
        match error {
            calls::DecideError::Refused(why) => Self::Refused(why.to_string()),
            calls::DecideError::NotOffered(why) => Self::NotOffered(why),
            calls::DecideError::Store(error) => Self::Failed(error.into()),
        }
    }
}

impl Blamed for DecideError {
    fn blame(&self) -> Blame {
        match self {
            Self::Refused(_) | Self::NotOffered(_) => Blame::User,
            Self::Failed(error) => error.blame(),
        }
    }
}
