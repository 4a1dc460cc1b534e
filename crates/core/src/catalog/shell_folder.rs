//! What a model is told of the folder in which a command begins: claw remembers it, and not the
//! server, so the words are claw's. Must not know where a shell stands.

use serde_json::Value;

use super::Catalog;

/// Of the parameter `cwd` of our own bash server's tools.
const CWD: &str = "Directory to run in, for this call alone: inside the workspace and relative to it. \
    Default: where the shell stands. A `cd` in a command of `run` moves it for the next ones; `.` is \
    the workspace.";

impl Catalog {
    /// Whether a command begins where the one before it in its session has left its shell. Our bash
    /// server sees the end of a shell on Linux alone.
    pub fn keeps_shell_folder(&self) -> bool {
        cfg!(target_os = "linux") && self.settings().tools.keeps_shell_folder
    }
}

/// Words the parameter, if the tool has it.
pub(super) fn describe(input_schema: &mut Value) {
    if let Some(described) = input_schema.pointer_mut("/properties/cwd/description") {
        *described = Value::from(CWD);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_without_a_folder_stays_as_it_is() {
        let mut schema = json!({"properties": {"job": {"description": "A number."}}});
        let before = schema.clone();
        describe(&mut schema);
        assert_eq!(schema, before);
        let mut schema = json!({"properties": {"cwd": {"description": "", "type": "string"}}});
        describe(&mut schema);
        assert_eq!(schema, json!({"properties": {"cwd": {"description": CWD, "type": "string"}}}));
    }
}
