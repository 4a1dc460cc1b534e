//! The budget of a day for all sessions, through the whole program: at its limit no model is asked
//! for a summary either, and one yes before it lets all turns go on.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::{House, eventually};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
use jiff::Timestamp;
use serde_json::Value;

const LIMIT: u64 = 10_000;

fn house(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", &format!("[limits]\ntokens_day_max = {LIMIT}\n"));
    (house, model)
}

/// What the day has taken from now on, whatever its replies came to.
fn spend(house: &House, tokens: u64) {
    let spent = format!("{} {tokens} 0", Timestamp::now().strftime("%Y-%m-%d"));
    let spend = "UPDATE meta SET value = ?1 WHERE key = 'spent.day'";
    assert_eq!(house.db().execute(spend, [spent]).unwrap(), 1);
}

#[test]
fn at_the_limit_no_model_is_asked_for_a_summary() {
    let (house, model) = house([Answer::text(&"All is well there. ".repeat(400))]);
    house.claw(&["ask", "hello"]).expect(0);
    spend(&house, LIMIT + 2);
    let mut chat = house.start(&["chat"]);
    chat.types(b"/compact\n");
    let refused = || {
        let newest = house.events("main").pop().unwrap();
        newest["type"] == "compaction.failed" && newest["reason"] == "today's budget is used up"
    };
    eventually("no summary is made", refused);
    chat.ends().expect(0);
    // Of a turn after a long pause it is the first request.
    house.db().execute("UPDATE events SET at_ms = at_ms - 7200000", []).unwrap();
    let ran = house.claw(&["ask", "and now?"]);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("Today's budget is used up: 10002 of 10000 tokens"), "{ran:?}");
    let events = house.events("main");
    assert!(events.iter().any(|event| event["type"] == "window.idle"), "{events:#?}");
    assert_eq!(model.recorded().len(), 1);
    house.is_whole();
}

#[test]
fn one_yes_before_the_limit_lets_the_turns_of_all_sessions_go_on() {
    let answers = ["hello", "first", "second", "third", "fourth"].map(Answer::text);
    let (house, model) = house(answers);
    house.claw(&["ask", "hello"]).expect(0);
    spend(&house, LIMIT / 100 * 91);
    let sessions = ["one", "two"];
    for session in sessions {
        house.claw(&["ask", "--session", session, "go"]).expect(3);
    }
    let open = || house.claw(&["approvals", "--json"]).expect(0).rows();
    let asked = open();
    assert_eq!(asked.len(), 2, "{asked:?}");
    house.claw(&["approve", asked[0]["id"].as_str().unwrap()]).expect(0);
    assert_eq!(open(), [Value::Null; 0]);
    for session in sessions {
        house.claw(&["ask", "--session", session, "and now?"]).expect(0);
        let events = house.events(session);
        let replies = events.iter().filter(|event| event["type"] == "model.reply").count();
        assert_eq!(replies, 2, "{session}: {events:#?}");
    }
    assert_eq!(model.recorded().len(), 5);
    house.is_whole();
}
