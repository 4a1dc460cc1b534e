//! What a server says about itself, in claw's words, so that an owner can choose how far to trust
//! it. Nothing of the server stands in it but names and counts. Must not know what an owner chose.

use serde_json::Value;

use super::lint::Findings;
use crate::domain::{ToolHints, command_line, escape, inherit};
use crate::hub::INSTRUCTIONS;

/// Of a name in a finding, in characters.
const NAME_CHARS_MAX: usize = 16;
/// Of a launch command in the short form, in characters.
const RUNS_CHARS_MAX: usize = 70;

/// A server at first sight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub tools: usize,
    /// How many say that they only read.
    pub read: usize,
    /// How many of these say that they reach out into the world, and therefore ask.
    pub reach_out: usize,
    /// How many say that they destroy.
    pub destroy: usize,
    /// What starts it, or where it is.
    pub runs: String,
    pub findings: Findings,
}

impl Summary {
    /// Of what a server lists, by name. `form` is its launch form, `others` the names of the tools
    /// of all other servers.
    pub fn of(server: &str, form: &Value, listed: &[(&str, &Value)], others: &[&str]) -> Self {
        let tools = || listed.iter().filter(|(name, _)| *name != INSTRUCTIONS);
        let hints: Vec<ToolHints> = tools().map(|(_, raw)| ToolHints::of(raw)).collect();
        let count =
            |is_so: fn(ToolHints) -> bool| hints.iter().filter(|said| is_so(**said)).count();
        Self {
            tools: hints.len(),
            read: count(ToolHints::says_reads),
            reach_out: count(|said| said.says_reads() && !said.needs_no_question()),
            destroy: count(ToolHints::says_destroys),
            runs: runs(form),
            findings: Findings::of(server, listed, others),
        }
    }

    /// In at most ten rows of 40 columns.
    pub fn brief(&self) -> String {
        let mut lines = vec![self.counts(), cut(&self.runs, RUNS_CHARS_MAX)];
        lines.extend(self.odd());
        lines.join("\n")
    }

    /// The same with the whole of what is run.
    pub fn whole(&self) -> String {
        let mut lines = vec![self.counts(), self.runs.clone()];
        lines.extend(self.odd());
        lines.join("\n")
    }

    fn counts(&self) -> String {
        let tools = match self.tools {
            1 => "1 tool".to_owned(),
            tools => format!("{tools} tools"),
        };
        let says = |count: usize| if count == 1 { "says" } else { "say" };
        let it = |count: usize, does: &str, do_: &str| match count {
            1 => format!("it {does}"),
            _ => format!("they {do_}"),
        };
        let mut said = Vec::new();
        if self.read > 0 {
            let out = match self.reach_out {
                0 => String::new(),
                out => format!(" ({out} out in the world)"),
            };
            let (says, it) = (says(self.read), it(self.read, "only reads", "only read"));
            said.push(format!("{} {says} {it}{out}", self.read));
        }
        if self.destroy > 0 {
            let (says, it) = (says(self.destroy), it(self.destroy, "destroys", "destroy"));
            said.push(format!("{} {says} {it}", self.destroy));
        }
        match said.is_empty() {
            true => format!("{tools}, none says what it does."),
            false => format!("{tools}: {}.", said.join(", ")),
        }
    }

    /// What is odd, in one line.
    fn odd(&self) -> Option<String> {
        let Findings { aimed_at_model, hidden_characters, looks_like_another, asks_for_secrets } =
            &self.findings;
        let kinds = [
            ("words aimed at the model", aimed_at_model),
            ("hidden characters", hidden_characters),
            ("names like others", looks_like_another),
            ("asks for secrets", asks_for_secrets),
        ];
        let said: Vec<String> = kinds
            .into_iter()
            .filter_map(|(what, names)| Some(format!("{what}: {}", named(names)?)))
            .collect();
        (!said.is_empty()).then(|| format!("⚠ {}.", said.join("; ")))
    }
}

/// The first name, and how many more.
fn named(names: &[String]) -> Option<String> {
    let first = match names.first()?.as_str() {
        INSTRUCTIONS => "its instructions".to_owned(),
        name => format!("“{}”", cut(&escape::visible(name), NAME_CHARS_MAX)),
    };
    Some(match names.len() {
        1 => first,
        all => format!("{first} +{}", all - 1),
    })
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// What is run, with every argument and the names of its variables; or which address is asked.
pub fn runs(form: &Value) -> String {
    let texts = |key: &str| {
        let items = form.get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).collect::<Vec<_>>()
    };
    let text = |key: &str| form.get(key).and_then(Value::as_str);
    if let Some(url) = text("url") {
        let headers = texts("headers").join(", ");
        let url = format!("Is at {}", escape::visible(url));
        return if headers.is_empty() { url } else { format!("{url}; headers: {headers}") };
    }
    if let Some(reason) = text("unusable") {
        return format!("Cannot be used: {reason}");
    }
    let words = text("command").into_iter().chain(texts("args"));
    let mut runs = format!("Runs {}", command_line(words));
    for (key, what) in [("cwd", "in"), ("envFile", "variables of")] {
        if let Some(path) = text(key) {
            runs.push_str(&format!("; {what} {}", command_line([path])));
        }
    }
    let variables = texts("env").join(", ");
    if !variables.is_empty() {
        runs.push_str(&format!("; variables: {}", escape::visible(&variables)));
    }
    if form.get("inherit").is_some() {
        let inherited = inherit::shown(texts("inherit").into_iter());
        runs.push_str(&format!("; {}", escape::visible(&inherited)));
    }
    runs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, hints: Value) -> Value {
        json!({"name": name, "annotations": hints})
    }

    fn summary(tools: &[Value], form: &Value) -> Summary {
        let listed: Vec<(&str, &Value)> =
            tools.iter().map(|raw| (raw["name"].as_str().unwrap(), raw)).collect();
        Summary::of("s", form, &listed, &[])
    }

    #[test]
    fn it_counts_what_the_server_says_of_its_tools() {
        let form = json!({"command": "npx", "args": ["-y", "@a/b", "x y"], "env": ["TOKEN"]});
        let tools = [
            tool("a", json!({"readOnlyHint": true})),
            tool("b", json!({"readOnlyHint": true, "openWorldHint": true})),
            tool("c", json!({"destructiveHint": true})),
            tool("d", json!({"readOnlyHint": true, "destructiveHint": true})),
            tool("e", json!({})),
        ];
        assert_eq!(
            summary(&tools, &form).brief(),
            "5 tools: 2 say they only read (1 out in the world), 2 say they destroy.\n\
             Runs npx -y @a/b 'x y'; variables: TOKEN"
        );
        assert_eq!(
            summary(&tools[4..], &json!({"url": "https://h/mcp", "headers": []})).brief(),
            "1 tool, none says what it does.\nIs at https://h/mcp"
        );
        let form_of = json!({"command": "x", "args": [], "inherit": ["...", "G*"]});
        assert_eq!(runs(&form_of), "Runs x; inherits the usual variables, G*");
        assert_eq!(
            summary(&tools[..1], &form).whole().lines().next(),
            Some("1 tool: 1 says it only reads.")
        );
    }

    /// Nothing that a server writes makes the question longer than a screen, or stands in it
    /// unquoted.
    #[test]
    fn the_worst_server_takes_at_most_ten_rows_of_40_columns() {
        let name =
            |nr: usize| format!("read_\u{202e}file”.\nChosen: believe. {nr} {}", "x".repeat(99));
        let tools: Vec<Value> = (0..188)
            .map(|nr| {
                json!({"name": name(nr), "description": "You must\u{200b}", "title": "Chosen.",
                    "annotations": {"readOnlyHint": true, "openWorldHint": true},
                    "inputSchema": {"properties": {"password": {}}}})
            })
            .collect();
        let args: Vec<String> = (0..50).map(|nr| format!("--argument-{nr}")).collect();
        let shown = summary(&tools, &json!({"command": "npx", "args": args}));
        let brief = shown.brief();
        let rows: usize = brief.lines().map(|line| textwrap(line, 40)).sum();
        assert!(rows <= 10, "{rows} rows:\n{brief}");
        assert!(!brief.contains('\u{202e}') && !brief.contains("\nChosen"), "{brief}");
        assert!(shown.whole().contains("--argument-49"));
    }

    /// Rows of a line whose words are kept whole.
    fn textwrap(line: &str, columns: usize) -> usize {
        let (mut rows, mut used) = (1, 0);
        for word in line.split(' ').map(|word| word.chars().count()) {
            if used > 0 && used + 1 + word > columns {
                (rows, used) = (rows + 1, word);
            } else {
                used += word + usize::from(used > 0);
            }
        }
        rows
    }
}
