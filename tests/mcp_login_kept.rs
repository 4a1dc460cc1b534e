//! A login that is under way outlives its claw: the link still counts, the code is sent once, the
//! tokens of before stay until there are new ones, and nothing of it is shown or kept elsewhere.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::http_rig::browse;
use crate::login_rig::{Company, Facts, Twist, metadata, resource};
use crate::mcp_login::{answer_of, begin, holds, house_with, log_in};
use crate::program::{House, Ran, Running, eventually};
use crate::rounds::points;

const METADATA_OF_OTHER: &str = "/.well-known/oauth-authorization-server/other";
const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";

fn pending_file(house: &House) -> PathBuf {
    house.home().join("logins/corp.pending")
}

fn pending(house: &House) -> Value {
    serde_json::from_str(&fs::read_to_string(pending_file(house)).unwrap()).unwrap()
}

/// One field of a form that was sent.
fn field(body: &str, name: &str) -> Option<String> {
    let url = reqwest::Url::parse(&format!("http://x/?{body}")).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// What was sent for tokens, one field of each request.
fn sent(company: &Company, name: &str) -> Vec<String> {
    let seen = company.rig.seen();
    let bodies = seen.iter().filter(|seen| seen.path == "/as/token").map(|seen| &seen.body);
    bodies.filter_map(|body| field(body, name)).collect()
}

fn paste(running: &mut Running, address: &str) {
    running.types(format!("{address}\n").as_bytes());
}

/// A login up to its link, whose claw is then killed. Gives back the link.
fn begun_and_killed(house: &House) -> String {
    let (running, link) = begin(house);
    running.signal(Signal::KILL);
    assert_eq!(running.ends().code, None);
    link
}

/// No verifier, code or token stands anywhere but in the file of the login.
#[track_caller]
fn nothing_leaks(house: &House, company: &Company, said: &[&Ran]) {
    let codes = sent(company, "code").into_iter().chain(sent(company, "code_verifier"));
    for secret in codes.chain(company.tokens()) {
        assert_eq!(holds(&house.home(), &secret), [""; 0], "{secret} is kept elsewhere");
        for ran in said {
            assert!(!format!("{ran:?}").contains(&secret), "{secret} is shown: {ran:?}");
        }
    }
}

#[test]
fn a_login_goes_on_after_a_kill_with_the_address_that_the_browser_has_shown() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    let link = begun_and_killed(&house);
    let file = pending_file(&house);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let verifier = pending(&house)["checks"]["pkce_verifier"].as_str().unwrap().to_owned();
    assert!(!link.contains(&verifier));
    // The person went to the link while nobody listened.
    let answer = answer_of(&link);

    let mut command = house.command(&["mcp", "login", "corp"]);
    command.env("CLAW_LOG", "debug");
    let mut running = house.begin(command);
    eventually("the same link is shown", || running.err().contains(&link));
    assert!(running.err().contains("A login to corp is under way, and its link still counts."));
    paste(&mut running, &answer);
    let ran = running.ends().expect(0);
    assert!(ran.out.contains("Logged in to corp. Rights: read."), "{ran:?}");
    assert_eq!((company.count("/as/register"), sent(&company, "code").len()), (1, 1));
    assert!(!file.exists(), "it is over");
    house.claw(&["mcp", "test", "corp"]).expect(0);
    nothing_leaks(&house, &company, &[&ran]);
    assert_eq!(sent(&company, "code_verifier"), [verifier]);
}

#[test]
fn a_new_login_an_old_one_and_a_logout_end_the_one_under_way() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    let first = begun_and_killed(&house);
    let running = house.start(&["mcp", "login", "corp", "--new"]);
    eventually("a link is shown", || running.err().contains("paste the whole address"));
    assert!(!running.err().contains(&first), "{}", running.err());
    running.signal(Signal::KILL);
    running.ends();

    // An hour later.
    let mut kept = pending(&house);
    let began = kept["checks"]["created_at"].as_u64().unwrap();
    kept["checks"]["created_at"] = json!(began - 3600);
    fs::write(pending_file(&house), kept.to_string()).unwrap();
    let (running, third) = begin(&house);
    assert!(!running.err().contains("is under way"), "{}", running.err());
    running.signal(Signal::KILL);
    running.ends();
    assert_ne!(first, third);

    house.claw(&["mcp", "logout", "corp"]).expect(0);
    assert!(!pending_file(&house).exists());
}

#[test]
fn two_claws_with_the_same_link_send_its_code_once() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    let answer = answer_of(&begun_and_killed(&house));
    let (mut first, _) = begin(&house);
    let (mut second, _) = begin(&house);
    paste(&mut first, &answer);
    first.ends().expect(0);
    paste(&mut second, &answer);
    let ran = second.ends().expect(2);
    assert!(ran.err.contains("this login is over"), "{ran:?}");
    assert_eq!(sent(&company, "code").len(), 1);
    house.claw(&["mcp", "test", "corp"]).expect(0);
}

#[test]
fn the_tokens_of_before_count_until_a_login_has_succeeded() {
    // Later, its token endpoint gives out what is no bearer token.
    let twist: Twist = |seen, facts| {
        let is_later = std::path::Path::new(&facts.elsewhere).exists();
        (is_later && seen.path == "/as/token").then(|| {
            crate::http_rig::as_json(200, &json!({"access_token": "x1", "token_type": "mac"}))
        })
    };
    let flag = tempfile::TempDir::new().unwrap();
    let later = flag.path().join("later");
    let company = Company::start(twist, later.to_str().unwrap(), 3600, "");
    let house = house_with(&company.rig.url());
    log_in(&house);
    let file = house.home().join("logins/corp.json");
    let before = fs::read_to_string(&file).unwrap();
    let (mut running, link) = begin(&house);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    fs::write(&later, "").unwrap();
    paste(&mut running, &answer_of(&link));
    let ran = running.ends().expect(1);
    assert!(ran.err.contains("of a kind that claw cannot use"), "{ran:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert!(!pending_file(&house).exists());
    house.claw(&["mcp", "test", "corp"]).expect(0);
}

#[test]
fn an_issuer_that_is_swapped_while_a_login_is_under_way_gets_no_code() {
    let twist: Twist = |seen, facts: &Facts| {
        let is_later = std::path::Path::new(&facts.elsewhere).exists();
        let other = format!("{}/other", facts.base);
        if seen.path == METADATA_OF_OTHER {
            let mut document = metadata(facts);
            document["token_endpoint"] = json!(format!("{other}/token"));
            document["issuer"] = json!(other);
            return Some(crate::http_rig::as_json(200, &document));
        }
        (is_later && seen.path == RESOURCE).then(|| {
            let mut document = resource(facts);
            document["authorization_servers"] = json!([other]);
            crate::http_rig::as_json(200, &document)
        })
    };
    let flag = tempfile::TempDir::new().unwrap();
    let later = flag.path().join("later");
    let company = Company::start(twist, later.to_str().unwrap(), 3600, "");
    let house = house_with(&company.rig.url());
    begun_and_killed(&house);
    fs::write(&later, "").unwrap();
    let ran = house.claw(&["mcp", "login", "corp"]).expect(1);
    assert!(ran.err.contains("trusts another login than when the link was made"), "{ran:?}");
    assert_eq!((company.count("/other/token"), company.count("/as/token")), (0, 0));
    assert!(!pending_file(&house).exists());
}

/// Each named point of a login ends one claw; the next one finishes, by the link of before where it
/// still counts.
#[test]
fn a_kill_at_each_point_of_a_login_leaves_one_that_finishes() {
    let known = points::points_of(points::Rig::Logins).unwrap();
    let ours: Vec<&String> = known.iter().filter(|point| point.starts_with("login.")).collect();
    assert_eq!(ours.len(), 6, "{known:?}");
    for point in ours {
        let company = Company::usual();
        let house = house_with(&company.rig.url());
        log_in(&house);
        let (killed, answer) = killed_at(&house, point);
        // What was valid before is valid now.
        house.claw(&["mcp", "test", "corp"]).expect(0);
        let ran = finished_after(&house, point, answer.as_deref());
        assert!(ran.out.contains("Logged in to corp. Rights: read."), "{point}: {ran:?}");
        house.claw(&["mcp", "test", "corp"]).expect(0);
        let codes = sent(&company, "code");
        assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len(), "{point}: {codes:?}");
        // The tokens of a claw that was killed before it had kept them are nobody's.
        let logins = if point == "login.kept.before" { 3 } else { 2 };
        assert_eq!((codes.len(), company.alive()), (logins, logins * 2), "{point}");
        assert!(!pending_file(&house).exists(), "{point}");
        nothing_leaks(&house, &company, &[&killed, &ran]);
    }
}

/// The address is the one at which the browser has ended, where there was a link.
fn killed_at(house: &House, point: &str) -> (Ran, Option<String>) {
    let mut command = house.command(&["mcp", "login", "corp"]);
    command.env("CLAW_KILL_AT", format!("{point}:1")).env("CLAW_LOG", "debug");
    let mut running = house.begin(command);
    let mut answer = None;
    if !point.starts_with("login.begun.") {
        let pasted = answer_of(&crate::mcp_login::link_of(&running));
        paste(&mut running, &pasted);
        answer = Some(pasted);
    }
    let ran = running.ends();
    assert_eq!(ran.code, None, "{point} was not passed: {ran:?}");
    (ran, answer)
}

fn finished_after(house: &House, point: &str, answer: Option<&str>) -> Ran {
    let mut command = house.command(&["mcp", "login", "corp"]);
    command.env("CLAW_LOG", "debug");
    let mut running = house.begin(command);
    if point == "login.kept.after" {
        let ran = running.ends().expect(0);
        assert!(ran.err.contains("had succeeded before claw was ended"), "{ran:?}");
        return ran;
    }
    let link = crate::mcp_login::link_of(&running);
    let goes_on = matches!(point, "login.begun.after" | "login.sent.before");
    assert_eq!(running.err().contains("is under way"), goes_on, "{point}: {}", running.err());
    let was_sent = matches!(point, "login.sent.after" | "login.kept.before");
    let is_told = running.err().contains("was interrupted after its code was sent");
    assert_eq!(is_told, was_sent, "{point}: {}", running.err());
    if let Some(answer) = answer {
        paste(&mut running, answer);
    }
    if was_sent {
        eventually("the old code is refused", || running.err().contains("`state` is another one"));
    }
    if answer.is_none() || was_sent {
        paste(&mut running, &answer_of(&link));
    }
    running.ends().expect(0)
}

/// A browser that comes back to a claw that was started again finds it.
#[test]
fn a_browser_comes_back_to_the_claw_that_goes_on() {
    let company = Company::usual();
    let house = house_with(&company.rig.url());
    let kept = claw_test_kit::KeptPort::new();
    let port = kept.address.port().to_string();
    let running = house.start(&["mcp", "login", "corp", "--port", &port]);
    let link = crate::mcp_login::link_of(&running);
    running.signal(Signal::KILL);
    running.ends();
    let (running, again) = begin(&house);
    assert_eq!(link, again);
    let (status, _, page) = browse(&answer_of(&link));
    assert_eq!((status, page.contains("claw is logged in")), (200, true), "{page}");
    running.ends().expect(0);
}
