//! Who may write to the memory. A proposal becomes a note by its owner's tap alone, and whoever is
//! not the owner can propose and never write. Must not know rules, grants or what a note says.

use claw_domain::{Origin, OwnServerName};

use crate::deny::Denial;
use crate::{Facts, is_own_reader};

/// The tool that makes a note of a proposal. Only the tap that was offered with it calls it: a
/// model that could would make notes of what nobody has confirmed, wherever a grant covers it.
const PROMOTE: &str = "promote";

/// Why no rule, no grant and no answer lets this call write. `None` for all that may, and for all
/// that is no call of our memory server's.
pub(super) fn judge(facts: &Facts<'_>) -> Option<Denial> {
    if facts.builtin != Some(OwnServerName::Memory) || is_own_reader(facts.builtin, facts.tool) {
        return None;
    }
    match facts.origin {
        Origin::Button => None,
        Origin::Owner if facts.tool != PROMOTE => None,
        _ if facts.tool == PROMOTE => Some(Denial::new(
            "memory-tap",
            "a proposal becomes a note by its owner's tap alone",
            "leave it: claw asks its owner about each proposal by itself",
        )),
        _ => Some(Denial::new(
            "memory-others",
            "only its owner's own words and taps change the memory, and this request is of others",
            "propose it by the tool `propose`, and its owner is asked",
        )),
    }
}
