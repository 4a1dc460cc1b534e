//! What the owner has to hear of the rounds of a call while it runs. Must not know who hears it, or
//! by what door.

use std::sync::Arc;

use crate::domain::{ApprovalId, CallId};

/// Takes what a server asks while its call runs. It must return at once.
pub type InputSink = Arc<dyn Fn(InputNews) + Send + Sync>;

/// What the owner has to hear of the rounds of a call, by whoever drives it.
#[derive(Clone, Debug, PartialEq)]
pub enum InputNews {
    /// A running call waits for the answer to this question.
    Asked { call: CallId, approval: ApprovalId },
    /// It has its answer, and the call goes on.
    Answered { call: CallId, approval: ApprovalId },
    /// Nobody waits for its answer any more, and it is about to be closed.
    TakenBack { call: CallId, approval: ApprovalId },
    /// One sentence: what was refused without a question.
    Notice { text: String },
}

/// Tells what was refused without a question.
pub fn tell(asks: Option<&InputSink>, told: Vec<String>) {
    for text in told {
        match asks {
            Some(sink) => sink(InputNews::Notice { text }),
            None => tracing::warn!("{text}"),
        }
    }
}
