//! Which agent a command is about that names a question and no agent: ids of questions are random,
//! so one home has each of them once. Must not know what is done with it.

use crate::app::App;
use crate::cli::args::AtHome;
use crate::cli::out;
use crate::domain::ApprovalId;
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

/// Says on stderr where else something waits for an answer.
pub fn tell_of_others(app: &App) -> Result<(), StoreError> {
    for other in app.other_stores().into_iter().filter(|other| other.path.is_file()) {
        let open = Store::open(&other.path)?.read(|tx| tx.open_approvals(None))?.len();
        if open > 0 {
            let agent = &other.agent;
            out::err_line(&format!(
                "The agent {agent} has {open} more: `claw --agent {agent} approvals` lists them."
            ));
        }
    }
    Ok(())
}
