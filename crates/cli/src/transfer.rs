//! `claw sessions export` and `import`: a log leaves this home as a file, or comes into it as a new
//! session. Must not know how the file is written.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use claw_kit::counted::counted;
use serde_json::json;

use super::fail::{self, UserError};
use super::new_file::NewFile;
use super::{out, sessions};
use crate::app::App;
use crate::domain::SessionId;
use crate::domain::canonical::sha256_hex;
use crate::store::AuditEntry;
use crate::turn::export::{self, Exported};
use crate::whose::claw;

/// The largest file that is taken in, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

pub fn export(app: &App, name: &str, to: Option<&Path>) -> anyhow::Result<ExitCode> {
    let session = SessionId::new(name)?;
    let text = export::write(&session, &sessions::events(app, name)?)?;
    match to {
        None => {
            out::line(text.trim_end_matches('\n'))?;
        }
        Some(path) => {
            let mut into = NewFile::create(path)?;
            into.file()
                .write_all(text.as_bytes())
                .with_context(|| format!("{} cannot be written", path.display()))?;
            into.publish()?;
            out::err_line(&format!("The log of `{session}` is in {}.", path.display()));
        }
    }
    Ok(ExitCode::from(fail::DONE))
}

pub async fn import(
    app: &App,
    file: &Path,
    name: Option<String>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let exported = read(app, file)?;
    let exported = match name {
        Some(name) => exported.renamed(&SessionId::new(name)?),
        None => exported,
    };
    let (name, count) = (exported.session.to_string(), exported.events.len());
    let away =
        exported.images().iter().filter(|digest| !app.artifacts().path(digest).exists()).count();
    let digest = sha256_hex(export::write(&exported.session, &exported.events)?);
    let body = json!({"session": name, "events": count, "sha256": digest, "by": crate::app::owner_principal()});
    let taken_in = app
        .store
        .write(move |tx| {
            let new = tx.import_log(&exported.session, &exported.events)?;
            if new {
                tx.audit(&AuditEntry { kind: "imported", call: String::new(), body })?;
            }
            Ok(new)
        })
        .await?;
    if !taken_in {
        let text = format!(
            "there is a session `{name}` already, and nothing is overwritten; `--as NAME` gives \
             it another name"
        );
        return Err(UserError::because(text));
    }
    out::line(&if as_json {
        json!({"id": name, "events": count, "images_missing": away}).to_string()
    } else {
        let missing = match away {
            0 => String::new(),
            1 => " 1 of its images is not in this home; the model sees a note in its place."
                .to_owned(),
            _ => format!(
                " {away} of its images are not in this home; the model sees a note in their place."
            ),
        };
        format!(
            "`{name}` holds {} now; `{} chat --session {name}` goes on with it.{missing}",
            counted(count, "event"),
            claw(app)
        )
    })?;
    Ok(ExitCode::from(fail::DONE))
}

fn read(app: &App, file: &Path) -> anyhow::Result<Exported> {
    let found = fs::metadata(file).map_err(|error| {
        UserError::because(format!("{} cannot be opened: {error}", file.display()))
    })?;
    if found.is_dir() {
        return Err(UserError::because(format!("{} is a folder, and no file", file.display())));
    }
    let bytes = found.len();
    if bytes > FILE_BYTES_MAX {
        return Err(UserError::because(format!(
            "{} is larger than 1 GiB, which no log is",
            file.display()
        )));
    }
    let text = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    export::read(&text, &app.bounds()).map_err(|error| {
        UserError::because(out::clean(&format!(
            "{}, {error}. Nothing was taken in",
            file.display()
        )))
    })
}
