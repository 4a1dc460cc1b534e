//! Commands that only read and therefore run without a question: puts together what the text says
//! (`shell`) and what lies on the disk. Must not know how a verdict is carried out.
//!
//! The box lets a command read system files, and these can hold what is nobody's business (`/etc`).
//! So everything that a command names must lie in the workspace, with no link on the way, which is
//! exactly what the file tools give away without a question. So must what it opens unnamed
//! (`hidden.rs`). Between this look and the command's own one the disk can change. So the verdict
//! carries a `Reach`: the operating system lets such a command open the workspace and the system's
//! programs alone.

mod git;
mod hidden;
mod place;
mod program;

use std::path::Path;

use serde_json::Value;

use super::Gate;
use super::judge::Verdict;
use super::permit::Reach;
use crate::domain::ToolCall;
use crate::policy::shape::shell_command;
use crate::policy::shell::{self, Joint, Step, readers};
use place::Place;

/// What such a verdict is called in the audit.
pub(super) const RULE: &str = "builtin.reads-only";

impl Gate {
    /// The allowance for a command that only reads, if this is one and the policy leaves it alone.
    pub(super) fn reads_only(&self, call: &ToolCall) -> Option<Verdict> {
        let facts = self.facts(call, None);
        let command = shell_command(&facts)?;
        if !self.policy().lets_readers_run(&facts) {
            return None;
        }
        let cwd = match call.arguments.get("cwd") {
            None | Some(Value::Null) => ".",
            Some(cwd) => cwd.as_str()?,
        };
        let search_path = self.hub.search_path(&call.server)?;
        let programs = programs(command, cwd, &self.settings.workspace, &search_path)?;
        let mounts = programs.contains(&"df");
        let reach = if mounts { Reach::WorkspaceAndProcesses } else { Reach::Workspace };
        Some(Verdict {
            reach,
            ..Verdict::new(RULE, format!("reads only: {}", programs.join(", ")))
        })
    }
}

/// The programs that a command starts, each once, if all that it does is read what lies in the
/// workspace.
fn programs(
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

fn changes_folder(steps: &[Step]) -> bool {
    steps.iter().any(|step| step.program() == "cd")
}

/// Whether every step runs only after all before it have done what they say, and no `cd` has a
/// folder of its own in a pipe.
fn is_plain_sequence(steps: &[Step]) -> bool {
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
