//! What the model is told of where its calls run, beside the prompt that never changes: the mode of
//! the session, and the state of the git repository that holds the workspace. Must not know when it
//! is told.

use std::time::Duration;

use super::Calls;
use crate::domain::{Mode, Origin, SessionId};
use crate::store::StoreError;
use crate::workspace::{Checkout, Repository, Workspace, repository_of};

/// How long a message waits for a look at the branch. Without it the branch is not told.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);

/// The repository that holds the workspace.
#[derive(Clone, Debug)]
pub struct GitSeen {
    pub repository: Repository,
    /// Whether commands see all of it: its root is the workspace, and git's own folder is in there.
    pub is_reachable: bool,
}

impl Calls {
    /// What is so now for words of this person. `git` is what is said of the repository, `shell`
    /// where its shell stands, `before` what the model was told last. `None`: that is so still, or
    /// there is nothing to tell.
    pub fn context(
        &self,
        session: &SessionId,
        (principal, origin): (&str, Origin),
        git: Option<String>,
        shell: Option<&str>,
        before: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        // Nobody else's words profit from a mode.
        let mode = match origin {
            Origin::Owner => self.mode(session, principal)?.map_or(Mode::Ask, |found| found.mode),
            _ => Mode::Ask,
        };
        if before.is_none() && mode == Mode::Ask && git.is_none() && shell.is_none() {
            return Ok(None);
        }
        let git = git.map(|git| format!("; git: {git}")).unwrap_or_default();
        let shell = shell.map(|shell| format!("; {shell}")).unwrap_or_default();
        let text = self.redactor.redact(&format!("[mode: {mode}{git}{shell}]")).into_owned();
        Ok((before != Some(text.as_str())).then_some(text))
    }

    /// The repository that holds the workspace. `None`: there is none, or the look took too long.
    pub async fn git(&self) -> Option<GitSeen> {
        let folder = self.surroundings.workspace.clone();
        let home = self.surroundings.user_home.clone();
        let look = tokio::task::spawn_blocking(move || {
            let root = repository_of(&folder, &home)?;
            let repository = Workspace::open(&root).ok()?.repository()?;
            let is_root = folder.canonicalize().is_ok_and(|folder| folder == root);
            let is_reachable = is_root && repository.is_inside;
            Some(GitSeen { repository, is_reachable })
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

impl GitSeen {
    /// The branch, for whoever is told no more.
    pub fn branch(&self) -> String {
        said(&self.repository.checkout)
    }
}

fn said(checkout: &Checkout) -> String {
    match checkout {
        Checkout::Branch(name) => format!("branch `{name}`"),
        Checkout::Commit(commit) => format!("no branch, at {commit}"),
        Checkout::OddlyNamed => "a branch with an odd name".to_owned(),
    }
}
