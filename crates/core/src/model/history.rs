//! Makes any transcript one that every provider accepts: roles alternate, every tool use has
//! exactly one result right after it and in its order, ids are unique and of the form the wire
//! demands. Pure. Must not know a provider's JSON.

use std::collections::HashSet;

use crate::domain::{Block, Message, Role, ToolUse};

/// Which ids a wire accepts from us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdRule {
    /// Any id; the wire pairs by order.
    Any,
    /// Unique within the request, 1 to 128 ASCII letters, digits, `_`, `-`.
    Plain,
    /// Unique within the request, at most this many bytes.
    Short(usize),
    /// Unique within the request, exactly nine ASCII letters or digits.
    Nine,
}

impl IdRule {
    fn accepts(self, id: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        match self {
            Self::Any => true,
            Self::Plain => (1..=128).contains(&id.len()) && id.chars().all(plain),
            Self::Short(max) => (1..=max).contains(&id.len()),
            Self::Nine => id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
        }
    }

    fn make(self, number: usize) -> String {
        match self {
            Self::Nine => format!("c{number:08}"),
            _ => format!("call_{number}"),
        }
    }
}

/// The result that is sent for a tool use that has none. The turn writes one for every use; this
/// only keeps a session usable if one was lost.
const NO_RESULT: &str =
    "No result was recorded for this call. It may or may not have run; check before trying again.";

/// Before a transcript that begins with the model's own words.
const BEGUN: &str = "[The beginning of this conversation is not shown.]";
/// Behind one that ends with them.
const GO_ON: &str = "[Go on from there.]";

/// A transcript that is well formed for every provider. User messages start with their tool
/// results.
pub(super) fn well_formed(
    messages: impl IntoIterator<Item = Message>,
    rule: IdRule,
) -> Vec<Message> {
    let mut given = 0;
    let messages = merged(messages.into_iter().inspect(|_| given += 1));
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        let uses = out.last().map(tool_uses).unwrap_or_default();
        let is_answer = message.role == Role::User;
        if !uses.is_empty() && !is_answer {
            out.push(Message { role: Role::User, blocks: in_order(&uses, Vec::new()) });
        }
        out.push(if is_answer {
            Message { role: Role::User, blocks: in_order(&uses, message.blocks) }
        } else {
            message
        });
    }
    if let Some(uses) = out.last().map(tool_uses).filter(|uses| !uses.is_empty()) {
        out.push(Message { role: Role::User, blocks: in_order(&uses, Vec::new()) });
    }
    let whole = out.len();
    out.retain(|message| !message.blocks.is_empty());
    // Only what is taken out makes neighbours of the same role.
    if out.len() < whole {
        out = merged(out);
    }
    // Some providers want the first word and the last one to be the user's.
    let is_models =
        |message: Option<&Message>| message.is_some_and(|it| it.role == Role::Assistant);
    if is_models(out.first()) {
        out.insert(0, Message::user_text(BEGUN));
    }
    let says_nothing = given > 0 && out.is_empty();
    if says_nothing || is_models(out.last()) {
        out.push(Message::user_text(GO_ON));
    }
    renumber(&mut out, rule);
    out
}

/// Drops what is empty and joins neighbours of the same role.
fn merged(messages: impl IntoIterator<Item = Message>) -> Vec<Message> {
    let messages = messages.into_iter();
    let mut out: Vec<Message> = Vec::with_capacity(messages.size_hint().0);
    for Message { role, mut blocks } in messages {
        blocks.retain(|block| !is_blank(block));
        if blocks.is_empty() {
            continue;
        }
        match out.last_mut() {
            // Two replies in a row would put one's tool uses before the other's text; results could
            // not follow both.
            Some(last) if last.role == role && tool_uses(last).is_empty() => {
                last.blocks.extend(blocks)
            }
            _ => out.push(Message { role, blocks }),
        }
    }
    out
}

/// Providers refuse text blocks without a visible character.
fn is_blank(block: &Block) -> bool {
    matches!(block, Block::Text { text } if text.trim().is_empty())
}

fn tool_uses(message: &Message) -> Vec<ToolUse> {
    let mut uses = Vec::new();
    if message.role == Role::Assistant {
        for block in &message.blocks {
            if let Block::ToolUse(one) = block {
                uses.push(ToolUse::clone(one));
            }
        }
    }
    uses
}

/// One result for every use, in the order of the uses, then everything else. Results that answer
/// nothing are dropped.
fn in_order(uses: &[ToolUse], blocks: Vec<Block>) -> Vec<Block> {
    let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
    if uses.is_empty() && !blocks.iter().any(is_result) {
        return blocks;
    }
    let (mut results, rest): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(is_result);
    let mut out = Vec::with_capacity(uses.len() + rest.len());
    for one in uses {
        let found = results.iter().position(
            |block| matches!(block, Block::ToolResult { use_id, .. } if *use_id == one.id),
        );
        out.push(match found {
            Some(index) => results.remove(index),
            None => {
                tracing::warn!(tool = %one.name, "a tool use without a result was repaired");
                Block::ToolResult {
                    use_id: one.id.clone(),
                    name: one.name.clone(),
                    content: NO_RESULT.to_owned(),
                    is_error: true,
                }
            }
        });
    }
    if !results.is_empty() {
        tracing::warn!(count = results.len(), "tool results without their tool use were left out");
    }
    out.extend(rest);
    out
}

/// Gives every use whose id the wire would refuse another one, and its result the same. Relies on
/// the order made above.
fn renumber(messages: &mut [Message], rule: IdRule) {
    let mut used: HashSet<String> = HashSet::new();
    let mut number = 0;
    let mut pending: Vec<String> = Vec::new();
    for message in messages {
        let mut answers = std::mem::take(&mut pending).into_iter();
        for block in &mut message.blocks {
            match block {
                Block::ToolUse(one) => {
                    if rule != IdRule::Any {
                        let mut fits = rule.accepts(&one.id);
                        while !fits || used.contains(&one.id) {
                            one.id = rule.make(number);
                            number += 1;
                            // What is made here is taken as it is, so that this ends for every
                            // rule.
                            fits = true;
                        }
                        used.insert(one.id.clone());
                    }
                    pending.push(one.id.clone());
                }
                Block::ToolResult { use_id, .. } => {
                    if let Some(id) = answers.next() {
                        *use_id = id;
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
