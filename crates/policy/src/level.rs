//! Which level of the box a call asks for. Pure. Must not know who is asked about it.

use claw_domain::Level;
use serde::Deserialize as _;

use crate::Facts;

/// The tools of our bash server that run a command.
const TOOLS: &[&str] = &["run", "start"];

/// The level of a command of our own bash server. `None` for every other call, and for a level that
/// there is not.
pub fn of(facts: &Facts<'_>) -> Option<Level> {
    if facts.builtin != Some("bash") || !TOOLS.contains(&facts.tool) {
        return None;
    }
    match facts.arguments.as_object()?.get("needs") {
        None => Some(Level::default()),
        Some(needs) => Level::deserialize(needs).ok(),
    }
}

/// Half a sentence about what a command can do at its level.
pub(crate) fn says(level: Level) -> &'static str {
    match level {
        Level::Read => "it looks at the workspace and can change nothing",
        Level::Write => "it can change files in the workspace; it has no network",
        Level::Network => "it can change files in the workspace and reach the network",
    }
}
