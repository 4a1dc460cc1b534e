//! Takes a firing that is written down, through the gate. Must not know what it has become.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Jobs;
use super::due::Firing;
use crate::domain::{CallId, Origin, Outcome, ToolCall};
use crate::gate::CallContext;
use crate::killpoint;

/// The scheduler's tool, which no model is offered.
const TAKE: &str = "take";
/// The longest that it may take.
const TIME: Duration = Duration::from_secs(30);

impl Jobs {
    /// Tells the scheduler that a firing is seen to. It does no harm twice, or in two processes.
    ///
    /// # Errors
    /// A sentence; the firing stays due, and is not done again.
    pub(super) async fn take(&self, server: &str, firing: &Firing) -> Result<(), String> {
        let id = self
            .0
            .gate
            .calls()
            .free_id(|number| CallId::Jobs { number })
            .map_err(|error| error.to_string())?;
        let call = ToolCall {
            id,
            server: server.to_owned(),
            tool: TAKE.to_owned(),
            arguments: json!({"firing": firing.id}),
            origin: Origin::Schedule,
            principal: firing.principal(),
        };
        let unseen = CallContext::unseen(CancellationToken::new(), TIME);
        let context = CallContext { heard_by_others: true, ..unseen };
        killpoint::here("jobs.take.before");
        let outcome = self.0.gate.call(call, context).await;
        killpoint::here("jobs.take.after");
        match outcome {
            Outcome::Ended { output } if !output.is_error => Ok(()),
            other => Err(other.into_reason()),
        }
    }
}
