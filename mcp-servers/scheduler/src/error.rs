//! Why a tool could not do what it was asked. Every message is written for the model that reads it:
//! what is wrong, and what would work instead. Must not know the protocol.

/// The result of everything below a tool.
pub type Result<T, E = ToolError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("{0}")]
    Refused(String),
    #[error(
        "there is no job `{id}`. It has ended or was cancelled, or never was: `list` shows all jobs, `history` what became of others."
    )]
    NoJob { id: String },
    #[error(
        "there is no firing `{id}`. `due` lists the firings that wait; those that were taken are forgotten after a while."
    )]
    NoFiring { id: String },
    #[error(
        "job {id} is at revision {is}, not {asked}: it was changed meanwhile. Nothing was changed; look at it with `list` and call again."
    )]
    OldRevision { id: String, is: i64, asked: i64 },
    #[error("the file of the jobs failed: {0}. Nothing was changed; call again later.")]
    Database(#[from] rusqlite::Error),
    #[error("the job cannot be written as JSON: {0}")]
    Row(#[from] serde_json::Error),
}

impl ToolError {
    pub fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }
}
