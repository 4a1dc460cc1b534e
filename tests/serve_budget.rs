//! What an MCP client may take of its owner's models in a day, through the whole program.

use serde_json::json;

use crate::program::House;
use crate::serve_rig::{Client, Era};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

/// What the stand-in counts for one reply.
const TOKENS_A_REPLY: usize = 157;
const LIMIT: usize = 1000;

/// A reply that reads another file than those before: nothing goes round in circles.
fn reads(number: usize) -> Answer {
    let path = json!({"path": format!("{number}.txt")}).to_string();
    Answer::Turn(Turn::calls(&[Call::new("a", "filesystem__read_file", &path)]))
}

#[test]
fn a_clients_turn_ends_where_its_day_is_used_up_and_its_owner_goes_on() {
    let replies = LIMIT.div_ceil(TOKENS_A_REPLY);
    let model = Threaded::start(Wire::OpenAi, (1..=replies).map(reads));
    model.push(Answer::text("of the owner"));
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", &format!("[serve]\ntokens_day_max = {LIMIT}\n"));
    let client = Client::start(&house, &["--client", "laptop"], Era::Modern);
    let failed = client.done("ask", &json!({"text": "read them all"}));
    assert_eq!(failed["status"], "failed", "{failed}");
    let text = failed["text"].as_str().unwrap_or_default();
    let used = format!("{} of {LIMIT} tokens (serve.tokens_day_max)", replies * TOKENS_A_REPLY);
    assert!(text.contains("`laptop`") && text.contains(&used), "{text}");
    assert_eq!(failed["calls"].as_array().map(Vec::len), Some(replies), "{failed}");
    assert_eq!(model.recorded().len(), replies, "a model is asked with nothing left");
    // Its next question reaches no model either, and not its owner's day.
    let refused = client.fails("ask", &json!({"text": "go on"}));
    assert!(refused.contains("serve.tokens_day_max"), "{refused}");
    assert_eq!(model.recorded().len(), replies);
    assert_eq!(house.claw(&["ask", "hello"]).expect(0).out, "of the owner\n");
    assert_eq!(model.faults(), [""; 0]);
    house.is_whole();
}
