//! The files that the workspace has for agents, as they are now. Must not know who is
//! told, or when.

use std::time::Duration;

use super::Calls;
use crate::domain::ProjectSeen;
use crate::workspace::Workspace;

/// How long a message waits for the look. Without it nothing is told this time.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);

impl Calls {
    /// Reads up to `bytes_max` of each. `None`: the workspace took too long, or is not there.
    pub async fn project_files(&self, bytes_max: u64) -> Option<ProjectSeen> {
        let folder = self.surroundings.workspace.clone();
        let look = tokio::task::spawn_blocking(move || {
            Some(Workspace::open(&folder).ok()?.project_files(bytes_max))
        });
        match tokio::time::timeout(LOOK_TIME_MAX, look).await {
            Ok(seen) => seen.ok().flatten(),
            Err(_) => {
                tracing::warn!("the workspace takes long; the model is not told its files");
                None
            }
        }
    }
}
