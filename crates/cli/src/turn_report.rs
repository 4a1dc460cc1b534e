//! What happened in one turn, read from the log: for `claw ask --json` and for exit codes. Must not
//! know doors.

use serde_json::{Value, json};

use crate::domain::{CallId, SessionId, TurnEnd, Usage, tool_for_person};
use crate::store::{Store, StoreError};
use crate::turn::Turn;

/// One turn.
#[derive(Debug, Default)]
pub struct TurnReport {
    pub end: Option<TurnEnd>,
    /// What the model had written of a reply that was stopped.
    pub partial: Option<String>,
    /// The inbox row of the message that it began with.
    pub begun_by: Option<i64>,
    pub calls: Vec<Value>,
    pub usage: Usage,
    pub steps: u32,
    pub model: String,
}

/// Reads the turn that began with event `turn_seq`.
pub fn read(store: &Store, session: &SessionId, turn_seq: u64) -> Result<TurnReport, StoreError> {
    let events = store.read(|tx| tx.events_from(session, turn_seq))?;
    let turn = Turn::of(session, &events);
    let mut report = TurnReport {
        end: turn.end.cloned(),
        partial: turn.partial.filter(|text| !text.trim().is_empty()).map(str::to_owned),
        begun_by: turn.messages.first().map(|message| message.inbox_id),
        steps: turn.steps(),
        model: turn.replies.last().map(|reply| reply.model.to_owned()).unwrap_or_default(),
        ..TurnReport::default()
    };
    for reply in &turn.replies {
        report.usage.add(reply.usage);
    }
    for call in &turn.calls {
        let tool = tool_name(store, &call.id, &call.tool_use.name)?;
        report.calls.push(json!({
            "id": call.id.to_string(), "tool": tool, "arguments": call.tool_use.input, "outcome": call.outcome,
        }));
    }
    Ok(report)
}

/// The tool of a call as people read it: `server/tool`.
pub fn tool_name(store: &Store, call: &CallId, offered: &str) -> Result<String, StoreError> {
    // A call of a name that nobody offered, or of a log from elsewhere, has no row.
    let row = store.read(|tx| tx.call(call))?;
    Ok(row.map_or_else(|| tool_for_person(offered), |row| format!("{}/{}", row.server, row.tool)))
}
