//! What a server has answered becomes the result of its call: files are kept, proposals checked,
//! and what our own servers report is noted. Must not know how the call was sent.

use super::{Calls, KeptResult};
use crate::domain::{OwnServerName, ToolCall, ToolOutput};
use crate::hub::Beside;

impl Calls {
    /// The result of a call, as it is told from here on.
    pub async fn taken_in(
        &self,
        call: &ToolCall,
        output: ToolOutput,
        beside: Beside,
    ) -> ToolOutput {
        self.note_network(call, &output);
        if let Err(error) = self.end_grants_of_job(call, &output).await {
            // They cover nothing any more; the next look at the jobs ends them.
            tracing::warn!(%error, "what was granted to a job could not be ended");
        }
        let output = self.with_shell_folder(call, output);
        let output = self.with_shell_variables(call, output);
        let output = self.with_set_aside(call, output);
        let output = self.keep_files(&KeptResult::of(call), output, beside.files).await;
        self.propose(call, output, beside.actions)
    }

    /// What our bash server has set aside or put back may be the owner's own, so they are told,
    /// whatever a model makes of it.
    fn with_set_aside(&self, call: &ToolCall, mut output: ToolOutput) -> ToolOutput {
        let told = output.structured.as_ref().and_then(|all| all.get("set_aside")?.as_str());
        if let Some(told) =
            told.filter(|_| self.hub.builtin(&call.server) == Some(OwnServerName::Bash))
        {
            output.for_user = told.to_owned();
        }
        output
    }
}
