//! What a model is offered and what it reports back, free of any provider. Must not know providers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `server__tool`; ASCII letters, digits, `_`, `-`; at most 64 bytes.
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
}

impl ToolSpec {
    /// Bytes of the definition, about as a provider is sent it.
    pub fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.input_schema.to_string().len()
    }
}

/// The names that a JSON Schema of an object wants to be there (`required`).
pub fn required_of(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first sentence of a tool's description, for a list of many; `…` stands for the rest.
pub fn first_sentence(description: &str) -> String {
    let description = description.trim();
    let line = description.lines().next().unwrap_or_default();
    let ends = |at: &usize| {
        let next = line.get(at + 2..).and_then(|rest| rest.chars().next());
        next.is_some_and(char::is_uppercase)
    };
    let end = line.match_indices(". ").map(|(at, _)| at).find(ends);
    let sentence = end.and_then(|at| line.get(..=at)).unwrap_or(line);
    if sentence.len() == description.len() {
        sentence.to_owned()
    } else {
        format!("{sentence} …")
    }
}

/// Why a model's reply ended. A stream without one of these is broken and is no reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finish {
    /// The model said all it wanted to say.
    Complete,
    /// The model waits for the results of its tool uses.
    ToolUse,
    /// The output hit its token limit; what there is may be cut in the middle.
    MaxTokens,
    /// The provider or the model refused; `reason` is the provider's word for it.
    Refusal { reason: String },
}

/// Tokens of one reply, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All input tokens, cached ones included.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The part of `input_tokens` that was read from the provider's cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// The part of `input_tokens` that was written to the provider's cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
}

impl Usage {
    pub fn add(&mut self, one: &Self) {
        self.input_tokens += one.input_tokens;
        self.output_tokens += one.output_tokens;
        self.cached_tokens += one.cached_tokens;
        self.cache_write_tokens += one.cache_write_tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_shows_the_first_sentence_and_that_there_is_more() {
        assert_eq!(first_sentence("Reads a file."), "Reads a file.");
        assert_eq!(first_sentence("Reads, e.g. a file. It is UTF-8."), "Reads, e.g. a file. …");
        assert_eq!(first_sentence("Reads\na file"), "Reads …");
        assert_eq!(first_sentence(""), "");
    }
}
