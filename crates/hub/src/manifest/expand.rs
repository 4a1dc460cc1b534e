//! Variables in `mcp.json`, expanded exactly once: what a variable holds is never looked at again,
//! so that a value cannot smuggle in another one. Must not know which field it expands.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the variables of a file stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expansion {
    /// The environment that `${VAR}` and `${env:VAR}` read.
    pub env: BTreeMap<String, String>,
    /// `~` and `${userHome}`.
    pub home: PathBuf,
    /// `${workspaceFolder}`.
    pub workspace: PathBuf,
    /// This executable: what the command `claw` means.
    pub claw_exe: PathBuf,
    /// Appended to the arguments of every entry whose command is `claw`.
    pub extra_claw_args: Vec<String>,
    /// Answers to VS Code's `${input:id}`; its `default` is used where there is none.
    pub inputs: BTreeMap<String, String>,
}

/// Which variables a file of this root may use, see `notes` of the four hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `mcpServers`: Claude Desktop (none), Claude Code and Cursor.
    McpServers,
    /// `servers`: VS Code.
    Servers,
}

/// Expands the strings of one entry and remembers what its author should hear.
pub(super) struct Expander<'a> {
    pub(super) expansion: &'a Expansion,
    pub(super) inputs: &'a BTreeMap<String, String>,
    pub(super) dialect: Dialect,
    pub(super) server: &'a str,
    pub(super) warnings: Vec<String>,
    /// The ids of inputs that nobody has answered.
    pub(super) open_inputs: Vec<String>,
}

impl Expander<'_> {
    /// One pass from left to right over `${…}`. A bare `$VAR` stays, and so does what is unknown,
    /// with a warning.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(length) = rest.get(start..).and_then(|tail| tail.find('}')) else { break };
            let (Some(before), Some(name), Some(after)) = (
                rest.get(..start),
                rest.get(start + 2..start + length),
                rest.get(start + length + 1..),
            ) else {
                break;
            };
            out.push_str(before);
            match self.variable(name) {
                Some(value) => out.push_str(&value),
                None => out.extend(["${", name, "}"]),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// A path: expanded, and a leading `~/` is the user's home.
    pub(super) fn path(&mut self, text: &str) -> String {
        // The tilde is looked for in what the owner wrote, not in what a variable held.
        let home = self.expansion.home.clone();
        match text.strip_prefix('~') {
            Some("") => home.display().to_string(),
            Some(rest) if rest.starts_with('/') => format!("{}{}", home.display(), self.text(rest)),
            _ => self.text(text),
        }
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        let expansion = self.expansion;
        match name {
            "userHome" => return Some(expansion.home.display().to_string()),
            "workspaceFolder" => return Some(expansion.workspace.display().to_string()),
            "workspaceFolderBasename" => {
                return Some(
                    expansion
                        .workspace
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned(),
                );
            }
            "/" | "pathSeparator" => return Some(std::path::MAIN_SEPARATOR.to_string()),
            _ => {}
        }
        if let Some(variable) = name.strip_prefix("env:") {
            let value = expansion.env.get(variable).cloned();
            if value.is_none() {
                // Both hosts that know this form put nothing in its place.
                self.warn(format!("`{variable}` is not set, so `${{{name}}}` is empty"));
            }
            return Some(value.unwrap_or_default());
        }
        match self.dialect {
            Dialect::Servers => self.input(name),
            Dialect::McpServers => self.shell_like(name),
        }
    }

    fn input(&mut self, name: &str) -> Option<String> {
        let Some(id) = name.strip_prefix("input:") else {
            self.warn(format!(
                "`${{{name}}}` is not a variable of this file's form; it stays as it is"
            ));
            return None;
        };
        let answer = self.expansion.inputs.get(id).or_else(|| self.inputs.get(id)).cloned();
        if answer.is_none() {
            self.open_inputs.push(id.to_owned());
        }
        answer
    }

    fn shell_like(&mut self, name: &str) -> Option<String> {
        let (variable, default) = match name.split_once(":-") {
            Some((variable, default)) => (variable, Some(default)),
            None => (name, None),
        };
        let value =
            self.expansion.env.get(variable).map(String::as_str).or(default).map(str::to_owned);
        if value.is_none() {
            self.warn(format!("`{variable}` is not set, so `${{{name}}}` stays as it is"));
        }
        value
    }

    pub(super) fn warn(&mut self, what: String) {
        self.warnings.push(format!("mcp.json, server `{}`: {what}", self.server));
    }
}
