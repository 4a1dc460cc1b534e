//! The transparency layer: tells the door what runs and how it ended. Must not know doors or
//! verdicts.

use super::{Gate, Pass, limits};
use crate::calls::summary;
use crate::domain::{Live, Outcome};
use crate::hub::Permit;

pub(super) async fn layer(gate: &Gate, pass: &Pass, permit: Permit) -> Outcome {
    let live = pass.context.live.clone();
    let call = pass.call.id.clone();
    let title = summary::title(&pass.call);
    live(Live::CallStarted { call: call.clone(), title: title.clone() });
    let outcome = limits::layer(gate, pass, permit).await;
    live(summary::ended(call, title, &outcome, &gate.redactor));
    outcome
}
