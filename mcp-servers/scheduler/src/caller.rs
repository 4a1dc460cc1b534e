//! Whose job it is, as the host says it in `_meta` beside the arguments that a model writes. Owns
//! how that is read, and that a model's own word about it does not count where the host has spoken.

use claw_server_kit::source::source_of;
use rmcp::model::JsonObject;
use serde::Deserialize;

use crate::job::What;

/// The key in `_meta`.
const SOURCE: &str = "claw/source";

/// Where a call came from. All names are the host's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Caller {
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub chat: Option<String>,
    #[serde(default)]
    pub topic: Option<String>,
    #[serde(default)]
    pub agent: Option<String>,
    /// Others than the owner read what comes of it.
    #[serde(default)]
    pub heard_by_others: bool,
}

impl Caller {
    /// `None` where the host does not say who asks.
    ///
    /// # Errors
    /// What is not understood is refused: a job would be for somebody else.
    pub fn of(meta: &JsonObject) -> Result<Option<Self>, String> {
        source_of(meta, SOURCE)
    }

    /// A new job is for whoever asks, whatever its arguments say.
    pub fn own(&self, what: &mut What) {
        what.session.clone_from(&self.session);
        what.chat.clone_from(&self.chat);
        what.topic.clone_from(&self.topic);
        what.agent.clone_from(&self.agent);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_host_says_whose_job_it_is_and_nobody_else_where_it_does() {
        let meta = json!({"claw/source": {"origin": "owner", "session": "s", "turn": 4}});
        let caller = Caller::of(meta.as_object().unwrap()).unwrap().unwrap();
        let mut what = What {
            session: Some("other".into()),
            chat: Some("c".into()),
            agent: Some("a".into()),
            ..What::default()
        };
        caller.own(&mut what);
        assert_eq!(what, What { session: Some("s".into()), ..What::default() });
        assert_eq!(Caller::of(&JsonObject::new()).unwrap(), None);
        let odd = json!({"claw/source": 7});
        assert!(Caller::of(odd.as_object().unwrap()).unwrap_err().contains("claw/source"));
    }
}
