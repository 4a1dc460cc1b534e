//! The transparency layer: tells the door what runs and how it ended. Must not know doors or
//! verdicts.

use super::{Gate, Pass, limits};
use crate::calls::summary::{failure, first_lines, title, unified_diff};
use crate::domain::{Live, Outcome, escape};
use crate::hub::Permit;

pub(super) async fn layer(gate: &Gate, pass: &Pass, permit: Permit) -> Outcome {
    let live = pass.context.live.clone();
    let call = pass.call.id.clone();
    let title = title(&pass.call);
    live(Live::CallStarted { call: call.clone(), title: title.clone() });
    let outcome = limits::layer(gate, pass, permit).await;
    let told = |text: &str| escape::visible(&gate.redactor.redact(text));
    let (ok, summary) = match &outcome {
        Outcome::Ended { output } => match failure(output) {
            Some(why) => (false, told(&why)),
            None => (true, String::new()),
        },
        Outcome::Denied { reason, .. } | Outcome::Unknown { reason } => (false, told(reason)),
        Outcome::Parked { .. } => (true, "asks the owner".to_owned()),
        Outcome::Left => (true, "goes on at its server when claw is started again".to_owned()),
    };
    let diff = match &outcome {
        Outcome::Ended { output } if ok => unified_diff(&gate.redactor.redact(&output.text)),
        _ => String::new(),
    };
    let output = match &outcome {
        Outcome::Ended { output } => gate.redactor.redact(&first_lines(output)).into_owned(),
        _ => String::new(),
    };
    live(Live::CallEnded { call, ok, title, summary, diff, output });
    outcome
}
