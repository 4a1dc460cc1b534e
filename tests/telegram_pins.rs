//! A tool that changes while the gateway runs, through the whole program: the owner sees the
//! difference in the chat, once, and a tap accepts exactly that, in the process that saw it.

use crate::program::{House, SERVER_WAIT, eventually, example};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

fn call(tool: &str, text: &str) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new(
        "a",
        &format!("legacy__{tool}"),
        &json!({"text": text}).to_string(),
    )]))
}

#[test]
fn a_tool_that_changes_in_the_gateway_is_accepted_there_by_a_tap() {
    let words = [call("change", ""), call("echo", "before"), Answer::text("It is withheld.")];
    let provider = Threaded::start(Wire::OpenAi, words);
    let rig = Rig::with(House::at("openai-compatible", &provider.base_url));
    let record = rig.house.user_home().join("record");
    let server = json!({"command": example("hub-stranger"), "args": ["legacy", record]});
    rig.house.write("claw.toml", SERVER_WAIT);
    rig.house.write("mcp.json", &json!({"mcpServers": {"legacy": server}}).to_string());
    rig.house.write(
        "policy.toml",
        "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n",
    );
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "go");
    rig.telegram.wait_for_text(rig.anna.id, "It is withheld.");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Accept");
    for shown in [
        "A tool has changed: legacy",
        "legacy/echo",
        "- Says it again, calm.",
        "+ Says it again, changed.",
    ] {
        assert!(asked.text.contains(shown), "{shown} is not in {}", asked.text);
    }
    eventually("the message is on record", || {
        rig.number(
            "SELECT count(*) FROM owner_questions WHERE kind = 'changed_tools' AND state = 'told'",
        ) == 1
    });
    // A fresh start of the server lists the form of before; what the gateway saw is still what is
    // asked about.
    let diff = rig.house.claw(&["tools", "diff"]).expect(0).out;
    assert!(
        diff.contains("a running claw has seen this") && diff.contains("+ Says it again, changed."),
        "{diff}"
    );

    let data = asked.button("Accept").and_then(|button| button.data.clone()).unwrap_or_default();
    let mallory = rig.telegram.user("Mallory");
    let forged = mallory.forges_tap(rig.anna.private(), asked.id, &data);
    assert!(rig.telegram.wait_answered(&forged).0.contains("Only the owner"));
    let tap = rig.anna.taps_on(rig.anna.private(), asked.id, "Accept");
    assert_eq!(rig.telegram.wait_answered(&tap).0, "Accepted.");
    rig.wait_edited(&asked, "Accepted by you");
    let again = rig.anna.forges_tap(rig.anna.private(), asked.id, &data);
    assert!(rig.telegram.wait_answered(&again).0.contains("already"), "a second tap does nothing");

    provider.push(call("echo", "after"));
    provider.push(Answer::text("It runs again."));
    rig.anna.says(rig.anna.private(), "and now?");
    rig.telegram.wait_for_text(rig.anna.id, "It runs again.");
    let seen = std::fs::read_to_string(&record).unwrap_or_default();
    assert!(seen.contains("effect after") && !seen.contains("effect before"), "{seen}");
    assert_eq!(rig.count(rig.anna.id, "Says it again, changed."), 1, "asked once");
    rig.stop(gateway);
}
