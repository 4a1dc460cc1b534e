//! What a server that asks in the middle of its call does not get, through the whole program: more
//! questions than its call has rounds, and a value that looks like a secret. What it gets is in
//! `rounds.rs`.

use serde_json::{Value, json};

use crate::program::{House, SERVER_WAIT, eventually, outcomes};
use crate::rounds::{house, noted, open};
use crate::secrets::leaks;
use crate::wires::threaded::Threaded;

/// Looks like one of GitHub's; nobody has told claw that it is one.
const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
/// Claw knows this one, which looks like nothing.
const PASSWORD: &str = "hunter2-of-the-database";
const LIMIT: &str = "its server asked more than 2 times in one call (limits.input_rounds_max)";

/// A house whose server asks again and again, and a model that calls it.
fn endless(era: &str) -> (House, Threaded) {
    let (house, provider) = house(era, "endless");
    house.write("claw.toml", &format!("{SERVER_WAIT}input_rounds_max = 2\n"));
    (house, provider)
}

/// Each answer of this era is another question.
#[test]
fn a_call_whose_server_asks_without_end_ends_at_the_limit_and_its_owner_reads_why() {
    let (house, provider) = endless("modern");
    let ran = house.claw(&["ask", "go"]).expect(0);
    let told = format!("may or may not have run (it was not taken on: {LIMIT})");
    assert_eq!(ran.err.matches(&told).count(), 1, "{ran:?}");
    assert_eq!(noted(&house, "heard ").len(), 2, "it was answered beyond the limit");
    assert_eq!(open(&house), None);
    let results = outcomes(&house.events("main"));
    assert!(results.len() == 1 && results[0]["kind"] == "unknown", "{results:?}");
    assert!(results[0].to_string().contains(LIMIT), "{results:?}");
    let read = provider.recorded().pop().unwrap().body.to_string();
    assert!(read.contains(LIMIT), "the model is told, too: {read}");
    house.is_whole();
}

/// The server waits while its call runs: it hears at once that nobody answers any more, and goes on
/// as it likes.
#[test]
fn what_is_asked_beyond_the_limit_while_a_call_runs_is_cancelled_and_its_owner_reads_why() {
    let (house, _provider) = endless("legacy");
    let asking = house.start(&["ask", "go"]);
    let mut answered = Value::Null;
    for _ in 0..2 {
        let mut asked = None;
        eventually("it asks", || {
            asked = open(&house).map(|it| it["id"].clone()).filter(|id| *id != answered);
            asked.is_some()
        });
        answered = asked.unwrap();
        house.claw(&["approve", answered.as_str().unwrap(), "--value", "yes"]).expect(0);
    }
    let ran = asking.ends().expect(0);
    let told = format!("A question of `tickets/endless` was cancelled: {LIMIT}.");
    assert_eq!(ran.err.matches(&told).count(), 1, "once, however often it asks: {ran:?}");
    assert_eq!(open(&house), None);
    let heard: Vec<Value> =
        noted(&house, "heard ").iter().map(|it| serde_json::from_str(it).unwrap()).collect();
    let accepted = json!({"action": "accept", "content": {"sure": true}});
    assert_eq!(heard[..2], [accepted.clone(), accepted]);
    assert!(heard[2..].iter().all(|it| *it == json!({"action": "cancel"})), "{heard:?}");
    assert_eq!(heard.len(), 20, "each of its questions has an answer");
    let results = outcomes(&house.events("main"));
    assert!(results.len() == 1 && results[0].to_string().contains("never mind"), "{results:?}");
    house.is_whole();
}

/// A form has a field for a name, and somebody types a token, or a password that claw knows.
#[test]
fn a_typed_value_that_looks_like_a_secret_goes_nowhere_and_the_question_stays() {
    let (house, provider) = house("modern", "book");
    let house = house.with("DB_PASSWORD", PASSWORD);
    let mut id = house.ask_parks("book it");
    for value in ["3", "Business", "yes"] {
        house.claw(&["approve", &id, "--value", value]).expect(3);
        id = house.waiting();
    }
    let heard = noted(&house, "heard ");
    for secret in [TOKEN, PASSWORD] {
        let refused = house.claw(&["approve", &id, "--value", secret]);
        let next = ["looks like a secret, which claw does not pass on", "claw mcp login NAME"];
        let refused = refused.expect_mistake(&next);
        assert!(!refused.err.contains(secret), "{refused:?}");
        assert_eq!(house.waiting(), id, "the question is still the same");
    }
    assert_eq!(noted(&house, "heard "), heard, "its server hears nothing of it");
    house.claw(&["approve", &id, "--value", "Anna"]).expect(0);
    let effects = noted(&house, "effect ");
    assert!(effects.len() == 1 && effects[0].contains("Anna"), "{effects:?}");
    let sent: String = provider.recorded().iter().map(|it| it.body.to_string()).collect();
    let noted = noted(&house, "").concat();
    for secret in [TOKEN, PASSWORD] {
        assert!(!sent.contains(secret) && !noted.contains(secret), "{secret}: {sent} {noted}");
    }
    assert_eq!(leaks(&house.home(), &[TOKEN, PASSWORD]), [""; 0]);
    house.is_whole();
}
