//! Models of OpenAI that take tools in Responses alone, through the whole program: they are asked
//! there once a refusal or the address says so, and get back what they have thought.

use serde_json::{Value, json};

use crate::program::House;
use crate::wires::responses::REASONING;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

fn reads() -> Answer {
    let call = Call::new("call_a", "filesystem__read_file", r#"{"path": "a.txt"}"#);
    Answer::Turn(Turn { text: "I look.".into(), ..Turn::calls(&[call]) })
}

fn house(model: &Threaded, path: &str, name: &str) -> House {
    let house = House::at("openai-compatible", &format!("{}{path}", model.base_url));
    house.write("workspace/a.txt", "what stands there");
    house.with("CLAW_MODEL", name)
}

fn paths(model: &Threaded) -> Vec<String> {
    model.recorded().into_iter().map(|one| one.path).collect()
}

/// The items that a request carries: roles of messages, types of others.
fn kinds(body: &Value) -> Vec<&str> {
    let items = body["input"].as_array().map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(|item| item["role"].as_str().or(item["type"].as_str())).collect()
}

#[test]
fn a_model_that_takes_tools_in_responses_alone_is_asked_there_behind_the_first_refusal() {
    let answers = [reads(), Answer::text("It says: there."), Answer::text("Nothing new.")];
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = house(&model, "", "gpt-5.6-terra");
    let ran = house.claw(&["ask", "what stands in a.txt?"]).expect(0);
    assert_eq!(ran.out, "It says: there.\n");
    assert_eq!(paths(&model), [CHAT, RESPONSES, RESPONSES]);
    let faults = model.faults();
    assert!(faults.len() == 1 && faults[0].contains("use /v1/responses"), "{faults:?}");
    let second = model.recorded().remove(2).body;
    let wanted =
        ["system", "user", "reasoning", "assistant", "function_call", "function_call_output"];
    assert_eq!(kinds(&second), wanted, "{second:#}");
    assert!(second.to_string().contains("what stands there"), "{second:#}");
    // The next process learns it anew, and the model has its thoughts of the turn before.
    house.claw(&["ask", "and now?"]).expect(0);
    assert_eq!(paths(&model)[3..], [CHAT, RESPONSES]);
    let last = model.recorded().remove(4).body;
    assert_eq!(last["input"][2]["encrypted_content"], REASONING, "{last:#}");
    assert_eq!(model.faults().len(), 2, "nothing else is refused: {:?}", model.faults());
    house.is_whole();
}

#[test]
fn an_address_that_ends_in_responses_is_asked_nothing_else() {
    let model = Threaded::start(Wire::OpenAi, [reads(), Answer::text("It says: there.")]);
    let house = house(&model, RESPONSES, "model-x");
    let ran = house.claw(&["ask", "what stands in a.txt?"]).expect(0);
    assert_eq!(ran.out, "It says: there.\n");
    assert_eq!(paths(&model), [RESPONSES, RESPONSES]);
    assert_eq!(model.faults(), [""; 0]);
    house.is_whole();
}

/// Thoughts that another key has encrypted are refused, and would be with each request of the
/// conversation.
#[test]
fn thoughts_that_are_not_taken_back_are_left_out_and_the_conversation_goes_on() {
    let foreign = json!({"error": {"message": "The encrypted content gAAA... could not be verified.",
        "type": "invalid_request_error", "code": "invalid_encrypted_content"}});
    let answers = [
        reads(),
        Answer::text("It says: there."),
        Answer::status(400, &foreign.to_string()),
        Answer::text("Still here."),
    ];
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = house(&model, RESPONSES, "model-x");
    house.claw(&["ask", "what stands in a.txt?"]).expect(0);
    assert_eq!(house.claw(&["ask", "and now?"]).expect(0).out, "Still here.\n");
    let bodies: Vec<Value> = model.recorded().into_iter().map(|one| one.body).collect();
    let has = |body: &Value| body.to_string().contains(REASONING);
    assert_eq!(bodies.iter().map(has).collect::<Vec<_>>(), [false, true, true, false]);
    assert!(bodies[2]["include"].is_array());
    assert!(bodies[3]["include"].is_null(), "they are not asked for, either");
    assert_eq!(model.faults(), [""; 0]);
    house.is_whole();
}
