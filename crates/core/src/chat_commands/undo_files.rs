//! `/undo files`, and the button of an answer that does the same: what putting the files of a turn
//! back would change, and doing it after a second line or tap that names the turn. Must not know
//! doors, or how a snapshot is kept.

use futures::future::BoxFuture;

use super::{ChatCommands, ChatCommandsParts, is_owner};
use crate::domain::{SessionId, TurnId};
use crate::router::Visitor;
use crate::store::StoreError;
use crate::undo::{Left, Preview, UndoError, UndoneFiles, Which, preview_lines, undone_lines};

const USAGE: &str = "`/undo files` shows what the last turn of this conversation changed, `/undo \
    files NUMBER` an earlier one, `/undo files redo` what the newest undo did; `yes` behind it \
    puts the files back.";

/// The turn is named in the yes, so that a yes that is handled twice undoes one turn.
pub(super) async fn markdown(
    parts: &ChatCommandsParts,
    visitor: &Visitor,
    session: &SessionId,
    words: &str,
) -> Result<String, StoreError> {
    if !is_owner(visitor) {
        return Ok("Only the owner may undo.".to_owned());
    }
    let of = |seq: u64| Which::Turn(TurnId { session: session.clone(), seq });
    let words: Vec<&str> = words.split_whitespace().collect();
    let (which, yes) = match words[..] {
        [] => (Which::Newest(Some(session.clone())), false),
        ["redo"] => (Which::Redo, false),
        ["redo", "yes"] => (Which::Redo, true),
        [number] | [number, "yes"] => match number.parse() {
            Ok(seq) => (of(seq), words.len() == 2),
            Err(_) => return Ok(USAGE.to_owned()),
        },
        _ => return Ok(USAGE.to_owned()),
    };
    let snapshots = parts.snapshots_of(session)?;
    let said = if yes {
        snapshots.undo(which, &visitor.principal).await.map(|undone| done(&undone))
    } else {
        snapshots.preview(which).await.map(|preview| shown(&preview))
    };
    match said {
        Ok(text) => Ok(text),
        Err(UndoError::Store(error)) => Err(error),
        Err(refused) => Ok(refusal(&refused)),
    }
}

/// What a tap on the button of an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoTold {
    /// What would change back, in Markdown. Without `changes` nothing would.
    Shown { markdown: String, changes: bool },
    /// What has changed back, in Markdown.
    Done(String),
    /// Nothing has changed, and nothing ever will by this button.
    NothingToUndo(String),
    /// Nothing has changed by now.
    Refused(String),
}

/// How many files a turn has changed, and what puts them back.
pub fn undo_line(files: usize, command: &str) -> String {
    match files {
        1 => format!("1 file changed. `{command}` puts it back."),
        _ => format!("{files} files changed. `{command}` puts them back."),
    }
}

impl ChatCommands {
    /// How many files the turn of an answer has changed, if they can be put back.
    pub fn changed_files(
        &self,
        session: &SessionId,
        turn_seq: u64,
    ) -> Result<Option<usize>, StoreError> {
        let turn = TurnId { session: session.clone(), seq: turn_seq };
        Ok(match self.parts().snapshots_of(session)?.left(&turn) {
            Some(Left::Changed { files }) => Some(files),
            Some(Left::CannotBeUndone(_)) | None => None,
        })
    }

    /// Shows what undoing a turn would change, or does it after a yes. Of two at once one does it.
    pub fn undo_by_button<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        turn_seq: u64,
        yes: bool,
    ) -> BoxFuture<'a, Result<UndoTold, StoreError>> {
        Box::pin(async move {
            let parts = self.parts();
            let snapshots = parts.snapshots_of(session)?;
            let which = Which::Turn(TurnId { session: session.clone(), seq: turn_seq });
            let said = if yes {
                let undone = snapshots.undo(which, &visitor.principal).await;
                undone.map(|undone| UndoTold::Done(done(&undone)))
            } else {
                snapshots.preview(which).await.map(|preview| {
                    let markdown = block(&preview_lines(&preview));
                    UndoTold::Shown { markdown, changes: !preview.plan.changes.is_empty() }
                })
            };
            match said {
                Ok(told) => Ok(told),
                Err(UndoError::Store(error)) => Err(error),
                Err(UndoError::Undone { .. }) => Ok(UndoTold::NothingToUndo(
                    "Nothing to undo: this is undone already. `/undo files redo` takes it back."
                        .to_owned(),
                )),
                Err(refused @ (UndoError::Unknown { .. } | UndoError::Refused { .. })) => {
                    Ok(UndoTold::NothingToUndo(refusal(&refused)))
                }
                Err(refused) => Ok(UndoTold::Refused(refusal(&refused))),
            }
        })
    }
}

/// The line under an answer, at a door without buttons.
pub(super) fn hint(files: usize) -> String {
    let changed = match files {
        0 => "Folders changed".to_owned(),
        1 => "1 file changed".to_owned(),
        more => format!("{more} files changed"),
    };
    format!("*{changed} · `/undo files`*")
}

fn done(undone: &UndoneFiles) -> String {
    let back = if undone.redo { "" } else { "\n\n`/undo files redo` takes this back." };
    format!("{}{back}", block(&undone_lines(undone)))
}

fn refusal(refused: &UndoError) -> String {
    format!("Nothing was undone: {refused}.")
}

fn shown(preview: &Preview) -> String {
    let lines = block(&preview_lines(preview));
    if preview.plan.changes.is_empty() {
        return lines;
    }
    let which = if preview.redo { "redo".to_owned() } else { preview.turn.seq.to_string() };
    format!("{lines}\n\n`/undo files {which} yes` does it.")
}

/// Paths are anybody's words, so they stand in a block of their own.
fn block(lines: &[String]) -> String {
    let text = lines.join("\n");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}
