//! The folder that a command's shell was left in: taken from the result of our own bash server, and
//! put into the arguments of a call that names none, before it is judged. Must not know logs, or
//! which call was the last one.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde_json::{Value, json};

use super::Calls;
use crate::domain::{CallId, OwnServerName, ShellFolder, ToolCall, ToolOutput};
use crate::redact;

const RUN: &str = "run";
const START: &str = "start";
const CWD: &str = "cwd";
/// The workspace itself.
const WORKSPACE: &str = ".";
/// The longest folder that is remembered, in bytes.
const FOLDER_BYTES_MAX: usize = 1024;

impl Calls {
    /// The arguments of a use of a tool as they are frozen: with the folder in which the shell of
    /// this server stands, where it is our own and they name none.
    pub fn in_shell_folder(
        &self,
        (server, tool): (&str, &str),
        mut arguments: Value,
        stands: &BTreeMap<String, String>,
    ) -> Value {
        let folder = stands.get(server).filter(|_| self.begins_in_shell(server, tool));
        if let (Some(folder), Value::Object(named)) = (folder, &mut arguments) {
            let names_none = match named.get(CWD) {
                None | Some(Value::Null) => true,
                Some(named) => named == "",
            };
            if names_none {
                named.insert(CWD.to_owned(), json!(folder));
            }
        }
        arguments
    }

    /// The result of a call with the folder in which its shell was left, if it is a command of a
    /// model's in our own bash server and the owner wants that remembered. What another server says
    /// under that name is data.
    pub(super) fn with_shell_folder(&self, call: &ToolCall, output: ToolOutput) -> ToolOutput {
        if !self.leaves_a_shell(call) || !self.catalog.keeps_shell_folder() {
            return output;
        }
        let cwd = call.arguments.get(CWD).and_then(Value::as_str);
        let Some(left) = self.left_in(cwd, &output) else { return output };
        let mut output = output;
        let ShellLeft { folder, instead_of, said } = left;
        if let Some(said) = said {
            output.text.push_str(&format!("\n[{said}]"));
        }
        let server = call.server.clone();
        output.shell = Some(Box::new(ShellFolder { server, folder, instead_of }));
        output
    }

    /// Whether this tool begins a command that goes on where a shell was left.
    pub(super) fn begins_in_shell(&self, server: &str, tool: &str) -> bool {
        matches!(tool, RUN | START) && self.hub.builtin(server) == Some(OwnServerName::Bash)
    }

    /// Whether the shell of this call is gone on with: that of a model's command alone, and of none
    /// that claw, a button or a client has run.
    pub(super) fn leaves_a_shell(&self, call: &ToolCall) -> bool {
        call.tool == RUN
            && matches!(call.id, CallId::Reply { .. })
            && self.hub.builtin(&call.server) == Some(OwnServerName::Bash)
    }

    fn left_in(&self, cwd: Option<&str>, output: &ToolOutput) -> Option<ShellLeft> {
        let told = output.structured.as_ref()?;
        if told.get("cwd_refused") == Some(&json!(true)) {
            return Some(ShellLeft {
                folder: WORKSPACE.to_owned(),
                instead_of: Some(cwd?.to_owned()),
                said: Some("If the shell stood there, it is back in the workspace now."),
            });
        }
        let folder = told.get("moved_to")?.as_str()?;
        if !is_below(folder) {
            return None;
        }
        let named = json!(folder);
        let is_secret =
            self.redactor.contains_secret(&named).is_some() || redact::contains_mark(&named);
        let said = is_secret.then_some(
            "The name of that folder holds a secret, so it is not remembered: the next command \
             begins in the workspace.",
        );
        let folder = if is_secret { WORKSPACE } else { folder };
        Some(ShellLeft { folder: folder.to_owned(), instead_of: None, said })
    }
}

struct ShellLeft {
    folder: String,
    instead_of: Option<String>,
    said: Option<&'static str>,
}

/// Whether it is a folder of the workspace by its text: relative, and without a step upwards.
fn is_below(folder: &str) -> bool {
    let components = || Path::new(folder).components();
    let plain = || components().all(|part| matches!(part, Component::Normal(_)));
    folder == WORKSPACE || (!folder.is_empty() && folder.len() <= FOLDER_BYTES_MAX && plain())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_below_the_workspace_is_one() {
        for (folder, is) in [
            (".", true),
            ("a", true),
            ("a/b c/\u{e4}", true),
            ("", false),
            ("..", false),
            ("a/../..", false),
            ("/etc", false),
            ("./a", false),
        ] {
            assert_eq!(is_below(folder), is, "{folder}");
        }
        assert!(!is_below(&"a/".repeat(600)));
    }
}
