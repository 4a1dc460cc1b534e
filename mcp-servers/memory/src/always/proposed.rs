//! A proposal for the file that every prompt holds: how it is kept beside those for notes, and what
//! a yes does. Must not know how it is asked.

use claw_kit::killpoint;
use serde_json::Value;

use super::lines::{self, Change};
use super::{Fullness, Now};
use crate::asked;
use crate::error::{Result, ToolError};
use crate::index::Entry;
use crate::memory::Memory;
use crate::note::write::changes_of;
use crate::note::{Note, front};
use crate::proposal::{self, ShownProposal};
use crate::trash;
use crate::writer::{Gone, Writer};

/// In a proposal's file: that it is for this file, and not for a note.
const ALWAYS: &str = "always";
/// The digest of the file that its owner saw it with.
const DIGEST: &str = "always_digest";
/// The line that goes.
const INSTEAD_OF: &str = "always_instead_of";
const PUT: &str = "put";
const TAKE_OUT: &str = "take-out";

/// What a proposal's file says beside its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedChange {
    pub change: Change,
    digest: String,
}

impl ProposedChange {
    /// `None` for a proposal of a note.
    pub fn of(file: &str) -> Option<Self> {
        let split = front::split(file);
        let fields = front::fields(split.yaml).ok()?;
        let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
        let new = match text(ALWAYS)?.as_str() {
            TAKE_OUT => None,
            _ => Some(split.body.trim().to_owned()),
        };
        let change = Change { text: new, instead_of: text(INSTEAD_OF) };
        Some(Self { change, digest: text(DIGEST)? })
    }
}

/// What stands in the file of a proposal, and what is compared with what was asked before.
pub fn body(change: &Change) -> String {
    match (&change.text, &change.instead_of) {
        (Some(text), _) => text.clone(),
        (None, old) => format!("Take out: {}", old.as_deref().unwrap_or_default()),
    }
}

/// Keeps the proposal.
///
/// # Errors
/// It is too long, or cannot be written.
pub fn keep(writer: &Writer<'_>, note: &mut Note, change: &Change, now: &Now) -> Result<Entry> {
    note.id = Some(writer.new_id()?);
    let mut fields = changes_of(note);
    let how = if change.text.is_some() { PUT } else { TAKE_OUT };
    fields.push((ALWAYS, Some(how.into())));
    fields.push((DIGEST, Some(writer.memory.always_digest(&now.text).into())));
    fields.push((INSTEAD_OF, change.instead_of.clone().map(Value::from)));
    proposal::write(writer, note, &fields)
}

/// Does what its owner has said yes to. Once more does no harm. Says how full the file is then.
///
/// # Errors
/// The proposal or the file is not what was shown, or the file is full. The proposal ends then.
pub fn promote(
    writer: &Writer<'_>,
    (entry, kept): (&Entry, &ProposedChange),
    shown: &ShownProposal<'_>,
) -> Result<Fullness> {
    proposal::check(entry, &ShownProposal { text: None, instead_of: None, ..*shown })?;
    is_as_shown(entry, &kept.change, shown)?;
    let memory = &*writer.memory;
    let now = memory.read_always()?;
    let put = match memory.was_made(&entry.id, &memory.always_digest(&now.text)) {
        true => Ok(now.text),
        false => put(memory, entry, kept, &now),
    };
    match put {
        Err(error @ (ToolError::Refused(_) | ToolError::Full(_))) => {
            asked::forget(memory, &entry.id)?;
            proposal::end(memory, &entry.id, Gone::Refused)?;
            Err(error)
        }
        Err(error) => Err(error),
        Ok(text) => {
            killpoint::here("memory-promoted");
            proposal::end(memory, &entry.id, Gone::Promoted)?;
            Ok(memory.fullness(&text))
        }
    }
}

fn put(memory: &Memory, entry: &Entry, kept: &ProposedChange, now: &Now) -> Result<String> {
    if !memory.is_ours_since(&kept.digest, &memory.always_digest(&now.text)) {
        let file = memory.fullness(&now.text).file;
        return Err(ToolError::Refused(format!(
            "{file} was changed by somebody since this was shown, so nothing was written and this \
             proposal is over. It can be proposed again."
        )));
    }
    let new = memory.always_changed(now, &kept.change)?;
    memory.put_always(&entry.id, now, &new)?;
    Ok(new)
}

/// A host that sends back what it has shown is held to it.
fn is_as_shown(entry: &Entry, change: &Change, shown: &ShownProposal<'_>) -> Result<()> {
    let is_same = |shown: Option<&str>, kept: &Option<String>| {
        shown.is_none_or(|shown| kept.as_deref() == Some(shown))
    };
    if is_same(shown.text, &change.text) && is_same(shown.instead_of, &change.instead_of) {
        return Ok(());
    }
    Err(ToolError::Refused(format!(
        "proposal `{}` is not what was shown. Nothing was remembered. Read it again.",
        entry.id
    )))
}

/// What became of a proposal that does not wait any more: its change was made before.
///
/// # Errors
/// The trash cannot be read.
pub fn promoted_before(memory: &Memory, id: &str) -> Result<Option<(Entry, ProposedChange)>> {
    let found = trash::promoted_file(memory, id)?;
    Ok(found.and_then(|(entry, file)| Some((entry, ProposedChange::of(&file)?))))
}

/// An owner's own order: the line is there at once. The line that says so already, if there is one.
///
/// # Errors
/// There is no room, or it cannot be written.
pub fn order(writer: &Writer<'_>, text: &str) -> Result<(Fullness, Option<String>)> {
    let memory = &*writer.memory;
    let now = memory.read_always()?;
    if let Some(line) = lines::known(&now.text, text, false) {
        return Ok((memory.fullness(&now.text), Some(lines::words(line))));
    }
    let change = Change { text: Some(text.to_owned()), instead_of: None };
    let new = memory.always_changed(&now, &change)?;
    memory.put_always("", &now, &new)?;
    Ok((memory.fullness(&new), None))
}
