//! The tool of claw itself that finds tools by words: its definition, and its answer. Must not know
//! who calls it, or what a request holds.

use std::collections::BTreeMap;

use claw_kit::counted::counted;
use serde_json::{Value, json};

use super::offered::Snapshot;
use super::pinning::Tool;
use super::{Catalog, instructions, own_tools};
use crate::domain::canonical::digest;
use crate::domain::{TOOL_SEARCH, ToolOutput, ToolSpec, escape, first_sentence, required_of};

/// Servers that the definition names; the others are counted.
const SERVERS_NAMED_MAX: usize = 40;
/// Parameters that an answer names of each tool.
const PARAMETERS_NAMED_MAX: usize = 12;
/// The longest request that is looked at, in characters.
const QUERY_CHARS_MAX: usize = 2_000;
/// What servers say about themselves, in one answer.
const SERVERS_QUOTED_MAX: usize = 3;

const ABOUT: &str = "Finds tools that are not in your list, by words: say what is to be done, one \
    sentence for each thing. What is found joins your list from the next step on.";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"query": {
            "type": "string",
            "description": "What is to be done, or the name of a tool.",
        }},
        "required": ["query"],
        "additionalProperties": false,
    })
}

/// The tool as the gate judges it. Its pin is over what does not vary with the servers.
pub(super) fn judged() -> Tool {
    let pin = digest(&json!({"name": TOOL_SEARCH, "description": ABOUT, "inputSchema": schema()}));
    own_tools::judged(pin, schema(), Some("Find tools"))
}

/// As a model is offered it: with the servers whose tools it may find, and how many.
pub(super) fn spec(snapshot: &Snapshot) -> ToolSpec {
    let mut of_servers: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in snapshot.tools.iter().filter(|tool| !tool.own) {
        *of_servers.entry(tool.server.as_str()).or_default() += 1;
    }
    let all: usize = of_servers.values().sum();
    let named = of_servers.iter().take(SERVERS_NAMED_MAX);
    let mut servers: Vec<String> =
        named.map(|(server, tools)| format!("{} ({tools})", escape::visible(server))).collect();
    let more = of_servers.len().saturating_sub(SERVERS_NAMED_MAX);
    if more > 0 {
        servers.push(counted(more, "more server"));
    }
    ToolSpec {
        name: TOOL_SEARCH.to_owned(),
        description: format!("{ABOUT} There are {all} on the servers {}.", servers.join(", ")),
        input_schema: schema(),
    }
}

impl Catalog {
    /// What the tool of claw itself answers: the names in `tools` of its structured content, and
    /// what a model has to know to call them.
    pub async fn answer(&self, arguments: &Value) -> ToolOutput {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let query: String = query.chars().take(QUERY_CHARS_MAX).collect();
        let snapshot = self.snapshot().await;
        let most = usize::try_from(self.settings().tools.listed.found_max).unwrap_or(usize::MAX);
        let found = match snapshot.others_found(&query, most) {
            Ok(found) => found,
            Err(error) => {
                let text = format!("The tools could not be searched: {error}.");
                return ToolOutput { text, is_error: true, ..ToolOutput::default() };
            }
        };
        let names: Vec<&str> = found
            .iter()
            .filter_map(|place| snapshot.specs.get(*place))
            .map(|spec| spec.name.as_str())
            .collect();
        let structured = Some(json!({"tools": names}));
        let text = self.words(&snapshot, &found);
        ToolOutput { text, structured, ..ToolOutput::default() }
    }

    fn words(&self, snapshot: &Snapshot, found: &[usize]) -> String {
        if found.is_empty() {
            return "No tool fits these words. Try others: what is to be done, and with what."
                .to_owned();
        }
        let mut text = String::from(
            "These tools fit best. Each can be called by its name from the next step on.\n",
        );
        let mut said: Vec<(String, String)> = Vec::new();
        for place in found {
            let (Some(spec), Some(tool)) = (snapshot.specs.get(*place), snapshot.tools.get(*place))
            else {
                continue;
            };
            let about = escape::visible(&first_sentence(&spec.description));
            text.push_str(&format!(
                "\n- `{}`: {about}{}",
                spec.name,
                parameters(&spec.input_schema)
            ));
            let words = snapshot.said.iter().find(|(server, _)| *server == tool.server);
            said.extend(words.filter(|words| !said.contains(words)).cloned());
        }
        said.truncate(SERVERS_QUOTED_MAX);
        let quoted = instructions::quoted(&said, self.settings().server_instructions_bytes);
        if quoted.is_empty() { text } else { format!("{text}\n\n{quoted}") }
    }
}

/// The names of the parameters; `?` marks those that may be left out.
fn parameters(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return String::new();
    };
    let required = required_of(schema);
    let named = properties.keys().take(PARAMETERS_NAMED_MAX).map(|name| {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{}{optional}", escape::visible(name))
    });
    let mut named: Vec<String> = named.collect();
    let more = properties.len().saturating_sub(PARAMETERS_NAMED_MAX);
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}
