//! The columns of the index: which words of a definition stand in which. Must not know SQL.

use serde_json::Value;

use crate::{Tool, words};

/// Nested schemas that are looked into.
const DEPTH_MAX: usize = 6;
/// Words of one column, and of what a server says about itself. A definition of 50,000 words would
/// be found for everything.
const WORDS_MAX: usize = 400;
const INSTRUCTIONS_WORDS_MAX: usize = 40;

/// The columns in their order, with their weights. Tuned on one half of the requests of
/// `benches/bfcl.rs`; the last two are about servers, which its tools do not have.
pub const COLUMNS: [(&str, f64); 8] = [
    ("name", 3.0),
    ("first", 1.0),
    ("rest", 0.5),
    ("parameters", 0.5),
    ("about_parameters", 0.5),
    ("choices", 2.0),
    ("server", 2.0),
    ("instructions", 0.2),
];

/// The place of the column with the names of tools, of the one whose words do not make a tool long,
/// and of that with the names of servers.
pub const NAME: usize = 0;
pub const UNCOUNTED: usize = 4;
pub const SERVER: usize = 6;
/// Columns from this one on say nothing by which a request is covered.
pub const COVERING: usize = 4;

/// The texts of the columns, in their order.
pub fn columns(tool: &Tool) -> [String; COLUMNS.len()] {
    let (first, rest) = halves(tool.description.trim());
    let mut of_schema = OfSchema::default();
    of_schema.take(&tool.input_schema, 0);
    let words = |text: &str| kept(text, WORDS_MAX);
    [
        words(&tool.name),
        words(&format!("{} {first}", tool.title)),
        words(rest),
        words(&of_schema.names),
        words(&of_schema.about),
        words(&of_schema.choices),
        words(&tool.server),
        kept(&tool.instructions, INSTRUCTIONS_WORDS_MAX),
    ]
}

fn kept(text: &str, max: usize) -> String {
    let mut words = words::of_text(text);
    words.truncate(max);
    words.join(" ")
}

/// The first sentence of a description, and the rest.
fn halves(text: &str) -> (&str, &str) {
    let ends = |(at, c): &(usize, char)| {
        let next = text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        *c == '\n' || (".!?".contains(*c) && next.is_none_or(char::is_whitespace))
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(at, c)| at + c.len_utf8());
    text.split_at(end)
}

/// What a schema says: the names of parameters, what is said about them, and what they can be.
#[derive(Default)]
struct OfSchema {
    names: String,
    about: String,
    choices: String,
}

impl OfSchema {
    fn take(&mut self, schema: &Value, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        for (name, of_parameter) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            self.names.push_str(&format!("{name} "));
            let about = of_parameter.get("description").and_then(Value::as_str);
            self.about.push_str(&format!("{} ", about.unwrap_or_default()));
            self.take_choices(of_parameter);
            self.take(of_parameter, depth + 1);
        }
        if let Some(items) = schema.get("items") {
            self.take_choices(items);
            self.take(items, depth + 1);
        }
    }

    fn take_choices(&mut self, schema: &Value) {
        let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        for choice in choices.filter_map(Value::as_str) {
            self.choices.push_str(&format!("{choice} "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_part_of_a_definition_has_its_column() {
        let tool = Tool {
            name: "createIssue".into(),
            title: "New issue".into(),
            description: "Opens an issue. Needs a token.".into(),
            input_schema: json!({"properties": {"issue_kind": {"description": "What it is.",
                "enum": ["bug", "idea"]}, "labels": {"items": {"enum": ["ui"]}}}}),
            server: "git-hub".into(),
            instructions: "Log in first.".into(),
            ..Tool::default()
        };
        let expected = [
            "create issue",
            "new issue opens an issue",
            "needs a token",
            "issue kind labels",
            "what it is",
            "bug idea ui",
            "git hub",
            "log in first",
        ];
        assert_eq!(columns(&tool), expected);
    }

    #[test]
    fn an_endless_schema_is_bounded() {
        let mut schema = json!({});
        for _ in 0..100 {
            schema = json!({"properties": {"deeper": schema}});
        }
        let tool =
            Tool { input_schema: schema, description: "a ".repeat(9_000), ..Tool::default() };
        let words: usize = columns(&tool).iter().map(|text| text.split(' ').count()).sum();
        assert!(words < 500, "{words}");
    }
}
