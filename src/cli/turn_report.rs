//! What happened in one turn, read from the log: for `claw ask --json` and for exit codes. Must not
//! know doors.

use serde_json::{Value, json};

use crate::domain::{Block, CallId, EventBody, SessionId, TurnEnd, Usage};
use crate::hub::names::as_read;
use crate::store::{Store, StoreError};

/// One turn.
#[derive(Debug, Default)]
pub struct TurnReport {
    pub end: Option<TurnEnd>,
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
    let mut report = TurnReport::default();
    for event in events {
        match event.body {
            EventBody::UserMessage { inbox_id, .. } => {
                report.begun_by = report.begun_by.or(Some(inbox_id))
            }
            EventBody::ModelReply { blocks, usage, model, .. } => {
                report.steps += 1;
                report.model = model;
                add(&mut report.usage, usage);
                for (index, block) in blocks.iter().enumerate() {
                    if let Block::ToolUse(tool_use) = block {
                        let id = CallId::Reply {
                            session: session.clone(),
                            reply_seq: event.seq,
                            block: index as u32,
                        };
                        report.calls.push(json!({
                            "id": id.to_string(), "tool": tool_name(store, &id, &tool_use.name)?, "arguments": tool_use.input, "outcome": Value::Null,
                        }));
                    }
                }
            }
            EventBody::ToolResult { call, outcome } => {
                let id = call.to_string();
                if let Some(Value::Object(found)) =
                    report.calls.iter_mut().find(|known| known["id"] == id.as_str())
                {
                    found.insert("outcome".into(), serde_json::to_value(outcome)?);
                }
            }
            EventBody::TurnEnded { end } => {
                report.end = Some(end);
                break;
            }
            _ => {}
        }
    }
    Ok(report)
}

/// The tool of a call as people read it: `server/tool`.
pub fn tool_name(store: &Store, call: &CallId, offered: &str) -> Result<String, StoreError> {
    // A call of a name that nobody offered, or of a log from elsewhere, has no row.
    let row = store.read(|tx| tx.call(call))?;
    Ok(row.map_or_else(|| as_read(offered), |row| format!("{}/{}", row.server, row.tool)))
}

fn add(sum: &mut Usage, one: Usage) {
    sum.input_tokens += one.input_tokens;
    sum.output_tokens += one.output_tokens;
    sum.cached_tokens += one.cached_tokens;
    sum.cache_write_tokens += one.cache_write_tokens;
}
