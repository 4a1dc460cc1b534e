//! What of a conversation survives a summary word for word: what the owner has said as a rule,
//! and the identifiers in it. Found by their form, never by a model. Pure and bounded. Must not
//! know how they are shown.

mod identifiers;

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use self::identifiers::Identifiers;
use super::kinds::{ModelView, meaning};
use super::log::Log;
use crate::domain::{Block, Event, EventBody, KeptWords, Origin, Outcome};

/// A longer sentence is no rule that somebody gave in passing.
const RULE_BYTES_MAX: usize = 500;
/// So much of a result is searched for identifiers: the rest is in the archive.
const RESULT_BYTES_MAX: usize = 4_096;

/// How a rule is said. `None` cannot be: a test compiles it.
static RULE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = [
        r"\b(?:always|never|from now on|in (?:the )?future|no matter|at no time|under no)\b",
        r"\byou (?:must|shall|should|may (?:not|only)|are not to)\b",
        r"\brules?\b ?\d*:",
        r"^(?:please )?(?:do not|don['’]t|remember|make sure|only ever|note that)\b",
        r"\b(?:immer|niemals|nie|ab (?:jetzt|sofort)|künftig|auf keinen fall|du darfst|du sollst)\b",
        r"\b(?:toujours|jamais|siempre|nunca|sempre|mai più)\b",
    ];
    Regex::new(&format!("(?i){}", words.join("|"))).ok()
});

/// What is kept of everything up to `through_seq`, with what was kept before: rules and identifiers
/// of `part_bytes` each.
pub(super) fn of(log: &Log, through_seq: u64, part_bytes: usize) -> KeptWords {
    let before = log.standing().map(|standing| standing.kept);
    let events = || log.events().iter().filter(|event| event.seq <= through_seq);
    let mut rules: Vec<String> = before.map_or(Vec::new(), |kept| kept.rules.clone());
    let mut found = Identifiers::default();
    before.iter().flat_map(|kept| &kept.identifiers).for_each(|line| found.keep(line));
    for event in events() {
        let owner = is_of_owner(event);
        match meaning(event).seen {
            ModelView::Person(blocks) => {
                for text in blocks.iter().filter_map(text_in) {
                    if owner {
                        rules.extend(rules_in(text));
                    }
                    found.look(text, owner);
                }
            }
            ModelView::Model(blocks) => {
                blocks.iter().filter_map(text_in).for_each(|text| found.look(text, false));
            }
            ModelView::Result(_, Outcome::Ended { output }) => {
                let end = output.text.floor_char_boundary(RESULT_BYTES_MAX.min(output.text.len()));
                found.look(output.text.get(..end).unwrap_or_default(), false);
            }
            _ => {}
        }
    }
    KeptWords {
        rules: newest_once(rules, part_bytes),
        identifiers: found.best(part_bytes),
        archive: before.and_then(|kept| kept.archive.clone()),
    }
}

fn text_in(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text } => Some(text),
        _ => None,
    }
}

/// What others wrote gives no rules, whatever it says.
fn is_of_owner(event: &Event) -> bool {
    matches!(&event.body, EventBody::UserMessage { origin: Origin::Owner, .. })
}

/// The sentences of a text in which a rule is said. What is quoted, or stands in code, is not said.
fn rules_in(text: &str) -> Vec<String> {
    let Some(rule) = RULE.as_ref() else { return Vec::new() };
    let mut in_code = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
        } else if !in_code && !line.starts_with('>') {
            let sentences = sentences(line).map(str::trim);
            let said = |one: &&str| one.len() <= RULE_BYTES_MAX && rule.is_match(one);
            found.extend(sentences.filter(said).map(str::to_owned));
        }
    }
    found
}

/// A point ends a sentence where a space follows it, so that a version or a path is not parted.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, letter)| {
            let next = at + letter.len_utf8();
            let ends = matches!(letter, '.' | '!' | '?' | '…')
                && rest.get(next..).is_some_and(|after| after.starts_with(char::is_whitespace));
            ends.then_some(next)
        });
        let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(sentence)
    })
}

/// Each once, where it was said last; the oldest go first when there are too many.
fn newest_once(rules: Vec<String>, bytes_max: usize) -> Vec<String> {
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    let newest = rules.into_iter().rev().filter(|rule| seen.insert(rule.to_lowercase()));
    let mut kept: Vec<String> = newest
        .take_while(|rule| {
            bytes += rule.len();
            bytes <= bytes_max
        })
        .collect();
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests;
