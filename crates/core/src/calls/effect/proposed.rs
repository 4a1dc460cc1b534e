//! What our own servers propose, in claw's words, and what stands on the buttons. Pure. Must not
//! know how a proposal is staged.

use super::{heartbeats, notes};
use crate::domain::{Effect, Origin, OwnServerName, ToolCall};
use crate::policy::Facts;

/// The effect of a proposal whose words came from `origin`. `by_claw`: no model has called for it.
/// `None` for one of another server, which has its own words.
pub(in crate::calls) fn of_proposed(
    facts: &Facts<'_>,
    origin: Origin,
    by_claw: bool,
) -> Option<Effect> {
    let mut effect = match (facts.builtin, facts.tool) {
        (Some(OwnServerName::Memory), "promote") => notes::of_proposed(facts, by_claw)?,
        (Some(OwnServerName::Scheduler), _) => heartbeats::of_put(facts)?,
        _ => return None,
    };
    effect.asker = proposed_by(origin, facts.client);
    Some(effect)
}

/// What is written on the buttons of such a proposal.
pub(in crate::calls) fn buttons(call: &ToolCall) -> (&'static str, &'static str) {
    match call.tool.as_str() {
        heartbeats::PUT => heartbeats::buttons(&call.arguments),
        _ => notes::buttons(&call.arguments),
    }
}

fn proposed_by(origin: Origin, client: Option<&str>) -> Option<String> {
    let whose = match origin {
        Origin::McpClient if let Some(client) = client => {
            return Some(format!("Proposed by the MCP client “{client}”"));
        }
        Origin::Owner | Origin::Button => return None,
        Origin::Schedule => "Proposed by a schedule",
        Origin::McpClient => "Proposed by a client of claw",
        Origin::SubAgent => "Proposed by another agent",
        Origin::Forwarded => {
            "Proposed from words that are not yours: forwarded, or of somebody else"
        }
    };
    Some(whose.to_owned())
}
