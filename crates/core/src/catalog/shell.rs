//! What a model is told of the shell that a command has: claw remembers its folder and its
//! variables, and not the server, so the words are claw's. Must not know where a shell stands, or
//! what it keeps.

use serde_json::Value;

use super::Catalog;

/// Of the parameter `cwd` of our own bash server's tools.
const CWD: &str = "Directory to run in, for this call alone: inside the workspace and relative to it. \
    Default: where the shell stands. A `cd` in a command of `run` moves it for the next ones; `.` is \
    the workspace.";

/// Of the parameter `variables` of our own bash server's tools.
const VARIABLES: &str = "Environment variables for this call alone, by name, on top of those that \
    the shell keeps: at most 64, 4 KiB each, 16 KiB in all. What a command of `run` exports is kept \
    for the next ones until it is `unset`. A command that has any is asked about more often, so \
    prefer `NAME=value command`.";

impl Catalog {
    /// Whether a command begins where the one before it in its session has left its shell. Our bash
    /// server sees the end of a shell on Linux alone.
    pub fn keeps_shell_folder(&self) -> bool {
        cfg!(target_os = "linux") && self.settings().tools.keeps_shell_folder
    }

    /// Whether a command has the variables that the one before it in its session has exported.
    pub fn keeps_shell_variables(&self) -> bool {
        cfg!(target_os = "linux") && self.settings().tools.keeps_shell_variables
    }

    /// Words the parameters of a tool of our own bash server that has them.
    pub(super) fn describe_shell(&self, input_schema: &mut Value) {
        if self.keeps_shell_folder() {
            describe(input_schema, "/properties/cwd/description", CWD);
        }
        if self.keeps_shell_variables() {
            describe(input_schema, "/properties/variables/description", VARIABLES);
        }
    }
}

fn describe(input_schema: &mut Value, pointer: &str, words: &str) {
    if let Some(described) = input_schema.pointer_mut(pointer) {
        *described = Value::from(words);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_parameter_is_described_where_a_tool_has_it() {
        let without = json!({"properties": {"job": {"description": "A number."}}});
        for (name, kind, words) in [("cwd", "string", CWD), ("variables", "object", VARIABLES)] {
            let pointer = format!("/properties/{name}/description");
            let mut schema = without.clone();
            describe(&mut schema, &pointer, words);
            assert_eq!(schema, without);
            let mut schema = json!({"properties": {name: {"description": "", "type": kind}}});
            describe(&mut schema, &pointer, words);
            let described = json!({"properties": {name: {"description": words, "type": kind}}});
            assert_eq!(schema, described);
        }
    }
}
