//! A user's mistake in what they wrote: one sentence, and what to do next. Must not know any
//! setting.

use std::path::Path;

/// Something that is written does not mean anything. Ends a command with exit code 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}{} {next}.", if message.ends_with('?') { "" } else { "." })]
pub struct ConfigError {
    /// The file with its line, or the variable.
    pub place: String,
    /// One sentence, without its full stop; a question has its mark.
    pub message: String,
    /// What to do about it, without its full stop.
    pub next: String,
}

impl crate::domain::Blamed for ConfigError {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::User
    }
}

impl ConfigError {
    pub fn new(
        place: impl Into<String>,
        message: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), message: message.into(), next: next.into() }
    }

    pub(super) fn io(path: &Path, what: &str, error: &std::io::Error) -> Self {
        Self::new(
            path.display().to_string(),
            format!("{what}: {error}"),
            "Check the path and its permissions",
        )
    }
}
