//! Behind the layers: the hub takes the permit by value, and what comes back is kept, checked and
//! named. Must not know verdicts.

use super::{Gate, Pass};
use crate::calls::KeptResult;
use crate::domain::{DeniedBy, Outcome};
use crate::hub::Permit;
use crate::hub::{self, CallEnd};
use crate::killpoint;

pub(super) async fn forward(gate: &Gate, pass: &Pass, permit: Permit) -> Outcome {
    let live = pass.context.live.clone();
    let (call, shown) = (&pass.call, pass.call.id.clone());
    let redactor = gate.redactor.clone();
    let progress = move |text: String| {
        let text = redactor.redact(&text).into_owned();
        live(crate::domain::Live::CallProgress { call: shown.clone(), text });
    };
    let context = hub::CallControl {
        cancel: pass.context.cancel.clone(),
        progress: std::sync::Arc::new(progress),
    };
    killpoint::here("gate.forward.before");
    let end = gate.hub.call(permit, context).await;
    killpoint::here("gate.forward.after");
    match end {
        CallEnd::Ended(output, beside) => {
            gate.calls.note_network(call, &output);
            if let Err(error) = gate.calls.end_grants_of_job(call, &output).await {
                // They cover nothing any more; the next look at the jobs ends them.
                tracing::warn!(%error, "what was granted to a job could not be ended");
            }
            let output = gate.calls.keep_files(&KeptResult::of(call), output, beside.files).await;
            Outcome::Ended { output: gate.calls.propose(call, output, beside.actions) }
        }
        CallEnd::NotForwarded { reason } => Outcome::denied(DeniedBy::Hub, reason),
        CallEnd::Unknown { reason } => Outcome::Unknown { reason },
        CallEnd::InputRequired { .. } => Outcome::Unknown {
            reason: "the server asked for more input in the middle of the call, which claw cannot \
                give it yet"
                .into(),
        },
    }
}
