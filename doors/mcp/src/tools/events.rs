//! `events_wait`: what happens in a client's sessions, from a cursor on. Must not know what a log
//! is.

use rmcp::RoleServer;
use rmcp::model::Tool;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{About, AgentTool, Done, Given, looks, told_as_json};
use crate::caller::Caller;
use crate::wait::Wait;

/// Events of one call.
const EVENTS_MAX: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsWait {
    /// One of your sessions alone; without it all of yours.
    pub session: Option<String>,
    /// What the last call has given. Without it the cursor of now is given at once.
    pub cursor: Option<String>,
    /// So many seconds are waited for something to happen.
    pub wait_s: Option<u64>,
}

/// What has happened. An event is a row as of `session_read`, with its session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Events {
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub events: Vec<Value>,
    /// For the next call.
    pub cursor: String,
}

pub fn definition() -> Tool {
    About {
        tool: AgentTool::EventsWait,
        title: "Wait for events",
        description: "Waits until something happens in your sessions: an answer, a question to the \
            owner, the end of a turn. Call it first without a cursor, then each time with the \
            cursor of the last result.",
        hints: looks(),
    }
    .definition::<EventsWait, Events>()
}

pub async fn wait(
    caller: &Caller,
    given: Given<EventsWait>,
    context: &RequestContext<RoleServer>,
) -> Done {
    let EventsWait { session, cursor, wait_s } = given?;
    let id = session.as_deref().map(|own| caller.session(Some(own))).transpose()?;
    let door = &caller.serving.door;
    let (clients, client) = (caller.clients(), &caller.client);
    let mut newest = None;
    let wait = Wait::begin(door, context, id.as_ref(), caller.patience(wait_s));
    let look = || {
        let part = clients.events(client, id.as_ref(), cursor.as_deref(), EVENTS_MAX)?;
        let is_over = cursor.is_none() || !part.events.is_empty();
        newest = Some(part);
        Ok(is_over.then_some(()))
    };
    wait.until(door, look).await.map_err(|error| error.to_string())?;
    let part = newest.ok_or("nothing was looked at")?;
    let events: Result<Vec<Value>, _> = part.events.iter().map(serde_json::to_value).collect();
    let events = events.map_err(|error| format!("an event cannot be written as JSON: {error}"))?;
    told_as_json(&Events { events, cursor: part.cursor })
}
