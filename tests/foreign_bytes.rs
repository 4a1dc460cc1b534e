//! What comes from outside of claw as bytes, generated: a policy file that somebody has written,
//! and streams of a model. None of it may panic, and neither may be taken for what it is not.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod wires;

use std::time::Duration;

use claw_core::model::genai::{GenaiModel, Target};
use claw_core::model::{Delta, Model as _};
use claw_core::policy::Policy;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use wires::asking::{go, target};
use wires::{Answer, Call, StandIn, Then, Turn, WIRES, Wire};

const EXAMPLE: &str = include_str!("../examples/policy.toml");

/// Loads a text and checks what a person would be told: never a panic, and a line that exists.
fn load(text: &str) -> Result<(), TestCaseError> {
    let Err(error) = Policy::load(Some(text)) else { return Ok(()) };
    let lines = text.split('\n').count();
    prop_assert!(
        error.line.is_some_and(|line| (1..=lines).contains(&line)),
        "{error:?} of {lines} lines: {text:?}"
    );
    prop_assert!(!error.message.trim().is_empty() && !error.next.trim().is_empty(), "{error:?}");
    Ok(())
}

/// A piece of a policy, whole or not.
fn policy_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("[[rule]]\n".to_owned()),
        Just("[classes]\n".to_owned()),
        "(server|tool|why|decision|origin|args\\.command|idempotent|\"a/b\") = ",
        "\"(allow|ask|deny|safe|owner|\\*/|a/b|[(|)*+?\\[\\]{},0-9]{1,8})\"\n",
        "(match|not_match) = \\[\\{ args = \\{ command = \"[a-z]{0,3}\" \\} \\}\\]\n",
        any::<String>(),
        "[\\PC\n\r\t\"'=\\[\\]]{0,12}",
    ]
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_text_as_a_policy_loads_or_names_a_line(pieces in prop::collection::vec(policy_piece(), 0..12)) {
        load(&pieces.concat())?;
    }

    #[test]
    fn a_damaged_policy_loads_or_names_a_line(
        at in any::<prop::sample::Index>(), cut in 0_usize..40, put in "[\\PC\n\"'=\\[\\]{}\\\\]{0,6}",
    ) {
        let chars: Vec<char> = EXAMPLE.chars().collect();
        let at = at.index(chars.len());
        let rest = chars.iter().skip(at + cut);
        load(&chars.iter().take(at).copied().chain(put.chars()).chain(rest.copied()).collect::<String>())?;
    }
}

/// One request, one try: whether it ended in a reply. Everything else has to be an error, and to
/// come soon.
fn is_reply(
    runtime: &tokio::runtime::Runtime,
    wire: Wire,
    body: Vec<u8>,
    then: Then,
) -> Result<bool, TestCaseError> {
    runtime.block_on(async {
        let pieces = body.chunks(64).map(<[u8]>::to_vec).collect();
        let stand_in =
            StandIn::start(wire, [Answer::Raw { pieces, pause: Duration::ZERO, then }]).await;
        let model = GenaiModel::new(target(wire, &stand_in.base_url));
        let asked = tokio::time::timeout(Duration::from_secs(240), async {
            model.reply(&go(), &mut |_| {}).await
        });
        let reply = asked.await.map_err(|_| TestCaseError::fail("no end"))?;
        // What holds no frame is looked at once more, without a message, to say what it is.
        let recorded = stand_in.recorded();
        let said = |body: &serde_json::Value| {
            ["messages", "contents", "input"].iter().any(|key| body[key][0].is_object())
        };
        prop_assert_eq!(recorded.iter().filter(|one| said(&one.body)).count(), 1);
        prop_assert!(recorded.len() <= 2);
        Ok(reply.is_ok())
    })
}

fn runner() -> (TestRunner, tokio::runtime::Runtime) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    (TestRunner::new(Config { cases: 96, failure_persistence: None, ..Config::default() }), runtime)
}

fn whole(wire: Wire) -> Vec<String> {
    let mut turn = Turn::calls(&[Call::new("call-a", "s__t", r#"{"x":12345}"#)]);
    turn.text = "I look".into();
    turn.frames(wire)
}

/// Says that the reply is complete.
fn is_finish(wire: Wire, frame: &str) -> bool {
    let marks: &[&str] = match wire {
        Wire::Anthropic => &["stop_reason\":\"", "message_stop"],
        Wire::OpenAi => &["finish_reason\":\""],
        Wire::Responses => &["response.completed"],
        Wire::Gemini => &["finishReason"],
        Wire::Ollama => &["done\":true", "done_reason"],
    };
    marks.iter().any(|mark| frame.contains(mark))
}

#[test]
fn any_bytes_as_a_stream_are_no_reply() {
    for wire in WIRES {
        let (mut runner, runtime) = runner();
        let line = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..80),
            "data: [\\PC]{0,40}\n\n".prop_map(String::into_bytes),
            "(event|data|id): ?(\\{\"[a-z_]{1,12}\":(null|[0-9]{1,3}|\\[\\]|\\{\\}|\"[a-z]{0,4}\")\\}|\\[DONE\\]|)\r?\n\n?"
                .prop_map(String::into_bytes),
        ];
        let bodies = (prop::collection::vec(line, 0..8), any::<bool>());
        let outcome = runner.run(&bodies, |(lines, reset)| {
            let then = if reset { Then::Reset } else { Then::End };
            prop_assert!(
                !is_reply(&runtime, wire, lines.concat(), then)?,
                "{wire:?}: taken for a reply"
            );
            Ok(())
        });
        assert!(outcome.is_ok(), "{wire:?}: {outcome:?}");
    }
}

#[test]
fn frames_in_any_order_without_a_finish_are_no_reply() {
    for wire in WIRES {
        let (mut runner, runtime) = runner();
        let frames: Vec<String> =
            whole(wire).into_iter().filter(|frame| !is_finish(wire, frame)).collect();
        assert!(frames.len() < whole(wire).len() && !frames.is_empty(), "{wire:?}: {frames:?}");
        assert!(
            is_reply(&runtime, wire, whole(wire).concat().into_bytes(), Then::End).unwrap(),
            "{wire:?}: the whole"
        );
        let piece = prop_oneof![
            4 => prop::sample::select(frames),
            1 => "[\\PC\n:]{0,20}\n\n",
            1 => Just("data: [DONE]\n\n".to_owned()),
        ];
        let outcome = runner.run(&prop::collection::vec(piece, 0..10), |pieces| {
            prop_assert!(
                !is_reply(&runtime, wire, pieces.concat().into_bytes(), Then::End)?,
                "taken for a reply"
            );
            Ok(())
        });
        assert!(outcome.is_ok(), "{wire:?}: {outcome:?}");
    }
}

#[test]
fn a_damaged_stream_ends_one_way_or_the_other() {
    for wire in WIRES {
        let (mut runner, runtime) = runner();
        let body = whole(wire).concat().into_bytes();
        let damage =
            (any::<prop::sample::Index>(), 0_usize..30, prop::collection::vec(any::<u8>(), 0..6));
        let outcome = runner.run(&damage, |(at, cut, put)| {
            let at = at.index(body.len());
            let rest = &body[(at + cut).min(body.len())..];
            is_reply(&runtime, wire, [&body[..at], &put[..], rest].concat(), Then::End).map(|_| ())
        });
        assert!(outcome.is_ok(), "{wire:?}: {outcome:?}");
    }
}

#[test]
fn a_reply_without_an_end_is_cut_off() {
    let (_, runtime) = runner();
    let text = "x".repeat(1 << 20);
    let frame = wires::openai::chunk(serde_json::json!({"content": text}), serde_json::Value::Null);
    let error = runtime.block_on(async {
        let pieces = vec![frame.into_bytes(); 80];
        let stand_in = StandIn::start(
            Wire::OpenAi,
            [Answer::Raw { pieces, pause: Duration::ZERO, then: Then::Silence }],
        )
        .await;
        let target =
            Target { timeout: Duration::from_secs(60), ..target(Wire::OpenAi, &stand_in.base_url) };
        let mut shown = 0;
        let mut count = |delta| {
            if let Delta::Text(piece) = delta {
                shown += piece.len();
            }
        };
        let reply = GenaiModel::new(target).reply(&go(), &mut count).await.map(|_| ());
        (reply, shown)
    });
    assert!(error.0.unwrap_err().to_string().contains("64 MiB"));
    assert!(error.1 <= 65 << 20, "{}", error.1);
}
