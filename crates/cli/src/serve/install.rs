//! `claw serve --install`: shows what a client's file would become, asks, keeps a copy beside it,
//! and writes it. Must not know how a file is changed, or what a client does with it.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use super::client_file::ClientFile;
use super::edit::{self, Edit};
use super::entry::{self, NAME};
use crate::ask_person::{self, agreed};
use crate::durable;
use crate::fail::{self, UserError};
use crate::out;

/// The longest file that is changed, in bytes. Claude Code keeps much beside its servers.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Copies that lie beside a file before another one is refused.
const COPIES_MAX: u32 = 99;

/// Prints the entry to standard output, and to standard error where it belongs.
pub fn print(file: &ClientFile, entry: &Value) -> anyhow::Result<ExitCode> {
    let text = edit::snippet(file.format, file.servers, entry)
        .map_err(|why| anyhow::anyhow!("the entry cannot be written: {why}"))?;
    out::err_line(&format!("{} reads this from {}:", file.client, shown(&file.path)));
    out::to_copy(text.trim_end())?;
    Ok(ExitCode::from(fail::DONE))
}

/// `note`: what the owner has to know beside. `yes`: without asking, which overwrites no entry of
/// other words.
pub async fn run(
    file: ClientFile,
    entry: Value,
    note: Option<&str>,
    yes: bool,
) -> anyhow::Result<ExitCode> {
    let before = read(&file)?;
    let text = before.as_deref().unwrap_or_default();
    let Edit { before: there, text: after } =
        edit::edit(file.format, text, file.servers, &entry).map_err(|why| unusable(&file, &why))?;
    if there.as_ref() == Some(&entry) {
        out::line(&format!(
            "{} has claw already, in exactly these words: {}",
            file.client,
            shown(&file.path)
        ))?;
        note.map_or(Ok(()), out::line)?;
        return Ok(ExitCode::from(fail::DONE));
    }
    check_it_can_be_changed(&file)?;
    show(&file, there.as_ref(), &entry)?;
    if there.is_some() && yes {
        return Err(UserError::because(format!(
            "{} has an entry `{NAME}` with other words, and --yes overwrites none; take it out, or \
             run this without --yes at a terminal",
            shown(&file.path)
        )));
    }
    if !yes && !asked(&file).await? {
        return Ok(ExitCode::from(fail::WAITS));
    }
    let copy = write(&file, before.as_deref(), &after)?;
    out::line(&format!("Written: {}", shown(&file.path)))?;
    if let Some(copy) = copy {
        out::line(&format!("As it was before: {}", shown(&copy)))?;
    }
    out::line(file.next)?;
    note.map_or(Ok(()), out::line)?;
    Ok(ExitCode::from(fail::DONE))
}

/// The text of the file; `None` where there is none yet.
fn read(file: &ClientFile) -> anyhow::Result<Option<String>> {
    let folder = file.path.parent().unwrap_or(&file.path);
    if !folder.is_dir() {
        return Err(UserError::because(format!(
            "{} has no folder {} here, so it seems not to be installed; start it once, or see \
             --print-config",
            file.client,
            shown(folder)
        )));
    }
    // A pipe would be waited for.
    if fs::metadata(&file.path).is_ok_and(|meta| !meta.is_file()) {
        return Err(unusable(file, "it is no plain file"));
    }
    let opened = match fs::File::open(&file.path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if file.path.is_symlink() {
                return Err(unusable(file, "it is a link to a file that is not there"));
            }
            return Ok(None);
        }
        Err(error) => return Err(unusable(file, &format!("it cannot be read ({error})"))),
    };
    let mut bytes = Vec::new();
    let read = opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unusable(file, &format!("it cannot be read ({error})")))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(unusable(file, &format!("it is over {FILE_BYTES_MAX} bytes")));
    }
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| unusable(file, "it is not UTF-8 text"))
}

/// A file that is to stay as it is, or is another user's, is not replaced.
fn check_it_can_be_changed(file: &ClientFile) -> anyhow::Result<()> {
    let Ok(meta) = fs::metadata(&file.path) else { return Ok(()) };
    if meta.permissions().mode() & 0o222 == 0 {
        return Err(unusable(file, "it is read-only"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(unusable(file, "it belongs to another user"));
    }
    Ok(())
}

fn unusable(file: &ClientFile, why: &str) -> anyhow::Error {
    UserError::because(format!(
        "{} is left as it is, because {}; correct it, or put in by hand what --print-config prints",
        shown(&file.path),
        out::clean(why)
    ))
}

fn show(file: &ClientFile, there: Option<&Value>, entry: &Value) -> anyhow::Result<()> {
    let (path, servers) = (shown(&file.path), file.servers);
    let marked = |mark: char, entry: &Value| {
        let lines = entry::lines(entry).into_iter();
        lines.map(|line| format!("{mark} {}", out::clean(&line))).collect::<Vec<_>>()
    };
    match there {
        Some(there) => {
            out::line(&format!("{path} has an entry `{NAME}` in `{servers}`, with other words:"))?;
            marked('-', there).iter().try_for_each(|line| out::line(line))?;
            out::line("It would become:")?;
        }
        None => out::line(&format!("{path} would get an entry `{NAME}` in `{servers}`:"))?,
    }
    marked('+', entry).iter().try_for_each(|line| out::line(line))?;
    Ok(())
}

/// Only a clear yes of somebody at a terminal is one.
async fn asked(file: &ClientFile) -> anyhow::Result<bool> {
    if ask_person::possible() {
        let question = format!("Write it into the configuration of {}?", file.client);
        let agreed = tokio::task::spawn_blocking(move || agreed(&question)).await??;
        if !agreed {
            out::err_line("Nothing was changed.");
        }
        return Ok(agreed);
    }
    out::err_line("Nothing was changed. The same with --yes does it.");
    Ok(false)
}

/// Keeps what was there under another name, and writes what was shown. The copy's place.
fn write(file: &ClientFile, before: Option<&str>, after: &str) -> anyhow::Result<Option<PathBuf>> {
    // A client writes its own file whenever it likes.
    if read(file)?.as_deref() != before {
        return Err(UserError::because(format!(
            "{} was changed while you were asked, and is left as it is now; run this again",
            shown(&file.path)
        )));
    }
    let Some(before) = before else {
        durable::write_new(&file.path, after).map_err(|error| unwritten(&file.path, &error))?;
        return Ok(None);
    };
    // A link of the owner's stays a link.
    let target = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
    let copy = copy(&target, before)?;
    let mode = fs::metadata(&target).map_or(0o600, |meta| meta.permissions().mode() & 0o777);
    durable::replace(&target, after, mode).map_err(|error| unwritten(&target, &error))?;
    Ok(Some(copy))
}

fn unwritten(path: &Path, error: &io::Error) -> anyhow::Error {
    UserError::because(format!(
        "{} cannot be written ({error}), so nothing was changed; correct that, or put in by hand \
         what --print-config prints",
        shown(path)
    ))
}

/// Under the first free name beside it, for its owner alone.
fn copy(target: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1..=COPIES_MAX {
        let path = target.with_file_name(match number {
            1 => format!("{name}.before-claw"),
            _ => format!("{name}.before-claw-{number}"),
        });
        match durable::write_new(&path, text) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritten(&path, &error)),
            Ok(()) => return Ok(path),
        }
    }
    Err(UserError::because(format!(
        "{COPIES_MAX} copies named {name}.before-claw lie beside it already; remove some and run \
         this again"
    )))
}

fn shown(path: &Path) -> String {
    out::clean(&path.display().to_string())
}
