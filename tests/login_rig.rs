//! An MCP server with a login and its authorization server, as strict as real ones: exact redirect,
//! S256 alone, each code and each refresh token once, tokens for one resource. A test twists what
//! it wants to be hostile. Must not know claw.
#![allow(dead_code, reason = "each test uses its own part of this module")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::http_rig::{HttpRig, Seen, as_json, mcp};

/// What a test wants otherwise: the path of a request, and what is answered there. `None` for the
/// usual.
pub type Twist = fn(&Seen, &Facts) -> Option<Response>;

pub const USUAL: Twist = |_, _| None;

/// It has no stream, and names its login in the refusal of a message alone, at a path of its own.
pub const BY_REFUSAL: Twist = |seen, facts| match (seen.verb.as_str(), seen.path.as_str()) {
    ("GET", "/mcp") => Some(StatusCode::METHOD_NOT_ALLOWED.into_response()),
    ("GET", "/.well-known/oauth-protected-resource/mcp") => {
        Some(StatusCode::NOT_FOUND.into_response())
    }
    ("GET", "/meta/of-mcp.json") => Some(as_json(200, &resource(facts))),
    ("POST", "/mcp") if seen.header("authorization").is_none() => {
        let at = format!("{}/meta/of-mcp.json", facts.base);
        let text = format!("Bearer resource_metadata=\"{at}\"");
        Some((StatusCode::UNAUTHORIZED, [("www-authenticate", text)]).into_response())
    }
    _ => None,
};

/// Where the server is, and where somebody else is.
#[derive(Clone, Debug)]
pub struct Facts {
    pub base: String,
    pub elsewhere: String,
    /// Seconds that an access token lives.
    pub expires_in: u64,
    /// What a token needs for `tools/list`.
    pub needs: &'static str,
}

#[derive(Default)]
struct Books {
    /// The redirect of each client.
    clients: BTreeMap<String, String>,
    codes: BTreeMap<String, Code>,
    /// Access tokens and what they may.
    access: BTreeMap<String, String>,
    refresh: BTreeMap<String, (String, String)>,
    used: BTreeSet<String>,
    count: usize,
}

#[derive(Clone)]
struct Code {
    client: String,
    challenge: String,
    scope: String,
}

/// The server, with what it has noted.
pub struct Company {
    pub rig: HttpRig,
    books: Arc<Mutex<Books>>,
}

impl Company {
    pub fn usual() -> Self {
        Self::start(USUAL, "http://127.0.0.1:1", 3600, "")
    }

    pub fn start(twist: Twist, elsewhere: &str, expires_in: u64, needs: &'static str) -> Self {
        let books = Arc::<Mutex<Books>>::default();
        let (kept, elsewhere) = (books.clone(), elsewhere.to_owned());
        let rig = HttpRig::start(move |address: SocketAddr| {
            let base = format!("http://{address}");
            let facts = Facts { base, elsewhere, expires_in, needs };
            move |seen: &Seen| twist(seen, &facts).unwrap_or_else(|| answer(seen, &facts, &kept))
        });
        Self { rig, books }
    }

    /// Every token that it has given out.
    pub fn tokens(&self) -> Vec<String> {
        let books = self.books.lock().unwrap();
        let used = books.used.iter().filter(|token| !token.starts_with("code-"));
        let all = books.access.keys().chain(books.refresh.keys()).chain(used);
        all.cloned().collect()
    }

    /// How many access and refresh tokens count now.
    pub fn alive(&self) -> usize {
        let books = self.books.lock().unwrap();
        books.access.len() + books.refresh.len()
    }

    /// The access tokens that it takes now.
    pub fn revoke_access(&self) {
        self.books.lock().unwrap().access.clear();
    }

    /// How many requests came to a path.
    pub fn count(&self, path: &str) -> usize {
        self.rig.seen().iter().filter(|seen| seen.path == path).count()
    }
}

fn answer(seen: &Seen, facts: &Facts, books: &Mutex<Books>) -> Response {
    match (seen.verb.as_str(), seen.path.as_str()) {
        ("GET", "/.well-known/oauth-protected-resource/mcp") => as_json(200, &resource(facts)),
        ("GET", "/.well-known/oauth-authorization-server/as") => as_json(200, &metadata(facts)),
        ("POST", "/as/register") => register(seen, &mut books.lock().unwrap()),
        ("GET", "/as/authorize") => authorize(seen, facts, &mut books.lock().unwrap()),
        ("POST", "/as/revoke") => revoke(seen, &mut books.lock().unwrap()),
        ("POST", "/as/token") => token(seen, facts, &mut books.lock().unwrap()),
        (_, "/mcp") => resource_server(seen, facts, &books.lock().unwrap()),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

pub fn resource(facts: &Facts) -> Value {
    json!({"resource": format!("{}/mcp", facts.base), "scopes_supported": ["read"],
        "authorization_servers": [format!("{}/as", facts.base)]})
}

pub fn metadata(facts: &Facts) -> Value {
    let at = |path: &str| format!("{}/as{path}", facts.base);
    json!({"issuer": at(""), "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"), "registration_endpoint": at("/register"),
        "revocation_endpoint": at("/revoke"),
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true})
}

fn refused(error: &str) -> Response {
    as_json(400, &json!({"error": error}))
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{text}")).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn register(seen: &Seen, books: &mut Books) -> Response {
    let wanted = seen.message();
    let redirects = wanted["redirect_uris"].as_array().cloned().unwrap_or_default();
    let [redirect] = redirects.as_slice() else { return refused("invalid_redirect_uri") };
    let redirect = redirect.as_str().unwrap_or_default().to_owned();
    if !redirect.starts_with("http://127.0.0.1:") {
        return refused("invalid_redirect_uri");
    }
    books.count += 1;
    let id = format!("client-{}", books.count);
    books.clients.insert(id.clone(), redirect);
    let mut registered = wanted;
    registered["client_id"] = json!(id);
    as_json(201, &registered)
}

fn authorize(seen: &Seen, facts: &Facts, books: &mut Books) -> Response {
    let asked = pairs(&seen.query);
    let get = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    // A client that is an address is described there, and needs no registration.
    if get("client_id").starts_with("https://") {
        books.clients.insert(get("client_id").to_owned(), get("redirect_uri").to_owned());
    }
    let redirect = books.clients.get(get("client_id"));
    let is_right = redirect.is_some_and(|redirect| redirect == get("redirect_uri"))
        && get("response_type") == "code"
        && get("code_challenge_method") == "S256"
        && get("code_challenge").len() == 43
        && get("resource") == format!("{}/mcp", facts.base)
        && get("state").len() >= 16;
    if !is_right {
        return refused("invalid_request");
    }
    books.count += 1;
    let code = format!("code-{}-b3c1", books.count);
    let note = |name: &str| get(name).to_owned();
    let noted =
        Code { client: note("client_id"), challenge: note("code_challenge"), scope: note("scope") };
    let mut to = reqwest::Url::parse(get("redirect_uri")).unwrap();
    let issuer = format!("{}/as", facts.base);
    to.query_pairs_mut().append_pair("code", &code).append_pair("state", get("state"));
    to.query_pairs_mut().append_pair("iss", &issuer);
    books.codes.insert(code, noted);
    (StatusCode::FOUND, [("location", to.to_string())]).into_response()
}

fn token(seen: &Seen, facts: &Facts, books: &mut Books) -> Response {
    let asked = pairs(&seen.body);
    let get = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    if get("resource") != format!("{}/mcp", facts.base) {
        return refused("invalid_target");
    }
    let (client, scope) = match get("grant_type") {
        "authorization_code" => {
            let Some(code) = books.codes.remove(get("code")) else {
                return refused("invalid_grant");
            };
            let verifier = Sha256::digest(get("code_verifier").as_bytes());
            let is_right = BASE64_URL_SAFE_NO_PAD.encode(verifier) == code.challenge
                && get("client_id") == code.client
                && books.clients.get(&code.client).map(String::as_str) == Some(get("redirect_uri"));
            if !is_right {
                return refused("invalid_grant");
            }
            books.used.insert(get("code").to_owned());
            (code.client, code.scope)
        }
        "refresh_token" => {
            let Some(known) = books.refresh.remove(get("refresh_token")) else {
                // Somebody has a copy: nothing of it counts any more.
                books.access.clear();
                books.refresh.clear();
                return refused("invalid_grant");
            };
            books.used.insert(get("refresh_token").to_owned());
            // It is its client's, and gives no more than it had (RFC 6749, 6).
            let had: Vec<&str> = known.1.split(' ').collect();
            if get("client_id") != known.0 {
                return refused("invalid_grant");
            }
            if !get("scope").split_whitespace().all(|scope| had.contains(&scope)) {
                return refused("invalid_scope");
            }
            known
        }
        _ => return refused("unsupported_grant_type"),
    };
    books.count += 1;
    let access = format!("acc-{}-9d2f4e7a61c05b38", books.count);
    let refresh = format!("ref-{}-47ab0c9e13fd8265", books.count);
    books.access.insert(access.clone(), scope.clone());
    books.refresh.insert(refresh.clone(), (client, scope.clone()));
    as_json(
        200,
        &json!({"access_token": access, "refresh_token": refresh, "token_type": "Bearer",
            "expires_in": facts.expires_in, "scope": scope}),
    )
}

/// Each token by itself, and only for its own client.
fn revoke(seen: &Seen, books: &mut Books) -> Response {
    let asked = pairs(&seen.body);
    let get = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    if !books.clients.contains_key(get("client_id")) {
        return as_json(401, &json!({"error": "invalid_client"}));
    }
    books.access.remove(get("token"));
    books.refresh.remove(get("token"));
    StatusCode::OK.into_response()
}

fn resource_server(seen: &Seen, facts: &Facts, books: &Books) -> Response {
    let given = seen.header("authorization").and_then(|text| text.strip_prefix("Bearer "));
    let challenge =
        |text: String, status: StatusCode| (status, [("www-authenticate", text)]).into_response();
    let Some(scope) = given.and_then(|token| books.access.get(token)) else {
        let at = format!("{}/.well-known/oauth-protected-resource/mcp", facts.base);
        let text = format!("Bearer resource_metadata=\"{at}\"");
        return challenge(text, StatusCode::UNAUTHORIZED);
    };
    let is_needed = seen.message()["method"] == "tools/list" && !facts.needs.is_empty();
    if is_needed && !scope.split(' ').any(|scope| scope == facts.needs) {
        let needs = facts.needs;
        let text = format!("Bearer error=\"insufficient_scope\", scope=\"{needs}\"");
        return challenge(text, StatusCode::FORBIDDEN);
    }
    let message = seen.message();
    if message["params"]["arguments"]["say"] == "token" {
        let text = format!("You came with {}.", given.unwrap_or_default());
        let result = json!({"content": [{"type": "text", "text": text}]});
        return as_json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
    }
    mcp(seen)
}
