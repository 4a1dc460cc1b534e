//! `claw backup FILE`: everything in the home that cannot be made anew, as one tar file, consistent
//! also while claw runs. Must not know what the rows and settings mean.

mod contents;
pub mod restore;
mod schedule;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use claw_kit::counted::counted;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use self::contents::{Contents, DB, Entry, FILES, JOBS, MANIFEST, NOTES, is_digest, is_note};
use super::fail::{self, UserError};
use super::new_file::NewFile;
use super::out;
use crate::config::Home;
use crate::domain::canonical::hex;
use crate::durable::{self, Part};
use crate::store::Store;

const PIECE_BYTES: usize = 64 * 1024;

/// Something that goes into the file, and where it is read from.
struct Source {
    entry: Entry,
    path: PathBuf,
}

pub fn run(home: &Home, file: &Path, as_json: bool) -> anyhow::Result<ExitCode> {
    if !homes(home).iter().any(|(_, home)| home.claw_db().is_file()) {
        return Err(UserError::because(format!(
            "there is nothing to back up: {} holds no claw.db; set CLAW_HOME to the home that you \
             mean",
            home.path().display()
        )));
    }
    let mut into = NewFile::create(file)?;
    let (mut snapshots, mut sources, mut damaged) = (Vec::new(), Vec::new(), Vec::new());
    let (mut jobs, mut without_jobs) = (Vec::new(), Vec::new());
    for (prefix, home) in homes(home) {
        // Before the snapshot: a firing is in the store before it counts as taken. The other way
        // round, one could be missing in both.
        match schedule::copy(&home) {
            Ok(Some(part)) => {
                sources.push(source(&format!("{prefix}{JOBS}"), part.path())?);
                jobs.push(part);
            }
            Ok(None) => {}
            // What does not come back does not keep anybody from saving the rest.
            Err(error) => without_jobs.push(format!("{prefix}{JOBS} ({error:#})")),
        }
        // An agent that has not run yet has settings, and no store. Claw's own is made if only
        // agents have run.
        let snapshot = if prefix.is_empty() || home.claw_db().is_file() {
            Some(Snapshot::take(&home)?)
        } else {
            None
        };
        // Behind the snapshot: a file is on the disk before the row that names it, so every row of
        // the snapshot finds its file.
        let (found, broken) =
            sources_of(&home, snapshot.as_ref().map(|snapshot| snapshot.part.path()), &prefix)?;
        sources.extend(found);
        damaged.extend(broken);
        snapshots.extend(snapshot);
    }
    write(into.file(), &sources)?;
    into.publish()?;
    for name in damaged {
        out::err_line(&format!(
            "{name} is damaged (its content is not what its name says), and was left out."
        ));
    }
    for name in without_jobs {
        out::err_line(&format!("{name} cannot be read whole, and was left out."));
    }
    let bytes: u64 = sources.iter().map(|source| source.entry.bytes).sum();
    let object = json!({"id": file, "files": sources.len(), "bytes": bytes});
    let words = format!(
        "{} holds {}, {}: the store, settings (with any secret that is \
             written in them), persona, notes, jobs and artifacts; not the workspace, nor what \
             servers logged. Only you can read it. `claw restore` makes a home of it.",
        file.display(),
        counted(sources.len(), "file"),
        counted(bytes, "byte")
    );
    out::done(as_json, &object, &words)?;
    Ok(ExitCode::from(fail::DONE))
}

/// The home, and those of the agents in it, each with what its names begin with.
fn homes(home: &Home) -> Vec<(String, Home)> {
    let prefix = |home: &Home| format!("agents/{}/", home.agent().unwrap_or_default());
    let agents = home.homes_of_agents().into_iter().map(|home| (prefix(&home), home));
    std::iter::once((String::new(), home.clone())).chain(agents).collect()
}

/// The database as it was at one moment, under a passing name that goes when this is dropped.
struct Snapshot {
    part: Part,
}

impl Snapshot {
    fn take(home: &Home) -> anyhow::Result<Self> {
        // Made here, so that it is the owner's alone from its first byte on. SQLite takes an empty
        // file.
        let part = Part::beside(&home.claw_db());
        let part = part.with_context(|| format!("cannot write in {}", home.path().display()))?;
        let store = Store::open(&home.claw_db())?;
        crate::tell_migration(&store);
        store.read(|tx| tx.copy_into(part.path()))?;
        Ok(Self { part })
    }
}

/// Unfinished files that were left in a home by a kill: of settings, of the store, of artifacts.
/// What a backup leaves holds secrets.
pub fn left_drafts(home: &Home) -> Vec<PathBuf> {
    let mut left = durable::abandoned(home.path(), is_draft);
    left.extend(durable::abandoned(&home.artifacts(), durable::is_part));
    left
}

/// An earlier claw named its copies of the store by its process id.
fn is_draft(name: &str) -> bool {
    durable::is_part(name) || name.starts_with("claw.db.snapshot-")
}

fn sources_of(
    home: &Home,
    snapshot: Option<&Path>,
    prefix: &str,
) -> anyhow::Result<(Vec<Source>, Vec<String>)> {
    let (mut found, mut damaged) = (Vec::new(), Vec::new());
    if let Some(snapshot) = snapshot {
        found.push(source(&format!("{prefix}{DB}"), snapshot)?);
    }
    for name in FILES {
        let path = home.path().join(name);
        if path.is_file() {
            found.push(source(&format!("{prefix}{name}"), &path)?);
        }
    }
    let mut artifacts: Vec<_> =
        fs::read_dir(home.artifacts()).into_iter().flatten().filter_map(Result::ok).collect();
    artifacts.sort_by_key(fs::DirEntry::file_name);
    for artifact in artifacts {
        let Some(digest) = artifact.file_name().into_string().ok().filter(|name| is_digest(name))
        else {
            continue;
        };
        let one = source(&format!("{prefix}artifacts/{digest}"), &artifact.path())?;
        if one.entry.sha256 == digest { found.push(one) } else { damaged.push(one.entry.name) }
    }
    let mut notes = Vec::new();
    notes_below(&home.memory(), "", &mut notes);
    for note in notes {
        let name = format!("{prefix}{NOTES}{note}");
        found.push(source(&name, &home.memory().join(&note))?);
    }
    Ok((found, damaged))
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

fn source(name: &str, path: &Path) -> anyhow::Result<Source> {
    let mut file =
        fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (mut hash, mut bytes, mut piece) = (Sha256::new(), 0_u64, vec![0; PIECE_BYTES]);
    loop {
        match file.read(&mut piece).with_context(|| format!("cannot read {}", path.display()))? {
            0 => break,
            size => {
                hash.update(piece.get(..size).unwrap_or_default());
                bytes += size as u64;
            }
        }
    }
    let sha256 = hex(&hash.finalize());
    Ok(Source { entry: Entry { name: name.to_owned(), bytes, sha256 }, path: path.to_owned() })
}

fn write(into: &fs::File, sources: &[Source]) -> anyhow::Result<()> {
    let mut archive = tar::Builder::new(std::io::BufWriter::new(into));
    let contents = Contents::of(sources.iter().map(|source| source.entry.clone()).collect());
    let text = contents.to_text()?;
    archive.append_data(&mut header(text.len() as u64), MANIFEST, text.as_bytes())?;
    for Source { entry, path } in sources {
        let file = fs::File::open(path)
            .with_context(|| format!("{} went away while it was copied; try again", entry.name))?;
        let size = file.metadata()?.len();
        anyhow::ensure!(
            size == entry.bytes,
            "{} changed while it was copied; try again",
            entry.name
        );
        archive.append_data(&mut header(size), &entry.name, file.take(size))?;
    }
    archive.into_inner()?.flush()?;
    Ok(())
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o600);
    header
}
