//! One login, from the link that a person opens to the tokens that are kept. Owns that an answer
//! counts for the login that was begun, once. Must not know how the link is opened or the answer
//! comes back.

use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata,
    AuthorizationMetadataSource, OAuthClientConfig,
};

use super::kept::Kept;
use super::{LoginError, Place, words};
use crate::text::cut;

/// Of what an authorization server says, in bytes.
const SAID_BYTES_MAX: usize = 300;

/// What the owner wants beside the usual.
#[derive(Clone, Default)]
pub struct LoginWish {
    /// Given by the authorization server's owner, where claw cannot register by itself.
    pub client_id: Option<String>,
    /// What belongs to it, where there is one.
    pub client_secret: Option<String>,
    /// Rights to ask for beside those that the server names.
    pub scopes: Vec<String>,
}

/// A login whose answer is awaited.
pub struct LoginUnderWay {
    place: Place,
    manager: AuthorizationManager,
    link: String,
    state: String,
    redirect: String,
    client_secret: Option<String>,
}

pub(super) async fn begin(
    place: Place,
    redirect: &str,
    wish: &LoginWish,
) -> Result<LoginUnderWay, LoginError> {
    let broken = |error: AuthError| LoginError::Broken(words::of_error(&error));
    let mut manager = place.manager().await?;
    manager.set_credential_store(place.shelf.clone());
    // Some servers say how to log in only to those who ask for something.
    let challenge = place.challenge().await?;
    let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
    let found = found.map_err(broken)?;
    if found.source == AuthorizationMetadataSource::LegacyEndpointFallback {
        return Err(LoginError::NoLogin(format!(
            "the server `{}` does not say how to log in (OAuth metadata, RFC 9728): if it wants a \
             token, write it into `headers` of its entry",
            place.server
        )));
    }
    check(&place, &found.metadata)?;
    let registers = found.metadata.registration_endpoint.is_some();
    manager.set_metadata(found.metadata);
    let scopes = scopes(&place, &manager, wish).await?;
    let names: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client_secret = match &wish.client_id {
        Some(id) => {
            let config = OAuthClientConfig::new(id, redirect);
            let config = match &wish.client_secret {
                Some(secret) => config.with_client_secret(secret),
                None => config,
            };
            manager.configure_client(config).map_err(broken)?;
            wish.client_secret.clone()
        }
        None if !registers => {
            return Err(LoginError::NoLogin(format!(
                "the login of `{}` takes no new program by itself: register claw there, and give \
                 what you got as `--client-id ID`",
                place.server
            )));
        }
        None => {
            let registered = manager.register_client("claw", redirect, &names).await;
            registered.map_err(broken)?.client_secret
        }
    };
    let link = manager.get_authorization_url(&names).await.map_err(broken)?;
    let state = parameter(&link, "state").unwrap_or_default();
    let redirect = redirect.to_owned();
    Ok(LoginUnderWay { place, manager, link, state, redirect, client_secret })
}

/// What MCP has a client refuse, beyond what the SDK refuses.
fn check(place: &Place, metadata: &AuthorizationMetadata) -> Result<(), LoginError> {
    let (client, entry) = (&place.client, &place.entry);
    let endpoints = [&metadata.authorization_endpoint, &metadata.token_endpoint];
    for endpoint in endpoints.into_iter().chain(&metadata.registration_endpoint) {
        entry.leads_to(endpoint, &client.private_hosts).map_err(LoginError::Broken)?;
    }
    let methods = metadata.code_challenge_methods_supported.as_deref().unwrap_or_default();
    if methods.iter().any(|method| method == "S256") {
        return Ok(());
    }
    Err(LoginError::Broken(words::of_error(&AuthError::PkceUnsupported)))
}

/// What the login had, what was missing since, and what is wished; else what the server names.
async fn scopes(
    place: &Place,
    manager: &AuthorizationManager,
    wish: &LoginWish,
) -> Result<Vec<String>, LoginError> {
    let kept = place.shelf.read().map_err(LoginError::Broken)?;
    let mut all = match kept {
        Some(Kept { credentials: Some(had), wanted, .. }) if !wanted.is_empty() => {
            had.granted_scopes.into_iter().chain(wanted).collect()
        }
        _ => manager.select_initial_scopes(&[]).await,
    };
    all.extend(wish.scopes.iter().cloned());
    let mut once: Vec<String> = Vec::new();
    for scope in all {
        if !once.contains(&scope) {
            once.push(scope);
        }
    }
    Ok(once)
}

impl LoginUnderWay {
    /// To be opened in a browser.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// The host at which the person logs in.
    pub fn host(&self) -> String {
        let url = Url::parse(&self.link).ok();
        url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    /// The rights that are asked for.
    pub fn scopes(&self) -> Vec<String> {
        let scopes = parameter(&self.link, "scope").unwrap_or_default();
        scopes.split_whitespace().map(str::to_owned).collect()
    }

    /// Whether an address, to which a browser was sent, answers this login.
    pub fn is_its_answer(&self, address: &str) -> bool {
        !self.state.is_empty() && parameter(address, "state").as_deref() == Some(&self.state)
    }

    /// Exchanges the code in the address, to which the browser was sent, for tokens, and keeps
    /// them. Gives back the rights that they have.
    ///
    /// # Errors
    /// Another login's answer, a refusal, an answer of somebody else.
    pub async fn finish(&self, address: &str) -> Result<Vec<String>, LoginError> {
        if !self.is_its_answer(address) {
            return Err(LoginError::OtherState);
        }
        if let Some(error) = parameter(address, "error") {
            let said = parameter(address, "error_description");
            let said = said.map_or(error.clone(), |said| format!("{error}, {said}"));
            return Err(LoginError::Refused(cut(&said, SAID_BYTES_MAX).to_owned()));
        }
        let broken = |error: AuthError| LoginError::Broken(words::of_error(&error));
        let answer = AuthorizationCallback::from_redirect_url(address).map_err(broken)?;
        // The tokens are kept by the SDK, into what stands there.
        let shelf = &self.place.shelf;
        let (url, redirect) = (self.place.entry.url.to_string(), self.redirect.clone());
        let before = shelf.read().map_err(LoginError::Broken)?;
        let client_secret = self.client_secret.clone();
        let wanted = Vec::new();
        let credentials = before.as_ref().and_then(|kept| kept.credentials.clone());
        let empty = Kept { url, redirect, client_secret, wanted, credentials };
        shelf.write(&empty).map_err(LoginError::Broken)?;
        let (code, state) = (&answer.code, &answer.csrf_token);
        let issuer = answer.issuer.as_deref();
        let exchanged = self.manager.exchange_code_for_token_with_issuer(code, state, issuer).await;
        let failed = match exchanged {
            Ok(token) if is_bearer(&token) => return Ok(self.granted()),
            Ok(_) => {
                LoginError::Broken("it gives tokens of a kind that claw cannot use".to_owned())
            }
            Err(error) => broken(error),
        };
        // As it was.
        let restored = match before {
            Some(before) => shelf.write(&before),
            None => shelf.remove().map(|_| ()),
        };
        restored.map_err(LoginError::Broken)?;
        Err(failed)
    }

    fn granted(&self) -> Vec<String> {
        let kept = self.place.shelf.read().ok().flatten();
        kept.and_then(|kept| kept.credentials).map(|had| had.granted_scopes).unwrap_or_default()
    }
}

fn is_bearer(token: &impl serde::Serialize) -> bool {
    let token = serde_json::to_value(token).unwrap_or_default();
    token["token_type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"))
}

/// A parameter of an address that stands there once.
fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    let mut found = url.query_pairs().filter(|(key, _)| key == name);
    let value = found.next()?.1.into_owned();
    found.next().is_none().then_some(value)
}
