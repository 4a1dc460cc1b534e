//! Known secrets are masked: their values are in no file of claw's home, no prompt and no
//! output; a call that would carry one, or the mark of one, is denied; files on the disk stay as
//! they are.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::Path;

use crate::program::{House, KEY, Ran, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

const OTHER: &str = "hunter2-of-the-database";
const FROM_FILE: &str = "value-that-claw-toml-names";
const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";

fn house(provider: &Threaded) -> House {
    let house = House::at("openai-compatible", &provider.base_url)
        .with("DB_PASSWORD", OTHER)
        .with("PLAINLY_NAMED", FROM_FILE)
        .with("DATABASE_URL", "postgres://me:pass-in-a-url@host/db");
    house.write("claw.toml", "[redact]\nextra = [\"$PLAINLY_NAMED\"]\n");
    house.write("policy.toml", ALLOW);
    house
}

/// All files below a folder that hold one of the needles; the workspace is the owner's own and left
/// out.
pub fn leaks(folder: &Path, needles: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("workspace") {
            found.extend(leaks(&path, needles));
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let holds = |needle: &&&str| {
                bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
            };
            found.extend(
                needles
                    .iter()
                    .filter(holds)
                    .map(|needle| format!("{needle} in {}", path.display())),
            );
        }
    }
    found
}

const ALL: &[&str] = &[KEY, OTHER, FROM_FILE, "pass-in-a-url"];

#[track_caller]
fn nothing_leaked(house: &House, provider: &Threaded, ran: &[&Ran]) {
    assert_eq!(leaks(&house.home(), ALL), [""; 0]);
    // The oracle must be able to see: the log is in one of these files.
    assert!(!leaks(&house.home(), &["user.message"]).is_empty());
    for secret in ALL {
        for one in ran {
            assert!(!one.out.contains(secret) && !one.err.contains(secret), "{secret}: {one:?}");
        }
        for request in provider.recorded() {
            assert!(
                !request.body.to_string().contains(secret),
                "{secret} was sent: {}",
                request.body
            );
            assert!(!request.path.contains(secret));
        }
    }
    assert!(
        provider
            .recorded()
            .iter()
            .all(|one| one.headers["authorization"] == format!("Bearer {KEY}"))
    );
}

#[test]
fn a_secret_that_is_typed_read_or_said_leaves_no_trace() {
    let file =
        format!("user=me\npassword={OTHER}\nkey={KEY}\nextra={FROM_FILE}\nurl=pass-in-a-url\n");
    let calls = [
        Call::new("a", "filesystem__read_file", r#"{"path": "config.ini"}"#),
        Call::new("b", "bash__run", r#"{"command": "cat config.ini; base64 -w0 config.ini"}"#),
        Call::new("c", "filesystem__search", r#"{"pattern": "password"}"#),
    ];
    let says = format!("The password is {OTHER}, the key {KEY}.");
    let provider =
        Threaded::start(Wire::OpenAi, [Answer::Turn(Turn::calls(&calls)), Answer::text(&says)]);
    let house = house(&provider);
    house.write("workspace/config.ini", &file);
    let ran = house
        .claw(&["ask", &format!("my password {OTHER} does not work, nor {FROM_FILE}")])
        .expect(0);
    assert!(ran.out.contains("The password is [redacted:DB_PASSWORD]"), "{ran:?}");
    assert_eq!(provider.faults(), [""; 0]);
    let sent = provider.recorded()[1].body.to_string();
    assert!(
        sent.contains("user=me") && sent.matches("password=[redacted:DB_PASSWORD]").count() >= 3,
        "{sent}"
    );
    assert!(sent.contains("extra=[redacted:PLAINLY_NAMED]"), "{sent}");
    assert_eq!(house.in_workspace("config.ini"), file, "the file on the disk was changed");
    let shown = house.claw(&["sessions", "show", "main"]).expect(0);
    let audit = house.claw(&["audit"]).expect(0);
    let exported = house.claw(&["sessions", "export", "main"]).expect(0);
    nothing_leaked(&house, &provider, &[&ran, &shown, &audit, &exported]);
    house.is_whole();
}

#[test]
fn a_call_that_holds_a_secret_or_a_mark_is_denied_with_the_reason() {
    let turn = |command: &str| {
        let arguments = json!({"path": "out.txt", "content": command}).to_string();
        Answer::Turn(Turn::calls(&[Call::new("a", "filesystem__write_file", &arguments)]))
    };
    // A key is a place to hide, too.
    let key = Call::new("a", "filesystem__write_file", &json!({OTHER: "out.txt"}).to_string());
    let provider = Threaded::start(
        Wire::OpenAi,
        [Answer::Turn(Turn::calls(&[key])), Answer::text("so be it")],
    );
    let hidden = house(&provider);
    let ran = hidden.claw(&["ask", "write it"]).expect(0);
    let outcome = outcomes(&hidden.events("main")).remove(0);
    assert!(outcome["reason"].as_str().unwrap().contains("[redacted:"), "{outcome}");
    nothing_leaked(&hidden, &provider, &[&ran]);
    for (text, reason) in [
        (format!("password={OTHER}"), "[redacted:"),
        ("cGFzczogaHVudGVyMi1vZi10aGUtZGF0YWJhc2U=".to_owned(), "redacted"),
        ("password=[redacted:DB_PASSWORD]".to_owned(), "[redacted:"),
    ] {
        let provider = Threaded::start(Wire::OpenAi, [turn(&text), Answer::text("so be it")]);
        let house = house(&provider);
        house.write("workspace/out.txt", "as it was");
        let ran = house.claw(&["ask", "write it"]).expect(0);
        let outcome = outcomes(&house.events("main")).remove(0);
        assert_eq!(outcome["kind"], "denied", "{text}: {outcome}");
        assert!(outcome["reason"].as_str().unwrap().contains(reason), "{text}: {outcome}");
        assert_eq!(house.in_workspace("out.txt"), "as it was", "{text}");
        let ended = house.audit().into_iter().filter(|row| row["kind"] == "started").count();
        assert_eq!(ended, 0, "{text}");
        nothing_leaked(&house, &provider, &[&ran]);
        house.is_whole();
    }
}

#[test]
fn a_large_result_is_kept_as_an_artifact_without_its_secrets() {
    let call = Call::new("a", "filesystem__read_file", r#"{"path": "big.txt"}"#);
    let provider =
        Threaded::start(Wire::OpenAi, [Answer::Turn(Turn::calls(&[call])), Answer::text("long")]);
    let house = house(&provider);
    house.write(
        "claw.toml",
        "[redact]\nextra = [\"$PLAINLY_NAMED\"]\n[limits]\ntool_result_bytes = 2000\n",
    );
    house.write(
        "workspace/big.txt",
        &format!("{}\n{OTHER}\n{}", "a line\n".repeat(500), "another\n".repeat(500)),
    );
    let ran = house.claw(&["ask", "read it"]).expect(0);
    let sent = provider.recorded()[1].body.to_string();
    assert!(sent.contains("kept as artifact"), "{sent}");
    let kept: Vec<_> = walk(&house.home().join("artifacts"));
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(fs::read_to_string(&kept[0]).unwrap().contains("[redacted:DB_PASSWORD]"));
    nothing_leaked(&house, &provider, &[&ran]);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn a_denial_with_words_and_a_chat_leak_nothing_either() {
    let call = Call::new("a", "bash__run", r#"{"command": "touch x", "needs": "write"}"#);
    let provider = Threaded::start(
        Wire::OpenAi,
        [
            Answer::Turn(Turn::calls(&[call])),
            Answer::text("fine"),
            Answer::text(&format!("It is {OTHER}!")),
        ],
    );
    let house = house(&provider);
    house.write("policy.toml", "");
    let id = house.ask_parks("go");
    let denied = house.claw(&["deny", &id, "use", OTHER, "instead"]).expect(0);
    assert!(provider.recorded()[1].body.to_string().contains("[redacted:DB_PASSWORD]"));
    let chat = house.claw_with_stdin(&["chat"], format!("is it {OTHER}?\n").as_bytes()).expect(0);
    assert!(chat.out.contains("redacted:DB"), "{chat:?}");
    nothing_leaked(&house, &provider, &[&denied, &chat]);
    house.is_whole();
}

#[test]
fn a_secret_in_claw_toml_is_one_whatever_its_variable_is_called() {
    let provider =
        Threaded::start(Wire::OpenAi, [Answer::text(&format!("{FROM_FILE} and {OTHER}"))]);
    let house = House::bare().with("PLAINLY_NAMED", FROM_FILE);
    house.write(
        "claw.toml",
        &format!(
            "[model]\nagent = \"openai-compatible\"\nmodel = \"m\"\nbase_url = \"{}\"\napi_key = \"${{PLAINLY_NAMED}}\"\n",
            provider.base_url
        ),
    );
    let ran = house.claw(&["ask", "hi"]).expect(0);
    assert_eq!(provider.recorded()[0].headers["authorization"], format!("Bearer {FROM_FILE}"));
    assert!(ran.out.contains("[redacted:PLAINLY_NAMED]"), "{ran:?}");
    assert_eq!(leaks(&house.home(), &[FROM_FILE]), [""; 0]);
}

/// A question shows what would change in a file; a secret in it stays where it is.
#[test]
fn a_secret_in_a_file_that_would_be_replaced_is_in_no_question() {
    let write = json!({"path": "settings", "content": "port = 1\nhost = b\n"}).to_string();
    let turn = Turn::calls(&[Call::new("1", "filesystem__write_file", &write)]);
    let provider = Threaded::start(Wire::OpenAi, [Answer::Turn(turn)]);
    let house = House::at("openai-compatible", &provider.base_url);
    fs::create_dir_all(house.workspace()).unwrap();
    fs::write(house.workspace().join("settings"), format!("port = 1\nkey = {KEY}\n")).unwrap();
    let id = house.ask_parks("set the host");
    let shown = house.claw(&["approvals", &id]).expect(0);
    assert!(shown.out.contains("-key = ") && shown.out.contains("+host = b"), "{}", shown.out);
    nothing_leaked(&house, &provider, &[&shown]);
}
