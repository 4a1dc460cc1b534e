//! Tools on strict wires: whatever shape a server gives a definition, no provider refuses the
//! request, and a call comes back under the names that the server knows. What is left out is said.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use claw_core::domain::{Block, ToolSpec, text_of};
use claw_core::model::Request;
use serde_json::{Value, json};

use crate::wires::asking::*;
use crate::wires::{Answer, Call, StandIn, Turn, WIRES, Wire, shapes, strict};

const STRICT: [Wire; 4] = [Wire::OpenAi, Wire::Responses, Wire::Anthropic, Wire::Gemini];

fn tool(name: &str, schema: Value) -> ToolSpec {
    ToolSpec { name: format!("s__{name}"), description: "a tool".into(), input_schema: schema }
}

fn with(tools: Vec<ToolSpec>) -> Request {
    Request { tools: tools.into(), ..go() }
}

/// The tools of a request as they went over the wire: name, description, schema.
fn sent(body: &Value) -> Vec<(String, String, Value)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let functions =
        list(&body["tools"]).into_iter().flat_map(|tool| match tool.get("functionDeclarations") {
            Some(declared) => list(declared),
            None => vec![tool.get("function").cloned().unwrap_or(tool)],
        });
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let schema = |tool: &Value| {
        let schema = ["parameters", "input_schema", "parametersJsonSchema"]
            .iter()
            .find_map(|key| tool.get(*key));
        schema.cloned().unwrap_or_default()
    };
    functions.map(|tool| (text(&tool["name"]), text(&tool["description"]), schema(&tool))).collect()
}

#[tokio::test]
async fn no_shape_of_a_tool_is_refused_by_any_wire() {
    for wire in WIRES {
        for shape in shapes::all() {
            let stand_in = StandIn::start(wire, [Answer::text("fine")]).await;
            let (reply, _) =
                ask(&stand_in, wire, &with(vec![tool(shape.name, shape.schema.clone())])).await;
            assert_eq!(
                stand_in.faults(),
                [""; 0],
                "{wire:?} {}: {:#}",
                shape.name,
                stand_in.recorded()[0].body["tools"]
            );
            let reply = reply.unwrap_or_else(|error| panic!("{wire:?} {}: {error}", shape.name));
            assert_eq!(reply.notice, None, "{wire:?} {}", shape.name);
            assert_eq!(
                sent(&stand_in.recorded()[0].body).len(),
                1,
                "{wire:?} {}: left out",
                shape.name
            );
        }
    }
}

/// Else the test above would prove nothing: as they are, many of the shapes are refused by each of
/// them.
#[test]
fn the_strict_wires_refuse_the_shapes_as_they_are() {
    for wire in STRICT {
        let refused: Vec<&str> = shapes::all()
            .into_iter()
            .filter(|shape| {
                let function = json!({"name": "s__t", "description": "d", "parameters": shape.schema,
                    "input_schema": shape.schema});
                let declared = json!({"name": "s__t", "description": "d", "parametersJsonSchema": shape.schema});
                let body = match wire {
                    Wire::Gemini => json!({"tools": [{"functionDeclarations": [declared]}]}),
                    Wire::OpenAi => json!({"tools": [{"type": "function", "function": function}]}),
                    Wire::Responses => json!({"tools": [function]}),
                    _ => json!({"tools": [function]}),
                };
                strict::check(wire, &body).is_err()
            })
            .map(|shape| shape.name)
            .collect();
        assert!(refused.len() >= 20, "{wire:?} refuses only {refused:?}");
    }
}

#[tokio::test]
async fn what_goes_out_keeps_every_property_and_what_is_required() {
    for wire in WIRES {
        for shape in shapes::all() {
            let stand_in = StandIn::start(wire, [Answer::text("fine")]).await;
            ask(&stand_in, wire, &with(vec![tool(shape.name, shape.schema.clone())]))
                .await
                .0
                .unwrap();
            let (_, _, schema) = sent(&stand_in.recorded()[0].body).remove(0);
            let kept = schema["properties"].as_object().unwrap().len();
            let given = shape.arguments.as_object().unwrap().len();
            assert!(kept >= given, "{wire:?} {}: {schema:#}", shape.name);
            for name in shape.schema.get("required").and_then(Value::as_array).into_iter().flatten()
            {
                let text = schema["required"].to_string();
                let plain = name
                    .as_str()
                    .is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric()));
                let ruled_out = shape.schema["properties"][name.as_str().unwrap()] == json!(false);
                assert!(
                    !plain || ruled_out || text.contains(&name.to_string()),
                    "{wire:?} {}: {text}",
                    shape.name
                );
            }
        }
    }
}

/// Forward in the history, back in the reply: what the server knows is what it gets.
#[tokio::test]
async fn arguments_come_back_under_the_names_that_the_server_knows() {
    for wire in WIRES {
        for shape in shapes::all() {
            let offered = tool(shape.name, shape.schema.clone());
            let asked = || with(vec![offered.clone()]);
            let earlier = StandIn::start(wire, [Answer::text("fine")]).await;
            let one = claw_core::domain::ToolUse {
                id: "call-a".into(),
                name: offered.name.clone(),
                input: shape.arguments.clone(),
                broken_input: None,
            };
            let mut history = asked();
            history.messages = vec![
                claw_core::domain::Message::user_text("go"),
                claw_core::domain::Message {
                    role: claw_core::domain::Role::Assistant,
                    blocks: vec![Block::ToolUse(Box::new(one))],
                },
            ];
            // A provider's own signature is not at hand here, which Gemini would miss; what is sent
            // is looked at all the same.
            let _ = ask(&earlier, wire, &history).await;
            let body = earlier.recorded()[0].body.clone();
            let on_wire = arguments_on_wire(wire, &body);

            let call = Call::new("call-a", &offered.name, &on_wire.to_string());
            let stand_in = StandIn::start(wire, [Answer::Turn(Turn::calls(&[call]))]).await;
            let reply = ask(&stand_in, wire, &asked()).await.0.unwrap();
            assert_eq!(
                uses(&reply)[0].input,
                shape.arguments,
                "{wire:?} {}: as {on_wire}",
                shape.name
            );
            assert_eq!(uses(&reply)[0].name, offered.name);
            if wire == Wire::Anthropic && shape.name == "odata" {
                assert_eq!(on_wire, json!({"filter": "x eq 1", "top": 5}));
            }
        }
    }
}

fn arguments_on_wire(wire: Wire, body: &Value) -> Value {
    match wire {
        Wire::Anthropic => body["messages"][1]["content"][0]["input"].clone(),
        Wire::OpenAi => {
            let messages = body["messages"].as_array().unwrap();
            let call = messages.iter().find(|message| message["role"] == "assistant").unwrap();
            let text = call["tool_calls"][0]["function"]["arguments"].as_str().unwrap().to_owned();
            serde_json::from_str(&text).unwrap()
        }
        Wire::Responses => {
            let items = body["input"].as_array().unwrap();
            let call = items.iter().find(|item| item["type"] == "function_call").unwrap();
            serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap()
        }
        Wire::Ollama => {
            let messages = body["messages"].as_array().unwrap();
            let call = messages.iter().find(|message| message["role"] == "assistant").unwrap();
            call["tool_calls"][0]["function"]["arguments"].clone()
        }
        Wire::Gemini => {
            let parts = body["contents"][1]["parts"].as_array().unwrap();
            parts.iter().find_map(|part| part.get("functionCall")).unwrap()["args"].clone()
        }
    }
}

#[tokio::test]
async fn a_name_that_gemini_does_not_take_comes_back_as_it_was() {
    let offered = ToolSpec { name: "1st__run".into(), ..tool("x", json!({"type": "object"})) };
    let stand_in = StandIn::start(Wire::Gemini, [Answer::text("fine")]).await;
    ask(&stand_in, Wire::Gemini, &with(vec![offered.clone()])).await.0.unwrap();
    let (on_wire, _, _) = sent(&stand_in.recorded()[0].body).remove(0);
    assert_ne!(on_wire, offered.name);
    let call = Call::new("call-a", &on_wire, "{}");
    let stand_in = StandIn::start(Wire::Gemini, [Answer::Turn(Turn::calls(&[call]))]).await;
    let reply = ask(&stand_in, Wire::Gemini, &with(vec![offered])).await.0.unwrap();
    assert_eq!(uses(&reply)[0].name, "1st__run");
}

#[tokio::test]
async fn a_wire_gets_no_more_tools_than_it_takes_and_the_person_hears_of_the_others_once() {
    for (wire, given, most) in
        [(Wire::OpenAi, 140, 128), (Wire::Anthropic, 140, 140), (Wire::Gemini, 524, 512)]
    {
        let numbered = |number| tool(&format!("t{number}"), json!({"type": "object"}));
        let stand_in = StandIn::start(wire, [Answer::text("a"), Answer::text("b")]).await;
        let model = model(target(wire, &stand_in.base_url));
        let request = with((0..given).map(numbered).collect());
        let mut notices = Vec::new();
        for _ in 0..2 {
            let reply =
                claw_core::model::Model::reply(&model, &request, &mut |_| {}).await.unwrap();
            notices.push(reply.notice);
        }
        assert_eq!(stand_in.faults(), [""; 0]);
        assert_eq!(sent(&stand_in.recorded()[0].body).len(), most, "{wire:?}");
        let Some(notice) = &notices[0] else {
            assert_eq!(most, given, "{wire:?} said nothing");
            continue;
        };
        assert!(
            notice.contains("12 tools")
                && notice.contains(&format!("`s/t{}`", given - 1))
                && notice.contains("[tools]"),
            "{notice}"
        );
        assert_eq!(notices[1], None, "said twice");
    }
}

#[tokio::test]
async fn a_description_that_is_too_long_goes_on_in_the_parameters() {
    let long: String = (0..400).map(|number| format!("Sentence {number}. ")).collect();
    let offered = ToolSpec {
        description: long,
        ..tool("x", json!({"type": "object", "description": "Own."}))
    };
    let stand_in = StandIn::start(Wire::OpenAi, [Answer::text("fine")]).await;
    ask(&stand_in, Wire::OpenAi, &with(vec![offered])).await.0.unwrap();
    assert_eq!(stand_in.faults(), [""; 0]);
    let (_, description, schema) = sent(&stand_in.recorded()[0].body).remove(0);
    let rest = schema["description"].as_str().unwrap();
    assert!(
        description.contains("Sentence 0.") && description.contains("goes on"),
        "{description}"
    );
    assert!(rest.contains("Sentence 399.") && rest.contains("Own."), "{rest}");
}

/// The refusals of the public APIs, word for word, about the tool at this place of the request.
fn refusal(wire: Wire, place: usize, name: &str) -> Answer {
    let body = match wire {
        Wire::OpenAi | Wire::Responses => {
            json!({"error": {"message": format!("Invalid schema for function '{name}': In context=('properties', 'x'), \
            something new."), "type": "invalid_request_error", "param": format!("tools[{place}].function.parameters"),
            "code": "invalid_function_parameters"}})
        }
        Wire::Anthropic => json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": format!("tools.{place}.custom.input_schema: something new")}, "request_id": "req_1"}),
        _ => {
            let message = format!(
                "* GenerateContentRequest.tools[0].function_declarations[{place}].parameters_json_schema: something new\n"
            );
            json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": message}})
        }
    };
    Answer::status(400, &body.to_string())
}

#[tokio::test]
async fn a_400_that_names_a_tool_takes_it_out_for_this_model_asks_again_and_says_so_once() {
    for wire in STRICT {
        let answers = [
            refusal(wire, 1, "s__b"),
            Answer::text("one"),
            Answer::text("two"),
            Answer::text("three"),
        ];
        let stand_in = StandIn::start(wire, answers).await;
        let model = model(target(wire, &stand_in.base_url));
        let mut tools = ["a", "b", "c"].map(|name| tool(name, json!({"type": "object"}))).to_vec();
        let names = |at: usize| -> Vec<String> {
            sent(&stand_in.recorded()[at].body).into_iter().map(|(name, _, _)| name).collect()
        };
        let request = with(tools.clone());
        let reply = claw_core::model::Model::reply(&model, &request, &mut |_| {}).await.unwrap();
        assert_eq!(
            (text_of(&reply.blocks).as_str(), names(1)),
            ("one", vec!["s__a".to_owned(), "s__c".into()]),
            "{wire:?}"
        );
        let notice = reply.notice.unwrap_or_default();
        assert!(
            notice.contains("`s/b`")
                && notice.contains("something new")
                && notice.contains("model-x"),
            "{notice}"
        );
        let reply = claw_core::model::Model::reply(&model, &request, &mut |_| {}).await.unwrap();
        assert_eq!((names(2).len(), reply.notice), (2, None), "{wire:?}");
        // Another definition of the same tool has another chance.
        tools[1].input_schema =
            json!({"type": "object", "properties": {"new": {"type": "string"}}});
        let reply =
            claw_core::model::Model::reply(&model, &with(tools), &mut |_| {}).await.unwrap();
        assert_eq!((names(3).len(), text_of(&reply.blocks).as_str()), (3, "three"), "{wire:?}");
        assert_eq!(stand_in.recorded().len(), 4);
    }
}

#[tokio::test]
async fn what_is_refused_one_after_the_other_is_left_out_and_told_in_one_notice() {
    for wire in STRICT {
        // Without the first one the second is at its place.
        let answers = [refusal(wire, 0, "s__a"), refusal(wire, 0, "s__b"), Answer::text("fine")];
        let stand_in = StandIn::start(wire, answers).await;
        let tools = ["a", "b", "c"].map(|name| tool(name, json!({"type": "object"}))).to_vec();
        let reply = ask(&stand_in, wire, &with(tools)).await.0.unwrap();
        let sent: Vec<Vec<String>> = stand_in
            .recorded()
            .iter()
            .map(|request| sent(&request.body).into_iter().map(|(name, _, _)| name).collect())
            .collect();
        let expected: [&[&str]; 3] = [&["s__a", "s__b", "s__c"], &["s__b", "s__c"], &["s__c"]];
        assert_eq!(sent, expected, "{wire:?}");
        let notice = reply.notice.unwrap_or_default();
        let told = |name: &str| notice.matches(name).count();
        assert_eq!((told("`s/a`"), told("`s/b`"), told("`s/c`")), (1, 1, 0), "{wire:?}: {notice}");
    }
}

#[tokio::test]
async fn a_provider_that_refuses_one_tool_after_the_other_is_asked_nine_times_and_no_more() {
    for wire in STRICT {
        let names: Vec<String> = (0..12).map(|number| format!("t{number}")).collect();
        let answers = names.iter().map(|name| refusal(wire, 0, &format!("s__{name}")));
        let stand_in = StandIn::start(wire, answers).await;
        let tools = names.iter().map(|name| tool(name, json!({"type": "object"})));
        let error = ask(&stand_in, wire, &with(tools.collect())).await.0.unwrap_err();
        assert!(error.to_string().contains("something new"), "{wire:?}: {error}");
        assert_eq!(stand_in.recorded().len(), 9, "{wire:?}");
    }
}

#[tokio::test]
async fn a_400_about_something_else_takes_no_tool_out() {
    let answer = Answer::status(
        400,
        r#"{"error":{"message":"Invalid value for 'temperature'.","param":"temperature"}}"#,
    );
    let stand_in = StandIn::start(Wire::OpenAi, [answer]).await;
    let error = ask(&stand_in, Wire::OpenAi, &go()).await.0.unwrap_err();
    assert!(error.to_string().contains("temperature"), "{error}");
    assert_eq!(stand_in.recorded().len(), 1);
}
