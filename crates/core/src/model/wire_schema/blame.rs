//! Which tools of a request a provider's refusal is about. Owns how providers name them. Must not
//! know requests.

use crate::domain::ToolSpec;

/// The tools that the text of a refusal names, by place or by name; `tools` as they were sent.
pub(in crate::model) fn blamed<'a>(text: &str, tools: &'a [ToolSpec]) -> Vec<&'a ToolSpec> {
    // Gemini counts declarations within its one tool: `tools[0].function_declarations[3]`.
    let declarations = places(text, &["function_declarations[", "functionDeclarations["]);
    // OpenAI: `tools[3].function.parameters`; Anthropic: `tools.3.custom.input_schema`.
    let by_place =
        if declarations.is_empty() { places(text, &["tools[", "tools."]) } else { declarations };
    let by_place = by_place.into_iter().filter_map(|place| tools.get(place));
    // A refusal of the conversation may name a tool, too, which is no fault of its definition.
    let is_about_messages = ["messages", "input[", "contents", "tool_use", "tool_result"]
        .iter()
        .any(|word| text.contains(word));
    let by_name = tools.iter().filter(|tool| !is_about_messages && holds_word(text, &tool.name));
    let mut found: Vec<&ToolSpec> = Vec::new();
    for tool in by_place.chain(by_name) {
        if !found.iter().any(|known| known.name == tool.name) {
            found.push(tool);
        }
    }
    found
}

fn places(text: &str, before: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    for before in before {
        for (at, _) in text.match_indices(before) {
            let rest = text.get(at + before.len()..).unwrap_or_default();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            found.extend(digits.parse::<usize>().ok());
        }
    }
    found
}

/// Whether a name stands in a text, and not as a part of a longer one.
fn holds_word(text: &str, name: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
    })
}
