//! `claw backup FILE`: everything in the home that cannot be made anew, as one tar file, consistent
//! also while claw runs. Must not know what the rows and settings mean.

mod contents;
mod hashed;
pub mod restore;
mod schedule;
mod sources;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use claw_kit::counted::counted;
use serde_json::json;

use self::contents::{Contents, MANIFEST};
use self::hashed::Hashed;
use self::sources::{Sources, homes};
use super::fail::{self, UserError};
use super::new_file::NewFile;
use super::out;
use crate::config::Home;
use crate::durable;
use crate::store::Store;

pub fn run(home: &Home, file: &Path, as_json: bool) -> anyhow::Result<ExitCode> {
    if !homes(home).iter().any(|(_, home)| home.claw_db().is_file()) {
        return Err(UserError::because(format!(
            "there is nothing to back up: {} holds no claw.db; set CLAW_HOME to the home that you \
             mean",
            home.path().display()
        )));
    }
    let mut into = NewFile::create(file)?;
    let sources = Sources::of(home)?;
    write(into.file(), &sources)?;
    into.publish()?;
    for told in &sources.told {
        out::err_line(told);
    }
    let files = sources.entries().count();
    let bytes: u64 = sources.entries().map(|entry| entry.bytes).sum();
    let object = json!({"id": file, "files": files, "bytes": bytes});
    let words = format!(
        "{} holds {}, {}: the store, settings (with any secret that is \
             written in them), persona, notes, jobs and artifacts; not the workspace, nor what \
             servers logged. Only you can read it. `claw restore` makes a home of it.",
        file.display(),
        counted(files, "file"),
        counted(bytes, "byte")
    );
    out::done(as_json, &object, &words)?;
    Ok(ExitCode::from(fail::DONE))
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

/// Why the audit of a store is broken, with the command that says the same, as the end of a
/// sentence. A home works on with it, so a backup takes it as it is and a restore gives it back.
fn broken_audit(store: &Store, claw: &str) -> Option<String> {
    let what = match store.read(|tx| tx.verify_audit(None)) {
        Ok(Ok(_)) => return None,
        Ok(Err(broken)) => broken.what,
        Err(error) => error.to_string(),
    };
    Some(format!("{} (`{claw} audit verify` says it)", out::clean(&what)))
}

/// # Errors
/// Something is not what it was when it was listed, besides every failure to read or write.
fn write(into: &File, sources: &Sources) -> anyhow::Result<()> {
    let mut archive = tar::Builder::new(BufWriter::new(into));
    let contents = Contents::of(sources.entries().cloned().collect());
    let text = contents.to_text()?;
    archive.append_data(&mut header(text.len() as u64), MANIFEST, text.as_bytes())?;
    sources.read(|entry, from| {
        let mut from = Hashed::new(from);
        archive.append_data(&mut header(entry.bytes), &entry.name, &mut from)?;
        anyhow::ensure!(
            from.into_entry(&entry.name) == *entry,
            "{} changed while it was copied; try again",
            entry.name
        );
        Ok(())
    })?;
    archive.into_inner()?.flush()?;
    Ok(())
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o600);
    header
}
