//! What goes into a backup: databases and settings as private copies of one moment, artifacts as
//! they lie, because they are named after their content. Must not know the form of the file.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::contents::{DB, Entry, FILES, JOBS, NOTES, is_digest, is_note};
use super::hashed::Hashed;
use super::{broken_audit, schedule};
use crate::config::Home;
use crate::doors::reached;
use crate::durable::Part;
use crate::store::Store;

/// Everything, and what is to be said about it.
pub struct Sources {
    found: Vec<(Entry, Place)>,
    /// Settings, persona and notes, one behind the other: somebody may change them meanwhile.
    copies: Part,
    copied_bytes: u64,
    /// Passing files that `found` names; they go when this is dropped.
    databases: Vec<Part>,
    /// A sentence each.
    pub told: Vec<String>,
}

enum Place {
    File(PathBuf),
    /// Where it begins in the copies.
    Copy(u64),
}

impl Sources {
    pub fn of(home: &Home) -> anyhow::Result<Self> {
        let copies = Part::beside(&home.path().join("backup"));
        let copies =
            copies.with_context(|| format!("cannot write in {}", home.path().display()))?;
        let (found, databases, told) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Self { found, copies, copied_bytes: 0, databases, told };
        for (prefix, home) in homes(home) {
            all.add_home(&prefix, &home)?;
        }
        Ok(all)
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.found.iter().map(|(entry, _)| entry)
    }

    /// Each with what it holds, in the order of the entries.
    pub fn read(
        &self,
        mut taken: impl FnMut(&Entry, &mut dyn Read) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut copies = File::open(self.copies.path())?;
        for (entry, place) in &self.found {
            match place {
                Place::Copy(at) => {
                    copies.seek(SeekFrom::Start(*at))?;
                    taken(entry, &mut copies.by_ref().take(entry.bytes))?;
                }
                Place::File(path) => {
                    let file = File::open(path).with_context(|| {
                        format!("{} went away while it was copied; try again", entry.name)
                    })?;
                    taken(entry, &mut file.take(entry.bytes))?;
                }
            }
        }
        Ok(())
    }

    fn add_home(&mut self, prefix: &str, home: &Home) -> anyhow::Result<()> {
        // Before the store: a firing is in the store before it counts as taken. The other way
        // round, one could be missing in both.
        match schedule::copy(home) {
            Ok(Some(part)) => self.add_database(&format!("{prefix}{JOBS}"), part)?,
            Ok(None) => {}
            // What does not come back does not keep anybody from saving the rest.
            Err(error) => self.told.push(format!(
                "{prefix}{JOBS} ({error:#}) cannot be read whole, and was left out."
            )),
        }
        // An agent that has not run yet has settings, and no store. Claw's own is made if only
        // agents have run.
        if prefix.is_empty() || home.claw_db().is_file() {
            self.add_store(&format!("{prefix}{DB}"), home)?;
        }
        for name in FILES {
            let path = home.path().join(name);
            if path.is_file() {
                self.add_copy(&format!("{prefix}{name}"), &path)?;
            }
        }
        // Behind the store: a file is on the disk before the row that names it, so every row of
        // the copy finds its file.
        self.add_artifacts(prefix, home)?;
        let mut notes = Vec::new();
        notes_below(&home.memory(), "", &mut notes);
        for note in notes {
            self.add_copy(&format!("{prefix}{NOTES}{note}"), &home.memory().join(&note))?;
        }
        Ok(())
    }

    /// The database as it is at one moment.
    fn add_store(&mut self, name: &str, home: &Home) -> anyhow::Result<()> {
        // Made here, so that it is the owner's alone from its first byte on. SQLite takes an empty
        // file.
        let part = Part::beside(&home.claw_db());
        let part = part.with_context(|| format!("cannot write in {}", home.path().display()))?;
        let store = Store::open(&home.claw_db())?;
        crate::tell_migration(&store);
        store.read(|tx| tx.copy_into(part.path()))?;
        let claw = reached::claw(home.agent().unwrap_or(crate::config::MAIN));
        if let Some(what) = broken_audit(&store, &claw) {
            self.told.push(format!(
                "The audit in {name} is broken, and so it comes back with `claw restore`: {what}."
            ));
        }
        self.add_database(name, part)
    }

    fn add_database(&mut self, name: &str, part: Part) -> anyhow::Result<()> {
        self.found.push((listed(name, part.path())?, Place::File(part.path().to_owned())));
        self.databases.push(part);
        Ok(())
    }

    fn add_copy(&mut self, name: &str, path: &Path) -> anyhow::Result<()> {
        let copied = || format!("{} cannot be copied", path.display());
        let file = match File::open(path) {
            // Gone since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.with_context(copied)?,
        };
        let mut file = Hashed::new(file);
        let bytes = io::copy(&mut file, &mut self.copies.file).with_context(copied)?;
        self.found.push((file.into_entry(name), Place::Copy(self.copied_bytes)));
        self.copied_bytes += bytes;
        Ok(())
    }

    fn add_artifacts(&mut self, prefix: &str, home: &Home) -> anyhow::Result<()> {
        let mut files: Vec<_> =
            fs::read_dir(home.artifacts()).into_iter().flatten().filter_map(Result::ok).collect();
        files.sort_by_key(fs::DirEntry::file_name);
        for file in files {
            let name = file.file_name().into_string();
            let Some(digest) = name.ok().filter(|name| is_digest(name)) else { continue };
            let entry = listed(&format!("{prefix}artifacts/{digest}"), &file.path())?;
            if entry.sha256 == digest {
                self.found.push((entry, Place::File(file.path())));
            } else {
                self.told.push(format!(
                    "{} is damaged (its content is not what its name says), and was left out.",
                    entry.name
                ));
            }
        }
        Ok(())
    }
}

/// The home, and those of the agents in it, each with what its names begin with.
pub fn homes(home: &Home) -> Vec<(String, Home)> {
    let prefix = |home: &Home| format!("agents/{}/", home.agent().unwrap_or_default());
    let agents = home.homes_of_agents().into_iter().map(|home| (prefix(&home), home));
    std::iter::once((String::new(), home.clone())).chain(agents).collect()
}

/// A file that nobody changes.
fn listed(name: &str, path: &Path) -> anyhow::Result<Entry> {
    let read = || format!("cannot read {}", path.display());
    let mut file = Hashed::new(File::open(path).with_context(read)?);
    io::copy(&mut file, &mut io::sink()).with_context(read)?;
    Ok(file.into_entry(name))
}

/// The notes of a folder by their paths, in order. No link is followed.
fn notes_below(folder: &Path, path: &str, found: &mut Vec<String>) {
    let read = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut entries: Vec<_> = read.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
            continue;
        };
        let below = format!("{path}{name}");
        if kind.is_dir() && !name.starts_with('.') {
            notes_below(&entry.path(), &format!("{below}/"), found);
        } else if kind.is_file() && is_note(&below) {
            found.push(below);
        }
    }
}
