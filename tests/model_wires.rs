//! Whole round-trips with stand-ins for the Anthropic, OpenAI, Gemini and Ollama wires: what is sent, what is understood, and
//! what happens when a stream breaks.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails its test")]

mod wires;

use std::sync::Arc;
use std::time::Duration;

use claw::domain::{Block, Finish, Message, Role, ToolSpec, ToolUse, Usage, text_of};
use claw::model::genai::{GenaiModel, Target, Wire as ClawWire};
use claw::model::{Delta, Model, ModelError, Policy, Reply, Request, Retry};
use serde_json::json;

use wires::{Answer, Call, StandIn, Stop, Then, Turn, WIRES, Wire};

const SECRET: &str = "sk-secret-of-the-test";

fn target(wire: Wire, base_url: &str) -> Target {
    let (wire, provider) = match wire {
        Wire::Anthropic => (ClawWire::Anthropic, "claude"),
        Wire::OpenAi => (ClawWire::OpenAi, "openai"),
        Wire::Gemini => (ClawWire::Gemini, "gemini"),
        Wire::Ollama => (ClawWire::Ollama, "ollama"),
    };
    Target {
        wire,
        provider: provider.into(),
        model: "model-x".into(),
        base_url: Target::normal_base_url(wire, base_url).unwrap(),
        api_key: Some(SECRET.to_owned().into()),
        key_setting: "THE_KEY_VARIABLE".into(),
        max_tokens: None,
        temperature: None,
        timeout: Duration::from_secs(5),
    }
}

fn model(target: Target) -> Retry {
    let quick = Policy { backoff_first: Duration::from_millis(1), ..Policy::default() };
    Retry::with_policy(Arc::new(GenaiModel::new(target)), quick)
}

fn request(messages: Vec<Message>) -> Request {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    let tool = ToolSpec { name: "s__t".into(), description: "a tool".into(), input_schema: schema };
    Request { system: "Be brief.".into(), messages, tools: vec![tool] }
}

fn go() -> Request {
    request(vec![Message::user_text("go")])
}

/// What a door would show in the end: a restart voids what came before.
fn shown(deltas: &[Delta]) -> String {
    let mut text = String::new();
    for delta in deltas {
        match delta {
            Delta::Text(piece) => text.push_str(piece),
            Delta::Reasoning(_) => {}
            Delta::Restarted { .. } => text.clear(),
        }
    }
    text
}

fn restarts(deltas: &[Delta]) -> usize {
    deltas.iter().filter(|delta| matches!(delta, Delta::Restarted { .. })).count()
}

async fn ask_with(target: Target, request: &Request) -> (Result<Reply, ModelError>, Vec<Delta>) {
    let mut deltas = Vec::new();
    let reply = model(target).reply(request, &mut |delta| deltas.push(delta)).await;
    if let Err(error) = &reply {
        assert!(!format!("{error:?}").contains(SECRET), "a secret in {error:?}");
    }
    (reply, deltas)
}

async fn ask(stand_in: &StandIn, wire: Wire, request: &Request) -> (Result<Reply, ModelError>, Vec<Delta>) {
    ask_with(target(wire, &stand_in.base_url), request).await
}

fn uses(reply: &Reply) -> Vec<&ToolUse> {
    fn pick(block: &Block) -> Option<&ToolUse> {
        if let Block::ToolUse(one) = block { Some(one) } else { None }
    }
    reply.blocks.iter().filter_map(pick).collect()
}

fn answered(reply: &Reply, contents: &[(&str, bool)]) -> Vec<Message> {
    let results = uses(reply)
        .iter()
        .zip(contents)
        .map(|(one, (content, is_error))| Block::ToolResult {
            use_id: one.id.clone(),
            name: one.name.clone(),
            content: (*content).into(),
            is_error: *is_error,
        })
        .collect();
    vec![
        Message::user_text("go"),
        Message { role: Role::Assistant, blocks: reply.blocks.clone() },
        Message { role: Role::User, blocks: results },
    ]
}

#[tokio::test]
async fn text_streams_and_usage_counts_cached_tokens() {
    for wire in WIRES {
        let stand_in = StandIn::start(wire, [Answer::text("Grüße, 世界")]).await;
        let (reply, deltas) = ask(&stand_in, wire, &go()).await;
        let reply = reply.unwrap_or_else(|error| panic!("{wire:?}: {error} {:?}", stand_in.faults()));
        assert_eq!(text_of(&reply.blocks), "Grüße, 世界", "{wire:?}");
        assert_eq!(shown(&deltas), "Grüße, 世界", "{wire:?}");
        assert!(deltas.len() >= 2, "{wire:?} did not stream: {deltas:?}");
        assert_eq!(reply.finish, Finish::Complete, "{wire:?}");
        let cache_write_tokens = if wire == Wire::Anthropic { 20 } else { 0 };
        let usage = Usage { input_tokens: 127, output_tokens: 30, cached_tokens: 100, cache_write_tokens };
        assert_eq!(reply.usage, usage, "{wire:?}");
        assert_eq!(stand_in.faults(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn two_parallel_calls_of_one_tool_and_one_refused() {
    for wire in WIRES {
        let calls = [Call::new("call-a", "s__t", r#"{"x":1}"#), Call::new("call-b", "s__t", r#"{"x":2}"#)];
        let stand_in = StandIn::start(wire, [Answer::Turn(Turn::calls(&calls)), Answer::text("done")]).await;
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
        let place = |what: &str| body.find(what).unwrap_or_else(|| panic!("{wire:?}: no {what} in {body}"));
        assert!(place("one") < place("denied by the owner") && place("denied by the owner") < place("and hurry"));
        let mark = if wire == Wire::Anthropic { "\"is_error\":true" } else { "Error: denied by the owner" };
        assert!(body.contains(mark), "{wire:?}: the refusal looks like a success: {body}");
    }
}

#[tokio::test]
async fn ids_that_are_repeated_or_missing_are_told_apart() {
    for wire in WIRES {
        for ids in [["same", "same"], ["", ""], ["call#s__t#0", "call#s__t#0"]] {
            let calls = ids.map(|id| Call::new(id, "s__t", r#"{"x":1}"#));
            let stand_in = StandIn::start(wire, [Answer::Turn(Turn::calls(&calls)), Answer::text("done")]).await;
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
            assert!(!body.contains("c2ln"), "{from:?} -> {to:?}: a signature went to a stranger: {body}");
        }
    }
}

/// Two providers may speak one wire; what only one can read still stays with it.
#[tokio::test]
async fn opaque_blocks_go_back_unchanged_to_their_maker_and_to_nobody_else() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "c2lnbmF0dXJl"});
    let text_signature = json!({"type": "text_signature", "signature": "c2lnbmF0dXJl"});
    let reasoning = json!({"type": "reasoning_content", "text": "c2lnbmF0dXJl"});
    for (wire, data) in [(Wire::Anthropic, thinking), (Wire::Gemini, text_signature), (Wire::OpenAi, reasoning)] {
        for own in [true, false] {
            let stand_in = StandIn::start(wire, [Answer::text("fine")]).await;
            let target = target(wire, &stand_in.base_url);
            let provider = if own { target.provider.clone() } else { "somebody-else".to_owned() };
            let blocks = vec![Block::Opaque { provider, data: data.clone() }, Block::Text { text: "so".into() }];
            let assistant = Message { role: Role::Assistant, blocks };
            let messages = vec![Message::user_text("go"), assistant, Message::user_text("on")];
            let (reply, _) = ask_with(target, &request(messages)).await;
            assert_eq!(stand_in.faults(), [""; 0], "{wire:?}");
            assert!(reply.is_ok());
            let body = stand_in.recorded()[0].body.to_string();
            assert_eq!(body.contains("c2lnbmF0dXJl"), own, "{wire:?}: {body}");
        }
    }
}

/// Every place at which a stream can be cut between two frames, and in the middle of each frame.
fn cuts(wire: Wire, turn: &Turn) -> Vec<String> {
    let frames = turn.frames(wire);
    let mut out = vec![String::new()];
    let mut so_far = String::new();
    for frame in &frames {
        let half = frame.char_indices().nth(frame.chars().count() / 2).map_or(0, |(at, _)| at);
        out.push(format!("{so_far}{}", &frame[..half]));
        so_far.push_str(frame);
        out.push(so_far.clone());
    }
    // The whole stream is not cut.
    out.pop();
    out
}

#[tokio::test]
async fn a_stream_cut_anywhere_is_asked_for_again_and_shown_once() {
    for wire in WIRES {
        let mut turn = Turn::calls(&[Call::new("call-a", "s__t", r#"{"x":12345}"#)]);
        turn.text = "I look".into();
        for (index, cut) in cuts(wire, &turn).into_iter().enumerate() {
            let then = if index % 3 == 0 { Then::Reset } else { Then::End };
            let stand_in = StandIn::start(wire, [Answer::raw(&cut, then), Answer::Turn(turn.clone())]).await;
            let (reply, deltas) = ask(&stand_in, wire, &go()).await;
            let reply = reply.unwrap_or_else(|error| panic!("{wire:?} cut {index} ({then:?}): {error}"));
            assert_eq!(stand_in.recorded().len(), 2, "{wire:?}: taken for whole: {cut:?}");
            assert_eq!(shown(&deltas), "I look", "{wire:?} cut {index}: {deltas:?}");
            assert_eq!(uses(&reply)[0].input, json!({"x": 12345}), "{wire:?} cut {index}");
            assert_eq!(reply.finish, Finish::ToolUse, "{wire:?} cut {index}");
            let was_shown = deltas.iter().filter(|d| matches!(d, Delta::Text(t) if t.starts_with("I l"))).count() == 2;
            assert!(restarts(&deltas) == 1 || !was_shown, "{wire:?} cut {index}: {deltas:?}");
        }
    }
}

#[tokio::test]
async fn bytes_may_come_one_by_one() {
    for wire in WIRES {
        let mut turn = Turn::calls(&[Call::new("call-a", "s__t", r#"{"x":"Grüße 世界 🙂"}"#)]);
        turn.text = "äöü 世界 🙂".into();
        let body = turn.frames(wire).concat();
        let whole = body.as_bytes();
        let mut splits: Vec<Vec<Vec<u8>>> = vec![whole.iter().map(|byte| vec![*byte]).collect()];
        splits.extend((1..whole.len()).step_by(7).map(|at| vec![whole[..at].to_vec(), whole[at..].to_vec()]));
        for pieces in splits {
            let answer = Answer::Raw { pieces, pause: Duration::ZERO, then: Then::End };
            let stand_in = StandIn::start(wire, [answer]).await;
            let (reply, deltas) = ask(&stand_in, wire, &go()).await;
            let reply = reply.unwrap();
            assert_eq!(shown(&deltas), "äöü 世界 🙂", "{wire:?}");
            assert_eq!(uses(&reply)[0].input, json!({"x": "Grüße 世界 🙂"}), "{wire:?}");
        }
    }
}

/// A proxy may write CR LF. genai loses an event of Anthropic's when a piece ends between the two; that must be noticed.
#[tokio::test]
async fn a_frame_torn_at_its_line_end_is_never_taken_for_a_whole_reply() {
    let body = Turn::text("hello world").frames(Wire::Anthropic).concat().replace('\n', "\r\n");
    let places = body.match_indices("\r\n").map(|(at, _)| at + 1);
    for at in places {
        let (head, tail) = body.as_bytes().split_at(at);
        let pieces = vec![head.to_vec(), tail.to_vec()];
        let torn = Answer::Raw { pieces, pause: Duration::from_millis(3), then: Then::End };
        let stand_in = StandIn::start(Wire::Anthropic, [torn, Answer::text("hello world")]).await;
        let (reply, deltas) = ask(&stand_in, Wire::Anthropic, &go()).await;
        assert_eq!(text_of(&reply.unwrap().blocks), "hello world", "split at {at}");
        assert_eq!(shown(&deltas), "hello world", "split at {at}");
    }
}

#[tokio::test]
async fn limits_and_overload_are_waited_for() {
    for wire in WIRES {
        let answers = [
            Answer::limited("retry-after", "0"),
            Answer::limited("retry-after-ms", "10"),
            Answer::status(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
            Answer::status(500, "boom"),
            Answer::text("at last"),
        ];
        let stand_in = StandIn::start(wire, answers).await;
        let (reply, deltas) = ask(&stand_in, wire, &go()).await;
        assert_eq!(text_of(&reply.unwrap().blocks), "at last", "{wire:?}");
        assert_eq!(restarts(&deltas), 0, "{wire:?}");
        assert_eq!(stand_in.recorded().len(), 5);

        let stand_in = StandIn::start(wire, [Answer::limited("retry-after", "3600")]).await;
        let (reply, _) = ask(&stand_in, wire, &go()).await;
        let error = reply.unwrap_err();
        let now: jiff::Zoned = "2026-11-21T10:00:00[UTC]".parse().unwrap();
        assert!(error.for_person(now).contains("11:00:00"), "{wire:?}: {error}");
        assert_eq!(stand_in.recorded().len(), 1);
    }
}

#[tokio::test]
async fn an_error_inside_a_stream_is_asked_for_again() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let server_error = "data: {\"error\":{\"message\":\"oops\",\"type\":\"server_error\",\"code\":null}}\n\n";
    let unavailable = "data: {\"error\":{\"code\":503,\"message\":\"oops\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n";
    let cases = [
        (Wire::Anthropic, overloaded),
        (Wire::OpenAi, server_error),
        (Wire::Gemini, unavailable),
        (Wire::Ollama, "{\"error\":\"oops\"}\n"),
    ];
    for (wire, event) in cases {
        let frames = Turn::text("hello").frames(wire);
        // After some of the text.
        let text_at = frames.iter().position(|frame| frame.contains("\"he\"")).unwrap();
        let body = format!("{}{event}", frames[..=text_at].concat());
        let stand_in = StandIn::start(wire, [Answer::raw(&body, Then::End), Answer::text("hello")]).await;
        let (reply, deltas) = ask(&stand_in, wire, &go()).await;
        assert_eq!(text_of(&reply.unwrap().blocks), "hello", "{wire:?}");
        assert_eq!((shown(&deltas).as_str(), restarts(&deltas)), ("hello", 1), "{wire:?}: {deltas:?}");
    }
}

#[tokio::test]
async fn permanent_errors_name_the_setting_and_are_not_repeated() {
    for wire in WIRES {
        for (code, body, words) in [
            (401, format!(r#"{{"error":{{"message":"bad key {SECRET}"}}}}"#), "THE_KEY_VARIABLE"),
            (404, r#"{"error":{"message":"no such model"}}"#.to_owned(), "CLAW_MODEL"),
            (302, String::new(), "CLAW_BASE_URL"),
            (400, r#"{"error":{"message":"bad schema"}}"#.to_owned(), "bad schema"),
        ] {
            let stand_in = StandIn::start(wire, [Answer::status(code, &body)]).await;
            let (reply, _) = ask(&stand_in, wire, &go()).await;
            let error = reply.unwrap_err();
            assert!(matches!(&error, ModelError::Permanent { why } if why.contains(words)), "{wire:?} {code}: {error}");
            assert_eq!(stand_in.recorded().len(), 1, "{wire:?} {code}");
        }
        let long = r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#;
        let stand_in = StandIn::start(wire, [Answer::status(400, long)]).await;
        let (reply, _) = ask(&stand_in, wire, &go()).await;
        assert!(matches!(reply, Err(ModelError::ContextTooLong { .. })), "{wire:?}");
    }
}

#[tokio::test]
async fn a_redirect_never_carries_the_key_away() {
    for wire in WIRES {
        let thief = StandIn::start(wire, [Answer::text("thanks for the key")]).await;
        let elsewhere = vec![("location", thief.base_url.clone())];
        let moved = Answer::Status { code: 307, headers: elsewhere, body: String::new() };
        let stand_in = StandIn::start(wire, [moved]).await;
        assert!(ask(&stand_in, wire, &go()).await.0.is_err());
        assert!(thief.recorded().is_empty(), "{wire:?}");
    }
}

#[tokio::test]
async fn token_limits_and_refusals_are_a_finish() {
    for wire in WIRES {
        let turns = [Turn::text("half of").stop(Stop::MaxTokens), Turn::text("").stop(Stop::Refusal)];
        let stand_in = StandIn::start(wire, turns.map(Answer::Turn)).await;
        let reply = ask(&stand_in, wire, &go()).await.0.unwrap();
        assert_eq!((text_of(&reply.blocks).as_str(), reply.finish), ("half of", Finish::MaxTokens), "{wire:?}");
        if wire != Wire::Ollama {
            let reply = ask(&stand_in, wire, &go()).await.0.unwrap();
            assert!(matches!(&reply.finish, Finish::Refusal { reason } if !reason.is_empty()), "{wire:?}: {reply:?}");
        }
    }
}

#[tokio::test]
async fn a_blocked_prompt_of_gemini_is_a_refusal_and_a_frame_of_counts_is_nothing() {
    let blocked = wires::gemini::frame(&json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}));
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
        for (raw, stop) in [("{\"x\": tru", Stop::Natural), ("[1]", Stop::Natural), ("{\"x\": 1", Stop::MaxTokens)] {
            let turn = Turn::calls(&[Call::new("call-a", "s__t", raw)]).stop(stop);
            let stand_in = StandIn::start(wire, [Answer::Turn(turn), Answer::text("sorry")]).await;
            let reply = ask(&stand_in, wire, &go()).await.0.unwrap();
            let one = uses(&reply)[0];
            assert_eq!((&one.input, one.broken_input.as_deref()), (&json!({}), Some(raw)), "{wire:?}");
            let again = request(answered(&reply, &[("arguments are no JSON", true)]));
            let (reply, _) = ask(&stand_in, wire, &again).await;
            assert_eq!(stand_in.faults(), [""; 0], "{wire:?}");
            assert!(reply.is_ok());
        }
    }
}

#[tokio::test]
async fn a_tool_without_arguments_is_called_with_an_empty_object() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let turn = Turn::calls(&[Call::new("call-a", "s__t", "")]);
        let stand_in = StandIn::start(wire, [Answer::Turn(turn)]).await;
        let reply = ask(&stand_in, wire, &go()).await.0.unwrap();
        assert_eq!((&uses(&reply)[0].input, &uses(&reply)[0].broken_input), (&json!({}), &None), "{wire:?}");
    }
}

#[tokio::test]
async fn silence_is_a_broken_stream_and_heartbeats_are_none() {
    for wire in WIRES {
        let frames = Turn::text("hello").frames(wire);
        let text_at = frames.iter().position(|frame| frame.contains("\"he\"")).unwrap();
        let silent = Answer::raw(&frames[..=text_at].concat(), Then::Silence);
        let stand_in = StandIn::start(wire, [silent, Answer::text("hello")]).await;
        let mut short = target(wire, &stand_in.base_url);
        short.timeout = Duration::from_millis(150);
        let (reply, deltas) = ask_with(short, &go()).await;
        assert_eq!(text_of(&reply.unwrap().blocks), "hello", "{wire:?}");
        assert!(
            deltas.iter().any(|d| matches!(d, Delta::Restarted { why } if why.contains("sent nothing for 0.15 s")))
        );
    }
    // Longer altogether than the limit, never silent for as long.
    let frames = Turn::text("hello").frames(Wire::Anthropic);
    let beat = "event: ping\ndata: {\"type\": \"ping\"}\n\n".to_owned();
    let slow = [vec![frames[0].clone()], vec![beat; 12], frames[1..].to_vec()].concat();
    let pieces = slow.into_iter().map(String::into_bytes).collect();
    let answer = Answer::Raw { pieces, pause: Duration::from_millis(40), then: Then::End };
    let stand_in = StandIn::start(Wire::Anthropic, [answer]).await;
    let mut short = target(Wire::Anthropic, &stand_in.base_url);
    short.timeout = Duration::from_millis(300);
    let (reply, deltas) = ask_with(short, &go()).await;
    assert!(reply.is_ok() && restarts(&deltas) == 0);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut silent = target(Wire::OpenAi, &format!("http://{}", listener.local_addr().unwrap()));
    silent.timeout = Duration::from_millis(60);
    let (reply, _) = ask_with(silent, &go()).await;
    assert!(reply.unwrap_err().to_string().contains("sent nothing"));
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (reply, _) = ask_with(target(Wire::OpenAi, &format!("http://{address}")), &go()).await;
    assert!(reply.unwrap_err().to_string().contains("cannot be reached"));
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
        let (reply, _) = ask(&stand_in, wire, &request(vec![Message { role: Role::User, blocks }])).await;
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
