//! What a server has answered becomes the result of its call: files are kept, proposals checked,
//! and what our own servers report is noted. Must not know how the call was sent.

use super::{Calls, KeptResult};
use crate::domain::{ToolCall, ToolOutput};
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
        let output = self.keep_files(&KeptResult::of(call), output, beside.files).await;
        self.propose(call, output, beside.actions)
    }
}
