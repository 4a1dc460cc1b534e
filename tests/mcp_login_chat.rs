//! `/login SERVER` in a chat: the link, the address that is pasted back, who may, that nothing of
//! it is kept, and that a gateway that is killed in the middle goes on.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;
use serde_json::json;

use crate::botapi::Message;
use crate::login_rig::{Company, Twist};
use crate::mcp_login::{answer_of, holds};
use crate::program::{House, SERVER_WAIT, eventually};
use crate::telegram_model::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const METADATA: &str = "/.well-known/oauth-authorization-server/as";

pub fn with_corp(house: &House, company: &Company) {
    house.write("claw.toml", SERVER_WAIT);
    let servers = json!({"mcpServers": {"corp": {"url": company.rig.url()}}});
    house.write("mcp.json", &servers.to_string());
    let all = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"of a test\"\n";
    house.write("policy.toml", all);
}

pub fn link_in(text: &str) -> String {
    let mut words = text.split(|sign: char| sign.is_whitespace() || sign == '<' || sign == '>');
    words.find(|word| word.contains("/as/authorize?")).unwrap_or_else(|| panic!("{text}")).into()
}

/// Asks for a link in Telegram.
#[track_caller]
fn linked(rig: &Rig) -> (Message, String) {
    rig.says("/login corp");
    let message = rig.hears("open this link");
    let link = link_in(&message.text);
    (message, link)
}

pub fn code_in(address: &str) -> String {
    let url = reqwest::Url::parse(address).unwrap();
    url.query_pairs().find(|(key, _)| key == "code").unwrap().1.into_owned()
}

fn with_other(address: &str, key: &str, value: &str) -> String {
    let mut url = reqwest::Url::parse(address).unwrap();
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    url.query_pairs_mut().clear().extend_pairs(
        pairs.iter().map(|(name, had)| (name, if name == key { value } else { had.as_str() })),
    );
    url.to_string()
}

/// Neither the code nor a token stands in a file of the home, or came to a model.
#[track_caller]
pub fn nothing_is_kept(house: &House, model: &Threaded, company: &Company, codes: &[String]) {
    for secret in company.tokens().iter().chain(codes) {
        assert_eq!(holds(&house.home(), secret), [""; 0], "{secret} is kept");
        for request in model.recorded() {
            assert!(!request.body.to_string().contains(secret), "{secret}: {}", request.body);
        }
    }
}

fn files_of_logins(house: &House) -> Vec<String> {
    let files = fs::read_dir(house.home().join("logins")).unwrap().flatten();
    let mut names: Vec<String> =
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names.retain(|name| !name.ends_with(".lock"));
    names
}

#[test]
fn an_owner_logs_in_by_a_chat_also_over_a_kill_and_nobody_else_does() {
    let company = Company::usual();
    let rig = Rig::new([]);
    with_corp(&rig.house, &company);
    let gateway = rig.start();
    let (message, link) = linked(&rig);
    assert!(message.text.contains("It leads to 127.0.0.1. It asks for read."), "{}", message.text);
    let asked = rig.telegram.calls_of("sendMessage");
    let asked = asked.iter().find(|call| call.params.to_string().contains("open this link"));
    assert_eq!(asked.unwrap().params["link_preview_options"]["is_disabled"], true);
    assert_eq!(company.count("/as/authorize"), 0, "nobody opens the link by themselves");

    let right = answer_of(&link);
    // Of somebody else's login; by somebody else; and passed on.
    rig.says(&with_other(&right, "state", "of-somebody-else-0123456789"));
    rig.hears("address answers no login that claw is waiting for");
    let mallory = rig.telegram.user("Mallory");
    mallory.starts();
    mallory.says(mallory.private(), &right);
    rig.telegram.wait_all_confirmed();
    rig.anna.writes(rig.anna.private()).text(&right).forwarded_from("Bert").send();
    rig.hears("The address that you sent was not used.");
    assert_eq!(company.count("/as/token"), 0, "no code was sent anywhere");

    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = rig.start();
    rig.says("/login");
    rig.hears("corp: no login");
    assert_eq!(linked(&rig).1, link, "the same link counts");
    rig.says(&format!("here: {right}"));
    let done = rig.hears("Logged in to corp. Rights: read.");
    assert!(done.text.contains("other words of your message were not passed on"), "{}", done.text);
    assert_eq!(files_of_logins(&rig.house), ["corp.json"]);
    rig.says(&right);
    rig.hears("Logged in to corp. Rights: read.");
    assert_eq!(company.count("/as/token"), 1, "a code is sent once");

    // It counts at once.
    let call = Call::new("a", "corp__echo", &json!({"say": "token"}).to_string());
    rig.model.push(Answer::Turn(Turn::calls(&[call])));
    rig.model.push(Answer::text("The server was called."));
    rig.says("go");
    rig.hears("The server was called.");
    let last = rig.model.recorded().last().unwrap().body.to_string();
    assert!(last.contains("You came with [redacted:access_token]."), "{last}");
    assert!(!last.contains("callback"), "the model sees nothing of the login: {last}");
    drop(gateway);
    nothing_is_kept(&rig.house, &rig.model, &company, &[code_in(&right)]);
}

#[test]
fn a_login_by_the_console_keeps_nothing_of_the_address() {
    let company = Company::usual();
    let model = Threaded::start(Wire::OpenAi, []);
    let house = House::at("openai-compatible", &model.base_url);
    with_corp(&house, &company);
    let mut chat = house.start(&["chat"]);
    chat.types(b"/login corp\n");
    eventually("the link is shown", || chat.out().contains("Only claw reads it, no model."));
    let link = link_in(&chat.out());
    let right = answer_of(&link);
    chat.types(format!("/login corp {}\n", with_other(&right, "state", "another-one")).as_bytes());
    eventually("it is refused", || chat.out().contains("answers no login"));
    chat.types(format!("{right}\n").as_bytes());
    eventually("it is done", || chat.out().contains("Logged in to"));
    chat.types(b"/login nobody\n");
    eventually("the servers are named", || chat.out().contains(": logged in"));
    chat.types(b"/quit\n");
    chat.ends().expect(0);
    assert_eq!(model.recorded().len(), 0, "no model was asked");
    nothing_is_kept(&house, &model, &company, &[code_in(&right)]);
}

#[test]
fn a_broken_address_is_whole_again_and_a_stranger_takes_no_place() {
    let company = Company::usual();
    let rig = Rig::new([]);
    with_corp(&rig.house, &company);
    let gateway = rig.start();
    let right = answer_of(&linked(&rig).1);
    let code = code_in(&right);
    // In two messages, neither of which is one of the conversation.
    let (one, other) = right.split_at(right.find("&state").unwrap());
    rig.says(one);
    rig.hears("address answers no login that claw is waiting for");
    rig.says(other);
    rig.hears("This is only a part of the address");
    gateway.signal(Signal::KILL);
    drop(gateway);
    // Both come before either is looked at, the stranger's last.
    let mallory = rig.telegram.user("Mallory");
    mallory.starts();
    let stolen = "code-of-mallory-4711";
    rig.says(&right.replacen("code=code-", "code=code-\n", 1).replacen("&iss=", " &iss=", 1));
    mallory.says(mallory.private(), &with_other(&right, "code", stolen));
    let gateway = rig.start();
    rig.hears("Logged in to corp. Rights: read.");
    assert_eq!(company.count("/as/token"), 1, "a code is sent once");
    rig.telegram.wait_all_confirmed();
    assert_eq!(files_of_logins(&rig.house), ["corp.json"]);
    drop(gateway);
    let tail = code.strip_prefix("code-").unwrap().to_owned();
    nothing_is_kept(&rig.house, &rig.model, &company, &[code, tail, stolen.to_owned()]);
    assert_eq!(rig.model.recorded().len(), 0, "no model was asked");
}

#[test]
fn in_a_group_and_by_a_guest_there_is_no_link_and_no_address_is_used() {
    const NOT_HERE: &str = "Only the owner may log in to a server, and in the private chat";
    const NOT_USED: &str = "The address that you sent was not used.";
    let company = Company::usual();
    let rig = Rig::new([]);
    with_corp(&rig.house, &company);
    let bob = rig.telegram.user("Bob");
    let group = rig.telegram.supergroup("Rent", &[&rig.anna, &bob]);
    let chats = format!("{SERVER_WAIT}\n[telegram]\nallowed_chats = [{}, {group}]\n", rig.anna.id);
    rig.house.write("claw.toml", &chats);
    let gateway = rig.house.start_for_listed_chats();
    rig.anna.starts();
    rig.waits_for("I am claw");
    bob.starts();
    let told = rig.telegram.wait_for_button(rig.anna.id, "Let them in");
    rig.anna.taps_on(rig.anna.private(), told.id, "Let them in");
    rig.telegram.wait_for_text(bob.id, "You may talk to claw now");
    rig.anna.says(group, "/login@claw_test_bot corp");
    rig.telegram.wait_for_text(group, NOT_HERE);
    bob.says(bob.private(), "/login corp");
    rig.telegram.wait_for_text(bob.id, NOT_HERE);
    assert_eq!(company.count("/as/register"), 0, "no login was begun");
    let right = answer_of(&linked(&rig).1);
    rig.anna.says(group, &format!("@claw_test_bot {right}"));
    rig.telegram.wait_for_text(group, NOT_USED);
    bob.says(bob.private(), &right);
    rig.telegram.wait_for_text(bob.id, NOT_USED);
    eventually("nothing of what counts for nobody is kept", || {
        files_of_logins(&rig.house) == ["corp.pending"]
    });
    assert_eq!(company.count("/as/token"), 0, "no code was sent anywhere");
    rig.says(&right);
    rig.hears("Logged in to corp. Rights: read.");
    drop(gateway);
    nothing_is_kept(&rig.house, &rig.model, &company, &[code_in(&right)]);
}

/// A gateway that is killed after the address was pasted goes on with it, and sends a code once.
#[test]
fn a_gateway_killed_at_each_point_of_a_login_ends_it_when_it_starts_again() {
    const INTERRUPTED: &str = "The login was interrupted after its code was sent";
    for (point, told) in [
        ("login.sent.before", "Logged in to corp. Rights: read."),
        ("login.sent.after", INTERRUPTED),
        ("login.kept.before", INTERRUPTED),
        ("login.kept.after", "Logged in to corp. Rights: read."),
    ] {
        let company = Company::usual();
        let rig = Rig::new([]);
        with_corp(&rig.house, &company);
        let mut command = rig.house.command(&["gateway"]);
        command.env("CLAW_KILL_AT", format!("{point}:1"));
        let gateway = rig.house.begin(command);
        let right = answer_of(&linked(&rig).1);
        rig.says(&right);
        assert_eq!(gateway.ends().code, None, "{point} was not passed");
        let gateway = rig.start();
        rig.hears(told);
        let sent = usize::from(point != "login.sent.after");
        assert_eq!(company.count("/as/token"), sent, "{point}: a code is sent once");
        drop(gateway);
        nothing_is_kept(&rig.house, &rig.model, &company, &[code_in(&right)]);
    }
}

/// The authorization server is silent about itself while there is a FIFO, so that the gateway is
/// killed with the address in its hand.
#[test]
fn a_gateway_that_is_killed_after_the_address_was_pasted_goes_on_with_it() {
    let twist: Twist = |seen, facts| {
        if seen.path == METADATA && Path::new(&facts.elsewhere).exists() {
            // Until somebody writes there.
            fs::read(&facts.elsewhere).unwrap();
        }
        None
    };
    let folder = tempfile::TempDir::new().unwrap();
    let gate = folder.path().join("gate");
    let company = Company::start(twist, gate.to_str().unwrap(), 3600, "");
    let rig = Rig::new([]);
    with_corp(&rig.house, &company);
    let gateway = rig.start();
    let right = answer_of(&linked(&rig).1);
    let asked = company.count(METADATA);
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    rig.says(&right);
    eventually("the login is being finished", || company.count(METADATA) > asked);
    assert_eq!(files_of_logins(&rig.house), ["corp.answer", "corp.pending"]);
    let answer = fs::metadata(rig.house.home().join("logins/corp.answer")).unwrap();
    assert_eq!(answer.permissions().mode() & 0o777, 0o600);
    gateway.signal(Signal::KILL);
    drop(gateway);
    fs::write(&gate, "").unwrap();
    fs::remove_file(&gate).unwrap();
    let gateway = rig.start();
    rig.hears("Logged in to corp. Rights: read.");
    assert_eq!(company.count("/as/token"), 1, "a code is sent once");
    assert_eq!(files_of_logins(&rig.house), ["corp.json"]);
    drop(gateway);
    nothing_is_kept(&rig.house, &rig.model, &company, &[code_in(&right)]);
}
