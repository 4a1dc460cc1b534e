//! Writing to the notes: under the lock, on what the files are at this moment, with the index
//! brought along and compared afterwards. Owns names of files and what goes to the trash; must not
//! know tools.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use claw_kit::{durable, killpoint};

use crate::error::{Result, ToolError};
use crate::find;
use crate::folder::{Content, Folder, THESAURUS, stem};
use crate::index::Entry;
use crate::index::words::lower;
use crate::memory::Memory;
use crate::note::write::{Changes, changed, changes_of, new_file};
use crate::note::{Note, time};

/// Letters of a file name that are made of a subject, in bytes.
const SLUG_BYTES_MAX: usize = 60;

/// Random digits of an id.
const ID_DIGITS: usize = 10;

/// Why a file is in the trash; its folder there begins with it.
#[derive(Clone, Copy)]
pub enum Gone {
    Forgotten,
    /// It was changed, and this is what it was.
    Replaced,
    /// It is a note now.
    Promoted,
    /// A proposal that its owner has said no to.
    Skipped,
    /// A proposal that nobody has said yes to in time.
    Expired,
    /// A proposal whose yes could not be carried out: what it would replace has changed.
    Refused,
    /// What a killed process has left.
    LeftOver,
}

/// One batch of changes.
pub struct Writer<'a> {
    pub memory: &'a mut Memory,
    pub touched: BTreeSet<String>,
}

impl<'a> Writer<'a> {
    /// For whoever holds the lock, and touches no note.
    pub fn new(memory: &'a mut Memory) -> Self {
        Self { memory, touched: BTreeSet::new() }
    }
}

impl Writer<'_> {
    /// The note, as its file is now, and its text.
    ///
    /// # Errors
    /// There is none, it has changed since `version` was read, or its file is not understood.
    pub fn open(&mut self, id: &str, version: Option<&str>) -> Result<(Entry, String)> {
        let entry = find::note(&self.memory.index.db, id)?;
        let (now, text) = read(&self.memory.notes, &entry.path, self.memory.limits.note_bytes_max)?
            .ok_or_else(|| ToolError::NoNote { id: id.to_owned(), where_it_is: " any more" })?;
        if let Some(version) = version.filter(|version| *version != now.version()) {
            return Err(ToolError::Refused(format!(
                "`{id}` has changed since version {version} was read; it is version {} now. Nothing was written. \
                 Read it again, and repeat what is still right.",
                now.version()
            )));
        }
        if let Some(fault) = &now.note.fault {
            return Err(ToolError::Refused(format!(
                "no tool writes to `{}`: {fault}. Its owner has to mend the file by hand first.",
                entry.path
            )));
        }
        Ok((now, text))
    }

    /// Writes a new note. Gives the path of its file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(&mut self, note: &Note) -> Result<String> {
        let text = new_file(&changes_of(note), &note.body);
        self.check_size(&note.subject, &text)?;
        let id = note.id.clone().unwrap_or_default();
        let path = self.write_free(&slug(&note.subject, &id), &id, &text)?;
        Ok(path)
    }

    /// Writes under `name`, or under a longer one if that is taken.
    fn write_free(&mut self, name: &str, id: &str, text: &str) -> Result<String> {
        for path in [format!("{name}.md"), format!("{name}-{id}.md")] {
            match self.memory.notes.write_new(&path, text) {
                Ok(()) => {
                    self.touched.insert(path.clone());
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(ToolError::io("write", path, &error)),
            }
        }
        Err(ToolError::Refused(format!("no name is free for `{name}`; give it another subject.")))
    }

    /// Changes keys of a note, and its body if one is given. What it was goes to the trash.
    ///
    /// # Errors
    /// It cannot be changed, or not written.
    pub fn change(
        &mut self,
        entry: &Entry,
        text: &str,
        changes: &Changes,
        body: Option<&str>,
    ) -> Result<()> {
        let new = changed(text, changes, body).map_err(|why| {
            ToolError::Refused(format!(
                "`{}` was not changed: {why}. Its owner can edit the file.",
                entry.path
            ))
        })?;
        self.check_size(&entry.id, &new)?;
        self.put(entry, &new)
    }

    /// Puts a text in place of a note's.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(&mut self, entry: &Entry, text: &str) -> Result<()> {
        let kept = trash_path(Gone::Replaced, &entry.path)?;
        self.touched.insert(entry.path.clone());
        self.memory
            .notes
            .replace(&entry.path, text, &self.memory.trash, &kept)
            .map_err(|error| ToolError::io("write", entry.path.as_str(), &error))
    }

    /// Moves a note to the trash. Gives its path there.
    ///
    /// # Errors
    /// It cannot be moved.
    pub fn throw_away(&mut self, path: &str) -> Result<String> {
        let kept = trash_path(Gone::Forgotten, path)?;
        self.touched.insert(path.to_owned());
        self.memory
            .notes
            .move_to(path, &self.memory.trash, &kept)
            .map_err(|error| ToolError::io("move to the trash", path, &error))?;
        Ok(kept)
    }

    /// An id that no note has.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new_id(&self) -> Result<String> {
        loop {
            let random = random()?;
            let id = format!("m{}", random.get(..ID_DIGITS).unwrap_or(&random));
            match find::note(&self.memory.index.db, &id) {
                Err(ToolError::NoNote { .. }) => return Ok(id),
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
    }

    fn check_size(&self, what: &str, text: &str) -> Result<()> {
        let max = self.memory.limits.note_bytes_max;
        if text.len() as u64 <= max {
            return Ok(());
        }
        Err(ToolError::Refused(format!(
            "`{what}` would have {} bytes, and a note may have {max}. Nothing was written. Shorten it, or split it into several notes.",
            text.len()
        )))
    }
}

/// A file of notes, proposals or trash as it is now, and its text.
///
/// # Errors
/// It cannot be read.
pub fn read(folder: &Folder, path: &str, bytes_max: u64) -> Result<Option<(Entry, String)>> {
    let read = folder.read(path, bytes_max).map_err(|error| ToolError::io("read", path, &error))?;
    Ok(read.map(|(stamp, content)| {
        let entry = Entry::new(path, &stamp, &content);
        let text = match content {
            Content::Text(bytes) => String::from_utf8(bytes).unwrap_or_default(),
            _ => String::new(),
        };
        (entry, text)
    }))
}

/// Where a file lies in the trash: a folder of its own, and its path below it.
///
/// # Errors
/// The system has no random numbers.
pub fn trash_path(gone: Gone, path: &str) -> Result<String> {
    let why = match gone {
        Gone::Forgotten => "forgotten",
        Gone::Replaced => "replaced",
        Gone::Promoted => "promoted",
        Gone::Skipped => "skipped",
        Gone::Expired => "expired",
        Gone::Refused => "refused",
        Gone::LeftOver => "left-over",
    };
    let when = time::sortable_now();
    let random = random()?;
    Ok(format!("{when}-{}-{why}/{path}", random.get(..6).unwrap_or(&random)))
}

fn random() -> Result<String> {
    durable::random().map_err(|error| ToolError::io("make an id of", "random numbers", &error))
}

/// A file name made of a subject.
fn slug(subject: &str, id: &str) -> String {
    let mut slug = String::new();
    for c in lower(subject).chars() {
        if slug.len() + c.len_utf8() > SLUG_BYTES_MAX {
            break;
        }
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    // The thesaurus is no note.
    if slug.is_empty() || slug == stem(THESAURUS) { id.to_owned() } else { slug.to_owned() }
}

/// How often the trash is bounded while notes are written.
const TRASH_LOOK_EVERY: Duration = Duration::from_secs(3_600);

impl Memory {
    /// Writes are what fills the trash, so they bound it.
    fn bound_trash_sometimes(&mut self) {
        if self.trash_bounded_at.is_some_and(|at| at.elapsed() < TRASH_LOOK_EVERY) {
            return;
        }
        self.trash_bounded_at = Some(Instant::now());
        // The write is done. What cannot be removed stays, and a check says how much lies there.
        let _ = self.bound_trash();
    }

    /// Changes notes: under the lock, and with the index brought along and compared.
    ///
    /// # Errors
    /// What `work` gives. What it had done until then stands in files and index.
    pub fn write<T>(&mut self, work: impl FnOnce(&mut Writer<'_>) -> Result<T>) -> Result<T> {
        self.under_lock(|memory| {
            memory.fresh_locked()?;
            let mut writer = Writer::new(memory);
            let done = work(&mut writer);
            let touched = std::mem::take(&mut writer.touched);
            killpoint::here("memory-written");
            writer.memory.bring_along(&touched)?;
            killpoint::here("memory-indexed");
            writer.memory.bound_trash_sometimes();
            done
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_short_and_plain() {
        for (subject, name) in [
            ("Anna's birthday", "anna-s-birthday"),
            ("../../etc/passwd", "etc-passwd"),
            ("北京大学", "北京大学"),
            ("!!!", "m1"),
            ("Thesaurus", "m1"),
            (".hidden", "hidden"),
        ] {
            assert_eq!(slug(subject, "m1"), name);
        }
        assert!(slug(&"é".repeat(200), "m1").len() <= SLUG_BYTES_MAX);
    }
}
