//! What a door may show while a turn runs. Nothing here is durable: what matters comes again
//! through the outbox. Must not know any door.

use std::sync::Arc;

use super::{ApprovalId, CallId};

/// A glimpse of a running turn. Text is keyed by (turn, step): a step that is repeated starts with
/// `StepRestarted`, and a door then replaces what it had shown of that step.
#[derive(Clone, Debug, PartialEq)]
pub enum Live {
    StepStarted {
        turn_seq: u64,
        step: u32,
    },
    Text {
        turn_seq: u64,
        step: u32,
        text: String,
    },
    Reasoning {
        turn_seq: u64,
        step: u32,
        text: String,
    },
    /// The stream broke or was refused; the step is asked for again. `why` is one sentence.
    StepRestarted {
        turn_seq: u64,
        step: u32,
        why: String,
    },
    /// A call passed the gate and runs. `title` is short and already escaped.
    CallStarted {
        call: CallId,
        title: String,
    },
    CallProgress {
        call: CallId,
        text: String,
    },
    /// The server of a running call asks the owner. The question itself comes by the outbox.
    CallAsks {
        call: CallId,
        approval: ApprovalId,
    },
    CallEnded {
        call: CallId,
        ok: bool,
        title: String,
        summary: String,
        /// What the call has changed, as a unified diff in the server's own words; redacted, not
        /// escaped. Empty if it told none.
        diff: String,
        /// The first lines of what a command has printed; redacted, not escaped. Empty for any
        /// other tool.
        output: String,
    },
    /// One sentence about a tool server, for example that it failed to start. It concerns the
    /// owner, in whatever conversation it came up, and is given out once. It may quote a stranger.
    Server {
        text: String,
    },
    /// One sentence about this conversation.
    Notice {
        text: String,
    },
}

/// Where glimpses go. It must return at once and may drop what it cannot show.
pub type LiveSink = Arc<dyn Fn(Live) + Send + Sync>;

/// A sink for what nobody looks at.
pub fn unseen() -> LiveSink {
    Arc::new(|_| {})
}
