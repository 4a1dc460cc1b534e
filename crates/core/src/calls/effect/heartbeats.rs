//! What a proposed heartbeat does, in words: the entry as it is and as it will be. Pure. Must not
//! know when a heartbeat fires, or how its file is read.

use serde_json::Value;

use super::notes::lines_of;
use super::{inline, text};
use crate::domain::Effect;
use crate::policy::Facts;

/// The tool of our scheduler that the owner's yes calls.
pub(super) const PUT: &str = "put_heartbeat";

/// `None` for every other call.
pub(super) fn of_put(facts: &Facts<'_>) -> Option<Effect> {
    if facts.tool != PUT {
        return None;
    }
    let name = text(facts, "name").and_then(inline)?;
    let (was, entry) = (text(facts, "was"), text(facts, "entry"));
    let (says, note) = match (was, entry) {
        (None, Some(_)) => (format!("Wake up by itself: a new heartbeat, {name}"), Some(COSTS)),
        (Some(_), Some(_)) => (format!("Change the heartbeat {name}"), Some(ENDS)),
        (Some(_), None) => (format!("Take out the heartbeat {name}"), None),
        (None, None) => return None,
    };
    Some(Effect {
        says,
        difference: lines_of(was.unwrap_or_default(), entry.unwrap_or_default()),
        notes: note.into_iter().map(str::to_owned).collect(),
        told: ["name", "was", "entry"].map(str::to_owned).to_vec(),
        ..Effect::default()
    })
}

const COSTS: &str = "Each time asks a model; what would change something asks you";
const ENDS: &str = "What was allowed to it before ends";

pub(super) fn buttons(arguments: &Value) -> (&'static str, &'static str) {
    match (arguments.get("was"), arguments.get("entry")) {
        (_, None) => ("✅ Take it out", "❌ Keep it"),
        (None, _) => ("✅ Add it", "❌ Leave it"),
        _ => ("✅ Change it", "❌ Keep it"),
    }
}
