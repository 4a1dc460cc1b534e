//! Which level of the box a call asks for. Pure. Must not know who is asked about it.

use claw_domain::escape::visible;
use claw_domain::{Level, OwnServerName};
use serde::Deserialize as _;
use serde_json::Value;

use crate::Facts;

/// The tools of our bash server that run a command.
const TOOLS: &[&str] = &["run", "start"];

/// Whether the call runs a command of our own bash server.
pub(crate) fn is_command(facts: &Facts<'_>) -> bool {
    facts.builtin == Some(OwnServerName::Bash) && TOOLS.contains(&facts.tool)
}

/// The level of a command of our own bash server. `None` for every other call, and for a level that
/// there is not.
pub fn of(facts: &Facts<'_>) -> Option<Level> {
    if !is_command(facts) {
        return None;
    }
    match facts.arguments.as_object()?.get("needs") {
        // What its schema offers where nothing is said.
        None | Some(Value::Null) => Some(Level::default()),
        Some(needs) => Level::deserialize(needs).ok(),
    }
}

/// The hosts that a command names. `Some(None)`: none, which at level `network` means all of them.
/// `None`: something that is no list of names.
pub fn hosts(facts: &Facts<'_>) -> Option<Option<Vec<String>>> {
    match facts.arguments.as_object()?.get("hosts") {
        None | Some(Value::Null) => Some(None),
        Some(named) => {
            let named = Vec::<String>::deserialize(named).ok()?;
            Some((!named.is_empty()).then_some(named))
        }
    }
}

/// Half a sentence about what a command can do at its level.
pub(crate) fn says(level: Level, facts: &Facts<'_>) -> String {
    match (level, hosts(facts)) {
        (Level::Read, _) => "it looks at the workspace and can change nothing".to_owned(),
        (Level::Write, _) => "it can change files in the workspace; it has no network".to_owned(),
        (Level::Network, Some(Some(hosts))) => {
            let hosts = visible(&hosts.join(", "));
            format!("it can change files in the workspace and reach {hosts}")
        }
        (Level::Network, _) => {
            "it can change files in the workspace and reach all of the network".to_owned()
        }
    }
}
