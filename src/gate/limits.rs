//! The limits layer: how many calls run side by side, how long one may take, how much of a result goes to the model. Must
//! not know what a call does.

use super::Gate;
use super::chain::{Next, Pass};
use crate::domain::{CallId, Outcome, ToolOutput};

pub(super) async fn layer(gate: &Gate, pass: Pass, next: Next<'_>) -> Outcome {
    let call = pass.call.id.clone();
    let (cancel, deadline) = (pass.context.cancel.clone(), pass.context.deadline);
    let slot = tokio::select! {
        slot = gate.slots.acquire() => slot,
        () = cancel.cancelled() => return Outcome::Denied { reason: "it was stopped before it ran".into() },
        () = tokio::time::sleep_until(deadline) => {
            return Outcome::Denied { reason: "the turn's time was up before it ran (limits.turn_time_s)".into() };
        }
    };
    if slot.is_err() {
        return Outcome::Denied { reason: "claw is shutting down".into() };
    }
    let running = next.run(pass);
    tokio::pin!(running);
    // The hub ends a call at its own time limit; the turn's end cuts it the same way, through the cancel token, so that
    // the server is told and its children are ended.
    let outcome = tokio::select! {
        outcome = &mut running => outcome,
        () = tokio::time::sleep_until(deadline) => {
            cancel.cancel();
            running.await
        }
    };
    match outcome {
        Outcome::Ended { output } => Outcome::Ended { output: gate.cut(&call, output).await },
        other => other,
    }
}

impl Gate {
    /// Keeps the head and the tail of a large result for the model, and the whole as an artifact that is named in between.
    async fn cut(&self, call: &CallId, mut output: ToolOutput) -> ToolOutput {
        let limit = self.settings.tool_result_bytes;
        if output.text.len() <= limit {
            return output;
        }
        // The artifact is a sink like the log: no secret goes into it.
        let whole = self.redactor.redact(&output.text).into_owned();
        let stored = self.artifacts.put(whole.as_bytes());
        let named = match stored {
            Ok(digest) => {
                let (call, bytes, row) = (call.clone(), whole.len() as u64, digest.clone());
                self.store.write_soon(move |tx| tx.add_artifact(&row, bytes, "text/plain; charset=utf-8", &call));
                format!("the whole is kept as artifact {digest}")
            }
            Err(error) => format!("the whole could not be kept: {error}"),
        };
        let head_end = floor_char(&whole, limit / 2);
        let tail_start = ceil_char(&whole, whole.len().saturating_sub(limit / 2));
        let left_out = tail_start.saturating_sub(head_end);
        output.text = format!(
            "{}\n\n[… {left_out} of {} bytes left out here (limits.tool_result_bytes = {limit}); {named} …]\n\n{}",
            whole.get(..head_end).unwrap_or_default(),
            whole.len(),
            whole.get(tail_start..).unwrap_or_default(),
        );
        output.structured = None;
        output
    }
}

fn floor_char(text: &str, mut at: usize) -> usize {
    while at > 0 && !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_char(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
