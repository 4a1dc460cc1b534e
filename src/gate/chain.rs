//! The chain itself: the one list of layers, outer to inner, and the way through them. A new layer
//! is one file and one line here. Must not know what a layer does.

use futures::future::{BoxFuture, FutureExt as _};

use super::keep::Kept;
use super::permit::Permit;
use super::{CallContext, Gate, audit, limits, permission, transparency};
use crate::domain::{Outcome, ToolCall};
use crate::hub::{self, CallEnd};
use crate::killpoint;
use crate::store::CallRow;

/// The layers, outer to inner. Behind the last one is the hub.
const CHAIN: &[Layer] = &[Layer::Audit, Layer::Permission, Layer::Transparency, Layer::Limits];

#[derive(Clone, Copy, Debug)]
enum Layer {
    Audit,
    Permission,
    Transparency,
    Limits,
}

/// What goes through the layers.
pub(super) struct Pass {
    pub(super) call: ToolCall,
    pub(super) context: CallContext,
    /// What the store already knows of this call.
    pub(super) row: Option<CallRow>,
    /// Set by the permission layer, and by nobody else.
    pub(super) permit: Option<Permit>,
}

/// The rest of the way.
pub(super) struct Next<'g> {
    gate: &'g Gate,
    layers: &'static [Layer],
}

pub(super) async fn run(gate: &Gate, call: ToolCall, context: CallContext) -> Outcome {
    Next { gate, layers: CHAIN }.run(Pass { call, context, row: None, permit: None }).await
}

impl<'g> Next<'g> {
    pub(super) fn run(self, pass: Pass) -> BoxFuture<'g, Outcome> {
        let gate = self.gate;
        let Some((layer, layers)) = self.layers.split_first() else {
            return forward(gate, pass).boxed();
        };
        let next = Next { gate, layers };
        match layer {
            Layer::Audit => audit::layer(gate, pass, next).boxed(),
            Layer::Permission => permission::layer(gate, pass, next).boxed(),
            Layer::Transparency => transparency::layer(gate, pass, next).boxed(),
            Layer::Limits => limits::layer(gate, pass, next).boxed(),
        }
    }
}

/// The end of the chain. Without a permit nothing is forwarded: the hub takes it by value.
async fn forward(gate: &Gate, pass: Pass) -> Outcome {
    let Some(permit) = pass.permit else {
        return Outcome::Denied {
            reason: "no layer of the gate gave a permit; this is a bug in claw".into(),
        };
    };
    let live = pass.context.live.clone();
    let wish = pass.call;
    let shown = wish.id.clone();
    let redactor = gate.redactor.clone();
    let progress = move |text: String| {
        let text = redactor.redact(&text).into_owned();
        live(crate::domain::Live::CallProgress { call: shown.clone(), text });
    };
    let context = hub::CallContext {
        cancel: pass.context.cancel.clone(),
        progress: std::sync::Arc::new(progress),
    };
    killpoint::here("gate.forward.before");
    let end = gate.hub.call(permit, context).await;
    killpoint::here("gate.forward.after");
    match end {
        CallEnd::Ended(output, beside) => {
            let output = gate.keep_files(&Kept::of(&wish), output, beside.files).await;
            Outcome::Ended { output: gate.propose(&wish, output, beside.actions) }
        }
        CallEnd::NotForwarded { reason } => Outcome::Denied { reason },
        CallEnd::Unknown { reason } => Outcome::Unknown { reason },
        CallEnd::InputRequired { .. } => Outcome::Unknown {
            reason: "the server asked for more input in the middle of the call, which claw cannot give it yet".into(),
        },
    }
}
