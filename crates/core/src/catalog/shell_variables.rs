//! What a model is told of the variables that a command has: claw keeps them, and not the server,
//! so the words are claw's. Must not know which ones a shell keeps.

use serde_json::Value;

use super::Catalog;

/// Of the parameter `variables` of our own bash server's tools.
const VARIABLES: &str = "Environment variables for this call alone, by name, on top of those that \
    the shell keeps: at most 64, 4 KiB each, 16 KiB in all. What a command of `run` exports is kept \
    for the next ones until it is `unset`. A command that has any is asked about more often, so \
    prefer `NAME=value command`.";

impl Catalog {
    /// Whether a command has the variables that the one before it in its session has exported. Our
    /// bash server sees the end of a shell on Linux alone.
    pub fn keeps_shell_variables(&self) -> bool {
        cfg!(target_os = "linux") && self.settings().tools.keeps_shell_variables
    }
}

/// Words the parameter, if the tool has it.
pub(super) fn describe(input_schema: &mut Value) {
    if let Some(described) = input_schema.pointer_mut("/properties/variables/description") {
        *described = Value::from(VARIABLES);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_without_variables_stays_as_it_is() {
        let mut schema = json!({"properties": {"job": {"description": "A number."}}});
        let before = schema.clone();
        describe(&mut schema);
        assert_eq!(schema, before);
        let mut schema =
            json!({"properties": {"variables": {"description": "", "type": "object"}}});
        describe(&mut schema);
        assert_eq!(schema["properties"]["variables"]["description"], VARIABLES);
    }
}
