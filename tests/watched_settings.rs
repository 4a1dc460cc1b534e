//! The files of settings while claw runs, through the whole program: what is valid is in force from
//! then on and told, what is broken changes nothing and is told, and a question that was frozen
//! under other rules is judged again.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{House, SERVER_WAIT as WAIT, alive, eventually, example};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::{Value, json};

const DENY: &str =
    "[[rule]]\ntool = \"write_file\"\ndecision = \"deny\"\nwhy = \"nothing is written today\"\n";
const ALLOW: &str =
    "[[rule]]\ntool = \"write_file\"\ndecision = \"allow\"\nwhy = \"this test writes\"\n";
const ALLOW_ALL: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";

/// A server of a test's own: what it says and does is in the file at `record`.
fn stranger(mode: &str, record: &Path) -> Value {
    json!({"command": example("hub-stranger"), "args": [mode, record]})
}

fn servers(house: &House, servers: &Value) {
    house.write("mcp.json", &json!({"mcpServers": servers}).to_string());
}

fn call(tool: &str, text: &str) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("a", tool, &json!({"text": text}).to_string())]))
}

fn lines(record: &Path) -> Vec<String> {
    fs::read_to_string(record).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The process that wrote this record.
fn pid(record: &Path) -> u32 {
    lines(record).iter().find_map(|line| line.strip_prefix("pid ")).unwrap().parse().unwrap()
}

/// The files below a folder that hold a text, `mcp.json` left out.
fn holding(folder: &Path, text: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holding(&path, text, found);
        } else if !path.ends_with("mcp.json") {
            let bytes = fs::read(&path).unwrap_or_default();
            found.extend(
                bytes.windows(text.len()).any(|window| window == text.as_bytes()).then_some(path),
            );
        }
    }
}

/// A gateway whose model says what the test wants, with these servers.
fn rig(provider: &Threaded, of: impl FnOnce(&Path) -> Value) -> (Rig, PathBuf) {
    let rig = Rig::with(House::at("openai-compatible", &provider.base_url));
    let records = rig.house.user_home();
    servers(&rig.house, &of(&records));
    rig.house.write("policy.toml", ALLOW_ALL);
    rig.house.write("claw.toml", WAIT);
    (rig, records)
}

#[test]
fn rules_that_change_are_in_force_from_now_on_and_broken_ones_change_nothing() {
    let rig = Rig::new();
    let gateway = rig.start();
    let says = |text: &str| rig.anna.says(rig.anna.private(), text);
    says("write a.txt: one");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");

    rig.house.write("policy.toml", DENY);
    rig.telegram.wait_for_text(rig.anna.id, "policy.toml changed: 1 rule; in force from now on");
    // The question was frozen under other rules: a yes to it does not run what they deny.
    rig.anna.taps_on(rig.anna.private(), asked.id, "Allow once");
    rig.telegram.wait_for_text(rig.anna.id, "nothing is written today");
    assert_eq!(rig.house.in_workspace("a.txt"), "");

    rig.house.write("policy.toml", "[[rule]]\ntool = 7\n");
    rig.telegram.wait_for_text(
        rig.anna.id,
        "policy.toml changed and is refused, so what was read before stays in force",
    );
    says("write b.txt: two");
    eventually("the old rules deny", || rig.count(rig.anna.id, "nothing is written today") == 2);

    rig.house.write("policy.toml", ALLOW);
    eventually("the new rules are told", || rig.count(rig.anna.id, "in force from now on") == 2);
    says("write c.txt: three");
    eventually("it is written", || rig.house.in_workspace("c.txt") == "three");
    assert_eq!(rig.house.in_workspace("b.txt"), "");

    rig.house.write("claw.toml", "[limits]\nturn_time_s = 0\n");
    rig.telegram.wait_for_text(rig.anna.id, "claw.toml changed and is refused");
    rig.house.write("claw.toml", "[limits]\nturn_time_s = 600\n");
    rig.telegram.wait_for_text(rig.anna.id, "claw.toml changed: limits.turn_time_s now 600.");
    rig.house.write("mcp.json", "{\"mcpServers\": {");
    rig.telegram.wait_for_text(rig.anna.id, "mcp.json changed and is refused");
    rig.house.write("mcp.json", "{\"mcpServers\": {\"new\": {\"command\": \"/bin/true\"}}}");
    rig.telegram.wait_for_text(
        rig.anna.id,
        "mcp.json changed: new: new; gone: bash, filesystem, memory, scheduler; counts from the next step",
    );
    rig.stop(gateway);
}

const SECRET: &str = "opensesame-in-a-new-file-1";

#[test]
fn servers_come_and_go_with_mcp_json_and_its_secrets_are_known_at_once() {
    let provider =
        Threaded::start(Wire::OpenAi, [call("old__echo", "one"), Answer::text("Old works.")]);
    let (rig, records) =
        rig(&provider, |records| json!({"old": stranger("legacy", &records.join("old"))}));
    let gateway = rig.start();
    let says = |text: &str| rig.anna.says(rig.anna.private(), text);
    says("go");
    rig.telegram.wait_for_text(rig.anna.id, "Old works.");
    let old = pid(&records.join("old"));
    assert!(alive(old));

    let mut new = stranger("legacy", &records.join("new"));
    new["env"] = json!({"NEW_TOKEN": SECRET});
    servers(&rig.house, &json!({"new": new}));
    rig.telegram.wait_for_text(
        rig.anna.id,
        "mcp.json changed: new: new; gone: old; counts from the next step of a turn",
    );
    eventually("the server that is gone has ended", || !alive(old));
    assert!(lines(&records.join("new")).is_empty(), "it starts when it is needed");

    let asked_before = provider.recorded().len();
    provider.push(call("new__env", ""));
    provider.push(Answer::text(&format!("New works: {SECRET}")));
    says("again");
    rig.telegram.wait_for_text(rig.anna.id, "New works: [redacted:NEW_TOKEN]");
    let asked: Vec<String> =
        provider.recorded().iter().map(|request| request.body.to_string()).collect();
    let [first, second] = &asked[asked_before..] else { panic!("{asked:#?}") };
    assert!(first.contains("new__env") && !first.contains("\"old__env"), "{first}");
    assert!(second.contains("[redacted:NEW_TOKEN]") && !second.contains(SECRET), "{second}");

    // Broken: the servers of before go on.
    rig.house.write("mcp.json", "{\"mcpServers\": {\n  \"new\": }}");
    rig.telegram.wait_for_text(
        rig.anna.id,
        "mcp.json changed and is refused, so what was read before stays in force",
    );
    assert_eq!(rig.count(rig.anna.id, "mcp.json, line 2"), 1);
    provider.push(call("new__echo", "still here"));
    provider.push(Answer::text("It goes on."));
    says("and now");
    rig.telegram.wait_for_text(rig.anna.id, "It goes on.");
    assert!(lines(&records.join("new")).contains(&"effect still here".to_owned()));
    servers(&rig.house, &json!({"new": new}));
    rig.telegram.wait_for_text(rig.anna.id, "mcp.json changed: the servers are the same");
    rig.stop(gateway);
    let mut found = Vec::new();
    holding(&rig.house.home(), SECRET, &mut found);
    assert_eq!(found, [""; 0].map(PathBuf::from));
}

#[test]
fn a_call_under_way_ends_where_it_began_and_the_next_one_reaches_the_server_that_took_its_place() {
    let provider = Threaded::start(
        Wire::OpenAi,
        [call("s__echo", "one"), call("s__echo", "two"), Answer::text("Both ran.")],
    );
    let (rig, records) =
        rig(&provider, |records| json!({"s": stranger("waits", &records.join("before"))}));
    let (before, after) = (records.join("before"), records.join("after"));
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "go");
    eventually("the call is under way", || lines(&before).contains(&"call \"echo\"".to_owned()));
    servers(&rig.house, &json!({"s": stranger("legacy", &after)}));
    rig.telegram.wait_for_text(
        rig.anna.id,
        "mcp.json changed: changed: s; counts from the next step of a turn",
    );
    let old = pid(&before);
    assert!(alive(old), "a call is under way in it");
    // A turn goes on by what it began with.
    rig.house.write("claw.toml", &format!("{WAIT}model_steps_max = 1\n"));
    rig.telegram.wait_for_text(rig.anna.id, "claw.toml changed: limits.model_steps_max now 1.");
    fs::write(records.join("before.go"), "").unwrap();
    rig.telegram.wait_for_text(rig.anna.id, "Both ran.");
    let results = provider.recorded().last().unwrap().body.to_string();
    assert!(results.contains(r#""content":"one","tool_call_id":"a""#), "a call was cut: {results}");
    eventually("the one of before has ended", || !alive(old));
    let effects = |record: &Path| {
        lines(record).into_iter().filter(|line| line.starts_with("effect")).collect::<Vec<_>>()
    };
    assert_eq!(
        (effects(&before), effects(&after)),
        (vec!["effect one".into()], vec!["effect two".into()])
    );
    rig.stop(gateway);
}

#[test]
fn a_chat_has_the_tools_of_a_server_that_is_written_into_mcp_json_meanwhile() {
    let house = House::new();
    house.write("claw.toml", WAIT);
    let mut chat = house.start(&["chat"]);
    eventually("it is there", || chat.out().contains("lists the commands"));
    servers(&house, &json!({"late": stranger("legacy", &house.user_home().join("late"))}));
    eventually("it is told", || {
        chat.out().contains("mcp.json changed: new: late; gone: bash, filesystem, memory")
    });
    chat.types(b"/tools\n");
    eventually("its tools are there", || chat.out().contains("late/echo"));
    house.write("mcp.json", "{");
    eventually("it is refused", || chat.out().contains("mcp.json changed and is refused"));
    chat.types(b"/quit\n");
    chat.ends().expect(0);
}

#[test]
fn settings_that_change_count_in_the_next_turn_and_the_others_are_named() {
    let provider =
        Threaded::start(Wire::OpenAi, [call("s__echo", "one"), Answer::text("Two steps.")]);
    let (rig, records) =
        rig(&provider, |records| json!({"s": stranger("legacy", &records.join("s"))}));
    let gateway = rig.start();
    let says = |text: &str| rig.anna.says(rig.anna.private(), text);
    let tells = |text: &str| rig.telegram.wait_for_text(rig.anna.id, text);
    says("go");
    tells("Two steps.");

    rig.house.write(
        "claw.toml",
        &format!("workspace = \"w\"\n{WAIT}model_steps_max = 1\n[telegram]\nstream = false\n"),
    );
    tells(
        "claw.toml changed: limits.model_steps_max now 1. [telegram], workspace count from the next start.",
    );
    provider.push(call("s__echo", "two"));
    says("and again");
    tells("This turn was stopped after 1 model step (limits.model_steps_max)");

    // Broken: the limit stays, and the file and the line are named.
    rig.house.write("claw.toml", "[limits]\nmodel_steps_max = many\n");
    tells("claw.toml changed and is refused, so what was read before stays in force");
    tells("claw.toml, line 2");
    provider.push(call("s__echo", "three"));
    says("once more");
    eventually("the limit stays", || {
        rig.count(rig.anna.id, "This turn was stopped after 1 model step") == 2
    });

    // Another request to the model, a tool that is not there any more, and no limit again.
    rig.house.write(
        "claw.toml",
        &format!("[model]\nmax_tokens = 777\n[tools]\noffered = [\"s/bare\", \"s/env\"]\n{WAIT}"),
    );
    tells(
        "claw.toml changed: limits.model_steps_max taken out, model.max_tokens now 777, tools.offered changed.",
    );
    let asked_before = provider.recorded().len();
    provider.push(call("s__bare", "four"));
    provider.push(Answer::text("Two steps again."));
    says("now");
    tells("Two steps again.");
    let asked: Vec<String> =
        provider.recorded().iter().map(|request| request.body.to_string()).collect();
    assert!(
        asked[asked_before - 1].contains("\"s__echo\"") && !asked[asked_before - 1].contains("777")
    );
    let tools = |body: &str| {
        ["s__bare", "s__env", "s__change"]
            .map(|tool| body.contains(&format!("\"name\":\"{tool}\"")))
    };
    assert_eq!(tools(&asked[asked_before]), [true, true, false], "{}", asked[asked_before]);
    assert!(asked[asked_before].contains("777"), "{}", asked[asked_before]);
    assert!(lines(&records.join("s")).contains(&"effect four".to_owned()));
    rig.stop(gateway);
}

#[test]
fn a_chat_goes_by_a_limit_that_changes_meanwhile() {
    let house = House::new();
    house.write("policy.toml", ALLOW_ALL);
    let mut chat = house.start(&["chat"]);
    eventually("it is there", || chat.out().contains("lists the commands"));
    house.write("claw.toml", "[limits]\nmodel_steps_max = 1\n");
    eventually("it is told", || {
        chat.out().contains("claw.toml changed: limits.model_steps_max now 1.")
    });
    chat.types(b"list\n");
    eventually("the limit counts", || chat.out().contains("stopped after 1 model step"));
    house.write("claw.toml", "[limits]\nmodel_steps_max = 0\n");
    eventually("it is refused", || chat.out().contains("claw.toml changed and is refused"));
    chat.types(b"/quit\n");
    chat.ends().expect(0);
}
