//! The token that goes with the requests to a server to which the owner has logged in, renewed
//! before it ends. Must not know requests.

use std::sync::{Mutex, PoisonError};

use reqwest::header::HeaderValue;
use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};

use super::LoginPlace;
use super::kept::StoredLogin;

/// Of one connection.
pub(crate) struct Bearer {
    pub(super) place: LoginPlace,
    /// What the server has refused, though it had not ended.
    pub(super) refused: Mutex<Option<HeaderValue>>,
}

impl Bearer {
    /// The header for the next request; `None` where nobody has logged in.
    ///
    /// # Errors
    /// The login is over or cannot be renewed, in words for the owner.
    pub(crate) async fn header(&self) -> Result<Option<HeaderValue>, String> {
        let Some(kept) = self.place.shelf.read()? else { return Ok(None) };
        let header = header_of(&kept)?.ok_or_else(|| self.is_over())?;
        let is_good = |kept: &StoredLogin, header: &HeaderValue| {
            !kept.ends_soon() && !self.was_refused(header)
        };
        if is_good(&kept, &header) {
            return Ok(Some(header));
        }
        let _lock = self.place.shelf.lock().await?;
        // Whoever had the lock may have renewed it.
        if let Some(kept) = self.place.shelf.read()?
            && let Some(header) = header_of(&kept)?
            && is_good(&kept, &header)
        {
            return Ok(Some(header));
        }
        self.renew().await?;
        let kept = self.place.shelf.read()?;
        Ok(kept.as_ref().map(header_of).transpose()?.flatten())
    }

    /// The server does not take this one, which had not ended as far as claw knows.
    pub(crate) fn refuse(&self, header: HeaderValue) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(header);
    }

    /// The server wants rights that the login does not have. The next login asks for them.
    pub(crate) fn want(&self, scopes: &str) {
        let wanted: Vec<String> = scopes.split_whitespace().map(str::to_owned).collect();
        // What cannot be kept is named in the refusal all the same.
        let _ = self.place.shelf.change(|kept| {
            for scope in wanted {
                if !kept.wanted.contains(&scope) {
                    kept.wanted.push(scope);
                }
            }
        });
    }

    /// The command that logs in to the server.
    pub(crate) fn command(&self) -> String {
        self.place.command()
    }

    fn was_refused(&self, header: &HeaderValue) -> bool {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(header)
    }

    fn is_over(&self) -> String {
        format!("its login is over: run `{}`", self.place.command())
    }

    async fn renew(&self) -> Result<(), String> {
        let mut manager = self.place.manager().await.map_err(|error| error.to_string())?;
        let trusted = self.place.trusted(&manager).await;
        let trusted = trusted.map_err(|error| self.not_renewed(&error.to_string()))?;
        let trusted = trusted.ok_or_else(|| {
            self.not_renewed("the server does not say any more how to log in; nothing was sent")
        })?;
        let Some(kept) = self.place.shelf.read()? else { return Err(self.is_over()) };
        if !kept.is_of(&trusted) {
            return Err(self.is_of_another());
        }
        manager.set_metadata(trusted);
        manager.set_credential_store(self.place.shelf.clone());
        let is_kept = manager.initialize_from_store().await;
        if !is_kept.map_err(|error| self.sdk_failed(&error))? {
            return Err(self.is_over());
        }
        self.be_the_same_client(&mut manager)?;
        match manager.refresh_token().await {
            Ok(_) => Ok(()),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => {
                Err(self.is_over())
            }
            Err(error) => Err(self.sdk_failed(&error)),
        }
    }

    fn be_the_same_client(&self, manager: &mut AuthorizationManager) -> Result<(), String> {
        let Some(kept) = self.place.shelf.read()? else { return Ok(()) };
        let (Some(secret), Some(known)) = (kept.client_secret, kept.credentials) else {
            return Ok(());
        };
        let config = OAuthClientConfig::new(known.client_id, kept.redirect);
        let configured = manager.configure_client(config.with_client_secret(secret));
        configured.map_err(|error| self.sdk_failed(&error))
    }

    /// The tokens stay: what the server says now may be a mistake of today.
    fn is_of_another(&self) -> String {
        format!(
            "its login is over: the server trusts another login than the one that gave the tokens, \
             so that none was sent there; if that is right, run `{}`",
            self.place.command()
        )
    }

    fn sdk_failed(&self, error: &AuthError) -> String {
        self.not_renewed(&super::words::of_error(error))
    }

    fn not_renewed(&self, why: &str) -> String {
        format!("its login cannot be renewed: {why}")
    }
}

fn header_of(kept: &StoredLogin) -> Result<Option<HeaderValue>, String> {
    let Some(token) = kept.access_token() else { return Ok(None) };
    let value = format!("Bearer {token}");
    let mut header = HeaderValue::from_str(&value)
        .map_err(|_| "the token of its login cannot be sent: log in again".to_owned())?;
    header.set_sensitive(true);
    Ok(Some(header))
}
