//! `claw persona`: what its files say, what they said before, and one of that put back. Must not
//! know how versions are kept, or how a prompt is made of the files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::args::PersonaAction;
use super::fail::{self, UserError};
use super::out;
use crate::app::App;
use crate::config::persona_versions::{digest, name_of};
use crate::config::{PersonaFile, PersonaVersion};
use crate::durable;
use crate::moment::when;
use crate::store::now_ms;
use crate::whose::claw;

/// Digits of a version that are shown.
const DIGITS: usize = 12;
/// Fewer digits name nothing.
const DIGITS_MIN: usize = 4;
/// Of a file that is not there any more.
const MODE: u32 = 0o600;

pub fn run(app: &App, action: Option<PersonaAction>, as_json: bool) -> anyhow::Result<ExitCode> {
    // What has changed since the last request is a version, too.
    let files = app.config.persona.files();
    let versions = app.persona_versions();
    for file in &files {
        versions.keep(file, now_ms()).with_context(|| {
            format!("the version of `{}` that counts now cannot be kept", name_of(file))
        })?;
    }
    let all = versions.all();
    match action {
        None | Some(PersonaAction::Show { version: None }) => show(&files, as_json)?,
        Some(PersonaAction::History { file }) => {
            history(&claw(app), &all, &files, file.as_deref(), as_json)?
        }
        Some(PersonaAction::Show { version: Some(version) }) => {
            show_version(find(&claw(app), &all, &version)?, as_json)?;
        }
        Some(PersonaAction::Restore { version }) => {
            restore(app, &files, find(&claw(app), &all, &version)?, as_json)?;
        }
    }
    Ok(ExitCode::from(fail::DONE))
}

fn show(files: &[PersonaFile], as_json: bool) -> anyhow::Result<()> {
    for file in files {
        let (name, digest) = (name_of(file), digest(&file.text));
        let fault = file.fault.as_deref();
        out::line(&if as_json {
            json!({"id": name, "file": name, "path": file.path, "version": digest,
                   "text": file.text, "fault": fault})
            .to_string()
        } else {
            let fault = fault.map(|fault| format!("({fault})\n")).unwrap_or_default();
            let head = format!("── {name}, {}", digits(&digest));
            out::clean(&format!("{head}\n{fault}{}\n", file.text))
        })?;
    }
    Ok(())
}

fn history(
    claw: &str,
    all: &[PersonaVersion],
    files: &[PersonaFile],
    only: Option<&str>,
    as_json: bool,
) -> anyhow::Result<()> {
    let wanted = |version: &&PersonaVersion| only.is_none_or(|name| version.name == name);
    let mut before = "";
    for version in all.iter().filter(wanted) {
        let counts = is_now(files, version);
        if as_json {
            out::line(&object(version, counts).to_string())?;
            continue;
        }
        if version.name != before {
            out::line(&out::clean(&version.name))?;
        }
        before = &version.name;
        let mark = if counts { "*" } else { " " };
        let (digits, at) = (digits(&version.digest), when(version.at_ms));
        let minute = at.get(..16).unwrap_or(&at);
        out::line(&format!("{mark} {digits} {minute} {} B", version.bytes))?;
    }
    match (all.iter().find(wanted), only) {
        (Some(_), _) if !as_json => out::err_line("* counts now"),
        (None, Some(name)) => {
            return Err(UserError::because(format!(
                "no version of a file `{name}` is kept; `{claw} persona history` lists all"
            )));
        }
        (None, None) if !as_json => {
            out::err_line(
                "There is no file of a persona yet; `claw help home` says which there can be.",
            );
        }
        _ => {}
    }
    Ok(())
}

fn show_version(version: &PersonaVersion, as_json: bool) -> anyhow::Result<()> {
    let text = version.text().context("the version cannot be read")?;
    out::line(&if as_json {
        let mut object = object(version, false);
        object["text"] = text.into();
        object.to_string()
    } else {
        out::clean(&text)
    })?;
    Ok(())
}

/// The present one was kept before anything else.
fn restore(
    app: &App,
    files: &[PersonaFile],
    version: &PersonaVersion,
    as_json: bool,
) -> anyhow::Result<()> {
    let name = &version.name;
    let file = files.iter().find(|file| name_of(file) == *name);
    if let Some(PersonaFile { fault: Some(fault), path, .. }) = file {
        return Err(UserError::because(format!(
            "{fault}; nothing was put back, because what is there could not be kept. Move {} away \
             and try again",
            path.display()
        )));
    }
    let text = version.text().context("the version cannot be read")?;
    let place = match file {
        // Through a link of the owner's, to the file that it names.
        Some(file) => fs::canonicalize(&file.path)?,
        None => app.config.persona.place_of(name).ok_or_else(|| {
            UserError::because(format!(
                "the role of `{name}` has no folder any more; `{} persona show {}` prints it",
                claw(app),
                digits(&version.digest)
            ))
        })?,
    };
    let mode = fs::metadata(&place).map_or(MODE, |found| found.permissions().mode() & 0o777);
    durable::replace(&place, &format!("{}\n", text.trim_end()), mode)
        .with_context(|| format!("{} cannot be written", place.display()))?;
    let before = file.map(|file| digest(&file.text)).filter(|before| *before != version.digest);
    if as_json {
        let mut object = object(version, true);
        object["before"] = json!(before);
        out::line(&object.to_string())?;
        return Ok(());
    }
    let digits_now = digits(&version.digest);
    out::line(&out::clean(&format!("{name} says again what it said as {digits_now}.")))?;
    if let Some(before) = before {
        out::err_line(&format!(
            "`{} persona restore {}` takes that back.",
            claw(app),
            digits(&before)
        ));
    }
    Ok(())
}

fn is_now(files: &[PersonaFile], version: &PersonaVersion) -> bool {
    let is_it =
        |file: &PersonaFile| name_of(file) == version.name && digest(&file.text) == version.digest;
    files.iter().any(is_it)
}

fn digits(digest: &str) -> &str {
    digest.get(..DIGITS).unwrap_or(digest)
}

fn object(version: &PersonaVersion, counts_now: bool) -> Value {
    json!({"id": version.digest, "file": version.name, "version": version.digest,
           "at_ms": version.at_ms, "bytes": version.bytes, "counts_now": counts_now})
}

fn find<'a>(
    claw: &str,
    all: &'a [PersonaVersion],
    named: &str,
) -> anyhow::Result<&'a PersonaVersion> {
    let mut found = all.iter().filter(|version| version.digest.starts_with(named));
    let found = (named.len() >= DIGITS_MIN).then(|| (found.next(), found.next()));
    match found {
        Some((Some(version), None)) => Ok(version),
        Some((Some(one), Some(other))) => Err(UserError::because(format!(
            "`{named}` may be {} of {} or {} of {}; give more digits",
            one.digest, one.name, other.digest, other.name
        ))),
        _ => Err(UserError::because(format!(
            "there is no version `{named}`; `{claw} persona history` lists them, and their first \
             {DIGITS_MIN} digits are enough"
        ))),
    }
}
