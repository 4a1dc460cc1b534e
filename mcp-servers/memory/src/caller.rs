//! Who asks, as the host says it in `_meta` beside the arguments that a model writes. Owns how that
//! is read, and that a model's own word about its source does not count where the host has spoken.

use claw_server_kit::source::source_of;
use rmcp::model::JsonObject;
use serde::Deserialize;

use crate::note::{Source, one_line};

/// The key in `_meta`.
const SOURCE: &str = "claw/source";

/// From whose words a call came, and where.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Caller {
    /// `owner`, `forwarded`, `schedule` and the like.
    pub origin: String,
    #[serde(default)]
    pub session: Option<String>,
    /// The number of the turn in that session.
    #[serde(default)]
    pub turn: Option<i64>,
    /// Whether somebody else than the owner reads what comes of it: a group, an allowed user.
    #[serde(default)]
    pub heard_by_others: bool,
}

impl Caller {
    /// `None` where the host does not say who asks.
    ///
    /// # Errors
    /// What is not understood is refused: a note would name a wrong source.
    pub fn of(meta: &JsonObject) -> Result<Option<Self>, String> {
        source_of(meta, SOURCE)
    }

    /// Whether the words that led to this are not the owner's own.
    pub fn is_somebody_else(&self) -> bool {
        self.origin != "owner"
    }

    /// What is kept with a note. Only the file is the model's to name.
    pub fn source(&self, said: Source) -> Source {
        Source {
            who: Some(one_line(&self.origin)).filter(|who| !who.is_empty()),
            session: self.session.as_deref().map(one_line),
            turn: self.turn,
            file: said.file,
            agent: said.agent,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_host_says_overrides_what_the_model_says() {
        let meta = json!({"claw/source": {"origin": "forwarded", "session": "s", "turn": 4}});
        let caller = Caller::of(meta.as_object().unwrap()).unwrap().unwrap();
        let said = Source {
            who: Some("owner".into()),
            session: Some("main".into()),
            turn: Some(1),
            file: Some("notes.txt".into()),
            agent: None,
        };
        let kept = caller.source(said);
        assert_eq!((kept.who.as_deref(), kept.session.as_deref()), (Some("forwarded"), Some("s")));
        assert_eq!((kept.turn, kept.file.as_deref()), (Some(4), Some("notes.txt")));
    }

    #[test]
    fn a_host_that_says_nothing_is_fine_and_one_that_is_not_understood_is_refused() {
        assert_eq!(Caller::of(&JsonObject::new()), Ok(None));
        let meta = json!({"claw/source": "owner"});
        assert!(Caller::of(meta.as_object().unwrap()).unwrap_err().contains("claw/source"));
    }
}
