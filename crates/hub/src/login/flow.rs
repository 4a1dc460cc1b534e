//! How a login begins, and how one goes on that an earlier claw has begun. Owns who may be asked
//! for a login. Must not know how the link is opened, or what is done with the answer.

use claw_kit::killpoint;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, InMemoryCredentialStore,
    OAuthClientConfig,
};

use super::kept::StoredLogin;
use super::pending::{Pending, PendingFile};
use super::under_way::LoginUnderWay;
use super::{LoginError, LoginPlace, strength, words};

/// What the owner asks for in a login, beside the usual.
#[derive(Clone, Default)]
pub struct LoginRequest {
    /// Given by the authorization server's owner, where claw cannot register by itself.
    pub client_id: Option<String>,
    /// What belongs to it, where there is one.
    pub client_secret: Option<String>,
    /// Rights to ask for beside those that the server names.
    pub scopes: Vec<String>,
}

/// What there is of a login that was begun before.
pub enum Earlier {
    Nothing,
    UnderWay(Box<LoginUnderWay>),
    /// It was done before anybody was told; with the rights that it gave.
    Done(Vec<String>),
    /// Its code was sent, and nobody knows what came of it. It is not sent again.
    Interrupted,
}

pub(super) async fn begin(
    place: LoginPlace,
    redirect: &str,
    request: &LoginRequest,
) -> Result<LoginUnderWay, LoginError> {
    let (mut manager, file, tokens) = parts(&place).await?;
    let metadata = discover(&place, &manager).await?;
    let token_endpoint = metadata.token_endpoint.clone();
    let registers = metadata.registration_endpoint.is_some();
    let document = document(&place, &metadata);
    manager.set_metadata(metadata);
    let scopes = scopes(&place, &manager, request).await?;
    let names: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client_secret = match (&request.client_id, document) {
        (Some(id), _) => {
            be_client(&mut manager, id, request.client_secret.as_deref(), redirect)?;
            request.client_secret.clone()
        }
        (None, Some(document)) => {
            be_client(&mut manager, &document, None, redirect)?;
            None
        }
        (None, None) if !registers => {
            return Err(LoginError::NoLogin(format!(
                "the login of `{}` takes no new program by itself: register claw there, and give \
                 what you got as `--client-id ID`",
                place.server
            )));
        }
        (None, None) => {
            let registered = manager.register_client("claw", redirect, &names).await;
            let secret = registered.map_err(broken)?.client_secret;
            let fault = secret.as_deref().and_then(|it| strength::fault("client_secret", it));
            match fault {
                Some(why) => return Err(LoginError::Broken(why)),
                None => secret,
            }
        }
    };
    let link = manager.get_authorization_url(&names).await.map_err(broken)?;
    let link = with_consent(link);
    let checks = file.take_fresh().filter(|made| has_state(&link, &made.csrf_token));
    let checks = checks.ok_or_else(|| LoginError::Broken("its link has no `state`".to_owned()))?;
    let (url, redirect) = (place.entry.url.to_string(), redirect.to_owned());
    let pending =
        Pending { url, redirect, link, client_secret, token_endpoint, checks, is_sent: false };
    // Whoever sends the code of an earlier one comes to its end before.
    let _lock = place.shelf.lock().await.map_err(LoginError::Broken)?;
    place.forget_answer();
    killpoint::here("login.begun.before");
    file.write(&pending).map_err(LoginError::Broken)?;
    killpoint::here("login.begun.after");
    Ok(LoginUnderWay { place, manager, file, tokens, pending })
}

/// What a claw before this one has begun.
pub(super) async fn resume(place: LoginPlace) -> Result<Earlier, LoginError> {
    let file = place.shelf.pending(place.time);
    if file.read().map_err(LoginError::Broken)?.is_none() {
        return Ok(Earlier::Nothing);
    }
    {
        // Whoever sends its code now comes to the end before.
        let _lock = place.shelf.lock().await.map_err(LoginError::Broken)?;
        let Some(pending) = file.read().map_err(LoginError::Broken)? else {
            return Ok(Earlier::Nothing);
        };
        let kept = place.shelf.read().map_err(LoginError::Broken)?;
        let is_done = |kept: &StoredLogin| kept.login.as_deref() == Some(pending.state());
        if let Some(kept) = kept.filter(is_done) {
            file.remove().map_err(LoginError::Broken)?;
            let scopes = kept.credentials.map(|had| had.granted_scopes);
            return Ok(Earlier::Done(scopes.unwrap_or_default()));
        }
        if pending.is_sent {
            file.remove().map_err(LoginError::Broken)?;
            return Ok(Earlier::Interrupted);
        }
    }
    under_way(place).await
}

/// Whom the server trusts is asked anew, and has to be whom the link leads to.
async fn under_way(place: LoginPlace) -> Result<Earlier, LoginError> {
    let (mut manager, file, tokens) = parts(&place).await?;
    let Some(pending) = file.read().map_err(LoginError::Broken)? else {
        return Ok(Earlier::Nothing);
    };
    let metadata = discover(&place, &manager).await?;
    let is_same = metadata.issuer == pending.checks.expected_issuer
        && metadata.token_endpoint == pending.token_endpoint;
    if !is_same {
        file.remove_only(pending.state()).map_err(LoginError::Broken)?;
        return Err(LoginError::Broken(format!(
            "the server `{}` trusts another login than when the link was made, so that nothing was \
             sent: log in again",
            place.server
        )));
    }
    manager.set_metadata(metadata);
    let client_id = parameter(&pending.link, "client_id").unwrap_or_default();
    be_client(&mut manager, &client_id, pending.client_secret.as_deref(), &pending.redirect)?;
    Ok(Earlier::UnderWay(Box::new(LoginUnderWay { place, manager, file, tokens, pending })))
}

/// The document that describes claw, if the owner has one and the login reads such documents
/// (Client ID Metadata Documents).
fn document(place: &LoginPlace, metadata: &AuthorizationMetadata) -> Option<String> {
    let reads = metadata.additional_fields.get("client_id_metadata_document_supported");
    let reads = reads.and_then(|reads| reads.as_bool()).unwrap_or(false);
    place.client_metadata_url.clone().filter(|_| reads)
}

pub(super) fn broken(error: AuthError) -> LoginError {
    LoginError::Broken(words::of_error(&error))
}

pub(super) fn has_state(link: &str, state: &str) -> bool {
    !state.is_empty() && parameter(link, "state").as_deref() == Some(state)
}

async fn parts(
    place: &LoginPlace,
) -> Result<(AuthorizationManager, PendingFile, InMemoryCredentialStore), LoginError> {
    let mut manager = place.manager().await?;
    let (file, tokens) = (place.shelf.pending(place.time), InMemoryCredentialStore::new());
    manager.set_state_store(file.clone());
    manager.set_credential_store(tokens.clone());
    Ok((manager, file, tokens))
}

fn be_client(
    manager: &mut AuthorizationManager,
    id: &str,
    secret: Option<&str>,
    redirect: &str,
) -> Result<(), LoginError> {
    let config = OAuthClientConfig::new(id, redirect);
    let config = match secret {
        Some(secret) => config.with_client_secret(secret),
        None => config,
    };
    manager.configure_client(config).map_err(broken)
}

/// Who the server trusts, as far as claw may go there.
async fn discover(
    place: &LoginPlace,
    manager: &AuthorizationManager,
) -> Result<AuthorizationMetadata, LoginError> {
    let Some(metadata) = place.trusted(manager).await? else {
        return Err(LoginError::NoLogin(format!(
            "the server `{}` does not say how to log in (OAuth metadata, RFC 9728): if it wants a \
             token, write it into `headers` of its entry",
            place.server
        )));
    };
    check(place, &metadata)?;
    Ok(metadata)
}

/// What MCP has a client refuse, beyond what the SDK refuses.
fn check(place: &LoginPlace, metadata: &AuthorizationMetadata) -> Result<(), LoginError> {
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

/// What the login had, what was missing since, and what the owner asks for; else what the server
/// names.
async fn scopes(
    place: &LoginPlace,
    manager: &AuthorizationManager,
    request: &LoginRequest,
) -> Result<Vec<String>, LoginError> {
    let kept = place.shelf.read().map_err(LoginError::Broken)?;
    let mut all = match kept {
        Some(StoredLogin { credentials: Some(had), wanted, .. }) if !wanted.is_empty() => {
            had.granted_scopes.into_iter().chain(wanted).collect()
        }
        _ => manager.select_initial_scopes(&[]).await,
    };
    all.extend(request.scopes.iter().cloned());
    let mut once: Vec<String> = Vec::new();
    for scope in all {
        if !once.contains(&scope) {
            once.push(scope);
        }
    }
    Ok(once)
}

/// The right to go on without the person (`offline_access`) is given by OpenID Connect only to who
/// asks that person for it (Core 1.0, section 11), and is dropped in silence otherwise: there is no
/// refresh token then. Who does not know `prompt` ignores it.
fn with_consent(link: String) -> String {
    let scopes = parameter(&link, "scope").unwrap_or_default();
    if !scopes.split(' ').any(|scope| scope == "offline_access") {
        return link;
    }
    match Url::parse(&link) {
        Ok(mut url) => {
            url.query_pairs_mut().append_pair("prompt", "consent");
            url.into()
        }
        Err(_) => link,
    }
}

/// A parameter of an address that stands there once.
pub(super) fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    let mut found = url.query_pairs().filter(|(key, _)| key == name);
    let value = found.next()?.1.into_owned();
    found.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_to_go_on_alone_asks_the_person() {
        let link = |scope: &str| format!("https://login.example/auth?scope={scope}&state=s1");
        let asked = with_consent(link("read+offline_access"));
        assert_eq!(asked, link("read+offline_access") + "&prompt=consent");
        for other in ["read", "read+offline_access_not", ""] {
            assert_eq!(with_consent(link(other)), link(other));
        }
    }
}
