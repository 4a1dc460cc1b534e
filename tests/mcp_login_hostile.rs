//! Servers and authorization servers that want what is not theirs: codes, tokens, requests to other
//! machines. Each login fails with a sentence, sends nothing there, and keeps nothing.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::http_rig::{HttpRig, Seen, as_json, browse};
use crate::login_rig::{Company, Facts, Twist, metadata, resource};
use crate::mcp_login::{answer_of, begin, house_with};
use crate::program::House;

const METADATA: &str = "/.well-known/oauth-authorization-server/as";
const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";

fn with(mut document: Value, key: &str, value: Value) -> Option<Response> {
    document[key] = value;
    Some(as_json(200, &document))
}

/// The authorization server's metadata, with this instead.
fn says(seen: &Seen, facts: &Facts, key: &str, value: Value) -> Option<Response> {
    (seen.path == METADATA).then(|| with(metadata(facts), key, value))?
}

/// Nothing is kept, and nothing was sent to somebody else.
#[track_caller]
fn nothing_is_kept(house: &House, elsewhere: &HttpRig) {
    assert!(!house.home().join("logins/corp.json").exists(), "a login is kept");
    assert_eq!(elsewhere.seen().len(), 0, "{:?}", elsewhere.seen());
}

#[test]
fn metadata_that_lead_to_somebody_else_are_refused_before_there_is_a_link() {
    let refusals: [(Twist, &str); 12] = [
        (of_the_same_name, "does not say whose login it is"),
        (
            |seen, facts| says(seen, facts, "issuer", json!(facts.elsewhere)),
            "the answer comes from http://127.0.0.1",
        ),
        (
            |seen, facts| says(seen, facts, "token_endpoint", json!("http://169.254.169.254/t")),
            "where claw does not go",
        ),
        (
            |seen, facts| {
                says(seen, facts, "token_endpoint", json!("http://[::ffff:169.254.169.254]/t"))
            },
            "where claw does not go",
        ),
        (
            |seen, facts| says(seen, facts, "token_endpoint", json!("https://2852039166/t")),
            "where claw does not go",
        ),
        (
            |seen, facts| says(seen, facts, "registration_endpoint", json!("https://10.0.0.1/r")),
            "not on the public internet",
        ),
        (
            |seen, facts| says(seen, facts, "token_endpoint", json!("http://login.example/t")),
            "without TLS",
        ),
        (
            |seen, facts| says(seen, facts, "authorization_endpoint", json!("javascript:alert(1)")),
            "begins with javascript",
        ),
        (
            |seen, facts| says(seen, facts, "code_challenge_methods_supported", json!(["plain"])),
            "no PKCE with S256",
        ),
        (
            |seen, facts| says(seen, facts, "code_challenge_methods_supported", Value::Null),
            "no PKCE with S256",
        ),
        (
            |seen, facts| {
                let of_others = json!([format!("http://169.254.169.254/as"), "http://10.1.2.3/as"]);
                (seen.path == RESOURCE)
                    .then(|| with(resource(facts), "authorization_servers", of_others))?
            },
            "where claw finds none",
        ),
        (
            |seen, facts| {
                let of_others = json!(format!("{}/mcp", facts.elsewhere));
                (seen.path == RESOURCE).then(|| with(resource(facts), "resource", of_others))?
            },
            "Protected resource metadata",
        ),
    ];
    for (twist, words) in refusals {
        let elsewhere = HttpRig::usual();
        let base = format!("http://{}", elsewhere.address);
        let company = Company::start(twist, &base, 3600, "");
        let house = house_with(&company.rig.url());
        let ran = house.claw(&["mcp", "login", "corp"]);
        assert!(matches!(ran.code, Some(1 | 2)) && ran.err.contains(words), "{words}: {ran:?}");
        assert!(!ran.err.contains("open this link"), "{ran:?}");
        assert_eq!(company.count("/as/register"), 0, "{words}");
        nothing_is_kept(&house, &elsewhere);
    }
}

#[test]
fn a_server_that_says_nothing_of_a_login_is_said() {
    let server = HttpRig::usual();
    let house = house_with(&server.url());
    house.claw(&["mcp", "login", "corp"]).expect_mistake(&["does not say how to log in"]);
    assert_eq!(server.seen().iter().filter(|seen| seen.path == "/register").count(), 0);
}

#[test]
fn a_redirect_of_a_login_is_not_followed() {
    let register: Twist = |seen, facts| (seen.path == "/as/register").then(|| lead(facts));
    let token: Twist = |seen, facts| (seen.path == "/as/token").then(|| lead(facts));
    let found: Twist = |seen, facts| (seen.path == METADATA).then(|| lead(facts));
    for twist in [register, found] {
        let elsewhere = HttpRig::usual();
        let base = format!("http://{}", elsewhere.address);
        let company = Company::start(twist, &base, 3600, "");
        let house = house_with(&company.rig.url());
        house.claw(&["mcp", "login", "corp"]).expect(1);
        nothing_is_kept(&house, &elsewhere);
    }
    let elsewhere = HttpRig::usual();
    let base = format!("http://{}", elsewhere.address);
    let company = Company::start(token, &base, 3600, "");
    let house = house_with(&company.rig.url());
    let (running, link) = begin(&house);
    let (_, _, page) = browse(&answer_of(&link));
    assert!(page.contains("The login has failed"), "{page}");
    running.ends().expect(1);
    nothing_is_kept(&house, &elsewhere);
}

fn lead(facts: &Facts) -> Response {
    let to = format!("{}/as", facts.elsewhere);
    (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response()
}

#[test]
fn an_answer_of_another_issuer_or_of_none_gives_no_code_away() {
    for (change, words) in [
        (
            (|address: &str, base: &str| address.replace(&encoded(base), "https%3A%2F%2Fevil"))
                as fn(&str, &str) -> String,
            "the answer comes from https://evil",
        ),
        (
            |address, _| address.split("&iss=").next().unwrap().to_owned(),
            "does not say that it comes from",
        ),
    ] {
        let company = Company::usual();
        let house = house_with(&company.rig.url());
        let (mut running, link) = begin(&house);
        let right = answer_of(&link);
        let wrong = change(&right, &format!("http://{}/as", company.rig.address));
        assert_ne!(right, wrong);
        running.types(format!("{wrong}\n").as_bytes());
        let ran = running.ends().expect(1);
        assert!(ran.err.contains(words), "{ran:?}");
        assert_eq!(company.count("/as/token"), 0, "the code stays here");
        assert!(!house.home().join("logins/corp.json").exists());
    }
}

fn encoded(text: &str) -> String {
    text.replace(':', "%3A").replace('/', "%2F")
}

#[test]
fn a_refusal_a_used_code_and_an_answer_without_an_end_are_said() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    let (mut running, link) = begin(&house);
    let right = answer_of(&link);
    let denied = right.replace("code=", "error=access_denied&error_description=not+today&x=");
    running.types(format!("{denied}\n").as_bytes());
    let ran = running.ends().expect(1);
    assert!(ran.err.contains("was refused: access_denied, not today"), "{ran:?}");

    // Somebody was quicker with the code, without its verifier: it is dead.
    let (running, link) = begin(&house);
    let right = answer_of(&link);
    let code = right.split("code=").nth(1).unwrap().split('&').next().unwrap();
    let stolen = post(
        &format!("http://{}/as/token", company.rig.address),
        &format!("grant_type=authorization_code&code={code}&resource={}", company.rig.url()),
    );
    assert!(stolen.contains("invalid_grant"), "{stolen}");
    browse(&right);
    let ran = running.ends().expect(1);
    assert!(ran.err.contains("invalid_grant"), "{ran:?}");
    assert!(!house.home().join("logins/corp.json").exists());

    let endless: Twist =
        |seen, _| (seen.path == METADATA).then(|| "x".repeat(3 << 20).into_response());
    let company = Company::start(endless, "http://127.0.0.1:1", 3600, "");
    let ran = house_with(&company.rig.url()).claw(&["mcp", "login", "corp"]).expect(1);
    assert!(ran.err.contains("more than 1048576 bytes"), "{ran:?}");
}

fn post(url: &str, body: &str) -> String {
    use std::io::{Read as _, Write as _};
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A server whose login was right, and that is another one later. The tokens are kept, and said is
/// what its next use says.
fn used_later(twist: Twist) -> (Company, String) {
    let flag = tempfile::TempDir::new().unwrap();
    let later = flag.path().join("later");
    let company = Company::start(twist, later.to_str().unwrap(), 0, "");
    let house = house_with(&company.rig.url());
    let (running, link) = begin(&house);
    browse(&answer_of(&link));
    running.ends().expect(0);
    let file = house.home().join("logins/corp.json");
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&later, "").unwrap();
    let ran = house.claw(&["mcp", "test", "corp"]).expect(1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "{ran:?}");
    (company, ran.err)
}

fn is_later(facts: &Facts) -> bool {
    std::path::Path::new(&facts.elsewhere).exists()
}

#[test]
fn a_server_that_names_no_login_any_more_gets_no_refresh_token_itself() {
    let (company, said) = used_later(|seen, facts| match seen.path.as_str() {
        "/token" => Some(as_json(
            200,
            &json!({"access_token": "acc-of-the-server-0011",
            "token_type": "Bearer", "expires_in": 3600}),
        )),
        path if is_later(facts) && path.starts_with("/.well-known/") => {
            Some(StatusCode::NOT_FOUND.into_response())
        }
        _ => None,
    });
    assert!(said.contains("does not say any more how to log in"), "{said}");
    assert_eq!(company.count("/token"), 0, "{:?}", company.rig.seen());
}

/// Metadata of somebody who calls himself as the issuer does, at an address that says nothing of
/// whose they are.
fn of_the_same_name(seen: &Seen, facts: &Facts) -> Option<Response> {
    let other = format!("{}/other/.well-known/login", facts.base);
    if seen.path == RESOURCE {
        return with(resource(facts), "authorization_servers", json!([other]));
    }
    let endpoint = || json!(format!("{}/other/token", facts.base));
    (seen.path == "/other/.well-known/login")
        .then(|| with(metadata(facts), "token_endpoint", endpoint()))?
}

#[test]
fn somebody_with_the_name_of_the_issuer_gets_no_refresh_token() {
    let (company, said) =
        used_later(|seen, facts| is_later(facts).then(|| of_the_same_name(seen, facts))?);
    assert!(said.contains("does not say whose login it is"), "{said}");
    assert_eq!(company.count("/other/token"), 0, "{:?}", company.rig.seen());
}

#[test]
fn an_issuer_that_is_swapped_after_the_login_gets_no_refresh_token() {
    let (company, said) = used_later(|seen, facts| {
        let other = format!("{}/other", facts.base);
        if seen.path == "/.well-known/oauth-authorization-server/other" {
            let mut document = metadata(facts);
            document["token_endpoint"] = json!(format!("{other}/token"));
            return with(document, "issuer", json!(other));
        }
        (is_later(facts) && seen.path == RESOURCE)
            .then(|| with(resource(facts), "authorization_servers", json!([other])))?
    });
    assert!(said.contains("its login is over: the server trusts another login"), "{said}");
    assert_eq!(company.count("/other/token"), 0, "{:?}", company.rig.seen());
}

/// Logs in, then out, and gives back what was said.
fn in_and_out(company: &Company) -> String {
    let house = house_with(&company.rig.url());
    let (running, link) = begin(&house);
    browse(&answer_of(&link));
    running.ends().expect(0);
    let out = house.claw(&["mcp", "logout", "corp"]).expect(0).out;
    assert!(!house.home().join("logins/corp.json").exists(), "{out}");
    assert!(out.contains("gone from this machine"), "{out}");
    for token in company.tokens() {
        assert!(!out.contains(&token), "{out}");
    }
    out
}

#[test]
fn a_logout_tells_its_tokens_to_nobody_else_and_says_so() {
    let refusals: [(Twist, &str); 4] = [
        (
            |seen, facts| {
                says(seen, facts, "revocation_endpoint", json!("http://169.254.169.254/"))
            },
            "where claw does not go",
        ),
        (
            |seen, facts| says(seen, facts, "revocation_endpoint", json!("https://10.0.0.1/r")),
            "not on the public internet",
        ),
        (|seen, facts| says(seen, facts, "revocation_endpoint", json!(7)), "is no address"),
        (
            |seen, facts| (seen.path == "/as/revoke").then(|| lead(facts)),
            "it answers 307 Temporary Redirect to the revocation of the refresh_token",
        ),
    ];
    for (twist, words) in refusals {
        let elsewhere = HttpRig::usual();
        let base = format!("http://{}", elsewhere.address);
        let company = Company::start(twist, &base, 3600, "");
        let out = in_and_out(&company);
        assert!(out.contains("may still count") && out.contains(words), "{words}: {out}");
        assert_eq!(elsewhere.seen().len(), 0, "{:?}", elsewhere.seen());
    }
}

#[test]
fn a_logout_tells_no_token_to_an_issuer_that_was_swapped() {
    let twist: Twist = |seen, facts| {
        let is_later = std::path::Path::new(&facts.elsewhere).exists();
        let other = format!("{}/other", facts.base);
        if seen.path == "/.well-known/oauth-authorization-server/other" {
            let mut document = metadata(facts);
            document["revocation_endpoint"] = json!(format!("{other}/revoke"));
            return with(document, "issuer", json!(other));
        }
        (is_later && seen.path == RESOURCE)
            .then(|| with(resource(facts), "authorization_servers", json!([other])))?
    };
    let flag = tempfile::TempDir::new().unwrap();
    let later = flag.path().join("later");
    let company = Company::start(twist, later.to_str().unwrap(), 3600, "");
    let house = house_with(&company.rig.url());
    let (running, link) = begin(&house);
    browse(&answer_of(&link));
    running.ends().expect(0);
    std::fs::write(&later, "").unwrap();
    let out = house.claw(&["mcp", "logout", "corp"]).expect(0).out;
    assert!(out.contains("trusts another login") && out.contains("may still count"), "{out}");
    assert_eq!((company.count("/other/revoke"), company.count("/as/revoke")), (0, 0));
    assert!(!house.home().join("logins/corp.json").exists());
}

#[test]
fn a_logout_where_nothing_can_be_revoked_says_that_the_tokens_end_by_themselves() {
    let without: Twist = |seen, facts| {
        (seen.path == METADATA).then(|| {
            let mut document = metadata(facts);
            document.as_object_mut().unwrap().remove("revocation_endpoint");
            as_json(200, &document)
        })
    };
    let company = Company::start(without, "http://127.0.0.1:1", 3600, "");
    let out = in_and_out(&company);
    assert!(out.contains("no way to end them (RFC 7009)"), "{out}");
    assert_eq!(company.count("/as/revoke"), 0);
}
