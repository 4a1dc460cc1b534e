//! Which turn of which session. Owns its text form; must not know what happened in the turn.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SessionId;

/// A turn by its session and the number of its first event in the session's log. A confirmed action
/// has one of its own, the number of its result. As text `main:12`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnId {
    pub session: SessionId,
    pub seq: u64,
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.session, self.seq)
    }
}

/// What was typed is no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no turn; `claw undo --list` lists them, such as `main:12`")]
pub struct InvalidTurnId(pub String);

impl crate::Blamed for InvalidTurnId {
    fn blame(&self) -> crate::Blame {
        crate::Blame::User
    }
}

impl FromStr for TurnId {
    type Err = InvalidTurnId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |text: &str| {
            let (session, seq) = text.rsplit_once(':')?;
            Some(Self { session: SessionId::new(session).ok()?, seq: seq.parse().ok()? })
        };
        read(text).ok_or_else(|| InvalidTurnId(crate::escape::visible(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_read_as_it_is_written() {
        let turn: TurnId = "tg.1-2:12".parse().unwrap();
        assert_eq!((turn.session.as_str(), turn.seq), ("tg.1-2", 12));
        assert_eq!(turn.to_string(), "tg.1-2:12");
        for bad in ["", "main", "main:", ":3", "main:x", "main:-1", "a b:1"] {
            assert!(bad.parse::<TurnId>().is_err(), "{bad}");
        }
    }
}
