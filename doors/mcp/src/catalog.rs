//! Many tools as three: one that searches, one that describes, one that calls. Must not know how a
//! call is judged.

use std::sync::Arc;

use claw_server_kit::schema::{self, Nulls};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::caller::Caller;
use super::gated::{self, Called};
use super::tools::refused;
use crate::clients::{ClientRefusal, ClientTool};

/// More tools than these are offered by search.
pub const LISTED_MAX: usize = 40;
/// Tools that one search names.
const FOUND: usize = 10;
const FOUND_MAX: usize = 40;
/// Of a description a search shows so many characters.
const WORDS_CHARS_MAX: usize = 200;

const SEARCH: &str = "tool_search";
const DESCRIBE: &str = "tool_describe";
const CALL: &str = "tool_call";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// What the tool should do, in a few words.
    query: String,
    /// At most so many tools, 10 if it is left out, never more than 40.
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Describe {
    /// A name that `tool_search` has given.
    name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Call {
    /// A name that `tool_search` has given.
    name: String,
    /// The arguments, as `tool_describe` says.
    #[serde(default)]
    arguments: JsonObject,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    /// The best first.
    tools: Vec<Line>,
    /// So many there are in all.
    of: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Line {
    name: String,
    description: String,
}

/// The three.
pub fn definitions() -> [Tool; 3] {
    let looks = || {
        ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false)
    };
    let input = |schema: Result<JsonObject, String>| Arc::new(schema.unwrap_or_default());
    [
        Tool::new(
            SEARCH,
            "Finds tools of claw's servers by what they should do. There are too many to list.",
            input(schema::input::<Search>(Nulls::LeftOut)),
        )
        .with_title("Search tools")
        .with_annotations(looks())
        .with_raw_output_schema(schema::output::<Found>(Nulls::LeftOut)),
        Tool::new(
            DESCRIBE,
            "Gives the whole definition of a tool: what it does and which arguments it takes.",
            input(schema::input::<Describe>(Nulls::LeftOut)),
        )
        .with_title("Describe a tool")
        .with_annotations(looks()),
        Tool::new(
            CALL,
            "Calls a tool by its name. A call may need the owner's yes, which is given elsewhere; \
             if the result says that it waits, make exactly the same call again later.",
            input(schema::input::<Call>(Nulls::LeftOut)),
        )
        .with_title("Call a tool")
        .with_annotations(ToolAnnotations::new().read_only(false)),
    ]
}

/// Whether it is one of the three.
pub fn has(name: &str) -> bool {
    [SEARCH, DESCRIBE, CALL].contains(&name)
}

/// Does one of them.
///
/// # Errors
/// There is no such tool.
pub async fn call(
    caller: &Caller,
    called: Called<'_>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = Value::Object(called.arguments);
    if called.name == CALL {
        return match serde_json::from_value::<Call>(arguments) {
            Ok(Call { name, arguments }) => {
                gated::call(caller, Called { name: &name, arguments, ..called }, context).await
            }
            Err(odd) => Ok(wrong(&odd, "name, arguments").into()),
        };
    }
    let done = match called.name {
        SEARCH => match serde_json::from_value::<Search>(arguments) {
            Ok(wanted) => search(caller, &wanted).await?,
            Err(odd) => wrong(&odd, "query, limit"),
        },
        _ => match serde_json::from_value::<Describe>(arguments) {
            Ok(Describe { name }) => describe(all(caller).await?, &name),
            Err(odd) => wrong(&odd, "name"),
        },
    };
    Ok(done.into())
}

async fn all(caller: &Caller) -> Result<Vec<ClientTool>, ErrorData> {
    caller.clients().tools().await.map_err(|error| broken(&error))
}

fn broken(error: &ClientRefusal) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn wrong(odd: &serde_json::Error, names: &str) -> CallToolResult {
    refused(&format!("wrong arguments: {odd}. The arguments are: {names}."))
}

async fn search(caller: &Caller, wanted: &Search) -> Result<CallToolResult, ErrorData> {
    let limit = wanted.limit.unwrap_or(FOUND).clamp(1, FOUND_MAX);
    let found = caller.clients().found(&wanted.query, limit).await;
    let (found, of) = (found.map_err(|error| broken(&error))?, all(caller).await?.len());
    let line = |tool: ClientTool| {
        let words = tool.definition.get("description").and_then(Value::as_str).unwrap_or_default();
        let description = words.chars().take(WORDS_CHARS_MAX).collect();
        Line { name: tool.name, description }
    };
    let found: Vec<Line> = found.into_iter().map(line).collect();
    let words = match found.is_empty() {
        true => format!("None of {of} tools is about that; try other words."),
        false => found
            .iter()
            .map(|line| format!("{}: {}", line.name, line.description))
            .chain(["`tool_describe` says which arguments a tool takes.".to_owned()])
            .collect::<Vec<_>>()
            .join("\n"),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
    result.structured_content = Some(json!(Found { tools: found, of }));
    Ok(result)
}

fn describe(tools: Vec<ClientTool>, name: &str) -> CallToolResult {
    match tools.into_iter().find(|tool| tool.name == name) {
        Some(tool) => {
            let definition = json!(gated::offered(tool));
            let mut result =
                CallToolResult::success(vec![ContentBlock::text(definition.to_string())]);
            result.structured_content = Some(definition);
            result
        }
        None => refused(&format!(
            "there is no tool `{}`; `tool_search` finds those that there are",
            crate::domain::escape::visible(name)
        )),
    }
}
