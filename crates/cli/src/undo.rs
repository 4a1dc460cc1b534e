//! `claw undo`: shows what putting a turn's files back would change, asks, and does it. Must not
//! know how a snapshot is kept.

mod overdue;

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::ask_person::{self, agreed};
use super::{fail, out, when};
use crate::app::{App, owner_principal};
use crate::domain::TurnId;
use crate::doors::reached::quoted;
use crate::whose::claw;
use claw_core::undo::{
    Preview, UndoError, UndoneFiles, Which, finished_lines, preview_lines, undone_lines,
};

pub struct Wanted {
    pub turn: Option<TurnId>,
    pub redo: bool,
    pub yes: bool,
    pub as_json: bool,
}

/// What a kill has cut is finished at the start, and told once.
pub async fn finish_cut(app: &App, say: impl Fn(&str)) {
    match app.gate.snapshots().finish_cut().await {
        Ok(finished) => {
            let lines = finished.iter().flat_map(|one| finished_lines(one, &claw(app)));
            lines.for_each(|line| say(&line));
        }
        Err(error) => say(&format!("an undo that was cut could not be finished: {error}")),
    }
}

pub async fn list(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let turns = app.gate.snapshots().turns().await?;
    for turn in &turns {
        let id = turn.turn.to_string();
        let state = match (turn.undone, turn.changed, &turn.refused) {
            (true, ..) => "undone".to_owned(),
            (false, Some(1), _) => "1 path".to_owned(),
            (false, Some(changed), _) => format!("{changed} paths"),
            (false, None, Some(_)) => "cannot be undone".to_owned(),
            (false, None, None) => "goes on, or was cut".to_owned(),
        };
        let object = json!({
            "id": id, "began_ms": turn.began_ms, "changed": turn.changed,
            "undone": turn.undone, "why_not": turn.refused,
        });
        out::done(as_json, &object, &format!("{id:<12}  {}  {state}", when(turn.began_ms)))?;
    }
    if turns.is_empty() && !as_json {
        out::err_line("No turn has changed files in this workspace.");
    }
    Ok(ExitCode::from(fail::DONE))
}

pub async fn run(app: &App, wanted: Wanted) -> anyhow::Result<ExitCode> {
    let snapshots = app.gate.snapshots();
    let which = match (wanted.turn, wanted.redo) {
        (Some(turn), _) => Which::Turn(turn),
        (None, true) => Which::Redo,
        (None, false) => Which::Newest(None),
    };
    let mut preview = snapshots.preview(which.clone()).await;
    if let Err(UndoError::Overdue { turn, .. }) = &preview
        && overdue::end(app, turn).await?
    {
        preview = snapshots.preview(which).await;
    }
    let preview = match preview {
        // Nobody has named one: it is so, and no mistake.
        Err(error @ UndoError::Nothing { .. }) if !wanted.as_json => {
            out::err_line(&format!("There is nothing to put back: {error}."));
            return Ok(ExitCode::from(fail::DONE));
        }
        found => found?,
    };
    if !wanted.as_json || !wanted.yes {
        show(&preview, wanted.as_json)?;
    }
    // What was shown is what is done, also if a turn has ended meanwhile.
    let shown = if preview.redo { Which::Redo } else { Which::Turn(preview.turn.clone()) };
    if !wanted.yes && !asked(app, &preview, wanted.as_json).await? {
        return Ok(ExitCode::from(fail::WAITS));
    }
    let undone = snapshots.undo(shown, &owner_principal()).await?;
    tell(app, &undone, wanted.as_json)?;
    Ok(ExitCode::from(fail::DONE))
}

fn show(preview: &Preview, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        out::line(
            &json!({
                "id": preview.turn.to_string(), "done": false, "redo": preview.redo,
                "workspace": preview.workspace.display().to_string(),
                "changes": preview.plan.changes.len(),
                "kept": preview.plan.kept.len(),
            })
            .to_string(),
        )?;
        return Ok(());
    }
    preview_lines(preview).iter().try_for_each(|line| out::line(line))?;
    Ok(())
}

/// Only a clear yes of somebody at a terminal is one.
async fn asked(app: &App, preview: &Preview, as_json: bool) -> anyhow::Result<bool> {
    if !as_json && ask_person::possible() {
        let agreed = tokio::task::spawn_blocking(|| agreed("Do it?")).await??;
        if !agreed {
            out::err_line("Nothing was changed.");
        }
        return Ok(agreed);
    }
    let again = match preview.redo {
        true => format!("{} undo --redo", claw_at(app, &preview.workspace)),
        false => format!("{} undo {}", claw(app), preview.turn),
    };
    out::err_line(&format!("Nothing was changed. `{again} --yes` does it."));
    Ok(false)
}

fn tell(app: &App, undone: &UndoneFiles, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let path = |path: &std::path::Path| path.display().to_string();
        let changed: Vec<_> = undone.changed.iter().map(|it| path(it.path.as_path())).collect();
        let kept: Vec<_> = undone.kept.iter().map(|it| path(it.path.as_path())).collect();
        out::line(
            &json!({
                "id": undone.turn.to_string(), "done": true, "redo": undone.redo,
                "workspace": path(&undone.workspace), "changed": changed, "kept": kept,
            })
            .to_string(),
        )?;
        return Ok(());
    }
    undone_lines(undone).iter().try_for_each(|line| out::line(line))?;
    if !undone.redo {
        let claw = claw_at(app, &undone.workspace);
        out::err_line(&format!("`{claw} undo --redo` takes this back."));
    }
    Ok(())
}

/// The first words of a command that is about this folder, where nothing but them says so.
fn claw_at(app: &App, folder: &Path) -> String {
    let config = &app.config;
    // A folder that was typed, and is not found where one stands.
    let is_typed = config.session_of_folder.is_none() && config.workspace != config.usual_workspace;
    match is_typed || folder != config.workspace {
        true => format!("{} --workspace {}", claw(app), quoted(&folder.display().to_string())),
        false => claw(app),
    }
}
