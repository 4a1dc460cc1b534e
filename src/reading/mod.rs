//! Whether a command only reads what lies in the workspace: puts together what the text says
//! (`policy::shell`) and what lies on the disk. Must not know rules, or what becomes of the answer.
//!
//! The box lets a command read system files, and these can hold what is nobody's business (`/etc`).
//! So everything that a command names must lie in the workspace, with no link on the way, which is
//! exactly what the file tools give away without a question. So must what it opens unnamed
//! (`hidden.rs`). Between this look and the command's own one the disk can change. So the gate's
//! verdict carries a `Reach`: the operating system lets such a command open the workspace and the
//! system's programs alone.

mod git;
mod hidden;
mod place;
mod program;

use std::path::Path;

use crate::policy::shell::{self, Joint, ShellStep, readers};
use place::Place;

/// The programs that a command starts, each once, if all that it does is read what lies in the
/// workspace.
pub fn programs(
    command: &str,
    cwd: &str,
    workspace: &Path,
    search_path: &str,
) -> Option<Vec<&'static str>> {
    let steps = shell::read(command)?;
    if changes_folder(&steps) && !is_plain_sequence(&steps) {
        return None;
    }
    let mut place = Place::new(workspace).folder(cwd)?;
    let mut programs = Vec::new();
    for step in &steps {
        let reading = readers::reading(step)?;
        if !reading.builtin && !program::is_the_systems(reading.program, search_path, workspace) {
            return None;
        }
        match reading.program {
            "cd" => place = place.folder(reading.paths.first().filter(|path| **path != "-")?)?,
            "git" if !git::starts_nothing(&place) => return None,
            _ => {}
        }
        let known = |path: &&str| *path == "-" || place.holds(path);
        if reading.program != "cd" && !reading.paths.iter().all(known) {
            return None;
        }
        if !hidden::is_plain(reading.program, &place, &reading.paths) {
            return None;
        }
        if !programs.contains(&reading.program) {
            programs.push(reading.program);
        }
    }
    Some(programs)
}

fn changes_folder(steps: &[ShellStep]) -> bool {
    steps.iter().any(|step| step.program() == "cd")
}

/// Whether every step runs only after all before it have done what they say, and no `cd` has a
/// folder of its own in a pipe.
fn is_plain_sequence(steps: &[ShellStep]) -> bool {
    let in_a_pipe = |index: usize| {
        let joint = |index: usize| steps.get(index).map(|step| step.joint);
        joint(index) == Some(Joint::Pipe) || joint(index + 1) == Some(Joint::Pipe)
    };
    let known =
        steps.iter().all(|step| matches!(step.joint, Joint::Start | Joint::And | Joint::Pipe));
    known
        && !steps.iter().enumerate().any(|(index, step)| step.program() == "cd" && in_a_pipe(index))
}

#[cfg(test)]
mod tests;
