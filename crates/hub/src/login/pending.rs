//! A login that is under way, as it is kept: what finishes it after a restart. A file of its own
//! beside the tokens, its owner's alone, for one link and one answer. Owns that its code is sent at
//! most once. Must not know how tokens are kept, or who logs in.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use claw_kit::killpoint;
use rmcp::transport::auth::{AuthError, StateStore, StoredAuthorizationState};
use serde::{Deserialize, Serialize};

use super::address::Expected;
use super::file;
use super::kept::now_s;
use crate::settings::SecretSink;

/// The ending of its file's name.
pub(super) const KIND: &str = "pending";

/// What stands in the file.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Pending {
    /// The entry's, when the login was begun.
    pub(super) url: String,
    /// Where the browser is sent back to.
    pub(super) redirect: String,
    /// What the person opens.
    pub(super) link: String,
    pub(super) client_secret: Option<String>,
    /// To whom the code goes, and nobody else.
    pub(super) token_endpoint: String,
    /// PKCE's verifier, `state`, and who has to answer.
    pub(super) checks: StoredAuthorizationState,
    /// The code was sent, or is about to be. It is not sent again.
    #[serde(default)]
    pub(super) is_sent: bool,
}

impl Pending {
    pub(super) fn state(&self) -> &str {
        &self.checks.csrf_token
    }

    pub(super) fn expected(&self) -> Expected {
        let issuer = self.checks.expected_issuer.clone();
        let (state, redirect) = (self.checks.csrf_token.clone(), self.redirect.clone());
        Expected { state, issuer, redirect, is_done: false }
    }

    fn secrets(&self) -> Vec<(String, String)> {
        let verifier = Some(("code_verifier", self.checks.pkce_verifier.clone()));
        let secret = self.client_secret.clone().map(|secret| ("client_secret", secret));
        let all = [verifier, secret].into_iter().flatten();
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// The file of the login to one server that is under way. There is at most one; a new one takes its
/// place.
#[derive(Clone)]
pub(super) struct PendingFile {
    path: PathBuf,
    url: String,
    /// A login that takes longer has failed.
    time: Duration,
    secrets: SecretSink,
    /// What the SDK has made for the link, until there is a file.
    fresh: Arc<Mutex<Option<StoredAuthorizationState>>>,
}

impl PendingFile {
    pub(super) fn new(path: PathBuf, url: &str, time: Duration, secrets: SecretSink) -> Self {
        Self { path, url: url.to_owned(), time, secrets, fresh: Arc::default() }
    }

    /// What is kept for this URL and still counts.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn read(&self) -> Result<Option<Pending>, String> {
        let kept: Option<Pending> = file::read(&self.path)?;
        let ends = |kept: &Pending| kept.checks.created_at.saturating_add(self.time.as_secs());
        Ok(kept.filter(|kept| kept.url == self.url && now_s() < ends(kept)))
    }

    /// What counts, if it is the login with this `state`.
    pub(super) fn read_for(&self, state: &str) -> Result<Option<Pending>, String> {
        Ok(self.read()?.filter(|pending| pending.state() == state))
    }

    pub(super) fn write(&self, pending: &Pending) -> Result<(), String> {
        // First known, then used or written.
        (self.secrets)(pending.secrets())?;
        file::write(&self.path, pending)
    }

    pub(super) fn remove(&self) -> Result<(), String> {
        file::remove(&self.path).map(drop)
    }

    /// Removes the login with this `state`, and no other one that has taken its place.
    pub(super) fn remove_only(&self, state: &str) -> Result<(), String> {
        match file::read::<Pending>(&self.path)? {
            Some(kept) if kept.state() == state => self.remove(),
            _ => Ok(()),
        }
    }

    /// What the SDK has made for its latest link.
    pub(super) fn take_fresh(&self) -> Option<StoredAuthorizationState> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The secrets of a file, if it is one of a login that is under way.
pub(super) fn secrets_of(path: &Path) -> Vec<(String, String)> {
    let pending: Option<Pending> = file::read(path).ok().flatten();
    pending.map(|pending| pending.secrets()).unwrap_or_default()
}

#[async_trait]
impl StateStore for PendingFile {
    async fn save(&self, _: &str, state: StoredAuthorizationState) -> Result<(), AuthError> {
        *self.fresh.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        Ok(())
    }

    async fn load(&self, state: &str) -> Result<Option<StoredAuthorizationState>, AuthError> {
        let kept = self.read_for(state).map_err(AuthError::InternalError)?;
        Ok(kept.filter(|kept| !kept.is_sent).map(|kept| kept.checks))
    }

    /// The SDK asks for this once the answer is known to come from the right one, and sends the
    /// code then. So the file says so before.
    async fn delete(&self, state: &str) -> Result<(), AuthError> {
        killpoint::here("login.sent.before");
        let kept = self.read_for(state).map_err(AuthError::InternalError)?;
        let Some(mut pending) = kept.filter(|kept| !kept.is_sent) else {
            return Err(AuthError::InternalError("its code was sent before".to_owned()));
        };
        pending.is_sent = true;
        self.write(&pending).map_err(AuthError::InternalError)?;
        killpoint::here("login.sent.after");
        Ok(())
    }
}
