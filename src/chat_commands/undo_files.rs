//! `/undo files`: what putting the files of a turn back would change, and doing it after a second
//! line that names the turn. Must not know doors, or how a snapshot is kept.

use super::{ChatCommandsParts, is_owner};
use crate::domain::{SessionId, TurnId};
use crate::router::Visitor;
use crate::store::StoreError;
use crate::undo::{Preview, UndoError, Which, preview_lines, undone_lines};

const USAGE: &str = "`/undo files` shows what the last turn of this conversation changed, `/undo files NUMBER` an \
                     earlier one, `/undo files redo` what the newest undo did; `yes` behind it puts the files back.";

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
    let snapshots = parts.gate.snapshots();
    let said = if yes {
        snapshots.undo(which, &visitor.principal).await.map(|undone| {
            let back = if undone.redo { "" } else { "\n\n`/undo files redo` takes this back." };
            format!("{}{back}", block(&undone_lines(&undone)))
        })
    } else {
        snapshots.preview(which).await.map(|preview| shown(&preview))
    };
    match said {
        Ok(text) => Ok(text),
        Err(UndoError::Store(error)) => Err(error),
        Err(refused) => Ok(format!("Nothing was undone: {refused}.")),
    }
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
