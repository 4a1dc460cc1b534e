//! `/stop jobs`: an owner ends the background jobs of the folder that the conversation works in. It
//! is an order that the session runs. Must not know how a job is run, or how it ends.

use serde_json::json;

use super::own::Own;
use super::{ChatCommands, Given};
use crate::domain::{OwnServerName, STOP_ALL_JOBS};
use crate::store::StoreError;

const BASH: Own = Own {
    builtin: OwnServerName::Bash,
    named: "bash server",
    looks: "look at background jobs",
    readers: "`list`",
    owners_only: "Only an owner may do that: background jobs are the owner's.",
};

impl ChatCommands {
    pub(super) async fn stop_jobs(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let summary = "End all background jobs".to_owned();
        self.give_order(given, BASH.order(STOP_ALL_JOBS, json!({}), summary)).await
    }
}
