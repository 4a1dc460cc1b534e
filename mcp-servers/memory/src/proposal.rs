//! Proposals: notes that nobody has said yes to, in a folder of their own beside the notes, where
//! no index looks. Owns how one is kept, found and made a note; must not know who says yes.

use std::collections::BTreeSet;

use claw_kit::killpoint;
use serde_json::Value;

use crate::args::Limits;
use crate::asked::{self, OPEN_S};
use crate::error::{Result, ToolError};
use crate::index::Entry;
use crate::index::entry::digest;
use crate::memory::Memory;
use crate::note::front;
use crate::note::write::{Changes, changes_of, new_file};
use crate::note::{Kind, Note, Source, is_id, one_line, time};
use crate::same::{Relation, relation};
use crate::writer::{Gone, Writer, read, trash_path};
use crate::{find, trash};

const SUBJECT_CHARS_MAX: usize = 200;
const TAG_CHARS_MAX: usize = 64;
const ALIASES_MAX: usize = 32;
/// In a proposal's file: the digest of the words that it would replace. No note has it.
const SHOWN_DIGEST: &str = "supersedes_digest";
/// Of a note that is replaced so much is shown, in characters.
const EXCERPT_CHARS_MAX: usize = 1_000;

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
            agent: self.source.agent,
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

/// What is kept as the source: the host's word, and the model's where the host says nothing.
pub fn source(memory: &Memory, said: Source) -> Source {
    memory.whose.signed(match &memory.caller {
        Some(caller) => caller.source(said),
        None => said,
    })
}

/// The notes of a subject, or with that other name, that are right now.
///
/// # Errors
/// SQLite refuses.
pub fn same_subject(memory: &Memory, subject: &str) -> Result<Vec<Entry>> {
    let db = &memory.index.db;
    let ids = find::all_named(db, subject)?;
    let mut notes = Vec::new();
    for id in ids {
        let entry = find::note(db, &id)?;
        if crate::recall::successor(db, &entry)?.is_none() {
            notes.push(entry);
        }
    }
    Ok(notes)
}

fn path_of(id: &str) -> String {
    format!("{id}.md")
}

/// Keeps a proposal under a new id, with what the note that it replaces says now.
///
/// # Errors
/// It is too long to be read by somebody, or cannot be written.
pub fn keep(writer: &Writer<'_>, note: &mut Note, replaced: Option<&Entry>) -> Result<Entry> {
    let max = writer.memory.limits.proposal_bytes_max;
    if note.body.len() as u64 > max {
        return Err(ToolError::BadArguments(format!(
            "the text has {} bytes, and a proposal may have {max}, because its owner has to read \
             it: shorten it, or propose several.",
            note.body.len()
        )));
    }
    note.id = Some(writer.new_id()?);
    let mut changes = changes_of(note);
    changes.push((SHOWN_DIGEST, replaced.map(|old| digest_of(old).into())));
    write(writer, note, &changes)
}

/// Writes the file of a proposal.
///
/// # Errors
/// It cannot be written.
pub fn write(writer: &Writer<'_>, note: &Note, changes: &Changes) -> Result<Entry> {
    let path = path_of(note.id.as_deref().unwrap_or_default());
    let text = new_file(changes, &note.body);
    let written = writer.memory.proposals.write_new(&path, &text);
    written.map_err(|error| ToolError::io("write", path.as_str(), &error))?;
    let kept = read(&writer.memory.proposals, &path, writer.memory.limits.note_bytes_max)?;
    kept.map(|(entry, _)| entry)
        .ok_or_else(|| ToolError::Refused("the proposal was removed at the same moment.".into()))
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

/// All that waits, and what is there for too long is thrown away.
///
/// # Errors
/// They cannot be read or moved.
pub fn open(memory: &Memory) -> Result<Vec<(Entry, String)>> {
    let mut paths = Vec::new();
    let walked = memory.proposals.walk(
        |_| (),
        |path, _| -> std::io::Result<()> {
            paths.push(path.to_owned());
            Ok(())
        },
    );
    walked.map_err(|error| ToolError::io("read", "the proposals", &error))?;
    let mut open = Vec::new();
    for path in paths {
        let read = read(&memory.proposals, &path, memory.limits.note_bytes_max)?;
        let Some((entry, text)) = read else { continue };
        if time::now() - entry.dated <= OPEN_S {
            open.push((entry, text));
            continue;
        }
        let kept = trash_path(Gone::Expired, &path)?;
        let moved = memory.proposals.move_to(&path, &memory.trash, &kept);
        moved.map_err(|error| ToolError::io("move to the trash", path.as_str(), &error))?;
    }
    Ok(open)
}

/// What a promotion was shown as. What is `None` was not shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShownProposal<'a> {
    pub version: &'a str,
    pub subject: Option<&'a str>,
    pub text: Option<&'a str>,
    /// What the note says that is replaced.
    pub instead_of: Option<&'a str>,
}

/// Makes a proposal a note, or a part of the note that it adds to. Once more does no harm.
///
/// # Errors
/// There is no such proposal, it is not what was shown, or it cannot be written.
pub fn promote(writer: &mut Writer<'_>, id: &str, shown: &ShownProposal<'_>) -> Result<Entry> {
    let Some((proposal, file)) = find_one(writer.memory, id)? else {
        return promoted_before(writer.memory, id);
    };
    check(&proposal, shown)?;
    let fields = front::fields(front::split(&file).yaml).unwrap_or_default();
    let digest = fields.get(SHOWN_DIGEST).and_then(Value::as_str);
    let replaced = Replaced { digest, text: shown.instead_of };
    let path = match find::note(&writer.memory.index.db, id) {
        // A kill came between the note and this line.
        Ok(entry) => entry.path,
        Err(ToolError::NoNote { .. }) => match put(writer, &proposal.note, &replaced) {
            Err(ToolError::Refused(why)) => {
                // It has to be put to its owner again, in other words.
                asked::forget(writer.memory, id)?;
                end(writer.memory, id, Gone::Refused)?;
                return Err(ToolError::Refused(why));
            }
            put => put?,
        },
        Err(error) => return Err(error),
    };
    killpoint::here("memory-promoted");
    end(writer.memory, id, Gone::Promoted)?;
    let note = read(&writer.memory.notes, &path, writer.memory.limits.note_bytes_max)?;
    note.map(|(entry, _)| entry)
        .ok_or_else(|| ToolError::NoNote { id: id.to_owned(), where_it_is: " any more" })
}

/// A proposal waits no more.
///
/// # Errors
/// It cannot be moved.
pub fn end(memory: &Memory, id: &str, why: Gone) -> Result<()> {
    let kept = trash_path(why, &path_of(id))?;
    let moved = memory.proposals.move_to(&path_of(id), &memory.trash, &kept);
    moved.map_err(|error| ToolError::io("take away the proposal", id, &error))
}

fn promoted_before(memory: &Memory, id: &str) -> Result<Entry> {
    let merged = trash::promoted(memory, id)?.and_then(|entry| entry.note.supersedes);
    for id in std::iter::once(id).chain(merged.as_deref()) {
        match find::note(&memory.index.db, id) {
            Err(ToolError::NoNote { .. }) => {}
            found => return found,
        }
    }
    Err(is_gone(id))
}

/// Nothing waits under this id.
pub fn is_gone(id: &str) -> ToolError {
    ToolError::Refused(format!(
        "there is no proposal `{id}`: it was dropped, has expired or was never made, and nothing \
         was remembered. `list` with `what` \"proposals\" shows what waits."
    ))
}

/// What is remembered is exactly what was shown.
///
/// # Errors
/// It is not.
pub fn check(proposal: &Entry, shown: &ShownProposal<'_>) -> Result<()> {
    let is_shown = proposal.version() == shown.version
        && shown.subject.is_none_or(|subject| subject == proposal.note.subject)
        && shown.text.is_none_or(|text| text == proposal.note.body);
    if is_shown {
        return Ok(());
    }
    Err(ToolError::Refused(format!(
        "proposal `{}` is not what was shown any more: it is version {} now, not {}. Nothing was \
         remembered. Read it again.",
        proposal.id,
        proposal.version(),
        shown.version
    )))
}

/// Puts a note where it belongs: into the one that it adds to, in the place of the one that is not
/// so any more, or beside the others. Gives its path.
///
/// # Errors
/// What it replaces is not what was shown, or it cannot be written.
pub fn put(writer: &mut Writer<'_>, note: &Note, shown: &Replaced<'_>) -> Result<String> {
    let Some(replaced) = &note.supersedes else { return writer.create(note) };
    let (old, text) = writer.open(replaced, None)?;
    is_current(writer.memory, &old, note.id.as_deref())?;
    // A merge that a kill has cut off says the same by now.
    if relation(&old.note.body, &note.body) != Relation::Differs {
        if old.note.body != note.body {
            is_as_shown(&old, shown)?;
            merge(writer, &old, &text, note)?;
        }
        return Ok(old.path);
    }
    is_as_shown(&old, shown)?;
    let id = note.id.clone().unwrap_or_default();
    let path = writer.create(note)?;
    killpoint::here("memory-superseding");
    mark_superseded(writer, replaced, &id)?;
    Ok(path)
}

/// What the note that is replaced said when its owner was asked. What is `None` was not noted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replaced<'a> {
    /// Of all its words.
    pub digest: Option<&'a str>,
    /// Its first words, as a host has shown them.
    pub text: Option<&'a str>,
}

/// Somebody may have changed the note that is replaced, after its words were shown.
fn is_as_shown(old: &Entry, shown: &Replaced<'_>) -> Result<()> {
    let is_same = shown.digest.is_none_or(|digest| digest == digest_of(old))
        && shown.text.is_none_or(|text| text == excerpt(&old.note.body));
    if is_same {
        return Ok(());
    }
    Err(ToolError::Refused(format!(
        "the note `{}`, which it would replace, was changed since it was shown, so nothing was \
         remembered and this proposal is over. It can be proposed again.",
        old.id
    )))
}

fn digest_of(entry: &Entry) -> String {
    digest(entry.note.body.as_bytes())
}

/// Two notes in the place of one contradict each other: whoever comes second reads the first.
///
/// # Errors
/// Another note has taken its place.
pub fn is_current(memory: &Memory, old: &Entry, new: Option<&str>) -> Result<()> {
    let db = &memory.index.db;
    let successor = crate::recall::successor(db, old)?.filter(|by| Some(by.id.as_str()) != new);
    let Some(by) = successor else { return Ok(()) };
    let says = match find::note(db, &by.id) {
        Ok(entry) => format!(", which says: {}", one_line(&excerpt(&entry.note.body))),
        Err(_) => String::new(),
    };
    let says = says.trim_end_matches('.');
    Err(ToolError::Refused(format!(
        "`{}` was superseded by `{}` already{says}. Nothing was remembered. If that is not so \
         either, replace `{}`.",
        old.id, by.id, by.id
    )))
}

/// What of a replaced note is shown: all of it, unless it is long.
pub fn excerpt(body: &str) -> String {
    if body.chars().count() <= EXCERPT_CHARS_MAX {
        return body.to_owned();
    }
    body.chars().take(EXCERPT_CHARS_MAX).chain(['…']).collect()
}

/// The note says more from now on, and keeps its id. What it was lies in the trash.
fn merge(writer: &mut Writer<'_>, old: &Entry, text: &str, note: &Note) -> Result<()> {
    let both = |mine: &[String], new: &[String]| {
        let mut all = mine.to_vec();
        all.extend(new.iter().filter(|item| !mine.contains(item)).cloned());
        (!all.is_empty()).then(|| Value::from(all))
    };
    let said = |value: &Option<String>| value.clone().map(Value::from);
    let mut changes: Changes = vec![
        ("tags", both(&old.note.tags, &note.tags)),
        ("aliases", both(&old.note.aliases, &note.aliases)),
        ("updated", Some(time::rfc3339(time::now()).into())),
        ("source", said(&note.source.who)),
        ("source_session", said(&note.source.session)),
        ("source_turn", note.source.turn.map(Value::from)),
        ("source_file", said(&note.source.file)),
        ("source_agent", said(&note.source.agent)),
    ];
    if let Some(from) = note.valid_from {
        changes.push(("valid_from", Some(time::rfc3339(from).into())));
    }
    writer.change(old, text, &changes, Some(&note.body))
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
