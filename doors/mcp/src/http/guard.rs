//! Who may talk to claw over HTTP: the host that is meant, the page that asks, the token, how
//! often, how much. Must not know MCP.

use std::convert::Infallible;
use std::sync::Arc;

use claw_kit::counted::{counted, counted_with};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, AUTHORIZATION, CONTENT_LENGTH,
    CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use hyper::{Response, StatusCode, Uri};
use tokio::sync::OwnedSemaphorePermit;

use super::PATH;
use crate::config::ServeSection;
use crate::domain::ClientName;
use crate::serving::Serving;

/// What is sent back.
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Names of this machine's loopback interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The page that asks, if one does. It is allowed.
#[derive(Debug)]
pub struct Allowed {
    origin: Option<HeaderValue>,
}

/// Looks at path, host and page.
pub fn look(
    settings: &ServeSection,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Allowed, Box<Answer>> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !is_allowed_host(settings, host) {
        let text = "This host is not one of claw's names here. serve.allowed_hosts in claw.toml \
            lists those that a reverse proxy brings.";
        return Err(refused(StatusCode::FORBIDDEN, text));
    }
    let origin = headers.get(ORIGIN).cloned();
    let is_allowed = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        settings.allowed_origins.iter().any(|allowed| allowed == origin)
    };
    if origin.as_ref().is_some_and(|origin| !is_allowed(origin)) {
        let text = "Pages of this origin may not talk to claw. serve.allowed_origins in claw.toml \
            lists those that may.";
        return Err(refused(StatusCode::FORBIDDEN, text));
    }
    if uri.path() != PATH {
        let text = format!("There is nothing here. MCP is at {PATH}.");
        return Err(refused(StatusCode::NOT_FOUND, &text));
    }
    Ok(Allowed { origin })
}

fn is_allowed_host(settings: &ServeSection, host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => {
            name
        }
        _ => host,
    };
    let is = |allowed: &str, host: &str| allowed.eq_ignore_ascii_case(host);
    LOOPBACK.iter().any(|allowed| is(allowed, name))
        || settings.allowed_hosts.iter().any(|allowed| is(allowed, name) || is(allowed, host))
}

/// The client whose token it is, with a place among the requests at once.
pub fn client(
    serving: &Arc<Serving>,
    headers: &HeaderMap,
    settings: &ServeSection,
) -> Result<(ClientName, OwnedSemaphorePermit), Box<Answer>> {
    let context = &serving.door.shared.context;
    let clients = &context.clients;
    let unknown = || unknown(&context.claw());
    let token = headers.get(AUTHORIZATION).and_then(bearer).ok_or_else(unknown)?;
    let found = clients.client_of_token(token).map_err(|error| {
        tracing::error!(%error, "a token cannot be looked at");
        refused(StatusCode::INTERNAL_SERVER_ERROR, "Claw cannot look at the token now; try again.")
    })?;
    let client = found.ok_or_else(unknown)?;
    if let Err(left) = serving.rate.take(&client, settings.requests_minute_max) {
        let text = format!(
            "The client `{client}` has made {} within a minute (serve.requests_minute_max).",
            counted(settings.requests_minute_max, "request")
        );
        let mut answer = refused(StatusCode::TOO_MANY_REQUESTS, &text);
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(left.as_secs() + 1));
        return Err(answer);
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > settings.body_bytes_max) {
        let text = format!(
            "The request is longer than {} bytes (serve.body_bytes_max); send less at once.",
            settings.body_bytes_max
        );
        return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, &text));
    }
    let place = serving.room.clone().try_acquire_owned().map_err(|_| {
        let text = format!(
            "{} under way already (serve.clients_max); try again.",
            counted_with(settings.clients_max, "request", "is", "are")
        );
        refused(StatusCode::SERVICE_UNAVAILABLE, &text)
    })?;
    Ok((client, place))
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Also for a token that was revoked.
fn unknown(claw: &str) -> Box<Answer> {
    let text = format!(
        "No client of claw has this token. `{claw} clients add NAME` on the owner's machine makes \
         one; send it as `Authorization: Bearer TOKEN`."
    );
    let mut answer = refused(StatusCode::UNAUTHORIZED, &text);
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    answer
}

fn refused(status: StatusCode, text: &str) -> Box<Answer> {
    let mut answer = Response::new(Full::new(Bytes::from(format!("{text}\n"))).boxed());
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Box::new(answer)
}

/// What a browser asks before a page of an allowed origin may send its request.
pub fn preflight(allowed: &Allowed) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()).boxed());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    if allowed.origin.is_some() {
        let headers = answer.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
        headers.insert(
            ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static(
                "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name",
            ),
        );
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
    for_page(allowed, answer)
}

/// An answer that a page of an allowed origin may read.
pub fn for_page(allowed: &Allowed, mut answer: Answer) -> Answer {
    if let Some(origin) = &allowed.origin {
        let headers = answer.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("mcp-protocol-version, www-authenticate"),
        );
        headers.insert(VARY, HeaderValue::from_static("Origin"));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(settings: &ServeSection, path: &str, given: &[(&str, &str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            let name: hyper::header::HeaderName = name.parse().unwrap();
            headers.insert(name, value.parse().unwrap());
        }
        match look(settings, &path.parse().unwrap(), &headers) {
            Ok(_) => 200,
            Err(refused) => refused.status().as_u16(),
        }
    }

    #[test]
    fn only_the_loopback_interface_and_what_is_listed_is_a_host_of_ours() {
        let settings = ServeSection {
            allowed_hosts: vec!["claw.example.org".to_owned(), "other.example:8443".to_owned()],
            ..ServeSection::default()
        };
        for good in [
            "localhost",
            "LOCALHOST:8484",
            "127.0.0.1:1",
            "[::1]:8484",
            "[::1]",
            "claw.example.org",
            "claw.example.org:443",
            "other.example:8443",
        ] {
            assert_eq!(status(&settings, "/mcp", &[("host", good)]), 200, "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "evil.example:8484",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "evil.example:localhost",
            "127.0.0.2",
            "0.0.0.0:8484",
            "other.example",
            "claw.example.org.evil.example",
            "evil@localhost",
        ] {
            assert_eq!(status(&settings, "/mcp", &[("host", bad)]), 403, "{bad}");
        }
        assert_eq!(status(&settings, "/mcp", &[]), 403, "a request without a host");
        assert_eq!(status(&settings, "/", &[("host", "localhost")]), 404);
    }

    #[test]
    fn no_page_is_answered_that_is_not_listed_word_for_word() {
        let settings = ServeSection {
            allowed_origins: vec!["https://app.example.org".to_owned()],
            ..ServeSection::default()
        };
        let at = |origin| status(&settings, "/mcp", &[("host", "localhost"), ("origin", origin)]);
        assert_eq!(at("https://app.example.org"), 200);
        for bad in [
            "http://app.example.org",
            "https://app.example.org:8443",
            "null",
            "http://localhost",
            "http://127.0.0.1:8484",
            "https://app.example.org.evil.example",
        ] {
            assert_eq!(at(bad), 403, "{bad}");
        }
        let nothing = ServeSection::default();
        let own = [("host", "127.0.0.1:8484"), ("origin", "http://127.0.0.1:8484")];
        assert_eq!(status(&nothing, "/mcp", &own), 403, "a page of this machine is a page, too");
    }

    #[test]
    fn a_token_stands_behind_its_scheme() {
        let token = |text: &str| bearer(&text.parse().unwrap()).map(str::to_owned);
        assert_eq!(token("Bearer claw_x"), Some("claw_x".to_owned()));
        assert_eq!(token("bearer  claw_x "), Some("claw_x".to_owned()));
        for odd in ["claw_x", "Basic claw_x", "Bearer"] {
            assert_eq!(token(odd), None, "{odd}");
        }
    }
}
