//! A server that is new, through the gateway: the owner is asked once, a restart keeps the
//! question, and one tap of the owner's says how far it is trusted.

use crate::program::{House, SERVER_WAIT, eventually, example};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

fn call(tool: &str) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("a", &format!("docs__{tool}"), "{}")]))
}

fn rig(provider: &Threaded) -> Rig {
    let rig = Rig::with(House::at("openai-compatible", &provider.base_url));
    let record = rig.house.user_home().join("record");
    let server = json!({"command": example("hub-stranger"), "args": ["hinted", record]});
    rig.house.write("claw.toml", SERVER_WAIT);
    rig.house.write("mcp.json", &json!({"mcpServers": {"docs": server}}).to_string());
    rig
}

fn told(rig: &Rig) {
    eventually("the message is on record", || {
        rig.number(
            "SELECT count(*) FROM owner_questions WHERE kind = 'new_server' AND state = 'told'",
        ) == 1
    });
}

const HINTS: &str = "Believe: what only reads runs";

#[test]
fn the_question_survives_a_restart_and_one_tap_of_the_owners_answers_it() {
    let provider = Threaded::start(Wire::OpenAi, [Answer::text("Hello.")]);
    let rig = rig(&provider);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "go");
    rig.telegram.wait_for_text(rig.anna.id, "Hello.");
    let asked = rig.telegram.wait_for_button(rig.anna.id, HINTS);
    for shown in [
        "New server: docs\n6 tools: 3 say they only read (1 out in the world), 1 says it destroys.",
        "\nRuns ",
        "First seen today, ",
        "Until you choose, each call asks.",
    ] {
        assert!(asked.text.contains(shown), "{shown} is not in {}", asked.text);
    }
    assert!(!asked.text.contains("Allowed by claw"), "a server's own words: {}", asked.text);
    told(&rig);
    rig.kill(gateway);
    let gateway = rig.house.start(&["gateway"]);

    let data = asked.button(HINTS).and_then(|button| button.data.clone()).unwrap_or_default();
    let mallory = rig.telegram.user("Mallory");
    let forged = mallory.forges_tap(rig.anna.private(), asked.id, &data);
    assert!(rig.telegram.wait_answered(&forged).0.contains("Only the owner"));
    assert_eq!(rig.number("SELECT count(*) FROM trust WHERE level IS NOT NULL"), 0);
    let tap = rig.anna.taps_on(rig.anna.private(), asked.id, HINTS);
    let answered = rig.telegram.wait_answered(&tap).0;
    assert_eq!(answered, "What says that it only reads runs unasked; the rest asks.");
    rig.wait_edited(&asked, "hints believed, by you");
    let again =
        rig.anna.forges_tap(rig.anna.private(), asked.id, &data.replace("hints", "nothing"));
    assert!(rig.telegram.wait_answered(&again).0.contains("already"), "a second tap does nothing");

    provider.push(call("delete_everything"));
    provider.push(Answer::text("It is done."));
    rig.anna.says(rig.anna.private(), "and now?");
    let line = "Without a question, by its server's hint: docs/delete_everything.";
    let reply = rig.telegram.wait_for_text(rig.anna.id, line);
    assert!(reply.text.contains("It is done."), "{}", reply.text);
    assert_eq!(rig.count(rig.anna.id, "Until you choose"), 0, "asked once");
    rig.stop(gateway);
}

#[test]
fn what_is_chosen_at_the_machine_ends_the_question_in_the_chat() {
    let provider = Threaded::start(Wire::OpenAi, [Answer::text("Hello.")]);
    let rig = rig(&provider);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "go");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Offer nothing");
    told(&rig);
    rig.house.claw(&["mcp", "trust", "docs", "nothing"]).expect(0);
    // The gateway looks again when something comes.
    provider.push(call("look"));
    provider.push(Answer::text("Not there."));
    rig.anna.says(rig.anna.private(), "look");
    rig.telegram.wait_for_text(rig.anna.id, "Not there.");
    rig.wait_edited(&asked, "it was settled elsewhere");
    let record = std::fs::read_to_string(rig.house.user_home().join("record")).unwrap_or_default();
    assert!(!record.contains("effect"), "{record}");
    rig.stop(gateway);
}
