//! `sessions` and `session_read`: what a client may read of its own conversations. Must not know
//! what a log is.

use rmcp::model::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{About, AgentTool, Done, Given, looks, told_as_json};
use crate::answer::time;
use crate::caller::Caller;

/// Rows that are read without a limit.
const ROWS: usize = 50;
/// The most rows of one call.
const ROWS_MAX: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionRead {
    /// One of your sessions; without it your usual one.
    pub session: Option<String>,
    /// Only what is behind the row with this `seq`.
    #[serde(default)]
    pub after: u64,
    /// At most so many rows, 50 if it is left out, never more than 200.
    pub limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Sessions {
    /// The newest first.
    pub sessions: Vec<SessionLine>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionLine {
    /// Your name for it; your usual session has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub created_at: String,
    pub last_at: String,
    pub turns: u64,
    /// The agent works in it, or waits for its owner's answer.
    pub working: bool,
}

/// What was read. A row is a message, a reply, a call or the end of a turn; `type` says which.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rows {
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub rows: Vec<Value>,
    /// `after` for the rest; without it that was all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_after: Option<u64>,
}

pub fn definition_of_sessions() -> Tool {
    About {
        tool: AgentTool::Sessions,
        title: "List your sessions",
        description: "Lists your conversations with the agent. Those of others are not among them.",
        hints: looks(),
    }
    .definition::<NoArguments, Sessions>()
}

pub fn definition() -> Tool {
    About {
        tool: AgentTool::SessionRead,
        title: "Read a session",
        description: "Reads one of your conversations with the agent: messages, replies, calls of \
            tools with their results, questions to the owner. `next_after` leads to the rest.",
        hints: looks(),
    }
    .definition::<SessionRead, Rows>()
}

pub fn sessions(caller: &Caller) -> Done {
    let found = caller.clients().sessions(&caller.client).map_err(|error| error.to_string())?;
    let line = |row: crate::clients::ClientSession| SessionLine {
        session: row.session,
        created_at: time(row.created_ms),
        last_at: time(row.last_ms),
        turns: row.turns,
        working: row.is_open,
    };
    told_as_json(&Sessions { sessions: found.into_iter().map(line).collect() })
}

pub fn read(caller: &Caller, given: Given<SessionRead>) -> Done {
    let SessionRead { session, after, limit } = given?;
    let id = caller.session(session.as_deref())?;
    let limit = limit.unwrap_or(ROWS).clamp(1, ROWS_MAX);
    let part = caller
        .clients()
        .read_session(&caller.client, &id, after, limit)
        .map_err(|error| error.to_string())?;
    let rows: Result<Vec<Value>, _> = part.rows.iter().map(serde_json::to_value).collect();
    let rows = rows.map_err(|error| format!("a row cannot be written as JSON: {error}"))?;
    told_as_json(&Rows { rows, next_after: part.next_after })
}
