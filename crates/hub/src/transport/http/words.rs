//! Why a server over HTTP cannot be used, in words that say the next step. Must not know requests.

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use rmcp::transport::auth::WWWAuthenticateParams;
use serde_json::Value;

use super::address::{Destination, NotAdmitted};
use crate::text::cut;
use crate::tls;

/// Of a server's own words, in bytes.
const SAID_BYTES_MAX: usize = 300;

/// Why no connection came about, or why it broke.
pub(crate) fn of_error(error: &reqwest::Error, destination: &Destination) -> String {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut is_dns = false;
    while let Some(inner) = source {
        if let Some(refused) = inner.downcast_ref::<NotAdmitted>() {
            return refused.to_string();
        }
        is_dns |= inner.to_string().starts_with("dns error");
        source = inner.source();
    }
    let (cause, host) = (root_cause(error), destination.host());
    if tls::is_distrusted(&cause) {
        return format!(
            "the certificate of `{host}` is not trusted ({cause}): where a network has \
             certificates of its own, set SSL_CERT_FILE to their file, in claw's environment"
        );
    }
    if !error.is_connect() {
        return format!("the connection to `{host}` broke ({cause})");
    }
    if is_dns {
        return format!(
            "the name `{host}` is not known ({cause}): check the `url` in mcp.json, and the network"
        );
    }
    if error.is_timeout() {
        return format!("`{host}` did not take the connection in time: check the network");
    }
    if cause.contains("InvalidContentType") || cause.contains("corrupt message") {
        return format!("`{host}` does not speak TLS at this port: write http:// in its `url`");
    }
    format!(
        "`{}` cannot be reached ({cause}): check that the server runs, and the `url` in mcp.json",
        at(destination)
    )
}

/// Host and port, where a port is written.
fn at(destination: &Destination) -> String {
    let port = destination.url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", destination.url.host_str().unwrap_or_default())
}

pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// What a request was answered with instead of MCP.
pub(super) struct Refusal<'a> {
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    /// The beginning of the body.
    pub(super) body: &'a [u8],
    /// The name of a header of the entry that holds a variable which is not set.
    pub(super) unset: Option<&'a str>,
    /// The entry has an `Authorization` or a similar header.
    pub(super) has_token: bool,
    /// The command that logs in to the server, where claw can.
    pub(super) login: Option<String>,
    /// A login's token was sent.
    pub(super) had_login: bool,
}

impl Refusal<'_> {
    /// For the end of a sentence.
    pub(super) fn in_words(&self) -> String {
        let status = self.status.as_u16();
        let next = match status {
            401 => self.needs_login(),
            403 if self.missing_rights().is_some() => self.rights(),
            403 => "it refuses access: the token may lack a right, or the server takes requests \
                    from other places only"
                .to_owned(),
            404 | 410 => {
                "there is no MCP server at this URL: check the path, which often ends in /mcp"
                    .to_owned()
            }
            405 => "it takes no MCP messages at this URL: check the path; servers of the old \
                    HTTP+SSE transport (2024-11-05) are not supported"
                .to_owned(),
            407 => "the proxy wants a login: set it in HTTPS_PROXY".to_owned(),
            413 => "the request is longer than it takes".to_owned(),
            429 => match self.header(RETRY_AFTER.as_str()) {
                Some(wait) => format!("it has had too many requests, and asks to wait: {wait}"),
                None => "it has had too many requests: try again later".to_owned(),
            },
            300..=399 => return self.redirect(),
            502..=504 => {
                "something between claw and the server cannot reach it: try again later".to_owned()
            }
            500..=599 => "it has a fault of its own".to_owned(),
            _ => "it refuses the request".to_owned(),
        };
        match self.said() {
            Some(said) => format!("{next} (HTTP {status}: {said})"),
            None => format!("{next} (HTTP {status})"),
        }
    }

    fn needs_login(&self) -> String {
        if let Some(unset) = self.unset {
            return format!(
                "it needs a login, and its header `{unset}` holds a variable that is not set: set \
                 it in claw's environment"
            );
        }
        if let Some(login) = self.login.as_ref().filter(|_| self.had_login) {
            return format!("it does not take claw's login any more: run `{login}`");
        }
        if self.has_token {
            return "it does not take the token in `headers`, which may be wrong or too old: get a \
                    new one"
                .to_owned();
        }
        if let Some(login) = &self.login {
            return format!(
                "it needs a login: run `{login}`, or add \"headers\": \
                 {{\"Authorization\": \"Bearer ${{TOKEN}}\"}} to its entry in mcp.json"
            );
        }
        "it needs a login: get a token from its owner, and add \"headers\": {\"Authorization\": \
         \"Bearer ${TOKEN}\"} to its entry in mcp.json"
            .to_owned()
    }

    /// The rights that the server wants for this request (RFC 6750, 3.1).
    pub(super) fn missing_rights(&self) -> Option<String> {
        let values = self.headers.get_all(WWW_AUTHENTICATE).iter();
        let mut found = values.filter_map(|value| scopes_wanted(value.to_str().ok()?));
        Some(cut(&found.next()?, SAID_BYTES_MAX).to_owned())
    }

    fn rights(&self) -> String {
        let rights = self.missing_rights().unwrap_or_default();
        match &self.login {
            Some(login) => format!(
                "it wants rights for this that claw's login does not have ({rights}): run \
                 `{login}`, which asks for them"
            ),
            None => format!("the token in `headers` lacks rights for this ({rights}): get another"),
        }
    }

    fn redirect(&self) -> String {
        let status = self.status.as_u16();
        match self.header(LOCATION.as_str()) {
            Some(to) => format!(
                "it sends claw on to {to}, which claw does not follow, because that address would \
                 get what is meant for this one (HTTP {status}): write that `url` into mcp.json if \
                 you trust it"
            ),
            None => format!("it sends claw on, and does not say where (HTTP {status})"),
        }
    }

    fn header(&self, name: &str) -> Option<String> {
        let value = self.headers.get(name)?.to_str().ok()?;
        Some(cut(value, SAID_BYTES_MAX).to_owned())
    }

    /// The server's own words, where they are meant for a reader.
    fn said(&self) -> Option<String> {
        let text = std::str::from_utf8(self.body).ok()?.trim();
        let json = serde_json::from_str::<Value>(text);
        let words = ["/error/message", "/error_description", "/message", "/detail", "/error"];
        let said = match &json {
            Ok(body) => words.iter().find_map(|path| body.pointer(path)?.as_str())?,
            // A page is for a browser.
            Err(_) if text.starts_with('<') => return None,
            Err(_) => text.lines().next()?,
        };
        Some(cut(said.trim(), SAID_BYTES_MAX).to_owned()).filter(|said| !said.is_empty())
    }
}

/// The scopes of a challenge that says `insufficient_scope`.
fn scopes_wanted(challenge: &str) -> Option<String> {
    // Any base does: what is relative is not used.
    let base = reqwest::Url::parse("https://localhost").ok()?;
    let challenge = WWWAuthenticateParams::parse(challenge, &base);
    challenge.scope.clone().filter(|_| challenge.is_insufficient_scope())
}

/// An answer that is no message, by its content type.
pub(super) fn no_message(content_type: &str) -> String {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "text/html" {
        return "it answered with a web page and not with MCP: check the `url`, whose path often \
                ends in /mcp, and whether a browser would have to log in there"
            .to_owned();
    }
    let kind = if kind.is_empty() { "no content type" } else { cut(&kind, 100) };
    format!("it answered with {kind} and not with MCP: check the `url` in mcp.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_named_by_the_command_of_that_agent() {
        let headers = HeaderMap::new();
        for had_login in [false, true] {
            let refusal = Refusal {
                status: StatusCode::UNAUTHORIZED,
                headers: &headers,
                body: b"",
                unset: None,
                has_token: false,
                login: Some("claw --agent work mcp login corp".to_owned()),
                had_login,
            };
            let told = refusal.in_words();
            assert!(told.contains("run `claw --agent work mcp login corp`"), "{told}");
        }
    }
}
