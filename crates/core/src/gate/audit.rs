//! The audit layer: intent before, outcome after, denials too. It also keeps known secrets out of
//! the store, and answers for calls that already have an end. Must not know verdicts.

use serde_json::json;

use super::{CallContext, Gate, Pass, permission};
use crate::calls::is_the_call_of;
use crate::domain::{DeniedBy, Outcome, ToolCall};
use crate::killpoint;

pub(super) async fn layer(gate: &Gate, mut call: ToolCall, context: CallContext) -> Outcome {
    let calls = &gate.calls;
    let row = match calls.known(&call).await {
        Err(error) => {
            return Outcome::denied(
                DeniedBy::Failure,
                format!("the store cannot be read: {error}"),
            );
        }
        Ok(Some(row)) if !is_the_call_of(&row, &call) => {
            return Outcome::denied(
                DeniedBy::Failure,
                "another call has run under this id, which the log has lost; send the call again",
            );
        }
        Ok(row) => row,
    };
    if let Some(outcome) = row.as_ref().and_then(|row| calls.recorded(row)) {
        return calls.finish(&call, outcome);
    }
    if let Some(reason) = calls.secret_in(&call.arguments) {
        call.arguments = json!({});
        calls.receive(&call);
        return calls.finish(&call, Outcome::denied(DeniedBy::Secrets, reason));
    }
    if row.is_none() {
        calls.receive(&call);
    }
    let pass = Pass { call, context, row };
    // On the heap, as all of a call that is much.
    let outcome = Box::pin(permission::layer(gate, &pass)).await;
    killpoint::here("gate.outcome.before");
    let outcome = calls.finish(&pass.call, outcome);
    killpoint::here("gate.outcome.after");
    outcome
}
