//! The transparency layer: tells the door what runs and how it ended. Must not know doors or verdicts.

use super::Gate;
use super::chain::{Next, Pass};
use crate::domain::{Live, Outcome, ToolCall, escape};

/// The longest title of a running call, in characters. The whole call was shown in the question and is in the audit.
const TITLE_CHARS_MAX: usize = 100;

pub(super) async fn layer(gate: &Gate, pass: Pass, next: Next<'_>) -> Outcome {
    let live = pass.context.live.clone();
    let call = pass.call.id.clone();
    let title = title(&pass.call);
    live(Live::CallStarted { call: call.clone(), title: title.clone() });
    let outcome = next.run(pass).await;
    let (ok, summary) = match &outcome {
        Outcome::Ended { output } => (!output.is_error, String::new()),
        Outcome::Denied { reason } | Outcome::Unknown { reason } => {
            (false, escape::visible(&gate.redactor.redact(reason)))
        }
        Outcome::Parked { .. } => (false, "waits for an answer".to_owned()),
    };
    live(Live::CallEnded { call, ok, title, summary });
    outcome
}

/// Server, tool, and the beginning of the most telling argument.
fn title(call: &ToolCall) -> String {
    let telling = ["command", "path", "query", "pattern", "url", "name"];
    let argument = telling.iter().find_map(|name| call.arguments.get(name)?.as_str());
    let whole = match argument {
        Some(text) => format!("{} {}  {}", call.server, call.tool, escape::visible(text)),
        None => format!("{} {}", call.server, call.tool),
    };
    if whole.chars().count() <= TITLE_CHARS_MAX {
        return whole;
    }
    whole.chars().take(TITLE_CHARS_MAX).chain(['…']).collect()
}
