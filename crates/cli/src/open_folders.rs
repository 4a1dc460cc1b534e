//! Folders that `claw open` opens to commands for a time, and `claw close` closes. Must not know
//! how a command gets them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::fail::{self, UserError};
use super::open::until;
use super::out;
use crate::app::{App, openings as folders, owner_principal};
use crate::calls::openings::{self, FolderInForce};
use crate::config::OpenFolder;
use crate::doors::reached::quoted_path;
use crate::moment::when;
use crate::store::now_ms;
use crate::whose::claw;

/// Where the box cannot be made anew for each command.
const NOT_FOR_A_TIME: &str = "this system gives commands no namespaces of their own, so a folder cannot be opened while the server of commands \
    runs; put it under [box] in claw.toml, which a running claw follows by starting that server again";

/// Tells what is open. Gives the number of folders.
pub(super) fn list(app: &App, as_json: bool) -> anyhow::Result<usize> {
    let standing: Vec<OpenFolder> = app.settings().open_folders.clone();
    let timed = app.gate.calls().open_folders()?;
    let standing = standing.into_iter().map(|folder| (folder, None));
    let timed = timed.into_iter().map(|one| (as_folder(&one), Some(one)));
    let mut count = 0;
    for (folder, timed) in standing.chain(timed) {
        count += 1;
        let until_ms = timed.as_ref().and_then(|one| one.until_ms);
        let name = shown(app, &folder.path);
        out::line(&if as_json {
            let grant = timed.as_ref().map(|one| one.grant);
            json!({"id": folder.path, "write": folder.to_write, "until_ms": until_ms, "grant": grant, "cost": folder.cost()})
                .to_string()
        } else {
            format!("{name} {}: {}", until(until_ms), folder.cost())
        })?;
    }
    Ok(count)
}

pub(super) async fn open(
    app: &App,
    written: &Path,
    to_write: bool,
    time: Duration,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let folder = OpenFolder { path: meant(app, written)?, to_write };
    let real = folders::may_open(&app.config, &folder).map_err(|why| {
        let (why, next) = (why.words(), folders::next(why));
        UserError::because(format!(
            "{} cannot be opened to commands: {why}. {next}",
            written.display()
        ))
    })?;
    if !folders::can_be_for_a_time() {
        return Err(UserError::because(NOT_FOR_A_TIME));
    }
    let until_ms = now_ms() + i64::try_from(time.as_millis())?;
    let (by, cost, path) = (owner_principal(), folder.cost(), real.clone());
    app.store
        .write(move |tx| openings::open_folder_in(tx, (&path, to_write), cost, until_ms, &by))
        .await?;
    let name = shown(app, &real);
    let object = json!({"id": real, "write": to_write, "until_ms": until_ms, "cost": cost});
    let words = format!(
        "{name} is open to commands that start until {}: {cost}. `{} close {}` takes it back.",
        when(until_ms),
        claw(app),
        quoted_path(&name)
    );
    out::done(as_json, &object, &words)?;
    Ok(ExitCode::from(fail::DONE))
}

pub(super) async fn close(app: &App, written: &Path, as_json: bool) -> anyhow::Result<ExitCode> {
    let meant = meant(app, written)?;
    // It may be gone by now, or a link by which it was opened may lead elsewhere.
    let real = meant.canonicalize().unwrap_or_else(|_| meant.clone());
    let (by, path) = (owner_principal(), real.clone());
    let closed = app.store.write(move |tx| openings::close_folder_in(tx, &path, &by)).await?;
    let name = shown(app, &real);
    let settings = app.settings();
    let stays = settings
        .open_folders
        .iter()
        .find(|open| open.path == meant || open.path.canonicalize().is_ok_and(|open| open == real));
    if let Some(stays) = stays {
        let key = stays.key();
        return Err(UserError::because(format!(
            "claw.toml opens {name}: take it out of {key} there"
        )));
    }
    if !closed {
        let claw = claw(app);
        return Err(UserError::because(format!("{name} is not open; `{claw} open` lists what is")));
    }
    let object = json!({"id": real, "closed": true});
    let words = format!(
        "{name} is closed: no command that starts from now on has it. One that runs already has it until it ends; /stop ends it."
    );
    out::done(as_json, &object, &words)?;
    Ok(ExitCode::from(fail::DONE))
}

fn as_folder(one: &FolderInForce) -> OpenFolder {
    OpenFolder { path: one.path.clone(), to_write: one.to_write }
}

/// From where claw was started, as a shell would.
fn meant(app: &App, written: &Path) -> anyhow::Result<PathBuf> {
    let home = &app.config.user_home;
    if written == Path::new("~") {
        return Ok(home.clone());
    }
    Ok(match written.strip_prefix("~") {
        Ok(rest) => home.join(rest),
        Err(_) => std::env::current_dir()?.join(written),
    })
}

fn shown(app: &App, path: &Path) -> String {
    path.strip_prefix(&app.config.user_home)
        .map_or_else(|_| path.display().to_string(), |rest| format!("~/{}", rest.display()))
}
