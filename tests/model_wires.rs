//! Whole round-trips with stand-ins for the Anthropic, OpenAI, Gemini and Ollama wires: what is
//! sent and what is understood.

use crate::wires;
use claw_core::config::model::ToolChoice;
use claw_core::domain::{Block, Finish, Message, Role, Usage, text_of};
use claw_core::model::genai::Target;
use serde_json::json;

use crate::wires::asking::*;
use crate::wires::{Answer, Call, StandIn, Stop, Then, Turn, WIRES, Wire};

#[tokio::test]
async fn text_streams_and_usage_counts_cached_tokens() {
    for wire in WIRES {
        let stand_in = StandIn::start(wire, [Answer::text("Grüße, 世界")]).await;
        let (reply, deltas) = ask(&stand_in, wire, &go()).await;
        let reply =
            reply.unwrap_or_else(|error| panic!("{wire:?}: {error} {:?}", stand_in.faults()));
        assert_eq!(text_of(&reply.blocks), "Grüße, 世界", "{wire:?}");
        assert_eq!(shown(&deltas), "Grüße, 世界", "{wire:?}");
        assert!(deltas.len() >= 2, "{wire:?} did not stream: {deltas:?}");
        assert_eq!(reply.finish, Finish::Complete, "{wire:?}");
        let cache_write_tokens = if wire == Wire::Anthropic { 20 } else { 0 };
        let usage =
            Usage { input_tokens: 127, output_tokens: 30, cached_tokens: 100, cache_write_tokens };
        assert_eq!(reply.usage, usage, "{wire:?}");
        assert_eq!(stand_in.faults(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn two_parallel_calls_of_one_tool_and_one_refused() {
    for wire in WIRES {
        let calls =
            [Call::new("call-a", "s__t", r#"{"x":1}"#), Call::new("call-b", "s__t", r#"{"x":2}"#)];
        let stand_in =
            StandIn::start(wire, [Answer::Turn(Turn::calls(&calls)), Answer::text("done")]).await;
        let (reply, _) = ask(&stand_in, wire, &go()).await;
        let reply = reply.unwrap();
        assert_eq!(reply.finish, Finish::ToolUse, "{wire:?}");
        let inputs: Vec<_> = uses(&reply).iter().map(|one| one.input.clone()).collect();
        assert_eq!(inputs, [json!({"x": 1}), json!({"x": 2})], "{wire:?}");

        let mut messages = answered(&reply, &[("one", false), ("denied by the owner", true)]);
        // The order in which results arrive is not the order of the calls.
        messages[2].blocks.reverse();
        messages[2].blocks.push(Block::Text { text: "and hurry".into() });
        let (reply, _) = ask(&stand_in, wire, &request(messages)).await;
        assert_eq!(stand_in.faults(), [""; 0], "{wire:?}");
        assert_eq!(text_of(&reply.unwrap().blocks), "done", "{wire:?}");
        let body = stand_in.recorded()[1].body.to_string();
        let place =
            |what: &str| body.find(what).unwrap_or_else(|| panic!("{wire:?}: no {what} in {body}"));
        assert!(
            place("one") < place("denied by the owner")
                && place("denied by the owner") < place("and hurry")
        );
        let mark = if wire == Wire::Anthropic {
            "\"is_error\":true"
        } else {
            "Error: denied by the owner"
        };
        assert!(body.contains(mark), "{wire:?}: the refusal looks like a success: {body}");
    }
}

#[tokio::test]
async fn ids_that_are_repeated_or_missing_are_told_apart() {
    for wire in WIRES {
        for ids in [["same", "same"], ["", ""], ["call#s__t#0", "call#s__t#0"]] {
            let calls = ids.map(|id| Call::new(id, "s__t", r#"{"x":1}"#));
            let stand_in =
                StandIn::start(wire, [Answer::Turn(Turn::calls(&calls)), Answer::text("done")])
                    .await;
            let (reply, _) = ask(&stand_in, wire, &go()).await;
            let reply = reply.unwrap();
            let found = uses(&reply);
            assert_eq!(found.len(), 2, "{wire:?} {ids:?}");
            assert!(
                !found[0].id.is_empty() && !found[1].id.is_empty() && found[0].id != found[1].id,
                "{wire:?} {found:?}"
            );
            let again = request(answered(&reply, &[("first", false), ("second", false)]));
            let (reply, _) = ask(&stand_in, wire, &again).await;
            assert_eq!(stand_in.faults(), [""; 0], "{wire:?} {ids:?}");
            assert!(reply.is_ok());
        }
    }
}

#[tokio::test]
async fn a_history_of_one_provider_is_accepted_by_every_other() {
    for from in WIRES {
        let calls = [Call::new("id.with.dots", "s__t", "{}"), Call::new("", "s__t", "{}")];
        let maker = StandIn::start(from, [Answer::Turn(Turn::calls(&calls))]).await;
        let reply = ask(&maker, from, &go()).await.0.unwrap();
        let mut messages = answered(&reply, &[("a", false), ("b", false)]);
        messages.push(Message::assistant_text("so"));
        messages.extend(answered(&reply, &[("c", false), ("d", false)]));
        for to in WIRES.into_iter().filter(|to| *to != from && *to != Wire::Gemini) {
            let stand_in = StandIn::start(to, [Answer::text("fine")]).await;
            let (reply, _) = ask(&stand_in, to, &request(messages.clone())).await;
            assert_eq!(stand_in.faults(), [""; 0], "{from:?} -> {to:?}");
            assert!(reply.is_ok());
            let body = stand_in.recorded()[0].body.to_string();
            assert!(
                !body.contains("c2ln"),
                "{from:?} -> {to:?}: a signature went to a stranger: {body}"
            );
        }
    }
}

/// Two providers may speak one wire; what only one can read still stays with it.
#[tokio::test]
async fn opaque_blocks_go_back_unchanged_to_their_maker_and_to_nobody_else() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "c2lnbmF0dXJl"});
    let text_signature = json!({"type": "text_signature", "signature": "c2lnbmF0dXJl"});
    let reasoning = json!({"type": "reasoning_content", "text": "c2lnbmF0dXJl"});
    let encrypted = json!({"type": "reasoning", "model": "model-x",
        "encrypted_content": wires::responses::REASONING});
    for (wire, data) in [
        (Wire::Anthropic, thinking),
        (Wire::Gemini, text_signature),
        (Wire::OpenAi, reasoning),
        (Wire::Responses, encrypted),
    ] {
        for own in [true, false] {
            let stand_in = StandIn::start(wire, [Answer::text("fine")]).await;
            let target = target(wire, &stand_in.base_url);
            let provider = if own { target.provider.clone() } else { "somebody-else".to_owned() };
            let blocks = vec![
                Block::Opaque { provider, data: Box::new(data.clone()) },
                Block::Text { text: "so".into() },
            ];
            let assistant = Message { role: Role::Assistant, blocks };
            let messages = vec![Message::user_text("go"), assistant, Message::user_text("on")];
            let (reply, _) = ask_with(target, &request(messages)).await;
            assert_eq!(stand_in.faults(), [""; 0], "{wire:?}");
            assert!(reply.is_ok());
            let body = stand_in.recorded()[0].body.to_string();
            assert_eq!(body.contains("c2ln"), own, "{wire:?}: {body}");
        }
    }
}

#[tokio::test]
async fn token_limits_and_refusals_are_a_finish() {
    for wire in WIRES {
        let turns =
            [Turn::text("half of").stop(Stop::MaxTokens), Turn::text("").stop(Stop::Refusal)];
        let stand_in = StandIn::start(wire, turns.map(Answer::Turn)).await;
        let reply = ask(&stand_in, wire, &go()).await.0.unwrap();
        assert_eq!(
            (text_of(&reply.blocks).as_str(), reply.finish),
            ("half of", Finish::MaxTokens),
            "{wire:?}"
        );
        if wire != Wire::Ollama {
            let reply = ask(&stand_in, wire, &go()).await.0.unwrap();
            assert!(
                matches!(&reply.finish, Finish::Refusal { reason } if !reason.is_empty()),
                "{wire:?}: {reply:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_blocked_prompt_of_gemini_is_a_refusal_and_a_frame_of_counts_is_nothing() {
    let blocked =
        wires::gemini::frame(&json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}));
    let stand_in = StandIn::start(Wire::Gemini, [Answer::raw(&blocked, Then::End)]).await;
    let reply = ask(&stand_in, Wire::Gemini, &go()).await.0.unwrap();
    assert_eq!(reply.finish, Finish::Refusal { reason: "PROHIBITED_CONTENT".into() });

    let counts = wires::gemini::frame(&json!({"usageMetadata": {"promptTokenCount": 1}}));
    let body = format!("{counts}{}", Turn::text("hello").frames(Wire::Gemini).concat());
    let stand_in = StandIn::start(Wire::Gemini, [Answer::raw(&body, Then::End)]).await;
    let reply = ask(&stand_in, Wire::Gemini, &go()).await.0.unwrap();
    assert_eq!(text_of(&reply.blocks), "hello");
}

#[tokio::test]
async fn arguments_that_are_no_object_are_broken_and_go_back_as_an_empty_one() {
    for wire in WIRES {
        for (raw, stop) in
            [("{\"x\": tru", Stop::Natural), ("[1]", Stop::Natural), ("{\"x\": 1", Stop::MaxTokens)]
        {
            let turn = Turn::calls(&[Call::new("call-a", "s__t", raw)]).stop(stop);
            let stand_in = StandIn::start(wire, [Answer::Turn(turn), Answer::text("sorry")]).await;
            let reply = ask(&stand_in, wire, &go()).await.0.unwrap();
            let one = uses(&reply)[0];
            assert_eq!(
                (&one.input, one.broken_input.as_deref()),
                (&json!({}), Some(raw)),
                "{wire:?}"
            );
            let again = request(answered(&reply, &[("arguments are no JSON", true)]));
            let (reply, _) = ask(&stand_in, wire, &again).await;
            assert_eq!(stand_in.faults(), [""; 0], "{wire:?}");
            assert!(reply.is_ok());
        }
    }
}

#[tokio::test]
async fn a_tool_without_arguments_is_called_with_an_empty_object() {
    for wire in [Wire::Anthropic, Wire::OpenAi, Wire::Responses] {
        let turn = Turn::calls(&[Call::new("call-a", "s__t", "")]);
        let stand_in = StandIn::start(wire, [Answer::Turn(turn)]).await;
        let reply = ask(&stand_in, wire, &go()).await.0.unwrap();
        assert_eq!(
            (&uses(&reply)[0].input, &uses(&reply)[0].broken_input),
            (&json!({}), &None),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn options_reach_the_wire_and_names_stay_whole() {
    let stand_in = StandIn::start(Wire::OpenAi, [Answer::text("a"), Answer::text("b")]).await;
    let mut target = target(Wire::OpenAi, &stand_in.base_url);
    target.model = "qwen-max".into();
    target.max_tokens = Some(77);
    target.temperature = Some(0.25);
    ask_with(target, &go()).await.0.unwrap();
    let body = &stand_in.recorded()[0].body;
    assert_eq!(
        (&body["model"], &body["max_tokens"], &body["temperature"]),
        (&json!("qwen-max"), &json!(77), &json!(0.25))
    );
    assert!(body.get("reasoning_effort").is_none(), "{body}");
}

#[tokio::test]
async fn images_go_out_and_anthropic_is_asked_to_cache() {
    for wire in WIRES {
        let stand_in = StandIn::start(wire, [Answer::text("a cat")]).await;
        let image = Block::Image { mime: "image/png".into(), base64: "aW1hZ2U=".into() };
        let blocks = vec![Block::Text { text: "what is it?".into() }, image];
        let (reply, _) =
            ask(&stand_in, wire, &request(vec![Message { role: Role::User, blocks }])).await;
        assert_eq!(stand_in.faults(), [""; 0]);
        assert!(reply.is_ok());
        let body = stand_in.recorded()[0].body.to_string();
        assert!(body.contains("aW1hZ2U="), "{wire:?}: {body}");
        assert!(body.contains("Be brief."), "{wire:?}: {body}");
        if wire == Wire::Anthropic {
            assert_eq!(body.matches("cache_control").count(), 2, "{body}");
        }
    }
}

/// `tool_choice = "required"`, in the words of each wire; Ollama's has none.
#[tokio::test]
async fn a_call_is_demanded_of_the_first_request_of_a_turn_alone() {
    let demanded = |wire: Wire, body: &serde_json::Value| match wire {
        Wire::OpenAi | Wire::Responses => body["tool_choice"] == json!("required"),
        Wire::Anthropic => body["tool_choice"] == json!({"type": "any"}),
        Wire::Gemini => body["toolConfig"]["functionCallingConfig"]["mode"] == json!("ANY"),
        Wire::Ollama => false,
    };
    for wire in [Wire::OpenAi, Wire::Responses, Wire::Anthropic, Wire::Gemini] {
        let call = Call::new("call-a", "s__t", "{}");
        let stand_in =
            StandIn::start(wire, [Answer::Turn(Turn::calls(&[call])), Answer::text("done")]).await;
        let target =
            Target { tool_choice: ToolChoice::Required, ..target(wire, &stand_in.base_url) };
        let reply = ask_with(target.clone(), &go()).await.0.unwrap();
        let after = request(answered(&reply, &[("fine", false)]));
        assert_eq!(text_of(&ask_with(target, &after).await.0.unwrap().blocks), "done", "{wire:?}");
        let bodies: Vec<bool> =
            stand_in.recorded().iter().map(|one| demanded(wire, &one.body)).collect();
        assert_eq!(bodies, [true, false], "{wire:?}: {:?}", stand_in.recorded());
        assert!(!stand_in.recorded()[1].body.to_string().contains("required\""), "{wire:?}");
    }
}
