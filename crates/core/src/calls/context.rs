//! What the model is told of where its calls run, beside the prompt that never changes: the mode of
//! the session, and the git branch of the workspace. Must not know when it is told.

use std::time::Duration;

use super::Calls;
use crate::domain::{Mode, Origin, SessionId};
use crate::store::StoreError;
use crate::workspace::{Checkout, Workspace, repository_of};

/// How long a message waits for a look at the branch. Without it the branch is not told.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);

impl Calls {
    /// What is so now for words of this person. `before` is what the model was told last. `None`:
    /// that is so still, or there is nothing to tell.
    pub async fn context(
        &self,
        session: &SessionId,
        (principal, origin): (&str, Origin),
        before: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        // Nobody else's words profit from a mode.
        let mode = match origin {
            Origin::Owner => self.mode(session, principal)?.map_or(Mode::Ask, |found| found.mode),
            _ => Mode::Ask,
        };
        let branch = self.branch().await.map(|checkout| said(&checkout));
        if before.is_none() && mode == Mode::Ask && branch.is_none() {
            return Ok(None);
        }
        let branch = branch.map(|branch| format!("; git: {branch}")).unwrap_or_default();
        let text = self.redactor.redact(&format!("[mode: {mode}{branch}]")).into_owned();
        Ok((before != Some(text.as_str())).then_some(text))
    }

    async fn branch(&self) -> Option<Checkout> {
        let folder = self.surroundings.workspace.clone();
        let home = self.surroundings.user_home.clone();
        let look = tokio::task::spawn_blocking(move || {
            Workspace::open(&repository_of(&folder, &home)?).ok()?.checkout()
        });
        match tokio::time::timeout(LOOK_TIME_MAX, look).await {
            Ok(seen) => seen.ok().flatten(),
            Err(_) => {
                tracing::warn!("the workspace takes long; the model is not told its branch");
                None
            }
        }
    }
}

fn said(checkout: &Checkout) -> String {
    match checkout {
        Checkout::Branch(name) => format!("branch `{name}`"),
        Checkout::Commit(commit) => format!("no branch, at {commit}"),
        Checkout::OddlyNamed => "a branch with an odd name".to_owned(),
    }
}
