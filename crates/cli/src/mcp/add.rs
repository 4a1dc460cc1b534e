//! `claw mcp add` and `claw mcp remove`: one entry of `mcp.json`, with a copy of the file beside.
//! Must not know what an entry means.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::placed::is_like_a_file;
use super::{File, entry};
use crate::app::App;
use crate::fail::{self, UserError};
use crate::hub::manifest::{self, NewEntry};
use crate::out;
use crate::whose::claw;

pub(super) fn run(app: &App, name: &str, new: NewEntry, as_json: bool) -> anyhow::Result<ExitCode> {
    if let Some(url) = new.iter().find(|(key, _)| *key == "url").and_then(|(_, url)| url.as_str()) {
        if !url.contains("://") && !url.contains("${") {
            return Err(UserError::because(format!(
                "`{url}` is no address of a server: write https://…, or a command behind `--`, \
                 such as `{} mcp add {name} -- {url}`",
                claw(app)
            )));
        }
        manifest::check_url(url).map_err(UserError::because)?;
    }
    if name.contains(char::is_whitespace) {
        return Err(UserError::because(format!(
            "`{name}` is no name of a server: use letters, digits, `-` and `_`, such as \
             `{} mcp add my-server …`",
            claw(app)
        )));
    }
    let file = File::read(app)?;
    let text = manifest::add(&file.text, name, &new, &claw(app))
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
    for path in missing_files(&new, &app.config.home.servers().join(name)) {
        out::err_line(&out::clean(&format!(
            "There is no {path}, from where the server is started. Give the whole path of the \
             file, or put it there."
        )));
    }
    if as_json {
        out::line(&json!({"id": name, "added": true, "shown": entry::shown(&new)}).to_string())?;
    } else {
        let claw = claw(app);
        out::line(&out::clean(&format!(
            "Added to {}: {name}: {}\nWhat stood there before is in {}. `{claw} mcp test {name}` \
             tries it, and `{claw} mcp trust {name}` shows what it says about itself.",
            file.path.display(),
            entry::shown(&new),
            file.copy().display(),
        )))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

/// The arguments that are written like a file and lead to none. A server is started in a folder of
/// its own, so the folder in which the command was typed says nothing.
fn missing_files(new: &NewEntry, folder: &Path) -> Vec<String> {
    if new.iter().any(|(key, _)| *key == "cwd") {
        return Vec::new();
    }
    let args = new.iter().filter(|(key, _)| *key == "args").filter_map(|(_, args)| args.as_array());
    let names = args.flatten().filter_map(|arg| arg.as_str());
    let missing = names.filter(|name| is_like_a_file(name) && !folder.join(name).exists());
    missing.map(|name| folder.join(name).display().to_string()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_where_the_server_starts_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("there.py"), "").unwrap();
        let entry = |args: &[&str]| vec![("command", json!("node")), ("args", json!(args))];
        let missing = |args: &[&str]| missing_files(&entry(args), folder.path());
        let named = missing(&["server.js", "./x", "there.py"]);
        assert_eq!(named.len(), 2, "{named:?}");
        assert!(named[0].ends_with("/server.js"), "{named:?}");
        for no_file in ["-y", "@scope/server.js", "https://h/a.js", "/a/b.js", "word", "${A}/x.js"]
        {
            assert!(missing(&[no_file]).is_empty(), "{no_file}");
        }
        let mut elsewhere = entry(&["server.js"]);
        elsewhere.push(("cwd", json!("/w")));
        assert!(missing_files(&elsewhere, folder.path()).is_empty());
    }
}
