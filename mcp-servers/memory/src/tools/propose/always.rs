//! `propose` for the file that every prompt holds: one line of it is added, replaced or taken out.
//! Must not know how a proposal for a note is made.

use claw_kit::killpoint;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{Input, Output, SUMMARY_CHARS_MAX, was_asked};
use crate::always::lines::{self, Change};
use crate::always::{Fullness, proposed};
use crate::asked::{self, May, OPEN_S};
use crate::caller::Caller;
use crate::error::{Result, ToolError};
use crate::index::Entry;
use crate::memory::Memory;
use crate::proposal::{self, Wanted};
use crate::tools::{Answer, Reply};

/// Proposes a change of the file.
pub fn run(memory: &mut Memory, input: Input) -> Answer<Output> {
    let change = change_of(memory, &input)?;
    let is_heard = memory.is_heard_by_others();
    let now = memory.read_always()?;
    if let (Some(text), None) = (&change.text, &change.instead_of)
        && let Some(line) = lines::known(&now.text, text, is_heard)
    {
        return Ok(is_known(memory, line, is_heard));
    }
    let new = match memory.always_changed(&now, &change) {
        Err(ToolError::Full(why)) => return Ok(is_full(why)),
        new => new?,
    };
    let wanted = Wanted {
        subject: input.subject,
        text: proposed::body(&change),
        kind: input.kind,
        tags: Vec::new(),
        aliases: Vec::new(),
        source: proposal::source(memory, input.source),
        valid_from: None,
    };
    let mut note = wanted.into_note(&memory.limits)?;
    let kept = memory.under_lock(|memory| {
        Ok(match asked::may_ask(memory, &note, true)? {
            May::AskedAlready(asked) => Err(asked),
            May::Again(open) => Ok(*open),
            May::Ask => {
                let writer = crate::writer::Writer::new(memory);
                let entry = proposed::keep(&writer, &mut note, &change, &now)?;
                killpoint::here("memory-proposed");
                asked::note_down(writer.memory, &note)?;
                Ok(entry)
            }
        })
    })?;
    let entry = match kept {
        Ok(entry) => entry,
        Err(asked) => {
            let is_theirs = asked.is_from_where(&note);
            return Ok(was_asked(&asked, is_theirs).with_meta(JsonObject::new()));
        }
    };
    let full = memory.fullness(&new);
    let meta = actions(&entry, &change, &full);
    let text = format!(
        "Not remembered yet: proposal [{}] waits for its owner's yes (promote with version {}). {}",
        entry.id,
        entry.version(),
        said(&change, &full)
    );
    let structured = Output {
        is_proposed: true,
        id: Some(entry.id.clone()),
        version: Some(entry.version()),
        text: Some(entry.note.body.clone()),
        always: Some(full),
        ..Output::default()
    };
    Ok(Reply { text, structured }.with_meta(meta))
}

/// What is wanted, in one line each.
fn change_of(memory: &Memory, input: &Input) -> Result<Change> {
    memory.always_path()?;
    if input.replaces.is_some() {
        return Err(ToolError::BadArguments(
            "`replaces` names a note. For a line that every prompt holds, give it in \
             `replaces_line`, as it stands in the file."
                .into(),
        ));
    }
    let old = input.replaces_line.as_deref().map(lines::wanted).transpose()?;
    if old.is_some() && memory.is_heard_by_others() {
        return Err(ToolError::Refused(
            "not proposed: others read along here, and the question would show the line that goes. \
             Propose it where its owner is alone."
                .into(),
        ));
    }
    if old.is_some() && input.text.trim().is_empty() {
        return Ok(Change { text: None, instead_of: old });
    }
    let text = lines::wanted(&input.text)?;
    if old.as_ref() == Some(&text) {
        return Err(ToolError::BadArguments("the line says that already.".into()));
    }
    Ok(Change { text: Some(text), instead_of: old })
}

fn is_known(memory: &Memory, line: &str, is_heard: bool) -> claw_server_kit::tools::Reply<Output> {
    let is_of_others = is_heard || memory.caller.as_ref().is_some_and(Caller::is_somebody_else);
    let says = if is_of_others { String::new() } else { format!("\n{}", lines::words(line)) };
    let text = format!("Nothing to ask: every prompt holds it already.{says}");
    Reply { text, structured: Output::default() }.with_meta(JsonObject::new())
}

/// No mistake of the model's: a host tells its owner.
fn is_full(why: String) -> claw_server_kit::tools::Reply<Output> {
    let structured = Output { full: Some(why.clone()), ..Output::default() };
    Reply { text: format!("Not proposed: {why}"), structured }.with_meta(JsonObject::new())
}

fn said(change: &Change, full: &Fullness) -> String {
    let full = full.words();
    match (&change.text, &change.instead_of) {
        (Some(text), Some(old)) => format!("{full} would say:\n{text}\nin place of:\n{old}"),
        (Some(text), None) => format!("{full} would say:\n{text}"),
        (None, old) => {
            format!("{full} would not say any more:\n{}", old.as_deref().unwrap_or_default())
        }
    }
}

/// What a host that stages actions asks its owner: the words that will stand there, the line that
/// goes, and how full the file is then.
fn actions(entry: &Entry, change: &Change, full: &Fullness) -> JsonObject {
    let file = &full.file;
    let mut arguments = json!({
        "id": entry.id, "version": entry.version(), "subject": entry.note.subject, "always": full,
    });
    for (key, value) in [("text", &change.text), ("instead_of", &change.instead_of)] {
        if let Some(value) = value {
            arguments[key] = Value::from(value.as_str());
        }
    }
    let mut summary = match (&change.text, &change.instead_of) {
        (Some(text), Some(old)) => format!("Remember in {file}: {text} (instead of “{old}”)"),
        (Some(text), None) => format!("Remember in {file}: {text}"),
        (None, old) => format!("Take out of {file}: {}", old.as_deref().unwrap_or_default()),
    };
    if summary.chars().count() > SUMMARY_CHARS_MAX {
        summary = summary.chars().take(SUMMARY_CHARS_MAX).chain(['…']).collect();
    }
    let is_out = change.text.is_none();
    let action = json!([{
        "tool": "promote",
        "arguments": arguments,
        "summary": summary,
        "label": if is_out { "Take out" } else { "Remember" },
        "cancel_label": if is_out { "Keep" } else { "Skip" },
        "ttl_s": OPEN_S,
        "group": "memory",
    }]);
    JsonObject::from_iter([("claw/actions".to_owned(), action)])
}
