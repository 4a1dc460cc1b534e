//! A login whose answer is awaited, from the link that a person opens to the tokens that are kept.
//! Owns that an answer counts for the login that was begun, once, also after a restart. Must not
//! know how the answer comes back.

use claw_kit::killpoint;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthorizationCallback, AuthorizationManager, CredentialStore as _, InMemoryCredentialStore,
    StateStore as _,
};

use super::flow::{broken, has_state, parameter};
use super::kept::StoredLogin;
use super::pending::{Pending, PendingFile};
use super::{LoginError, LoginPlace, strength};
use crate::text::cut;

/// Of what an authorization server says, in bytes.
const SAID_BYTES_MAX: usize = 300;

/// A login whose answer is awaited, in this process or in one that comes after it.
pub struct LoginUnderWay {
    pub(super) place: LoginPlace,
    pub(super) manager: AuthorizationManager,
    pub(super) file: PendingFile,
    /// What the SDK gets for the code, until it is known to be of use.
    pub(super) tokens: InMemoryCredentialStore,
    pub(super) pending: Pending,
}

impl LoginUnderWay {
    /// To be opened in a browser.
    pub fn link(&self) -> &str {
        &self.pending.link
    }

    /// The host at which the person logs in.
    pub fn host(&self) -> String {
        let url = Url::parse(&self.pending.link).ok();
        url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    /// The rights that are asked for.
    pub fn scopes(&self) -> Vec<String> {
        let scopes = parameter(&self.pending.link, "scope").unwrap_or_default();
        scopes.split_whitespace().map(str::to_owned).collect()
    }

    /// Where the browser comes back to.
    pub fn redirect(&self) -> &str {
        &self.pending.redirect
    }

    /// Whether an address, to which a browser was sent, answers this login.
    pub fn is_its_answer(&self, address: &str) -> bool {
        has_state(address, self.pending.state())
    }

    /// Exchanges the code in the address, to which the browser was sent, for tokens, and keeps
    /// them. Gives back the rights that they have. Until then the tokens of before count.
    ///
    /// # Errors
    /// Another login's answer, a login that has ended, a refusal, an answer of somebody else.
    pub async fn finish(&self, address: &str) -> Result<Vec<String>, LoginError> {
        if !self.is_its_answer(address) {
            return Err(LoginError::OtherState);
        }
        let state = self.pending.state();
        let _lock = self.place.shelf.lock().await.map_err(LoginError::Broken)?;
        if self.file.load(state).await.map_err(broken)?.is_none() {
            return Err(LoginError::Over);
        }
        if let Some(error) = parameter(address, "error") {
            self.file.remove_only(state).map_err(LoginError::Broken)?;
            let said = parameter(address, "error_description");
            let said = said.map_or(error.clone(), |said| format!("{error}, {said}"));
            return Err(LoginError::Refused(cut(&said, SAID_BYTES_MAX).to_owned()));
        }
        let answer = AuthorizationCallback::from_redirect_url(address).map_err(broken)?;
        self.place.shelf.learn_code(&answer.code).map_err(LoginError::Broken)?;
        let (code, issuer) = (&answer.code, answer.issuer.as_deref());
        let exchanged = self.manager.exchange_code_for_token_with_issuer(code, state, issuer).await;
        let failed = match exchanged {
            Ok(token) if is_bearer(&token) => match fault_of(&token) {
                None => return self.keep().await,
                Some(why) => LoginError::Broken(why),
            },
            Ok(_) => {
                LoginError::Broken("it gives tokens of a kind that claw cannot use".to_owned())
            }
            Err(error) => broken(error),
        };
        // An answer of somebody else does not end the login; a code that was sent does.
        if self.file.load(state).await.map_err(broken)?.is_none() {
            self.file.remove_only(state).map_err(LoginError::Broken)?;
        }
        Err(failed)
    }

    /// One file is replaced, so that the old tokens count or the new ones.
    async fn keep(&self) -> Result<Vec<String>, LoginError> {
        let credentials = self.tokens.load().await.map_err(broken)?;
        let granted = credentials.as_ref().map(|had| had.granted_scopes.clone());
        let kept = StoredLogin {
            url: self.pending.url.clone(),
            redirect: self.pending.redirect.clone(),
            client_secret: self.pending.client_secret.clone(),
            wanted: Vec::new(),
            credentials,
            login: Some(self.pending.state().to_owned()),
        };
        killpoint::here("login.kept.before");
        self.place.shelf.write(&kept).map_err(LoginError::Broken)?;
        killpoint::here("login.kept.after");
        // What stays there is known to be done.
        let _ = self.file.remove_only(self.pending.state());
        Ok(granted.unwrap_or_default())
    }
}

fn fault_of(token: &impl serde::Serialize) -> Option<String> {
    strength::fault_of_answer(&serde_json::to_value(token).unwrap_or_default())
}

fn is_bearer(token: &impl serde::Serialize) -> bool {
    let token = serde_json::to_value(token).unwrap_or_default();
    token["token_type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"))
}
