//! The audit layer: intent before, outcome after, denials too. It also keeps known secrets out of
//! the store, and answers for calls that already have an end. Must not know verdicts.

use serde_json::json;

use super::{CallContext, Gate, Pass, permission};
use crate::calls::{Denied, is_the_call_of};
use crate::domain::{DeniedBy, Outcome, ToolCall};
use crate::killpoint;
use crate::store::CallRow;

pub(super) async fn layer(gate: &Gate, mut call: ToolCall, context: CallContext) -> Outcome {
    let calls = &gate.calls;
    let row = match known(gate, &call).await {
        Ok(row) => row,
        Err(denied) => return denied.into(),
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
    let outcome = permission::layer(gate, &pass).await;
    killpoint::here("gate.outcome.before");
    let outcome = calls.finish(&pass.call, outcome);
    killpoint::here("gate.outcome.after");
    outcome
}

/// The row of this very call, if there is one.
async fn known(gate: &Gate, call: &ToolCall) -> Result<Option<CallRow>, Denied> {
    let row = gate.calls.known(call).await?;
    if row.as_ref().is_some_and(|row| !is_the_call_of(row, call)) {
        const WHY: &str =
            "another call has run under this id, which the log has lost; send the call again";
        return Err(Denied::new(DeniedBy::Failure, WHY));
    }
    Ok(row)
}
