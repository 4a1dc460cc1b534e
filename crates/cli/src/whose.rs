//! Which agent a command is about that names a question and no agent: ids of questions are random,
//! so one home has each of them once. And in which folder a question was asked. Must not know what
//! is done with it.

use std::path::PathBuf;

use crate::app::App;
use crate::args::{AtHome, SessionArg};
use crate::domain::{ApprovalId, SessionId};
use crate::doors::reached;
use crate::fail::UserError;
use crate::out;
use crate::store::{Store, StoreError};

/// The other agent whose question a command answers or shows, if the agent that was taken for
/// granted does not know it.
pub fn other_agent(app: &App, command: &AtHome) -> Result<Option<String>, StoreError> {
    let (AtHome::Approve { id, .. }
    | AtHome::Deny { id, .. }
    | AtHome::Approvals { id: Some(id), .. }) = command
    else {
        return Ok(None);
    };
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

/// The workspace that a command is about, if it is another one than this process works in. `typed`
/// says that one was named, which holds.
pub fn other_workspace(
    app: &App,
    command: &AtHome,
    typed: bool,
) -> anyhow::Result<Option<PathBuf>> {
    match command {
        AtHome::Approve { id, .. } | AtHome::Deny { id, .. } => of_question(app, id),
        AtHome::Chat { session, place, .. } | AtHome::Ask { session, place, .. }
            if !typed && place.folder.is_none() =>
        {
            of_open_questions(app, session)
        }
        _ => Ok(None),
    }
}

/// The folder of a session that was named, while it has a question open: what was shown there runs
/// there, or the answer would be asked for once more.
fn of_open_questions(app: &App, named: &SessionArg) -> anyhow::Result<Option<PathBuf>> {
    let is_set = !app.config.home.is_agents() && app.config.env.get("CLAW_WORKSPACE").is_some();
    let Some(session) = named.session.clone().filter(|_| !is_set) else { return Ok(None) };
    let session = SessionId::new(session)?;
    let (open, folder) = app
        .store
        .read(|tx| Ok((tx.open_questions(Some(&session))?, tx.session_workspace(&session)?)))?;
    let folder = folder.map_or_else(|| app.config.usual_workspace.clone(), PathBuf::from);
    if open.is_empty() || folder == app.config.workspace || !folder.is_dir() {
        return Ok(None);
    }
    out::err_line(&out::clean(&format!(
        "claw: working in {}, where the session `{session}` has a question open.",
        folder.display()
    )));
    Ok(Some(folder))
}

/// The folder in which the call was frozen that a question is about.
fn of_question(app: &App, id: &str) -> anyhow::Result<Option<PathBuf>> {
    let id = ApprovalId(id.to_owned());
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

/// The first words of a command that acts on this home. Every command is printed with them that
/// names a thing by its number, id or name, or means a folder.
pub fn claw(app: &App) -> String {
    reached::claw(&app.config.agent.name)
}

/// Words that were made where nobody knows the agent, with commands that act on it: another one's
/// audit is not to be accepted by what is printed here.
pub fn as_reached(text: &str, claw: &str) -> String {
    text.replace("`claw ", &format!("`{claw} "))
}

/// Says on stderr where else something waits for an answer.
pub fn tell_of_others(app: &App) -> Result<(), StoreError> {
    for other in app.other_stores().into_iter().filter(|other| other.path.is_file()) {
        let open = Store::open(&other.path)?.read(|tx| tx.open_questions(None))?.len();
        if open > 0 {
            let (agent, claw) = (&other.agent, reached::claw(&other.agent));
            out::err_line(&format!(
                "The agent {agent} has {open} more: `{claw} approvals` lists them."
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MAIN;

    #[test]
    fn each_command_of_a_repair_names_the_agent_that_is_repaired() {
        let text = "`claw audit verify` says it, and `claw audit anchor --accept` takes it.";
        assert_eq!(as_reached(text, &reached::claw(MAIN)), text);
        assert_eq!(
            as_reached(text, &reached::claw("work")),
            "`claw --agent work audit verify` says it, and `claw --agent work audit anchor \
             --accept` takes it."
        );
    }
}
