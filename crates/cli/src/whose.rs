//! Which agent a command is about that names a question and no agent: ids of questions are random,
//! so one home has each of them once. Must not know what is done with it.

use std::path::PathBuf;

use crate::app::App;
use crate::args::AtHome;
use crate::domain::ApprovalId;
use crate::fail::UserError;
use crate::out;
use crate::store::{Store, StoreError};

/// The other agent whose question a command answers, if the agent that was taken for granted does
/// not know it.
pub fn other_agent(app: &App, command: &AtHome) -> Result<Option<String>, StoreError> {
    let (AtHome::Approve { id, .. } | AtHome::Deny { id, .. }) = command else { return Ok(None) };
    let id = ApprovalId(id.clone());
    if app.store.read(|tx| tx.approval(&id))?.is_some() {
        return Ok(None);
    }
    for other in app.other_stores().into_iter().filter(|other| other.path.is_file()) {
        if Store::open(&other.path)?.read(|tx| tx.approval(&id))?.is_some() {
            return Ok(Some(other.agent));
        }
    }
    Ok(None)
}

/// The workspace in which the call was frozen that a command answers, if it is another one than
/// this process works in: what was shown there runs there.
pub fn other_workspace(app: &App, command: &AtHome) -> anyhow::Result<Option<PathBuf>> {
    let (AtHome::Approve { id, .. } | AtHome::Deny { id, .. }) = command else { return Ok(None) };
    let id = ApprovalId(id.clone());
    let frozen = app.store.read(|tx| match tx.approval(&id)? {
        Some(approval) => tx.call(&approval.call),
        None => Ok(None),
    })?;
    let Some(folder) = frozen.map(|row| PathBuf::from(row.cwd)) else { return Ok(None) };
    if folder.as_os_str().is_empty() || folder == app.config.workspace {
        return Ok(None);
    }
    if !folder.is_dir() {
        return Err(UserError::because(format!(
            "the folder {} in which this was asked is not there any more; make it again, or let \
             the question expire",
            out::clean(&folder.display().to_string())
        )));
    }
    Ok(Some(folder))
}

/// Says on stderr where else something waits for an answer.
pub fn tell_of_others(app: &App) -> Result<(), StoreError> {
    for other in app.other_stores().into_iter().filter(|other| other.path.is_file()) {
        let open = Store::open(&other.path)?.read(|tx| tx.open_questions(None))?.len();
        if open > 0 {
            let agent = &other.agent;
            out::err_line(&format!(
                "The agent {agent} has {open} more: `claw --agent {agent} approvals` lists them."
            ));
        }
    }
    Ok(())
}
