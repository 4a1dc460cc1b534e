//! Proposals: notes that nobody has said yes to, in a folder of their own beside the notes, where
//! no index looks. Owns how one is kept, found and made a note; must not know who says yes.

use std::collections::BTreeSet;

use crate::args::Limits;
use crate::error::{Result, ToolError};
use crate::find;
use crate::index::Entry;
use crate::memory::Memory;
use crate::note::write::{changes_of, new_file};
use crate::note::{Kind, Note, Source, is_id, one_line, time};
use crate::writer::{Writer, read};

const SUBJECT_CHARS_MAX: usize = 200;
const TAG_CHARS_MAX: usize = 64;
const ALIASES_MAX: usize = 32;

/// What somebody wants to be remembered.
pub struct Wanted {
    pub subject: String,
    pub text: String,
    pub kind: Kind,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    pub source: Source,
    pub valid_from: Option<i64>,
}

impl Wanted {
    /// # Errors
    /// It is nothing that a note can hold.
    pub fn into_note(self, limits: &Limits) -> Result<Note> {
        let source = Source {
            who: self.source.who.map(|text| one_line(&text)).filter(|text| !text.is_empty()),
            session: self
                .source
                .session
                .map(|text| one_line(&text))
                .filter(|text| !text.is_empty()),
            turn: self.source.turn,
            file: self.source.file.map(|text| one_line(&text)).filter(|text| !text.is_empty()),
        };
        Ok(Note {
            kind: self.kind,
            subject: subject(&self.subject)?,
            body: body(&self.text)?,
            tags: tags(&self.tags, limits)?,
            aliases: names("aliases", &self.aliases, ALIASES_MAX, SUBJECT_CHARS_MAX)?,
            source,
            created: Some(time::now()),
            valid_from: self.valid_from,
            ..Note::default()
        })
    }
}

/// # Errors
/// It is empty or too long.
pub fn subject(text: &str) -> Result<String> {
    let subject = one_line(text);
    match subject.chars().count() {
        1..=SUBJECT_CHARS_MAX => Ok(subject),
        0 => Err(ToolError::BadArguments(
            "the subject is empty: say in a few words what it is about.".into(),
        )),
        many => Err(ToolError::BadArguments(format!(
            "the subject has {many} characters, and may have {SUBJECT_CHARS_MAX}: put the rest into the text."
        ))),
    }
}

/// # Errors
/// It is empty.
pub fn body(text: &str) -> Result<String> {
    let body = text.trim().replace('\0', "");
    if body.is_empty() {
        return Err(ToolError::BadArguments(
            "the text is empty: say what is to be remembered.".into(),
        ));
    }
    Ok(body)
}

/// # Errors
/// There are too many, or one is too long.
pub fn tags(tags: &[String], limits: &Limits) -> Result<Vec<String>> {
    let max = usize::try_from(limits.note_tags_max).unwrap_or(usize::MAX);
    let tags: Vec<String> =
        tags.iter().map(|tag| tag.trim().trim_start_matches('#').to_owned()).collect();
    names("tags", &tags, max, TAG_CHARS_MAX)
}

fn names(what: &str, names: &[String], max: usize, chars_max: usize) -> Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    let names: Vec<String> = names
        .iter()
        .map(|name| one_line(name))
        .filter(|name| !name.is_empty() && seen.insert(name.clone()))
        .collect();
    if names.len() > max {
        return Err(ToolError::BadArguments(format!(
            "{} {what} are too many: a note has at most {max}.",
            names.len()
        )));
    }
    match names.iter().find(|name| name.chars().count() > chars_max) {
        Some(long) => Err(ToolError::BadArguments(format!(
            "`{long}` is too long for {what}: at most {chars_max} characters."
        ))),
        None => Ok(names),
    }
}

fn path_of(id: &str) -> String {
    format!("{id}.md")
}

/// Keeps a proposal under a new id.
///
/// # Errors
/// It cannot be written.
pub fn keep(memory: &mut Memory, note: &mut Note) -> Result<Entry> {
    memory.write(|writer| {
        note.id = Some(writer.new_id()?);
        let path = path_of(note.id.as_deref().unwrap_or_default());
        let text = new_file(&changes_of(note), &note.body);
        if text.len() as u64 > writer.memory.limits.note_bytes_max {
            return Err(ToolError::BadArguments(format!(
                "the note would have {} bytes, and may have {}: shorten it, or propose several.",
                text.len(),
                writer.memory.limits.note_bytes_max
            )));
        }
        let written = writer.memory.proposals.write_new(&path, &text);
        written.map_err(|error| ToolError::io("write", path.as_str(), &error))?;
        let kept = read(&writer.memory.proposals, &path, writer.memory.limits.note_bytes_max)?;
        kept.map(|(entry, _)| entry).ok_or_else(|| {
            ToolError::Refused("the proposal was removed at the same moment.".into())
        })
    })
}

/// The proposal of an id, and its text.
///
/// # Errors
/// It cannot be read.
pub fn find_one(memory: &Memory, id: &str) -> Result<Option<(Entry, String)>> {
    if !is_id(id) {
        return Ok(None);
    }
    read(&memory.proposals, &path_of(id), memory.limits.note_bytes_max)
}

/// Makes a proposal a note. Once more does no harm. Gives the note's path.
///
/// # Errors
/// There is no such proposal, it is not the version that was shown, or it cannot be written.
pub fn promote(writer: &mut Writer<'_>, id: &str, version: &str) -> Result<Entry> {
    let Some((proposal, _)) = find_one(writer.memory, id)? else {
        return match find::note(&writer.memory.index.db, id) {
            Ok(entry) => Ok(entry),
            Err(_) => Err(ToolError::Refused(format!(
                "there is no proposal `{id}`: it was dropped or never made. `list` with `what` \"proposals\" shows what waits."
            ))),
        };
    };
    if proposal.version() != version {
        return Err(ToolError::Refused(format!(
            "proposal `{id}` is not what was shown any more: it is version {} now, not {version}. Nothing was remembered. Read it again.",
            proposal.version()
        )));
    }
    let path = match find::note(&writer.memory.index.db, id) {
        // A kill came between the note and this line.
        Ok(entry) => entry.path,
        Err(ToolError::NoNote { .. }) => {
            // What is replaced has to be there, so that nothing is promised in vain.
            if let Some(replaced) = &proposal.note.supersedes {
                writer.open(replaced, None)?;
            }
            writer.create(&proposal.note)?
        }
        Err(error) => return Err(error),
    };
    if let Some(replaced) = &proposal.note.supersedes {
        mark_superseded(writer, replaced, id)?;
    }
    let kept = crate::writer::trash_path(crate::writer::Gone::Promoted, &path_of(id))?;
    let moved = writer.memory.proposals.move_to(&path_of(id), &writer.memory.trash, &kept);
    moved.map_err(|error| ToolError::io("take away the proposal", id, &error))?;
    let note = read(&writer.memory.notes, &path, writer.memory.limits.note_bytes_max)?;
    note.map(|(entry, _)| entry)
        .ok_or_else(|| ToolError::NoNote { id: id.to_owned(), where_it_is: " any more" })
}

/// Writes into the earlier note which one is right now.
///
/// # Errors
/// It cannot be changed.
pub fn mark_superseded(writer: &mut Writer<'_>, old: &str, new: &str) -> Result<()> {
    let (entry, text) = writer.open(old, None)?;
    if entry.note.superseded_by.as_deref() == Some(new) {
        return Ok(());
    }
    writer.change(&entry, &text, &vec![("superseded_by", Some(new.into()))], None)
}
