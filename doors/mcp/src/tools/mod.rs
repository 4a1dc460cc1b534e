//! The tools by which a client talks to the agent: what each is, in an order that never changes,
//! and who does it. Must not know how a turn goes.

mod ask;
mod events;
mod read;
mod steer;

use std::sync::Arc;

use claw_server_kit::schema::{self, Nulls};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::caller::Caller;

/// A tool of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentTool {
    Ask,
    AskResult,
    Steer,
    Interrupt,
    Sessions,
    SessionRead,
    EventsWait,
}

/// As they are listed.
pub const ALL: [AgentTool; 7] = [
    AgentTool::Ask,
    AgentTool::AskResult,
    AgentTool::Steer,
    AgentTool::Interrupt,
    AgentTool::Sessions,
    AgentTool::SessionRead,
    AgentTool::EventsWait,
];

impl AgentTool {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AskResult => "ask_result",
            Self::Steer => "steer",
            Self::Interrupt => "interrupt",
            Self::Sessions => "sessions",
            Self::SessionRead => "session_read",
            Self::EventsWait => "events_wait",
        }
    }

    /// The tool with this name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What clients are told of it.
    pub fn definition(self) -> Tool {
        match self {
            Self::Ask => ask::definition(),
            Self::AskResult => ask::definition_of_result(),
            Self::Steer => steer::definition(),
            Self::Interrupt => steer::definition_of_interrupt(),
            Self::Sessions => read::definition_of_sessions(),
            Self::SessionRead => read::definition(),
            Self::EventsWait => events::definition(),
        }
    }

    /// Does it. What is refused is a result that says why, because a model reads nothing else.
    pub async fn call(
        self,
        caller: &Caller,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let done = match self {
            Self::Ask => ask::ask(caller, read_as(self, arguments), context).await,
            Self::AskResult => ask::result(caller, read_as(self, arguments), context).await,
            Self::Steer => steer::steer(caller, read_as(self, arguments), context).await,
            Self::Interrupt => steer::interrupt(caller, read_as(self, arguments), context).await,
            Self::Sessions => read::sessions(caller),
            Self::SessionRead => read::read(caller, read_as(self, arguments)),
            Self::EventsWait => events::wait(caller, read_as(self, arguments), context).await,
        };
        done.unwrap_or_else(|why| refused(&why))
    }
}

/// A result, or a sentence.
pub type Done = Result<CallToolResult, String>;

/// The arguments of a call, or what is wrong with them.
type Given<T> = Result<T, String>;

fn read_as<T: DeserializeOwned>(tool: AgentTool, arguments: JsonObject) -> Given<T> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let definition = tool.definition();
        let properties = definition.input_schema.get("properties").and_then(Value::as_object);
        let names: Vec<&str> =
            properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        format!("wrong arguments: {error}. The arguments are: {}.", names.join(", "))
    })
}

/// A result that says why nothing was done.
pub fn refused(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(sentence(why))])
}

/// With a capital at its beginning and a full stop at its end.
fn sentence(words: &str) -> String {
    let words = words.trim();
    let mut rest = words.chars();
    let first = rest.next().map(|first| first.to_uppercase().collect::<String>());
    let end = if words.ends_with(['.', '!', '?', '`']) { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), rest.as_str())
}

/// The same for programs and in words.
pub fn told(structured: &impl Serialize, words: String) -> Done {
    let value = serde_json::to_value(structured)
        .map_err(|error| format!("the result cannot be written as JSON: {error}"))?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
    result.structured_content = Some(value);
    Ok(result)
}

/// The same where the words are the JSON.
fn told_as_json(structured: &impl Serialize) -> Done {
    let words = serde_json::to_string(structured)
        .map_err(|error| format!("the result cannot be written as JSON: {error}"))?;
    told(structured, words)
}

/// What a tool is.
struct About {
    tool: AgentTool,
    title: &'static str,
    description: &'static str,
    hints: ToolAnnotations,
}

impl About {
    fn definition<I: JsonSchema + 'static, O: JsonSchema + 'static>(self) -> Tool {
        // The schema of a struct is always an object.
        let input = schema::input::<I>(Nulls::LeftOut).unwrap_or_default();
        Tool::new(self.tool.name(), self.description, Arc::new(input))
            .with_title(self.title)
            .with_annotations(self.hints)
            .with_raw_output_schema(schema::output::<O>(Nulls::LeftOut))
    }
}

/// Looks and changes nothing.
fn looks() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false)
}

/// The agent acts, within what its owner allows.
fn acts(destructive: bool, idempotent: bool) -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(false)
        .destructive(destructive)
        .idempotent(idempotent)
        .open_world(true)
}
