//! What a call of our own memory server does, in words: the note as it will be stored, and what it
//! takes the place of. Pure. Must not know where notes lie, or whether a question is staged.

use serde_json::Value;

use super::{inline, text};
use crate::calls::difference::{Around, between};
use crate::domain::{Effect, escape};
use crate::policy::Facts;

/// What is written on the buttons of such a proposal.
pub(super) fn buttons(arguments: &Value) -> (&'static str, &'static str) {
    match arguments.get(ALWAYS).is_some() && arguments.get("text").is_none() {
        true => ("✅ Take it out", "❌ Keep it"),
        false => ("✅ Remember", "❌ Skip"),
    }
}

/// The effect of a proposal of our memory server. `by_claw`: no model has called for it, a
/// summary has brought it.
pub(super) fn of_proposed(facts: &Facts<'_>, by_claw: bool) -> Option<Effect> {
    let mut effect = of_promote(facts)?;
    if by_claw {
        effect.notes.push(BY_CLAW.to_owned());
    }
    Some(effect)
}

/// Why it is asked in the middle of something else.
const BY_CLAW: &str = "Noticed while an older part of this conversation was summarised";
/// The argument by which a proposal is for the file that every prompt holds.
const ALWAYS: &str = "always";

pub(super) fn of_note_tool(facts: &Facts<'_>) -> Option<Effect> {
    let id = || text(facts, "id").and_then(inline).unwrap_or("this note").to_owned();
    let with_text = |says: String| {
        let new = text(facts, "text").unwrap_or_default();
        let told = ["id", "text"].map(str::to_owned).to_vec();
        Effect { says, difference: lines_of("", new), told, ..Effect::default() }
    };
    let says = |says: String| {
        let told = vec!["id".to_owned()];
        Effect { says, told, ..Effect::default() }
    };
    Some(match facts.tool {
        "promote" => of_promote(facts)?,
        "remember" => {
            let mut effect = with_text("Remember".to_owned());
            effect.says = match text(facts, "where") {
                Some(ALWAYS) => {
                    effect.told.push("where".to_owned());
                    "Remember for every prompt".to_owned()
                }
                _ => about("Remember", facts, &mut effect.told),
            };
            effect
        }
        "update" if text(facts, "text").is_some() => {
            with_text(format!("Change the note {} to this", id()))
        }
        "update" => says(format!("Change the note {}", id())),
        "supersede" => {
            with_text(format!("Note this in place of {}, which is not so any more", id()))
        }
        "forget" => says(format!("Forget the note {}; the trash keeps it", id())),
        "restore" => says(format!("Bring the note {} back", id())),
        "link" => says(format!("Link the note {} to another", id())),
        _ => return None,
    })
}

/// `None` where the arguments do not hold the words, as those of another host.
fn of_promote(facts: &Facts<'_>) -> Option<Effect> {
    if let Some(full) = facts.arguments.get(ALWAYS) {
        return of_always(facts, full);
    }
    let new = text(facts, "text")?;
    let mut told = ["id", "version", "text"].map(str::to_owned).to_vec();
    let mut effect = Effect { says: about("Remember", facts, &mut told), ..Effect::default() };
    effect.difference = match text(facts, "instead_of") {
        Some(old) => {
            told.push("instead_of".to_owned());
            effect.says.push_str(", in place of what was noted");
            lines_of(old, new)
        }
        None => lines_of("", new),
    };
    let beside = facts.arguments.get("beside").and_then(Value::as_array);
    if let Some(beside) = beside {
        told.push("beside".to_owned());
        let line = |other: &str| format!("Also noted, and stays: {}", escape::visible(other));
        effect.notes.extend(beside.iter().filter_map(Value::as_str).map(line));
    }
    effect.told = told;
    Some(effect)
}

/// A line of the file that every prompt holds: the line that comes, the one that goes, and how full
/// the file is then.
fn of_always(facts: &Facts<'_>, full: &Value) -> Option<Effect> {
    let (new, old) = (text(facts, "text"), text(facts, "instead_of"));
    let file = full.get("file").and_then(Value::as_str).map(escape::visible)?;
    let number = |key: &str| full.get(key).and_then(Value::as_u64);
    let (bytes, bytes_max) = (number("bytes")?, number("bytes_max")?);
    let says = match (new, old) {
        (Some(_), None) => format!("Remember in every prompt, by a line of {file}"),
        (Some(_), Some(_)) => format!("Change a line that every prompt holds, in {file}"),
        (None, Some(_)) => format!("Take out a line that every prompt holds, in {file}"),
        (None, None) => return None,
    };
    let told = ["id", "version", "subject", "text", "instead_of", ALWAYS].map(str::to_owned);
    Some(Effect {
        says,
        difference: lines_of(old.unwrap_or_default(), new.unwrap_or_default()),
        notes: vec![format!("{file} is then {bytes} of {bytes_max} bytes full")],
        told: told.to_vec(),
        ..Effect::default()
    })
}

/// `Remember about Anna`. A subject that cannot stand in a sentence stands among the arguments.
fn about(verb: &str, facts: &Facts<'_>, told: &mut Vec<String>) -> String {
    match text(facts, "subject").and_then(inline) {
        Some(subject) => {
            told.push("subject".to_owned());
            format!("{verb} about “{subject}”")
        }
        None => format!("{verb} this"),
    }
}

/// Each line behind its mark. A text of one line has no line feed at its end, and nothing is to be
/// said of that.
pub(super) fn lines_of(old: &str, new: &str) -> String {
    let ended = |text: &str| match text {
        "" => String::new(),
        text => format!("{}\n", text.trim_end_matches('\n')),
    };
    between(&ended(old), &ended(new), Around::All).text
}
