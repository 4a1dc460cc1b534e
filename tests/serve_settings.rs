//! The files of settings while clients are served: what changes there counts for them from then on,
//! and is said once, by whoever serves and by nobody else.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::botapi::Fault;
use crate::program::{House, eventually};
use crate::serve_http::{Served, called, listed};
use crate::serve_rig::{Client, Era, Listener, text};
use crate::telegram_rig::Rig;

const DENY: &str =
    "[[rule]]\nserver = \"filesystem\"\ntool = \"*\"\ndecision = \"deny\"\nwhy = \"not now\"\n";
const RULE_TOLD: &str = "policy.toml changed: 1 rule; in force from now on";
const TOOLS: &str = "[serve]\ntools = true\n";
const NO_TOOLS: &str = "[serve]\ntools = false\n";
const NO_TOOLS_TOLD: &str = "claw.toml changed: serve.tools now false.";
const LIST: &str = "filesystem__list_dir";

/// A home with one server.
fn prepare(house: &House) {
    let fs = json!({"command": "claw", "args": ["server", "filesystem"]});
    house.write("mcp.json", &json!({"mcpServers": {"filesystem": fs}}).to_string());
    house.claw(&["tools"]).expect(0);
}

fn house(toml: &str) -> House {
    let house = House::new();
    house.write("claw.toml", toml);
    prepare(&house);
    house
}

fn here() -> Value {
    json!({"path": "."})
}

/// How many tools of servers are offered.
fn gated(served: &Served, token: &str) -> usize {
    let got = served.with_token(token, &listed()).rpc();
    let tools = got["result"]["tools"].as_array().unwrap();
    tools.iter().filter(|tool| tool["name"].as_str().unwrap().contains("__")).count()
}

fn is_denied(served: &Served, token: &str) -> bool {
    let result = served.calls(token, LIST, &here());
    result["isError"] == true && result.to_string().contains("not now")
}

#[test]
fn a_rule_and_serve_tools_count_over_http_from_the_moment_when_they_are_told() {
    let house = house(TOOLS);
    // Without `--tools`: the setting alone decides.
    let running = house.start(&["serve", "--http", "127.0.0.1:0"]);
    let served = Served::by(house, running);
    let token = served.token("laptop");
    assert!(gated(&served, &token) > 0);
    assert!(!is_denied(&served, &token));

    served.house.write("policy.toml", DENY);
    eventually("it is told", || served.err().contains(RULE_TOLD));
    assert!(is_denied(&served, &token));

    served.house.write("claw.toml", NO_TOOLS);
    eventually("it is told", || served.err().contains(NO_TOOLS_TOLD));
    assert_eq!(gated(&served, &token), 0);
    let refused = served.with_token(&token, &called(LIST, &here())).rpc();
    assert!(refused["error"]["message"].to_string().contains("no tool"), "{refused}");

    served.house.write("claw.toml", TOOLS);
    eventually("it is told", || served.err().contains("serve.tools now true."));
    assert!(gated(&served, &token) > 0);
    let said = served.err();
    for told in [RULE_TOLD, NO_TOOLS_TOLD] {
        assert_eq!(said.matches(told).count(), 1, "{said}");
    }
}

#[test]
fn they_count_for_a_client_that_has_started_claw_itself_and_standard_error_says_so() {
    let house = house(TOOLS);
    let serve = house.command(&["serve", "--client", "laptop"]);
    let said = house.user_home().join("said");
    // What a client does with standard error is its own affair; this one writes it down.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "exec \"$0\" \"$@\" 2>said"]).arg(serve.get_program());
    command.args(serve.get_args()).env_clear().current_dir(house.user_home());
    command.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let client = Client::of(command, Era::Modern, Listener::default());
    client.done(LIST, &here());
    let told = |words: &str| fs::read_to_string(&said).unwrap_or_default().matches(words).count();

    house.write("policy.toml", DENY);
    eventually("it is told", || told(RULE_TOLD) > 0);
    let denied = client.fails(LIST, &here());
    assert!(denied.starts_with("Not run: ") && denied.contains("not now"), "{denied}");

    house.write("claw.toml", NO_TOOLS);
    eventually("it is told", || told(NO_TOOLS_TOLD) > 0);
    assert_eq!(client.tool_names().len(), 7, "{:?}", client.tool_names());
    assert_eq!((told(RULE_TOLD), told(NO_TOOLS_TOLD)), (1, 1));
}

#[test]
fn in_a_gateway_each_change_is_told_once_in_the_chat_and_counts_for_its_clients() {
    let rig = Rig::configured("[serve]\ntools = true\nhttp = \"127.0.0.1:0\"\n");
    prepare(&rig.house);
    let gateway = rig.start();
    let client = Client::start(&rig.house, &["--client", "desktop"], Era::Modern);
    client.done(LIST, &here());
    let Rig { telegram, anna, house } = rig;
    let served = Served::by(house, gateway);
    let token = served.token("laptop");
    assert!(!is_denied(&served, &token));

    served.house.write("policy.toml", DENY);
    telegram.wait_for_text(anna.id, RULE_TOLD);
    assert!(is_denied(&served, &token));
    assert!(text(&client.call(LIST, &here())).contains("not now"));

    served.house.write("claw.toml", "[serve]\nhttp = \"127.0.0.1:0\"\n");
    let taken_out = "claw.toml changed: serve.tools taken out.";
    telegram.wait_for_text(anna.id, taken_out);
    assert_eq!(gated(&served, &token), 0);
    assert_eq!(client.tool_names().len(), 7, "{:?}", client.tool_names());
    for told in [RULE_TOLD, taken_out] {
        let sent = telegram.sent(anna.id);
        let count = sent.iter().filter(|message| message.text.contains(told)).count();
        assert_eq!(count, 1, "{sent:?}");
        assert!(!served.err().contains(told), "it is told in the chat: {}", served.err());
    }
}

#[test]
fn what_changes_while_a_gateway_cannot_reach_telegram_counts_at_once_and_is_told_later() {
    let rig = Rig::with(House::new().with("CLAW_LOG", "info"));
    rig.house.write("claw.toml", "[serve]\ntools = true\nhttp = \"127.0.0.1:0\"\n");
    prepare(&rig.house);
    rig.telegram.fault(Fault::TooMany(1)).on("getMe").always();
    let gateway = rig.house.start(&["gateway"]);
    let Rig { telegram, anna, house } = rig;
    let served = Served::by(house, gateway);
    let token = served.token("laptop");
    assert!(!is_denied(&served, &token));
    served.house.write("policy.toml", DENY);
    eventually("it is read", || served.err().contains("a file of settings has changed"));
    assert!(is_denied(&served, &token));
    telegram.heal();
    telegram.wait_for_text(anna.id, RULE_TOLD);
    let sent = telegram.sent(anna.id);
    let count = sent.iter().filter(|message| message.text.contains(RULE_TOLD)).count();
    assert_eq!(count, 1, "{sent:?}");
}
