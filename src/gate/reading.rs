//! Commands that only read and therefore run without a question, where the policy leaves them
//! alone. Must not know what a command reads (`crate::reading`) or how a verdict is carried out.

use serde_json::Value;

use super::Gate;
use super::judge::Allowed;
use crate::calls::Grounds;
use crate::catalog::Tool;
use crate::domain::ToolCall;
use crate::hub::Reach;
use crate::policy::shape::shell_command;
use crate::reading;

/// What such a verdict is called in the audit.
const RULE: &str = "builtin.reads-only";

/// The programs that a command starts, and what they may open.
#[derive(Clone, Debug)]
pub(super) struct Reads {
    programs: Vec<&'static str>,
    pub(super) reach: Reach,
}

impl Reads {
    pub(super) fn allow(self, tool: Tool) -> Allowed {
        let why = format!("reads only: {}", self.programs.join(", "));
        Allowed { tool, grounds: Grounds::new(RULE, why), reach: self.reach }
    }
}

impl Gate {
    /// What a command that only reads starts, if this is one and the policy leaves it alone.
    pub(super) fn reads_only(&self, call: &ToolCall) -> Option<Reads> {
        let facts = self.calls.facts(call, None);
        let command = shell_command(&facts)?;
        if !self.policy().lets_readers_run(&facts) {
            return None;
        }
        let cwd = match call.arguments.get("cwd") {
            None | Some(Value::Null) => ".",
            Some(cwd) => cwd.as_str()?,
        };
        let search_path = self.hub.search_path(&call.server)?;
        let programs = reading::programs(command, cwd, self.calls.workspace(), &search_path)?;
        let mounts = programs.contains(&"df");
        let reach = if mounts { Reach::WorkspaceAndProcesses } else { Reach::Workspace };
        Some(Reads { programs, reach })
    }
}
