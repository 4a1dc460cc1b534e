//! `claw mcp login` and `logout` as a user has them, against a server that is as strict as real
//! ones: the link, the answer by the browser or pasted, where the tokens lie and to whom they go.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::http_rig::{HttpRig, as_json, browse};
use crate::login_rig::{BY_REFUSAL, Company, Twist, USUAL, metadata};
use crate::program::{House, Ran, Running, eventually};

/// A home with the server `corp`.
pub fn house_with(url: &str) -> House {
    let house = House::bare();
    let servers = json!({"mcpServers": {"corp": {"url": url}}});
    house.write("mcp.json", &servers.to_string());
    house
}

/// A login, up to the link that it shows.
pub fn begin(house: &House) -> (Running, String) {
    let running = house.start(&["mcp", "login", "corp"]);
    let link = link_of(&running);
    (running, link)
}

/// The link that a login shows.
pub fn link_of(running: &Running) -> String {
    eventually("the link is shown", || running.err().contains("paste the whole address"));
    let err = running.err();
    let link = err.lines().find(|line| line.starts_with("http")).unwrap_or_else(|| panic!("{err}"));
    link.to_owned()
}

/// To where the authorization server sends the browser.
pub fn answer_of(link: &str) -> String {
    let (status, location, page) = browse(link);
    assert_eq!(status, 302, "{page}");
    location.unwrap()
}

pub fn log_in(house: &House) -> Ran {
    let (running, link) = begin(house);
    let (status, _, page) = browse(&answer_of(&link));
    assert_eq!((status, page.contains("claw is logged in")), (200, true), "{page}");
    running.ends().expect(0)
}

/// Every file below a folder that holds the text, but for the logins.
pub fn holds(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("logins") {
            found.extend(holds(&path, text));
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_login_gives_tokens_that_are_the_owners_alone_and_go_to_their_server_alone() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    let refused = house.claw(&["mcp", "test", "corp"]).expect(1);
    assert!(refused.err.contains("run `claw mcp login corp`"), "{}", refused.err);

    let ran = log_in(&house);
    assert!(ran.out.contains("Logged in to corp. Rights: read."), "{}", ran.out);
    let file = house.home().join("logins/corp.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let folder = fs::metadata(file.parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);

    let works = house.claw(&["mcp", "test", "corp", "--json"]).expect(0);
    assert_eq!(works.json()["tools"], json!(["echo"]));
    let row = &house.claw(&["mcp", "list", "--json"]).expect(0).rows()[0];
    assert_eq!(row["logged_in"], true);
    for token in company.tokens() {
        assert!(!format!("{ran:?}{works:?}").contains(&token), "{token} is shown");
        assert_eq!(holds(&house.home(), &token), [""; 0], "{token} is kept elsewhere");
    }
    // Neither the login nor its end was sent anywhere but to the server.
    let with_token = company.rig.seen();
    let with_token = with_token.iter().filter(|seen| seen.headers.contains_key("authorization"));
    assert!(with_token.clone().count() > 0);
    assert!(with_token.clone().all(|seen| seen.path == "/mcp"), "{with_token:?}");

    // The same name at another address: nothing of the login goes there.
    let other = HttpRig::usual();
    let servers = json!({"mcpServers": {"corp": {"url": other.url()}}});
    house.write("mcp.json", &servers.to_string());
    house.claw(&["mcp", "test", "corp"]).expect(0);
    assert!(other.seen().iter().all(|seen| seen.header("authorization").is_none()));
    assert!(!other.seen().is_empty());
}

#[test]
fn a_logout_leaves_nothing_and_an_entry_with_a_token_of_its_own_needs_no_login() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    assert!(house.claw(&["mcp", "logout", "corp"]).expect(0).out.contains("no login to corp"));
    log_in(&house);
    let out = house.claw(&["mcp", "logout", "corp", "--json"]).expect(0);
    assert_eq!((&out.json()["logged_out"], &out.json()["revoked"]), (&json!(true), &json!(true)));
    // The server was told of both tokens: a copy of them is worth nothing.
    assert_eq!((company.count("/as/revoke"), company.alive()), (2, 0));
    assert!(!house.home().join("logins/corp.json").exists());
    house.claw(&["mcp", "test", "corp"]).expect(1);

    let entry = json!({"url": company.rig.url(), "headers": {"authorization": "Bearer mine"}});
    let local = json!({"command": "claw", "args": ["server", "memory"]});
    let servers = json!({"mcpServers": {"corp": entry, "notes": local}});
    house.write("mcp.json", &servers.to_string());
    house.claw(&["mcp", "login", "corp"]).expect_mistake(&["`Authorization`", "take it out"]);
    house.claw(&["mcp", "login", "notes"]).expect_mistake(&["started here", "`env`"]);
    house.claw(&["mcp", "login", "nobody"]).expect_mistake(&["`nobody`", "it has corp, notes"]);
}

#[test]
fn an_answer_may_be_pasted_and_another_logins_answer_changes_nothing() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    let (mut running, link) = begin(&house);
    let right = answer_of(&link);
    let state = right.split("state=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let wrong = right.replace(&state, "of-somebody-else");
    // By the browser, and pasted.
    let (status, _, page) = browse(&wrong);
    assert_eq!((status, page.contains("not the answer")), (404, true), "{page}");
    running.types(format!("{wrong}\nwhat is this\n").as_bytes());
    eventually("both are refused", || running.err().matches("`state` is another one").count() == 2);
    assert_eq!(company.count("/as/token"), 0, "no code was sent anywhere");
    running.types(format!("  {right}  \n").as_bytes());
    let ran = running.ends().expect(0);
    assert!(ran.out.contains("Logged in to corp"), "{ran:?}");
    house.claw(&["mcp", "test", "corp"]).expect(0);
}

#[test]
fn a_token_is_renewed_before_it_ends_and_each_refresh_token_is_used_once() {
    // Over at once, so that every request needs a new one.
    let company = Company::start(USUAL, "http://127.0.0.1:1", 0, "");
    let house = house_with(&company.rig.url());
    log_in(&house);
    let first = house.start(&["mcp", "test", "corp"]);
    let second = house.start(&["mcp", "test", "corp"]);
    first.ends().expect(0);
    second.ends().expect(0);
    assert!(company.count("/as/token") > 4, "{}", company.count("/as/token"));
    for token in company.tokens() {
        assert_eq!(holds(&house.home(), &token), [""; 0], "{token} is kept elsewhere");
    }
}

#[test]
fn a_login_that_is_named_in_a_refusal_alone_is_renewed_where_it_was_made() {
    let company = Company::start(BY_REFUSAL, "http://127.0.0.1:1", 0, "");
    let house = house_with(&company.rig.url());
    log_in(&house);
    house.claw(&["mcp", "test", "corp"]).expect(0);
    assert!(company.count("/as/token") > 1, "{:?}", company.rig.seen());
    assert_eq!(company.count("/token"), 0, "the server itself is asked for tokens");
}

#[test]
fn a_token_that_was_revoked_is_replaced_and_a_login_that_is_over_is_said() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    log_in(&house);
    company.revoke_access();
    house.claw(&["mcp", "test", "corp"]).expect(0);
    assert_eq!(company.count("/as/token"), 2, "renewed once");

    // Somebody has used the refresh token: the server takes nothing any more.
    let file = house.home().join("logins/corp.json");
    let mut kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    kept["credentials"]["token_response"]["refresh_token"] = json!("ref-of-before-0011223344");
    fs::write(&file, kept.to_string()).unwrap();
    company.revoke_access();
    let over = house.claw(&["mcp", "test", "corp"]).expect(1);
    assert!(over.err.contains("its login is over: run `claw mcp login corp`"), "{}", over.err);
    log_in(&house);
    house.claw(&["mcp", "test", "corp"]).expect(0);
}

#[test]
fn a_right_that_is_missing_is_named_and_asked_for_by_the_next_login() {
    let company = Company::start(USUAL, "http://127.0.0.1:1", 3600, "files:write");
    let house = house_with(&company.rig.url());
    log_in(&house);
    let refused = house.claw(&["mcp", "test", "corp"]).expect(1);
    assert!(refused.err.contains("does not have (files:write)"), "{}", refused.err);
    assert!(refused.err.contains("run `claw mcp login corp`"), "{}", refused.err);
    let ran = log_in(&house);
    assert!(ran.err.contains("It asks for: read, files:write."), "{}", ran.err);
    assert!(ran.out.contains("Rights: read, files:write."), "{}", ran.out);
    house.claw(&["mcp", "test", "corp"]).expect(0);
}

#[test]
fn a_document_of_the_owners_is_claws_name_where_a_login_reads_such_documents() {
    let reads: Twist = |seen, facts| {
        let mut document = metadata(facts);
        document["client_id_metadata_document_supported"] = json!(true);
        let is_asked = seen.path == "/.well-known/oauth-authorization-server/as";
        is_asked.then(|| as_json(200, &document))
    };
    let at = "https://anna.example/claw.json";
    for (twist, registered) in [(reads, 0), (USUAL, 1)] {
        let company = Company::start(twist, "http://127.0.0.1:1", 3600, "");
        let house = House::bare();
        let entry = json!({"url": company.rig.url(), "client_metadata_url": at});
        house.write("mcp.json", &json!({"mcpServers": {"corp": entry}}).to_string());
        let ran = log_in(&house);
        let id = "client_id=https%3A%2F%2Fanna.example%2Fclaw.json";
        assert_eq!(ran.err.contains(id), registered == 0, "{}", ran.err);
        assert_eq!(company.count("/as/register"), registered);
        house.claw(&["mcp", "test", "corp"]).expect(0);
    }
    for wrong in ["http://anna.example/claw.json", "https://anna.example", "anna"] {
        let house = House::bare();
        let entry = json!({"url": "https://corp.example/mcp", "client_metadata_url": wrong});
        house.write("mcp.json", &json!({"mcpServers": {"corp": entry}}).to_string());
        house.claw(&["mcp", "list"]).expect_mistake(&["client_metadata_url", "with a path"]);
    }
}

#[test]
fn a_token_that_its_server_says_back_is_not_shown() {
    let echoes: Twist = |seen, _| {
        let token = seen.header("authorization")?.to_owned();
        let said = json!({"message": format!("I do not like {token} today")});
        Some(as_json(403, &said))
    };
    let company = Company::start(echoes, "http://127.0.0.1:1", 3600, "");
    let house = house_with(&company.rig.url());
    log_in(&house);
    let ran = house.claw(&["mcp", "test", "corp"]).expect(1);
    assert!(ran.err.contains("I do not like Bearer [redacted"), "{ran:?}");
    for token in company.tokens() {
        assert!(!format!("{ran:?}").contains(&token), "{ran:?}");
    }
}
