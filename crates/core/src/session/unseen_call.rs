//! A call that claw makes by itself within a session, beside the conversation. A stop, the stop
//! switch and the end of the process cancel it. Must not know what is called, or what its end
//! means.

use std::time::Duration;

use tokio::time::Instant;

use super::drive::Drive;
use super::watch::By;
use crate::domain::{Outcome, ToolCall};
use crate::gate::CallContext;

/// How such a call has ended.
pub(super) struct Unseen {
    pub(super) outcome: Outcome,
    /// Its time was over.
    pub(super) was_late: bool,
    /// Something has cancelled it, or its time was over.
    pub(super) was_cancelled: bool,
}

impl Drive<'_> {
    /// It has this much time from now on.
    pub(super) fn unseen(&self, time: Duration) -> CallContext {
        CallContext::unseen(self.worker.ending().no_new_step(), time)
    }

    pub(super) async fn call_unseen(&self, call: ToolCall, context: CallContext) -> Unseen {
        let (cancel, deadline) = (context.cancel.clone(), context.deadline);
        let asked = self.worker.gate.call(call, context);
        let outcome =
            self.worker.interruptible(&self.session, &cancel, By::StopOrPanic, asked).await;
        Unseen {
            outcome,
            was_late: Instant::now() >= deadline,
            was_cancelled: cancel.is_cancelled(),
        }
    }
}
