//! A conversation that has gone on for long: what a new process reads of it, and that the model
//! sees the same whatever was kept.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
use serde_json::{Value, json};

/// Writes so many turns of five events, as claw leaves them.
fn fill(house: &House, turns: i64) {
    let mut db = house.db();
    let tx = db.transaction().unwrap();
    let first: i64 = tx.query_row("SELECT max(seq) + 1 FROM events", [], |row| row.get(0)).unwrap();
    for turn in 0..turns {
        let text = |who: &str| json!([{"type": "text", "text": format!("{who} number {turn}")}]);
        let usage = json!({"input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "cache_write_tokens": 0});
        let bodies = [
            json!({"type": "turn.started", "origin": "owner", "principal": "console:uid:0"}),
            json!({"type": "user.message", "blocks": text("question"), "inbox_id": -turn - 1, "from": "console/1", "origin": "owner"}),
            json!({"type": "prompt.packed", "from_seq": 1, "dropped_events": 0, "estimated_tokens": 9}),
            json!({"type": "model.reply", "blocks": text("answer"), "finish": {"kind": "complete"}, "usage": usage,
                "provider": "openai-compatible", "model": "model-x"}),
            json!({"type": "turn.ended", "end": {"kind": "answered"}}),
        ];
        for (seq, body) in (first + turn * 5..).zip(bodies) {
            let sql = "INSERT INTO events(session, seq, at_ms, type, body) VALUES ('main', ?1, 1795300000000, ?2, ?3)";
            tx.execute(sql, rusqlite::params![seq, body["type"].as_str(), body.to_string()])
                .unwrap();
        }
    }
    tx.commit().unwrap();
}

/// What the model was told in its newest request.
fn told(model: &Threaded) -> Vec<Value> {
    model.recorded().last().unwrap().body["messages"].as_array().unwrap().clone()
}

#[test]
fn a_long_window_is_kept_for_the_next_process_and_the_model_sees_the_same_without_it() {
    let model = Threaded::start(Wire::OpenAi, ["1", "2", "3", "4", "5"].map(Answer::text));
    let house = House::at("openai-compatible", &model.base_url);
    // What is written into its log was said long ago.
    house.write("claw.toml", "[limits]\nidle_window_s = 0\n");
    let ask = |text: &str| {
        house.claw(&["ask", text]).expect(0);
        told(&model)
    };
    let kept = || {
        let sql = "SELECT coalesce(max(through_seq), 0) FROM kept_windows WHERE session = 'main'";
        house.db().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    ask("the first");
    assert_eq!(kept(), 0, "a short window is read as it is");
    fill(&house, 60);
    let read = ask("the second");
    let through = kept();
    assert_eq!(through, 310, "five events before it, and its own");

    // A row of the log that the next process reads would be seen; one that it does not read is not.
    let db = house.db();
    let change = |from: &str, to: &str| {
        let sql =
            "UPDATE events SET body = replace(body, ?1, ?2) WHERE session = 'main' AND seq < 310";
        assert_eq!(db.execute(sql, [from, to]).unwrap(), 309);
    };
    change("question number 7\"", "question number seven\"");
    let from_kept = ask("the third");
    assert_eq!(from_kept[..read.len()], read, "the same bytes, so that a provider's cache holds");
    assert_eq!(kept(), through, "not written again for every turn");
    change("question number seven\"", "question number 7\"");

    db.execute("UPDATE kept_windows SET body = replace(body, 'number 8', 'number 9')", []).unwrap();
    let from_log = ask("the fourth");
    assert_eq!(from_log[..from_kept.len()], from_kept, "what was damaged was used");
    assert_eq!(kept(), 320, "and made anew");
    let again = ask("the fifth");
    assert_eq!(again[..from_log.len()], from_log);
    house.is_whole();
}

/// A conversation of so many turns, in which somebody says one thing more, which is answered after
/// so many refusals. How many messages the model was told in the end.
fn goes_on(limits: &str, turns: i64, answers: &[&str], refused: usize) -> usize {
    let model = Threaded::start(Wire::OpenAi, answers.iter().copied().map(Answer::text));
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", &format!("[limits]\nidle_window_s = 0\n{limits}\n"));
    house.claw(&["ask", "the first"]).expect(0);
    fill(&house, turns);
    let ran = house.claw(&["ask", "the second"]).expect(0);
    assert_eq!(ran.out, "the last\n", "{ran:?}");
    let faults = model.faults();
    let too_long = |fault: &String| fault.contains("'messages': array too long");
    assert!(faults.len() == refused && faults.iter().all(too_long), "{faults:?}");
    house.is_whole();
    told(&model).len()
}

/// OpenAI takes 2,048 messages in a request, however short they are.
#[test]
fn a_window_of_many_short_messages_is_summarised_before_a_provider_refuses_it() {
    let told = goes_on("", 740, &["the first", "the last"], 0);
    assert!(told > 1_480, "{told}: so many are no reason");
    let told = goes_on("", 760, &["the first", "What was said.", "the last"], 0);
    assert!(told < 800, "{told}: half of what is allowed stays");
}

#[test]
fn a_window_that_a_provider_refuses_for_its_many_messages_is_summarised_then() {
    let answers = ["the first", "What was said.", "the last"];
    let told = goes_on("window_messages = 0", 1_100, &answers, 1);
    assert!(told < 800, "{told}");
}
