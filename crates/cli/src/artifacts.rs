//! `claw artifacts`: what was put aside, one of it, what it is called, and its end. Must not know
//! who puts it there, or when it becomes too old.

use std::fs;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context as _;
use claw_kit::counted::counted;
use serde_json::json;

use super::fail::{self, UserError};
use super::out;
use crate::app::{App, day, owner_principal};
use crate::moment::when;
use crate::store::{ArtifactRow, AuditEntry};
use crate::whose::claw;

/// Digits of a digest that are shown, also in a name; with so many a model names an artifact.
const DIGITS: usize = 16;
/// Fewer digits of a digest name nothing.
const DIGITS_MIN: usize = 4;
const WHY: &str = "its owner";
/// Longer ones are no names.
const ALIAS_BYTES_MAX: usize = 40;

pub fn list(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let rows = app.store.read(|tx| tx.artifacts())?;
    for row in &rows {
        let shown = if as_json { object(row).to_string() } else { text(row) };
        out::line(&shown)?;
    }
    if rows.is_empty() && !as_json {
        out::err_line(
            "Nothing was put aside yet: no result was too long, no conversation too old.",
        );
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Text as it is, for a terminal with its control characters made visible.
pub fn show(app: &App, named: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let row = find(app, named)?;
    let path = app.artifacts().path(&row.digest);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(_) if row.removed.is_some() => return Err(gone(&row)),
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", path.display()));
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) if as_json => {
            let mut object = object(&row);
            object["text"] = text.into();
            out::line(&object.to_string())?;
        }
        Ok(text) if std::io::stdout().is_terminal() => out::line(&out::clean(&text))?,
        Ok(text) => out::file_text(&text)?,
        Err(_) => {
            let words = format!(
                "{} is no text ({}, {}); its file is {}",
                name(&row),
                row.mime,
                counted(row.bytes, "byte"),
                path.display()
            );
            return Err(UserError::because(words));
        }
    }
    Ok(ExitCode::from(fail::DONE))
}

/// The note comes before the file goes, so that nobody looks for it in vain.
pub async fn remove(app: &App, named: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let row = find(app, named)?;
    if row.removed.is_some() {
        return Err(gone(&row));
    }
    let (digest, bytes) = (row.digest.clone(), row.bytes);
    let body = json!({"digest": digest, "bytes": bytes, "by": owner_principal()});
    app.store
        .write(move |tx| {
            tx.artifact_removed(&digest, bytes, WHY)?;
            tx.audit(&AuditEntry { kind: "artifact", call: String::new(), body })
        })
        .await?;
    let path = app.artifacts().path(&row.digest);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("{} cannot be removed", path.display()));
        }
        _ => {}
    }
    let object = json!({"digest": row.digest, "removed": true});
    let words = format!(
        "{} is removed ({}). The log and the audit stay.",
        name(&row),
        counted(bytes, "byte")
    );
    out::done(as_json, &object, &words)?;
    Ok(ExitCode::from(fail::DONE))
}

/// What is called so stands first in its name; a model still needs the digits behind it, so that no
/// conversation can guess what another one has put aside.
pub async fn alias(
    app: &App,
    named: &str,
    alias: Option<&str>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let mut row = find(app, named)?;
    if row.removed.is_some() {
        return Err(gone(&row));
    }
    if let Some(why) = alias.and_then(why_no_alias) {
        return Err(UserError::because(why));
    }
    row.alias = alias.map(str::to_owned);
    let (digest, called) = (row.digest.clone(), row.alias.clone());
    let other = app.store.write(move |tx| tx.call_artifact(&digest, called.as_deref())).await?;
    if let (Some(other), Some(alias)) = (other, alias) {
        let other = other.get(..DIGITS).unwrap_or(&other);
        return Err(UserError::because(format!(
            "`{alias}` is the alias of {other} already; `{} artifacts alias {other}` takes it off",
            claw(app)
        )));
    }
    out::line(&match (as_json, alias) {
        (true, _) => object(&row).to_string(),
        (false, Some(alias)) => format!(
            "`{alias}` is an alias now. `{} artifacts show {alias}` prints it; to a model it is {}.",
            claw(app),
            name(&row)
        ),
        (false, None) => format!("{} has no alias now.", name(&row)),
    })?;
    Ok(ExitCode::from(fail::DONE))
}

/// Whether it could be taken for something else.
fn why_no_alias(alias: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_word = alias.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
        && alias.len() <= ALIAS_BYTES_MAX
        && alias.bytes().all(plain)
        && !alias.ends_with('-');
    if !is_word {
        return Some(format!(
            "`{}` cannot be an alias: it is a small letter, then up to {} small letters, digits and \
             dashes, such as `tax-letter`",
            out::clean(alias),
            ALIAS_BYTES_MAX - 1
        ));
    }
    let last = alias.rsplit('-').next().unwrap_or_default();
    (last.len() >= DIGITS_MIN && last.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| {
        format!("`{alias}` cannot be an alias: `{last}` reads like a digest; put `-x` behind it")
    })
}

/// By its alias, its name, or the beginning of its digest.
fn find(app: &App, named: &str) -> anyhow::Result<ArtifactRow> {
    let wanted = named.trim().to_ascii_lowercase();
    let rows = app.store.read(|tx| tx.artifacts())?;
    if let Some(called) = rows.iter().find(|row| row.alias.as_deref() == Some(wanted.as_str())) {
        return Ok(called.clone());
    }
    // What it came with, and the beginning of its digest; a digest has no dash.
    let (before, digits) = wanted.split_at(wanted.rfind('-').map_or(0, |at| at + 1));
    let fits = |row: &ArtifactRow| {
        digits.len() >= DIGITS_MIN
            && row.digest.starts_with(digits)
            && fronts(row).any(|front| format!("{front}-").to_ascii_lowercase().starts_with(before))
    };
    let mut found = rows;
    found.retain(fits);
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (Some(_), more) => Err(UserError::because(format!(
            "`{}` names {} artifacts; type more of its digest",
            out::clean(named),
            more + 1
        ))),
        (None, _) => Err(UserError::because(format!(
            "there is no artifact `{}`; `{} artifacts` lists them",
            out::clean(named),
            claw(app)
        ))),
    }
}

fn gone(row: &ArtifactRow) -> anyhow::Error {
    let (at_ms, why) = row.removed.clone().unwrap_or_default();
    UserError::because(format!("{} was removed by {why} on {}", name(row), day(at_ms)))
}

/// What it is called, or what it came with, and enough of its digest to tell it from others.
fn name(row: &ArtifactRow) -> String {
    let digits = row.digest.get(..DIGITS).unwrap_or(&row.digest);
    format!("{}-{digits}", fronts(row).next().unwrap_or_default())
}

/// What may stand before the digits, the first one as it is shown. A name from before there was an
/// alias still fits.
fn fronts(row: &ArtifactRow) -> impl Iterator<Item = String> {
    let came_with = match &row.tool {
        Some((server, tool)) => format!("{server}-{tool}"),
        None if row.call.is_empty() => "file".to_owned(),
        None => row.call.replace(':', "-"),
    };
    row.alias.clone().into_iter().chain([came_with])
}

fn text(row: &ArtifactRow) -> String {
    let removed = row
        .removed
        .as_ref()
        .map(|(at_ms, why)| format!("  (removed by {why} on {})", day(*at_ms)))
        .unwrap_or_default();
    let digits = row.digest.get(..DIGITS).unwrap_or(&row.digest);
    format!(
        "{digits}  {:>10} bytes  {}  {}{removed}",
        row.bytes,
        when(row.created_ms),
        out::clean(&name(row))
    )
}

fn object(row: &ArtifactRow) -> serde_json::Value {
    json!({
        "name": name(row), "alias": row.alias, "digest": row.digest, "bytes": row.bytes, "mime": row.mime,
        "of": row.call, "created_ms": row.created_ms,
        "removed_ms": row.removed.as_ref().map(|(at_ms, _)| at_ms),
        "removed_by": row.removed.as_ref().map(|(_, why)| why),
    })
}
