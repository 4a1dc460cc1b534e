//! `remember`: a note in its owner's own words, at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, KeptIn, Reply, ToolDef, on_notes, remembered, time_of};
use crate::always::lines::{self, Change};
use crate::always::{Fullness, proposed};
use crate::error::Result;
use crate::find;
use crate::memory::Memory;
use crate::note::{Kind, Source, one_line};
use crate::proposal::{self, Replaced, Wanted};
use crate::same::{Relation, relation};

/// The longest subject that is made of the beginning of a text, in characters.
const SUBJECT_CHARS_MAX: usize = 60;
/// Words before a colon that can be a subject: `Anna's phone: 0664 1234`.
const SUBJECT_WORDS_MAX: usize = 5;

pub fn tool() -> ToolDef {
    About {
        name: "remember",
        title: "Remember at once",
        description: "Writes a note in its owner's own words, at once. For what its owner has ordered; what you want to be \
                      remembered is a proposal (propose).",
        effect: Effect::Changes { destructive: false, idempotent: true },
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What is to be remembered, as Markdown.
    text: String,
    /// What it is about. Default: what stands before a colon, else the first words.
    #[serde(default)]
    subject: Option<String>,
    /// `note` (the default), or `always`: one line of the file that every prompt holds.
    #[serde(default, rename = "where")]
    place: KeptIn,
    /// Default: fact.
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    #[schemars(description = "Words under which the note is filed.")]
    tags: Vec<String>,
    /// Who said it, and where.
    #[serde(default)]
    source: Source,
    /// From when on it is so, such as 2026-11-23, if it is not simply so now.
    #[serde(default)]
    valid_from: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Option<Shown>,
    /// For a line of the file that every prompt holds: how full that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    always: Option<Fullness>,
    /// Whether a note said so already, and nothing was written.
    was_known: bool,
    /// What other notes of the same subject say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beside: Vec<Shown>,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    if input.place == KeptIn::Always {
        return always(memory, &input.text);
    }
    let (subject, text) = match input.subject {
        Some(subject) => (subject, input.text),
        None => split(&input.text),
    };
    let wanted = Wanted {
        subject,
        text,
        kind: input.kind,
        tags: input.tags,
        aliases: Vec::new(),
        source: proposal::source(memory, input.source),
        valid_from: time_of("valid_from", input.valid_from.as_deref())?,
    };
    let mut note = wanted.into_note(&memory.limits)?;
    let same = proposal::same_subject(memory, &note.subject)?;
    let known = same.iter().find(|old| relation(&old.note.body, &note.body) == Relation::Known);
    if let Some(known) = known {
        let text = format!("Remembered already: {}", super::in_file(known));
        let about = Shown::new(&memory.whose, known, None, false);
        let structured =
            Output { about: Some(about), always: None, was_known: true, beside: Vec::new() };
        return Ok(Reply { text, structured });
    }
    let adds = same.iter().find(|old| relation(&old.note.body, &note.body) == Relation::Adds);
    note.supersedes = adds.map(|old| old.id.clone());
    let path = memory.write(|writer| {
        note.id = Some(writer.new_id()?);
        proposal::put(writer, &note, &Replaced::default())
    })?;
    let entry = find::note(&memory.index.db, &path)?;
    let others = || same.iter().filter(|old| old.id != entry.id);
    let mut text = remembered(&entry);
    for other in others() {
        text.push_str(&format!(
            "\nAlso noted about it, {}: {} [{}]",
            Shown::new(&memory.whose, other, None, false).age,
            one_line(&proposal::excerpt(&other.note.body)),
            other.id
        ));
    }
    let beside = others().map(|old| Shown::new(&memory.whose, old, None, false)).collect();
    let about = Shown::new(&memory.whose, &entry, None, false);
    let structured = Output { about: Some(about), always: None, was_known: false, beside };
    Ok(Reply { text, structured })
}

/// A line of the file that every prompt holds.
fn always(memory: &mut Memory, text: &str) -> Result<Reply<Output>> {
    let line = lines::wanted(text)?;
    let (full, known) = memory.write(|writer| proposed::order(writer, &line))?;
    let text = match &known {
        Some(known) => format!("Remembered already, in {}:\n{known}", full.words()),
        None => super::promote::said(&Change { text: Some(line), instead_of: None }, &full),
    };
    let was_known = known.is_some();
    let structured = Output { about: None, always: Some(full), was_known, beside: Vec::new() };
    Ok(Reply { text, structured })
}

/// Subject and text of an order in one piece.
fn split(text: &str) -> (String, String) {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    if let Some((before, behind)) = first.split_once(": ") {
        let words = before.split_whitespace().count();
        let rest = text.get(before.len() + 2..).unwrap_or_default().trim();
        if (1..=SUBJECT_WORDS_MAX).contains(&words) && !behind.trim().is_empty() {
            return (before.to_owned(), rest.to_owned());
        }
    }
    let mut subject = String::new();
    for word in first.split_whitespace() {
        if subject.chars().count() + word.chars().count() >= SUBJECT_CHARS_MAX {
            break;
        }
        if !subject.is_empty() {
            subject.push(' ');
        }
        subject.push_str(word);
    }
    if subject.is_empty() {
        subject = first.chars().take(SUBJECT_CHARS_MAX).collect();
    }
    let trimmed = subject.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    let subject = if trimmed.is_empty() { subject.as_str() } else { trimmed };
    (subject.to_owned(), text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_in_one_piece_has_a_subject() {
        for (order, subject, text) in [
            ("Anna's phone: 0664 1234", "Anna's phone", "0664 1234"),
            ("???", "???", "???"),
            ("the boiler is blue.", "the boiler is blue", "the boiler is blue."),
            ("see http://x.test: it is down", "see http://x.test", "it is down"),
            ("at 10:30 the bus goes", "at 10:30 the bus goes", "at 10:30 the bus goes"),
            (
                "one two three four five six: seven",
                "one two three four five six: seven",
                "one two three four five six: seven",
            ),
        ] {
            assert_eq!(split(order), (subject.to_owned(), text.to_owned()), "{order}");
        }
        let (subject, text) = split(&"word ".repeat(40));
        assert!(subject.chars().count() <= SUBJECT_CHARS_MAX && text.len() > 100, "{subject}");
        assert!(!split(&"x".repeat(300)).0.is_empty());
    }
}
