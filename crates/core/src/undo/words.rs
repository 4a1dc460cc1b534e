//! What a person reads of an undo: which paths change, and which stay. Plain lines, so that each
//! door paints them. Must not know doors.

use claw_kit::counted::counted;

use super::{Finished, Preview, UndoneFiles};
use crate::domain::escape;
use crate::snapshot::{Change, KeptBecause, KeptPath};

/// How many paths of each kind a list names.
const NAMED_MAX: usize = 12;

/// What would change, and what would stay.
pub fn preview_lines(preview: &Preview) -> Vec<String> {
    let what = if preview.redo { "Taking back the undo of the turn" } else { "Undoing the turn" };
    let Preview { turn, workspace, plan, .. } = preview;
    let place = escape::visible(&workspace.display().to_string());
    let mut lines = if plan.changes.is_empty() {
        vec![format!("{what} {turn} would change nothing in {place}.")]
    } else {
        vec![format!("{what} {turn} changes {} in {place}:", counted(plan.changes.len(), "path"))]
    };
    lines.extend(listed(&plan.changes, in_words));
    lines.extend(kept(&plan.kept, "It leaves"));
    lines
}

/// What has changed, and what has stayed.
pub fn undone_lines(undone: &UndoneFiles) -> Vec<String> {
    let what = if undone.redo { "The undo is taken back" } else { "Undone" };
    let mut lines = vec![format!("{what}: {}.", counted(undone.changed.len(), "path"))];
    lines.extend(kept(&undone.kept, "Left"));
    lines
}

/// What has become of an undo that a kill had cut. `claw` are the first words of a command.
pub fn finished_lines(finished: &Finished, claw: &str) -> Vec<String> {
    let Finished { turn, workspace, redo, changed, rest } = finished;
    let what = if *redo { "Taking back the undo of" } else { "The undo of" };
    let place = escape::visible(&workspace.display().to_string());
    if *changed == 0 && !rest.changes.is_empty() {
        let again = if *redo { "--redo".to_owned() } else { turn.to_string() };
        return vec![format!(
            "{what} the turn {turn} in {place} was cut before it changed a file. `{claw} undo \
             {again}` does it."
        )];
    }
    let mut lines = vec![format!(
        "{what} the turn {turn} in {place} was cut in the middle, and is finished now: {} put back.",
        counted(*changed, "path")
    )];
    if !rest.changes.is_empty() {
        lines.push(format!(
            "Not put back, because they could not be written: {}:",
            counted(rest.changes.len(), "path")
        ));
        lines.extend(listed(&rest.changes, in_words));
    }
    lines.extend(kept(&rest.kept, "Left"));
    lines
}

fn kept(kept: &[KeptPath], verb: &str) -> Vec<String> {
    if kept.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("{verb} {} as now:", counted(kept.len(), "path"))];
    lines.extend(listed(kept, |kept| {
        format!("{} ({})", escape::visible(&kept.path.as_path().display().to_string()), why(kept))
    }));
    lines
}

fn listed<T>(all: &[T], words: impl Fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> =
        all.iter().take(NAMED_MAX).map(|one| format!("  {}", words(one))).collect();
    match all.len().saturating_sub(NAMED_MAX) {
        0 => {}
        more => lines.push(format!("  … and {more} more")),
    }
    lines
}

fn in_words(change: &Change) -> String {
    let path = escape::visible(&change.path.as_path().display().to_string());
    let verb = match (&change.now, &change.before) {
        (_, None) => "remove",
        (None, Some(_)) => "restore",
        (Some(now), Some(before)) if now.holds_the_same(before) => "set mode",
        (Some(_), Some(_)) => "put back",
    };
    format!("{verb:<8} {path}")
}

fn why(kept: &KeptPath) -> &'static str {
    match kept.why {
        KeptBecause::ChangedSince => "changed since",
        KeptBecause::ChangedMeanwhile => "changed while others worked here",
        KeptBecause::NotEmpty => "holds other files",
        KeptBecause::NoFolderAbove => "its folder is gone",
        KeptBecause::NotRemembered => "was not remembered",
        KeptBecause::Failed => "could not be written",
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::domain::{ApprovalId, TurnId};
    use crate::snapshot::Plan;
    use crate::undo::UndoError;

    #[test]
    fn what_is_to_be_typed_next_is_a_command_of_that_agent() {
        let claw = "claw --agent work".to_owned();
        let turn: TurnId = "main:12".parse().unwrap();
        let change = Change { path: PathBuf::from("a.txt").into(), now: None, before: None };
        let finished = Finished {
            turn: turn.clone(),
            workspace: PathBuf::from("/w"),
            redo: false,
            changed: 0,
            rest: Plan { changes: vec![change], kept: Vec::new() },
        };
        let question = ApprovalId("k3v9".to_owned());
        let told = [
            finished_lines(&finished, &claw).concat(),
            UndoError::Unknown { turn: turn.clone(), claw: claw.clone() }.to_string(),
            UndoError::Undone { turn: turn.clone(), claw: claw.clone() }.to_string(),
            UndoError::Waits { turn, question, claw }.to_string(),
        ];
        for (told, next) in
            told.iter().zip(["undo main:12", "undo --list", "undo --redo", "approvals"])
        {
            assert!(told.contains(&format!("`claw --agent work {next}`")), "{told}");
        }
    }
}
