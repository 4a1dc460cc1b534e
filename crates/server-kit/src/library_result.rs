//! The tools of a server without a protocol, for a program that is its owner's own hands, and what
//! they return. Must not
//! know what a tool does, or how it is served.

use rmcp::model::CallToolResponse;
use serde_json::Value;

use crate::tools::Tools;

/// The result of a tool that was used as a library: text for a person, and the same for a program.
#[derive(Clone, Debug)]
pub struct LibraryResult {
    pub text: String,
    pub structured: Value,
}

impl<C: Send + 'static> Tools<C> {
    /// Does what the tool of that name does.
    ///
    /// # Errors
    /// What the tool refuses, in its words.
    pub async fn run(
        &self,
        name: &str,
        context: C,
        arguments: Value,
    ) -> Result<LibraryResult, String> {
        let arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            _ => None,
        };
        let done = self.call(name, context, arguments).await;
        let done = done.map_err(|error| error.message.into_owned())?;
        let CallToolResponse::Complete(done) = done else {
            return Err("the tool asks back, which none of these does".to_owned());
        };
        let answer = serde_json::to_value(done).map_err(|error| error.to_string())?;
        let text = answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        match answer["isError"] == true {
            true => Err(text),
            false => Ok(LibraryResult { text, structured: answer["structuredContent"].clone() }),
        }
    }
}
