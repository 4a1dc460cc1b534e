//! The end of a login at its authorization server (RFC 7009): the tokens are told there, so that a
//! copy of them is worth nothing. Must not know the file that holds them, or who is told.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;

use super::LoginPlace;
use super::kept::StoredLogin;

/// What became of the tokens at the authorization server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Revoked {
    Yes,
    /// It has no revocation endpoint: they end by themselves.
    NotOffered,
    /// Why they may still count, in words for the owner.
    No(String),
}

/// What a logout did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoggedOut {
    /// False if there was no login.
    pub was_there: bool,
    pub revoked: Revoked,
}

/// Tells the authorization server that the tokens are no longer used. Only the one that has given
/// them is told.
pub(super) async fn revoke(place: &LoginPlace, kept: &StoredLogin) -> Revoked {
    match tell(place, kept).await {
        Ok(revoked) => revoked,
        Err(why) => Revoked::No(why),
    }
}

async fn tell(place: &LoginPlace, kept: &StoredLogin) -> Result<Revoked, String> {
    let Some(credentials) = &kept.credentials else { return Ok(Revoked::NotOffered) };
    let metadata = metadata(place).await?;
    if !kept.is_of(&metadata) {
        return Err("the server trusts another login than the one that gave the tokens, so that \
                    they were not sent"
            .to_owned());
    }
    let endpoint = metadata.additional_fields.get("revocation_endpoint");
    let Some(endpoint) = endpoint.filter(|endpoint| !endpoint.is_null()) else {
        return Ok(Revoked::NotOffered);
    };
    let endpoint = endpoint.as_str().ok_or("its revocation endpoint is no address")?;
    // The refresh token first: without it nobody gets another access token.
    for hint in ["refresh_token", "access_token"] {
        let Some(token) = kept.token(hint) else { continue };
        let request = request(endpoint, &token, hint, &credentials.client_id, kept, &metadata)?;
        let status = place.client.status_of(request).await.map_err(|error| error.to_string())?;
        // A server may know no way to revoke one kind (RFC 7009, 2.2.1); the owner is told.
        if !status.is_success() {
            return Err(format!("it answers {status} to the revocation of the {hint}"));
        }
    }
    Ok(Revoked::Yes)
}

async fn metadata(place: &LoginPlace) -> Result<AuthorizationMetadata, String> {
    let manager = place.manager().await.map_err(|error| error.to_string())?;
    let trusted = place.trusted(&manager).await.map_err(|error| error.to_string())?;
    trusted.ok_or_else(|| "the server does not say any more how to log in".to_owned())
}

fn request(
    endpoint: &str,
    token: &str,
    hint: &str,
    client_id: &str,
    kept: &StoredLogin,
    metadata: &AuthorizationMetadata,
) -> Result<http::Request<Vec<u8>>, String> {
    let mut fields = vec![("token", token), ("token_type_hint", hint)];
    let mut request =
        http::Request::post(endpoint).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    match &kept.client_secret {
        None => fields.push(("client_id", client_id)),
        Some(secret) if wants_post(metadata) => {
            fields.extend([("client_id", client_id), ("client_secret", secret)]);
        }
        Some(secret) => {
            let pair = format!("{}:{}", encoded(client_id)?, encoded(secret)?);
            request =
                request.header(AUTHORIZATION, format!("Basic {}", BASE64_STANDARD.encode(pair)));
        }
    }
    request.body(form(&fields)?.into_bytes()).map_err(|error| error.to_string())
}

/// Whether the client's secret goes into the form. Without a word of the server it goes into the
/// header (RFC 8414, 2).
fn wants_post(metadata: &AuthorizationMetadata) -> bool {
    let key = "revocation_endpoint_auth_methods_supported";
    let methods = metadata.additional_fields.get(key).and_then(|methods| methods.as_array());
    methods.is_some_and(|methods| {
        let has = |name: &str| methods.iter().any(|method| method.as_str() == Some(name));
        has("client_secret_post") && !has("client_secret_basic")
    })
}

fn form(fields: &[(&str, &str)]) -> Result<String, String> {
    let mut url = Url::parse("http://form/").map_err(|error| error.to_string())?;
    url.query_pairs_mut().extend_pairs(fields);
    Ok(url.query().unwrap_or_default().to_owned())
}

/// As a field of a form, which is how the two halves of the header are written (RFC 6749, 2.3.1).
fn encoded(text: &str) -> Result<String, String> {
    Ok(form(&[("x", text)])?.split_off("x=".len()))
}
