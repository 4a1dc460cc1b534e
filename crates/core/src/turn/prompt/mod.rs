//! Packs a request to a model out of a log and what stands beside it, and accounts for it. Pure:
//! the same log and the same parts give the same bytes. What never changes comes first, so that a
//! provider's cache holds. Must not know a provider, or when a window is made smaller.

mod account;
mod given;
mod shares;
mod system;

use std::sync::{Arc, OnceLock};

use jiff::tz::TimeZone;

use super::log::Log;
use super::persona::Persona;
use super::{transcript, window};
use crate::domain::{EventBody, PromptAccount, PromptPart, PromptTools, ToolSpec};
use crate::model::Request;

pub(super) use account::digest;
pub use given::{LastRequest, NotGiven};
pub use shares::{Shares, beside, shares};

/// What stands beside the conversation.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    pub persona: &'a Persona,
    /// What servers say about themselves, quoted.
    pub instructions: &'a str,
    pub tools: Arc<[ToolSpec]>,
    /// What the account says of this list of tools. It stands beside the list, because to digest 60
    /// definitions takes longer than to pack a window.
    pub tools_account: &'a OnceLock<PromptPart>,
    /// All tools that there are, where `tools` are not all of them.
    pub tools_known: PromptTools,
    /// With a zone, what a person says carries its time.
    pub zone: Option<&'a TimeZone>,
}

/// A request, and what is in it beside the conversation.
#[derive(Clone, Debug)]
pub struct Packed {
    pub request: Request,
    pub account: PromptAccount,
}

/// Packs the window of a log. `redact` takes known secrets out: a persona is written by hand and by
/// tools, instructions by strangers.
pub fn pack(log: &Log, parts: Parts<'_>, redact: impl Fn(&str) -> String) -> Packed {
    let account = account::of(&parts);
    let request = Request {
        system: redact(&system(parts.persona, parts.instructions)),
        messages: transcript::to_ask(log, parts.zone),
        tools: parts.tools,
        model: None,
    };
    Packed { request, account }
}

/// The event that says what went in. What stands beside the conversation is written down when it is
/// not what the window says already, so that a log grows by a line a request and not by a page.
pub fn packed_event(log: &Log, account: Option<PromptAccount>) -> EventBody {
    let from_seq = log.events().first().map_or(1, |event| event.seq);
    EventBody::PromptPacked {
        from_seq,
        dropped_events: from_seq.saturating_sub(1),
        estimated_tokens: window::estimated(log).tokens,
        account: account.filter(|account| beside(log) != Some(account)).map(Box::new),
    }
}

/// The system prompt, stable between requests while nobody changes the persona or a server.
pub fn system(persona: &Persona, instructions: &str) -> String {
    format!("{}{}", system::persona(persona), system::rules(persona, instructions))
}

#[cfg(test)]
mod day_tests;
#[cfg(test)]
mod tests;
