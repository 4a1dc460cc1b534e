//! What can go wrong in the store, in words that name the file and the next step.

/// An error of the store. Rows are never half written: a failed job leaves no trace.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "the store was written by a newer claw (schema {found}, this one knows {known}): update claw, or point CLAW_HOME at another home"
    )]
    Newer { found: u32, known: u32 },
    #[error(
        "the store is of an older claw (schema {from}, this one needs {to}) and is copied before it is changed, but {copy} could not be written: {what}; nothing was changed, make room or check the folder and try again"
    )]
    Copy { copy: String, from: u32, to: u32, what: String },
    #[error("cannot open the store {path}: {source}; check that the file and its folder are yours and writable")]
    Open { path: String, source: rusqlite::Error },
    #[error("cannot create the store {path}: {source}; check that its folder is yours and writable")]
    Create { path: String, source: std::io::Error },
    #[error("the store failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the store could not commit: {0}; is the disk full?")]
    Commit(String),
    #[error("a stored row cannot be read: {0}")]
    Decode(String),
    #[error("the store has been closed")]
    Closed,
    #[error(
        "{0} messages are already waiting in this conversation (limits.queued_messages_max): wait for an answer, or stop the turn with /stop"
    )]
    QueueFull(u32),
    #[error(
        "the operating system gives no random numbers ({0}), so that no question can be asked safely; nothing was run, try again"
    )]
    NoRandomness(String),
}

impl crate::domain::Blamed for StoreError {
    fn blame(&self) -> crate::domain::Blame {
        match self {
            Self::QueueFull(_) => crate::domain::Blame::User,
            Self::Newer { .. }
            | Self::Copy { .. }
            | Self::Open { .. }
            | Self::Create { .. }
            | Self::Sqlite(_)
            | Self::Commit(_)
            | Self::Decode(_)
            | Self::NoRandomness(_)
            | Self::Closed => crate::domain::Blame::Broken,
        }
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Decode(error.to_string())
    }
}
