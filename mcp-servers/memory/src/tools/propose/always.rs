//! `propose` for the file that every prompt holds: one line of it is added, replaced or taken out.
//! Must not know how a proposal for a note is made.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{Input, Output, kept, question, was_asked};
use crate::always::lines::{self, Change};
use crate::always::{Fullness, proposed};
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
    let kept =
        kept(memory, &mut note, true, |writer, note| proposed::keep(writer, note, &change, &now))?;
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
    let summary = match (&change.text, &change.instead_of) {
        (Some(text), Some(old)) => format!("Remember in {file}: {text} (instead of “{old}”)"),
        (Some(text), None) => format!("Remember in {file}: {text}"),
        (None, old) => format!("Take out of {file}: {}", old.as_deref().unwrap_or_default()),
    };
    let labels = if change.text.is_none() { ("Take out", "Keep") } else { ("Remember", "Skip") };
    question(&arguments, summary, labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use crate::tools::propose;

    /// The turn is a new one each time, so that this is no repeated call.
    fn is_asked(memory: &mut Memory, place: &str, turn: i64) -> Option<String> {
        let input = serde_json::from_value(json!({
            "subject": "Anna", "text": "Lives in Graz.", "where": place,
            "source": {"session": "main", "turn": turn},
        }));
        propose::run(memory, input.unwrap()).unwrap().structured.id
    }

    #[test]
    fn what_became_a_note_while_a_line_waited_for_the_lock_may_be_asked_about() {
        let temp = tempfile::tempdir().unwrap();
        let notes = temp.path().join("notes");
        let always = Some(temp.path().join("MEMORY.md"));
        let args = Args { notes: Some(notes.clone()), always, ..Args::default() };
        let mut memory = Memory::open(&args).unwrap();
        let proposed = is_asked(&mut memory, "note", 1).unwrap();
        assert_eq!(is_asked(&mut memory, "always", 2), None, "its owner has not said yes");
        // Another server keeps it. This call has looked at the files before.
        let note = format!("---\nid: {proposed}\nsubject: Anna\n---\nLives in Graz.\n");
        std::fs::write(notes.join("anna.md"), note).unwrap();
        assert!(is_asked(&mut memory, "always", 3).is_some());
    }
}
