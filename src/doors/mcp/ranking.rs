//! Which of many tools a few words mean: by their names, their descriptions and the names of their
//! arguments (BM25). Pure. Must not know who asks, or what a tool does.

use std::collections::HashMap;

use serde_json::Value;

use crate::clients::ClientTool;

/// A word in a name counts as often.
const NAME_WEIGHT: f64 = 3.0;
/// How soon a further mention of a word counts less, and how much a long text is worth less.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Shorter words say nothing.
const WORD_CHARS_MIN: usize = 2;

/// The places of the tools that these words mean, the best first.
pub fn ranked(tools: &[ClientTool], query: &str) -> Vec<usize> {
    let texts: Vec<HashMap<String, f64>> = tools.iter().map(counted).collect();
    let lengths: Vec<f64> = texts.iter().map(|text| text.values().sum()).collect();
    let count = tools.len() as f64;
    let mean = (lengths.iter().sum::<f64>() / count.max(1.0)).max(1.0);
    let mut wanted = words(query);
    wanted.sort();
    wanted.dedup();
    let mut scores: Vec<(f64, usize)> = Vec::new();
    for (at, (text, length)) in texts.iter().zip(&lengths).enumerate() {
        let score: f64 = wanted
            .iter()
            .filter_map(|word| Some((word, text.get(word)?)))
            .map(|(word, times)| {
                let with = texts.iter().filter(|text| text.contains_key(word)).count() as f64;
                let rare = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
                rare * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / mean))
            })
            .sum();
        if score > 0.0 {
            scores.push((score, at));
        }
    }
    // Of two alike the first one by name.
    scores.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    scores.into_iter().map(|(_, at)| at).collect()
}

/// The words of a tool, with their weight.
fn counted(tool: &ClientTool) -> HashMap<String, f64> {
    let mut counts = HashMap::new();
    let mut add = |text: &str, weight: f64| {
        for word in words(text) {
            *counts.entry(word).or_insert(0.0) += weight;
        }
    };
    add(&tool.name, NAME_WEIGHT);
    let text = |key: &str| tool.definition.get(key).and_then(Value::as_str).unwrap_or_default();
    add(text("title"), NAME_WEIGHT);
    add(text("description"), 1.0);
    let arguments = tool.definition.pointer("/inputSchema/properties").and_then(Value::as_object);
    for (name, argument) in arguments.into_iter().flatten() {
        add(name, 1.0);
        add(argument.get("description").and_then(Value::as_str).unwrap_or_default(), 1.0);
    }
    counts
}

/// In small letters, without what stands between them; `readFile` is two.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        was_small = c.is_lowercase();
    }
    words.retain(|word| word.chars().count() >= WORD_CHARS_MIN);
    words.into_iter().map(without_plural).collect()
}

/// `files` and `file` are one word.
fn without_plural(word: String) -> String {
    match word.strip_suffix('s') {
        Some(one) if one.len() > 3 && !one.ends_with('s') => one.to_owned(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str, argument: &str) -> ClientTool {
        let properties = json!({ argument: {"type": "string"} });
        ClientTool {
            name: name.to_owned(),
            server: String::new(),
            tool: String::new(),
            definition: json!({
                "description": description, "inputSchema": {"properties": properties},
            }),
        }
    }

    #[test]
    fn words_find_names_before_descriptions_and_nothing_finds_what_it_does_not_name() {
        let tools = [
            tool("mail__send", "Sends a message to somebody.", "to"),
            tool("fs__readFile", "Gives the content of one of the files.", "path"),
            tool("notes__add", "Writes a note; it is kept in a file.", "text"),
            tool("git__log", "Shows commits.", "branch"),
        ];
        let names = |query| -> Vec<&str> {
            ranked(&tools, query).into_iter().map(|at| tools[at].name.as_str()).collect()
        };
        assert_eq!(names("read a file"), ["fs__readFile", "notes__add"]);
        assert_eq!(names("BRANCH"), ["git__log"]);
        assert_eq!(names("send mails"), ["mail__send"]);
        assert!(names("weather").is_empty() && names("").is_empty());
    }
}
