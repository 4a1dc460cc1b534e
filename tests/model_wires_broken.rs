//! Round-trips that go wrong: cut, torn, slow and silent streams, refusals by status, redirects.

use std::time::Duration;

use claw_core::domain::{Finish, text_of};
use claw_core::model::{Delta, ModelError};
use serde_json::json;

use crate::wires::asking::*;
use crate::wires::{Answer, Call, StandIn, Then, Turn, WIRES, Wire};

/// No test is given port 1. A port that was free a moment ago may be that of another test.
pub const NOBODY_LISTENS: &str = "http://127.0.0.1:1";

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
            let stand_in =
                StandIn::start(wire, [Answer::raw(&cut, then), Answer::Turn(turn.clone())]).await;
            let (reply, deltas) = ask(&stand_in, wire, &go()).await;
            let reply =
                reply.unwrap_or_else(|error| panic!("{wire:?} cut {index} ({then:?}): {error}"));
            assert_eq!(stand_in.recorded().len(), 2, "{wire:?}: taken for whole: {cut:?}");
            assert_eq!(shown(&deltas), "I look", "{wire:?} cut {index}: {deltas:?}");
            assert_eq!(uses(&reply)[0].input, json!({"x": 12345}), "{wire:?} cut {index}");
            assert_eq!(reply.finish, Finish::ToolUse, "{wire:?} cut {index}");
            let was_shown = deltas
                .iter()
                .filter(|d| matches!(d, Delta::Text(t) if t.starts_with("I l")))
                .count()
                == 2;
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
        splits.extend(
            (1..whole.len()).step_by(7).map(|at| vec![whole[..at].to_vec(), whole[at..].to_vec()]),
        );
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

/// A proxy may write CR LF. genai loses an event of Anthropic's when a piece ends between the two;
/// that must be noticed.
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
        // The relay hands on whole events with LF alone, so nothing has to be asked for again.
        assert!(cfg!(not(target_os = "linux")) || restarts(&deltas) == 0, "split at {at}");
    }
}

#[tokio::test]
async fn limits_and_overload_are_waited_for() {
    for wire in WIRES {
        let answers = [
            Answer::limited("retry-after", "0"),
            Answer::limited("retry-after-ms", "10"),
            Answer::status(
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ),
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
    let server_error =
        "data: {\"error\":{\"message\":\"oops\",\"type\":\"server_error\",\"code\":null}}\n\n";
    let event = "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"oops\",\"param\":null}\n\n";
    let failed = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"status\":\"failed\",\"model\":\"m\",\"error\":{\"code\":\"server_error\",\"message\":\"oops\"}}}\n\n";
    let unavailable =
        "data: {\"error\":{\"code\":503,\"message\":\"oops\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n";
    let cases = [
        (Wire::Anthropic, overloaded),
        (Wire::OpenAi, server_error),
        (Wire::Responses, event),
        (Wire::Responses, failed),
        (Wire::Gemini, unavailable),
        (Wire::Ollama, "{\"error\":\"oops\"}\n"),
    ];
    for (wire, event) in cases {
        let frames = Turn::text("hello").frames(wire);
        // After some of the text.
        let text_at = frames.iter().position(|frame| frame.contains("\"he\"")).unwrap();
        let body = format!("{}{event}", frames[..=text_at].concat());
        let stand_in =
            StandIn::start(wire, [Answer::raw(&body, Then::End), Answer::text("hello")]).await;
        let (reply, deltas) = ask(&stand_in, wire, &go()).await;
        assert_eq!(text_of(&reply.unwrap().blocks), "hello", "{wire:?}");
        assert_eq!(
            (shown(&deltas).as_str(), restarts(&deltas)),
            ("hello", 1),
            "{wire:?}: {deltas:?}"
        );
    }
}

#[tokio::test]
async fn permanent_errors_name_the_setting_and_are_not_repeated() {
    for wire in WIRES {
        for (code, body, words) in [
            (401, format!(r#"{{"error":{{"message":"bad key {SECRET}"}}}}"#), "THE_KEY_VARIABLE"),
            (404, r#"{"error":{"message":"no such model"}}"#.to_owned(), "THE_MODEL_SETTING"),
            (302, String::new(), "THE_ADDRESS_SETTING"),
            (400, r#"{"error":{"message":"bad schema"}}"#.to_owned(), "bad schema"),
        ] {
            let stand_in = StandIn::start(wire, [Answer::status(code, &body)]).await;
            let (reply, _) = ask(&stand_in, wire, &go()).await;
            let error = reply.unwrap_err();
            assert!(
                matches!(&error, ModelError::Permanent { why } | ModelError::KeyRefused { why } if why.contains(words)),
                "{wire:?} {code}: {error}"
            );
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
async fn silence_is_a_broken_stream_and_heartbeats_are_none() {
    for wire in WIRES {
        let frames = Turn::text("hello").frames(wire);
        let text_at = frames.iter().position(|frame| frame.contains("\"he\"")).unwrap();
        let silent = Answer::raw(&frames[..=text_at].concat(), Then::Silence);
        // One more for each time that a busy machine is silent for as long by itself.
        let answers = [vec![silent], vec![Answer::text("hello"); 4]].concat();
        let stand_in = StandIn::start(wire, answers).await;
        let mut short = target(wire, &stand_in.base_url);
        // Until the first words, too, so a busy machine needs some of it.
        short.timeout = Duration::from_secs(1);
        let (reply, deltas) = ask_with(short, &go()).await;
        assert_eq!(text_of(&reply.unwrap().blocks), "hello", "{wire:?}");
        assert!(deltas.iter().any(
            |d| matches!(d, Delta::Restarted { why } if why.contains("sent nothing for 1 s"))
        ));
    }
    // Longer altogether than the limit, never silent for as long.
    let frames = Turn::text("hello").frames(Wire::Anthropic);
    let beat = "event: ping\ndata: {\"type\": \"ping\"}\n\n".to_owned();
    let slow = [vec![frames[0].clone()], vec![beat; 12], frames[1..].to_vec()].concat();
    let pieces = slow.into_iter().map(String::into_bytes).collect();
    let answer = Answer::Raw { pieces, pause: Duration::from_millis(600), then: Then::End };
    let stand_in = StandIn::start(Wire::Anthropic, [answer]).await;
    let mut short = target(Wire::Anthropic, &stand_in.base_url);
    short.timeout = Duration::from_secs(7);
    let (reply, deltas) = ask_with(short, &go()).await;
    assert!(reply.is_ok() && restarts(&deltas) == 0);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut silent = target(Wire::OpenAi, &format!("http://{}", listener.local_addr().unwrap()));
    silent.timeout = Duration::from_secs(2);
    let (reply, _) = ask_with(silent, &go()).await;
    assert!(reply.unwrap_err().to_string().contains("sent nothing"));
    let (reply, _) = ask_with(target(Wire::OpenAi, NOBODY_LISTENS), &go()).await;
    assert!(reply.unwrap_err().to_string().contains("cannot be reached"));
}
