//! Identifiers. Owns their syntax and their text form; must not know where they are stored.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::checked_name::checked_name;

/// The longest name a session may have, in bytes.
pub const SESSION_ID_MAX_BYTES: usize = 64;

/// The name of a session: 1 to 64 ASCII letters, digits, `-`, `_`, `.`; never a leading dot.
///
/// It becomes part of a file name (the session's lock), hence the narrow alphabet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// A session name outside of the allowed alphabet or length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a session name: use 1 to 64 letters, digits, `-`, `_` or `.`, not starting with \
     a dot"
)]
pub struct InvalidSessionId(pub String);

impl crate::Blamed for InvalidSessionId {
    fn blame(&self) -> crate::Blame {
        crate::Blame::User
    }
}

impl SessionId {
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidSessionId> {
        let name = name.into();
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let fits = !name.is_empty() && name.len() <= SESSION_ID_MAX_BYTES;
        if fits && !name.starts_with('.') && name.chars().all(allowed) {
            Ok(Self(name))
        } else {
            Err(InvalidSessionId(name))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

checked_name!(SessionId, InvalidSessionId);

/// The random id of one question to a human. It is all that a button or a command line carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(pub String);

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a reply goes: `door/instance`, for example `console/4f2a…` or `telegram/1234567`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(pub String);

impl Address {
    /// The door's name: the part before the first slash.
    pub fn door(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_name_cannot_leave_the_lock_folder() {
        for bad in ["", ".", "..", ".x", "a/b", "a\\b", "a b", "ä", "a\0"] {
            assert!(SessionId::new(bad).is_err(), "{bad:?}");
        }
        assert!(SessionId::new("x".repeat(65)).is_err());
    }
}
