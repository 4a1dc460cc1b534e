//! `/here`: which folder, role and mode one conversation has, and how they are set. Must not know
//! which folders are allowed, or who works there.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{AnswerTo, ChatCommands, ChatCommandsParts, Given, code, is_owner, mode, role};
use crate::domain::{Mode, SessionId};
use crate::router::Visitor;
use crate::store::{AuditEntry, StoreError, Tx};
use crate::turn::Log;
use crate::undo::TurnSnapshots;
use crate::workspace::is_there;

const TURN_IS_OPEN: &str = "Something is running here or waits, and it keeps the folder that it began in. Wait for \
                            it, answer it, or `/stop` it; then say `/here` again.";

impl ChatCommandsParts {
    /// Where a conversation works.
    pub(super) fn folder_of(&self, session: &SessionId) -> Result<PathBuf, StoreError> {
        let own = self.store.read(|tx| tx.session_workspace(session))?;
        Ok(own.map_or_else(|| self.workspace.clone(), PathBuf::from))
    }

    /// The folder in which the grants and modes of a conversation hold.
    pub(super) fn granted_in(&self, session: &SessionId) -> Result<PathBuf, StoreError> {
        let own = self.store.read(|tx| tx.session_workspace(session))?.map(PathBuf::from);
        Ok(own.unwrap_or_else(|| self.gate.calls().workspace().to_owned()))
    }

    /// The snapshots of its folder.
    pub(super) fn snapshots_of(&self, session: &SessionId) -> Result<TurnSnapshots, StoreError> {
        let folder = self.folder_of(session)?;
        Ok(match folder == self.workspace {
            true => self.gate.snapshots().clone(),
            false => self.gate.snapshots().at(folder),
        })
    }
}

impl ChatCommands {
    pub(super) async fn here(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let parts = self.parts();
        if !is_owner(visitor) {
            return to.say(&parts.store, "Only an owner may see or set this.".to_owned()).await;
        }
        let words = words.trim();
        match words.split_once(char::is_whitespace).unwrap_or((words, "")) {
            ("", _) => to.say(&parts.store, markdown(&parts, visitor, session)?).await,
            ("off", "") => self.set_folder(visitor, session, None, to).await,
            ("role", name) if !name.trim().is_empty() => {
                let words = format!("select {}", name.trim());
                self.role(Given { words: &words, ..given }).await
            }
            ("mode", name) => self.mode_command(Given { words: name, ..given }).await,
            _ => match (parts.folder_for_chat)(words) {
                Ok(folder) => self.set_folder(visitor, session, Some(folder), to).await,
                Err(why) => to.say(&parts.store, format!("{}: {why}", code(words))).await,
            },
        }
    }

    /// Without a folder everything of its own ends: folder, role and mode. In the transaction that
    /// sets it nothing is under way, so no turn changes its folder.
    async fn set_folder(
        &self,
        visitor: &Visitor,
        session: &SessionId,
        folder: Option<PathBuf>,
        to: &AnswerTo,
    ) -> Result<Option<String>, StoreError> {
        let parts = self.parts();
        let before = parts.folder_of(session)?;
        let is_gone = !is_there(&before);
        let calls = parts.gate.calls().at(&parts.granted_in(session)?);
        let ask = calls.new_mode(Mode::Ask, session, &visitor.principal, None);
        let ask = ask.await?;
        let usual = parts.workspace.clone();
        let (session, by) = (session.clone(), visitor.principal.clone());
        let set = move |tx: &Tx<'_>| {
            let is_busy = tx.turn_open(&session)? || tx.queued_messages(&session)? > 0;
            // Nobody works in a folder that is gone, so nothing there would ever end.
            if is_busy && !is_gone {
                return Ok(TURN_IS_OPEN.to_owned());
            }
            let own = folder.as_ref().filter(|folder| **folder != usual);
            let own = own.map(|folder| folder.display().to_string());
            tx.set_session_workspace(&session, own.as_deref())?;
            let now = folder.clone().unwrap_or_else(|| usual.clone());
            let body = json!({
                "session": session, "by": by, "before": before.display().to_string(),
                "folder": now.display().to_string(), "off": folder.is_none(),
            });
            tx.audit(&AuditEntry { kind: "here", call: String::new(), body })?;
            if folder.is_some() {
                return Ok(now_works(&now));
            }
            tx.set_session_role(&session, None, &by)?;
            ask.set_by_command(tx)?;
            Ok(format!(
                "This conversation has no folder, role or mode of its own any more. It works in {}.",
                code(&now.display().to_string())
            ))
        };
        to.once(&parts.store, set).await
    }
}

fn now_works(folder: &Path) -> String {
    format!(
        "From now on this conversation works in {}. What you have allowed elsewhere does not hold there, nor \
         does a mode. `/here off` goes back.",
        code(&folder.display().to_string())
    )
}

fn markdown(
    parts: &ChatCommandsParts,
    visitor: &Visitor,
    session: &SessionId,
) -> Result<String, StoreError> {
    let folder = parts.folder_of(session)?;
    let (chosen, log) = parts.store.read(|tx| {
        let log = Log::new(session.clone(), tx.window(session)?.events, tx.last_seq(session)?);
        Ok((tx.session_role(session)?, log))
    })?;
    let whose = match (folder == parts.workspace, is_there(&folder)) {
        (true, _) => "what all conversations have",
        (false, true) => "set for this conversation",
        (false, false) => "**which is not there any more**",
    };
    Ok(format!(
        "- folder: {}, {whose}\n{}{}\n`/here FOLDER` sets the folder of this conversation, `/here role NAME` and \
         `/here mode MODE` the others; `/here off` goes back to what all have.",
        code(&folder.display().to_string()),
        role::status_line(&parts.roles, chosen.as_deref(), &log),
        mode::status_line(parts, session, visitor)?,
    ))
}
