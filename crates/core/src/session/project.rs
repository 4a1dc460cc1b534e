//! Looks for the files that the workspace has for agents when a message of the owner's comes in,
//! before the message goes into the log. Owns for whom that is done, and that a file that cannot be
//! read is told once. Must not know in which words a model is told.

use super::drive::Drive;
use crate::domain::EventBody;
use crate::store::InboxRow;
use crate::turn::project;

impl Drive<'_> {
    /// What the workspace has for agents, as the event that stands before the message.
    pub(super) async fn project(&mut self, row: &InboxRow) -> Option<EventBody> {
        let bytes_max = self.settings.runner.project_bytes_max?;
        // What a workspace holds is shown to nobody but its owner.
        if !self.is_alone_with_owner(row) {
            return None;
        }
        let calls = self.worker.gate.calls();
        let seen = calls.project_files(bytes_max).await?;
        let folder = calls.workspace().display();
        let told = |(name, fault): (&str, Option<String>)| {
            let fault = fault.map(|fault| {
                format!(
                    "`{name}` of the workspace {fault}, so turns go on without it. \
                     `project_files = false` in `[prompt]` of `claw.toml` switches this off."
                )
            });
            (format!("{name} in {folder}"), fault)
        };
        self.project_faults = seen.faults.into_iter().map(told).collect();
        project::event(&self.log, &seen.texts, |text| self.settings.runner.redacted(text))
    }
}
