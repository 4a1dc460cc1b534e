//! The handle of a question to the agent, as a client holds it. It proves nothing: whose it is, the
//! room of clients says. Must not know what is behind it.

use std::fmt;
use std::str::FromStr;

const PREFIX: &str = "ask-";

/// The number of a message in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(i64);

/// It is none, or another client's: the same words for both.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no such handle; `ask` gives one, and it counts for the client alone that has asked"
)]
pub struct NoSuchHandle;

impl Handle {
    pub fn of(inbox_id: i64) -> Self {
        Self(inbox_id)
    }

    pub fn inbox_id(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl FromStr for Handle {
    type Err = NoSuchHandle;

    fn from_str(text: &str) -> Result<Self, NoSuchHandle> {
        let number = text.trim().strip_prefix(PREFIX).and_then(|number| number.parse().ok());
        number.filter(|number| *number > 0).map(Self).ok_or(NoSuchHandle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_leads_back_to_its_message_and_nothing_else_is_one() {
        assert_eq!(Handle::of(12).to_string().parse(), Ok(Handle::of(12)));
        for odd in ["", "12", "ask-", "ask-0", "ask--1", "ask-x", "ask-99999999999999999999"] {
            assert_eq!(odd.parse::<Handle>(), Err(NoSuchHandle), "{odd}");
        }
    }
}
