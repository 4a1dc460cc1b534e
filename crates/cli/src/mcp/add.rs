//! `claw mcp add` and `claw mcp remove`: one entry of `mcp.json`, with a copy of the file beside.
//! Must not know what an entry means.

use std::process::ExitCode;

use serde_json::json;

use super::{File, entry};
use crate::app::App;
use crate::fail::{self, UserError};
use crate::hub::manifest::{self, NewEntry};
use crate::out;

pub(super) fn run(app: &App, name: &str, new: NewEntry, as_json: bool) -> anyhow::Result<ExitCode> {
    if let Some(url) = new.iter().find(|(key, _)| *key == "url").and_then(|(_, url)| url.as_str()) {
        if !url.contains("://") && !url.contains("${") {
            return Err(UserError::because(format!(
                "`{url}` is no address of a server: write https://…, or a command behind `--`, \
                 such as `claw mcp add {name} -- {url}`"
            )));
        }
        manifest::check_url(url).map_err(UserError::because)?;
    }
    let file = File::read(app)?;
    let text = manifest::add(&file.text, name, &new)
        .map_err(|error| UserError::because(error.to_string()))?;
    file.replace(&text)?;
    let open = entry::open_secrets(&new);
    if !open.is_empty() {
        out::err_line(&out::clean(&format!(
            "What looks like a secret stands in {} now, for your account alone to read: {}. \
             `${{NAME}}` in its place is read from claw's environment.",
            file.path.display(),
            open.join(", "),
        )));
    }
    if as_json {
        out::line(&json!({"id": name, "added": true, "shown": entry::shown(&new)}).to_string())?;
    } else {
        out::line(&out::clean(&format!(
            "Added to {}: {name}: {}\nWhat stood there before is in {}. `claw mcp test {name}` \
             tries it, and `claw mcp trust {name}` shows what it says about itself.",
            file.path.display(),
            entry::shown(&new),
            file.copy().display(),
        )))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

pub(super) fn remove(app: &App, name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let file = File::read(app)?;
    let text = manifest::remove(&file.text, name)
        .map_err(|error| UserError::because(error.to_string()))?;
    let Some(text) = text else {
        let names = app.gate.hub().servers().into_iter().map(|server| server.name);
        let names = names.collect::<Vec<_>>().join(", ");
        let what = format!("mcp.json has no server `{name}`; it has {names}");
        return Err(UserError::because(what));
    };
    file.replace(&text)?;
    if as_json {
        out::line(&json!({"id": name, "removed": true}).to_string())?;
    } else {
        out::line(&out::clean(&format!(
            "Taken out of {}: {name}. What stood there before is in {}.",
            file.path.display(),
            file.copy().display(),
        )))?;
    }
    Ok(ExitCode::from(fail::DONE))
}
