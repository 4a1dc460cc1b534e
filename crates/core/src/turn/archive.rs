//! The part of a conversation that a compaction takes out of the window, as a text that can be read
//! and searched. Pure. Must not know where it is kept.

use super::kinds::{ModelView, meaning};
use super::log::Log;
use super::{actions, cut};
use crate::domain::{Block, Event, Outcome, text_of};

/// How the first line of the text goes on where there is an earlier part. The filesystem server
/// looks for it, to search a whole conversation at once.
pub const EARLIER: &str = "The part before it is artifact ";

/// The events up to `through_seq` in words, one paragraph each.
pub fn text(log: &Log, through_seq: u64) -> String {
    let events = || log.events().iter().filter(|event| event.seq <= through_seq);
    let first = events().next().map_or(through_seq, |event| event.seq);
    let mut text =
        format!("A part of the conversation {}, events {first} to {through_seq}.", log.session());
    let before = log.standing().and_then(|standing| standing.kept.archive.as_deref());
    if let Some(before) = before {
        text.push_str(&format!(" {EARLIER}{before}."));
    }
    text.push('\n');
    events().filter_map(in_words).for_each(|words| text.push_str(&format!("\n{words}\n")));
    text
}

fn in_words(event: &Event) -> Option<String> {
    let seq = event.seq;
    let said = match meaning(event).seen {
        ModelView::Person(blocks) => format!("a person: {}", text_of(blocks)),
        ModelView::Model(blocks) => {
            let words = text_of(blocks);
            let calls = blocks.iter().filter_map(|block| match block {
                Block::ToolUse(tool_use) => Some(format!("{} {}", tool_use.name, tool_use.input)),
                _ => None,
            });
            let calls: Vec<String> = calls.map(|call| format!("\ncalls {call}")).collect();
            format!("the model: {words}{}", calls.concat())
        }
        ModelView::Named(text, _) => text.to_owned(),
        ModelView::Partial(text) => format!("the model, stopped: {text}"),
        ModelView::Result(call, outcome) => {
            let of =
                cut::key(call).map_or(String::new(), |(seq, block)| format!(" of {seq}.{block}"));
            let text = match outcome {
                Outcome::Ended { output } => output.text.clone(),
                Outcome::Denied { reason, .. } => format!("not run: {reason}"),
                Outcome::Unknown { reason } => format!("may or may not have run: {reason}"),
                Outcome::Parked { .. } | Outcome::Left => return None,
            };
            format!("the result{of}: {text}")
        }
        ModelView::Action => actions::told(&event.body)?,
        ModelView::Context(_)
        | ModelView::Recalled(_)
        | ModelView::Project(_)
        | ModelView::Nothing => return None,
    };
    Some(format!("[{seq}] {said}"))
}
