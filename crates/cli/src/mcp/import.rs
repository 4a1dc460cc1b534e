//! `claw mcp import`: servers of other programs become entries of `mcp.json`, each after it was
//! shown. Without a terminal nothing is written. Must not know where the files are.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use claw_kit::counted::counted;
use serde_json::{Value, json};

use super::found::{self, FoundServer};
use super::{File, entry};
use crate::app::App;
use crate::ask_person::{self, agreed};
use crate::fail::{self, UserError};
use crate::hub::manifest::{self, Expansion, Launch, NewEntry};
use crate::out;
use crate::whose::claw;

pub(super) fn run(
    app: &App,
    only: Option<&Path>,
    yes: bool,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let here = std::env::current_dir().context("this folder is gone")?;
    let found = gather(app, only, &here)?;
    let (file, claw) = (File::read(app)?, claw(app));
    let can_ask = yes || ask_person::possible();
    let (mut text, mut taken, mut possible) = (file.text.clone(), Vec::new(), 0);
    for one in &found {
        out::err_line(&out::clean(&shown(one)));
        let unasked = || unasked(&claw, one).filter(|_| yes);
        let added = added(&claw, &text, one).and_then(|added| match unasked() {
            Some(why) => {
                possible += 1;
                Err(why)
            }
            None => Ok(added),
        });
        let reason = added.as_ref().err().cloned();
        let is_taken = match added {
            Ok(added) => {
                possible += 1;
                let wanted = yes || can_ask && agreed("Take it in?")?;
                if wanted {
                    text = added;
                    taken.push(one.name.as_str());
                }
                wanted
            }
            Err(why) => {
                out::err_line(&out::clean(&format!("    not taken in: {why}")));
                false
            }
        };
        if as_json {
            let entry = one.entry.as_ref().ok().map(entry::shown);
            let row = json!({"id": one.name, "of": one.of, "taken_in": is_taken, "shown": entry,
                "reason": reason, "left_out": one.left_out, "missing": one.missing});
            out::line(&row.to_string())?;
        }
    }
    if !taken.is_empty() {
        file.replace(&text)?;
    }
    if !can_ask && possible > 0 {
        out::err_line(
            "Nothing was written, because nobody can be asked here; `--yes` takes in what is shown.",
        );
        return Ok(ExitCode::from(fail::WAITS));
    }
    if !as_json {
        out::line(&out::clean(&summary(&claw, &file, &found, &taken)))?;
    }
    let done = if taken.is_empty() && possible > 0 { fail::WAITS } else { fail::DONE };
    Ok(ExitCode::from(done))
}

/// The file with this server, as far as claw could use it.
fn added(claw: &str, text: &str, one: &FoundServer) -> Result<String, String> {
    let entry = one.entry.clone()?;
    if is_claw(&entry) {
        return Err("it is claw itself, which would call itself".to_owned());
    }
    let added = manifest::add(text, &one.name, &entry, claw).map_err(|error| error.to_string())?;
    let read = manifest::parse(&added, &Expansion::default()).map_err(|error| error.to_string())?;
    if let Some(Launch::Unusable { reason }) =
        read.servers.get(&one.name).map(|server| &server.launch)
    {
        return Err(reason.clone());
    }
    if let Some(url) = entry.iter().find_map(|(key, url)| url.as_str().filter(|_| *key == "url")) {
        manifest::check_url(url)?;
    }
    Ok(added)
}

/// Why `--yes` alone takes it not in: somebody else's file that reaches for the owner's secrets.
fn unasked(claw: &str, one: &FoundServer) -> Option<String> {
    let names = entry::secret_variables(one.entry.as_ref().ok().filter(|_| one.of_stranger)?);
    (!names.is_empty()).then(|| {
        format!(
            "it would get {} from your environment, and its file may be somebody else's. \
             `{claw} mcp import` without `--yes` asks you about it",
            names.join(", ")
        )
    })
}

/// What `claw serve --install` has written there.
fn is_claw(entry: &NewEntry) -> bool {
    let field = |name| entry.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let command = field("command").and_then(Value::as_str).map(Path::new);
    let is_claw = command.and_then(Path::file_stem).is_some_and(|name| name == "claw");
    let first = field("args").and_then(|args| args.get(0)).and_then(Value::as_str);
    is_claw && matches!(first, Some("serve" | "acp"))
}

fn gather(app: &App, only: Option<&Path>, here: &Path) -> anyhow::Result<Vec<FoundServer>> {
    let sources = match only {
        Some(path) => {
            if !path.exists() {
                let what = format!(
                    "there is no file {}: give that of Claude Desktop, Claude Code, VS Code, \
                     Cursor or Codex, or none to look for them",
                    path.display()
                );
                return Err(UserError::because(what));
            }
            vec![found::named(&app.config, path, here)]
        }
        None => found::sources(&app.config, here),
    };
    let mut all = Vec::new();
    for source in &sources {
        match found::read(source, here) {
            Ok(found) => all.extend(found.into_iter().flatten()),
            Err(why) if only.is_some() => return Err(UserError::because(why)),
            // One that cannot be read holds up none of the others.
            Err(why) => out::err_line(&out::clean(&format!("{}: {why}", source.of))),
        }
    }
    Ok(all)
}

fn shown(one: &FoundServer) -> String {
    let mut text = match &one.entry {
        Ok(entry) => format!("{} ({}): {}", one.name, one.of, entry::shown(entry)),
        Err(_) => format!("{} ({})", one.name, one.of),
    };
    for (what, all) in [("left out", &one.left_out), ("not there", &one.missing)] {
        if !all.is_empty() {
            text.push_str(&format!("\n    {what}: {}", all.join(", ")));
        }
    }
    text
}

fn summary(claw: &str, file: &File, found: &[FoundServer], taken: &[&str]) -> String {
    match (found.len(), taken.len()) {
        (0, _) => {
            "Claude Desktop, Claude Code, VS Code, Cursor and Codex have no MCP servers here."
                .to_owned()
        }
        (1, 0) => "The one server was not taken in.".to_owned(),
        (all, 0) => format!("None of {all} servers was taken in."),
        (all, some) => format!(
            "Taken in: {some} of {}, into {}. What stood there before is in {}.\n\
             `{claw} mcp test NAME` tries one.",
            counted(all, "server"),
            file.path.display(),
            file.copy().display(),
        ),
    }
}
