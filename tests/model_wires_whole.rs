//! Whole turns of `claw ask` against stand-ins for the Anthropic, OpenAI and Gemini wires: calls,
//! refusals, cut streams, limits, keys that are refused, and conversations that are too long.

use crate::program;
use std::time::{Duration, Instant};

use crate::model_wires_broken::NOBODY_LISTENS;
use crate::program::{House, KEY, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Then, Turn, Wire};
use serde_json::{Value, json};

const THREE: [(Wire, &str); 3] =
    [(Wire::Anthropic, "claude"), (Wire::OpenAi, "openai-compatible"), (Wire::Gemini, "gemini")];

fn house(wire: (Wire, &str), answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let provider = Threaded::start(wire.0, answers);
    (House::at(wire.1, &provider.base_url), provider)
}

/// The texts of the results in a request's body, in their order.
fn results(wire: Wire, body: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let texts = |key: &str, inner: &str, pick: fn(&Value) -> Option<Value>| -> Vec<String> {
        let messages = list(&body[key]);
        let all = messages.iter().flat_map(|message| {
            if inner.is_empty() { vec![message.clone()] } else { list(&message[inner]) }
        });
        all.filter_map(|one| pick(&one)).map(|text| text.to_string()).collect()
    };
    match wire {
        Wire::Anthropic => texts("messages", "content", |block| {
            (block["type"] == "tool_result").then(|| block["content"].clone())
        }),
        Wire::Gemini => texts("contents", "parts", |part| part.get("functionResponse").cloned()),
        _ => texts("messages", "", |message| {
            (message["role"] == "tool").then(|| message["content"].clone())
        }),
    }
}

#[test]
fn two_parallel_calls_of_one_tool_and_one_refused_by_a_rule() {
    for wire in THREE {
        let calls = [
            Call::new("call-1", "filesystem__read_file", r#"{"path":"a.txt"}"#),
            Call::new("call-2", "filesystem__read_file", r#"{"path":"b.txt"}"#),
            Call::new("call-3", "bash__run", r#"{"command":"echo no","needs":"write"}"#),
        ];
        let mut turn = Turn::calls(&calls);
        turn.text = "I look.".into();
        let (house, provider) = house(wire, [Answer::Turn(turn), Answer::text("Both are there.")]);
        house.write(
            "policy.toml",
            "[[rule]]\nserver = \"bash\"\ndecision = \"deny\"\nwhy = \"no shell here\"\n",
        );
        house.write("workspace/a.txt", "alpha");
        house.write("workspace/b.txt", "beta");
        let ran = house.claw(&["ask", "--json", "read both"]).expect(0).json();
        assert_eq!(ran["reply"], "Both are there.", "{wire:?}");
        assert_eq!(provider.faults(), [""; 0], "{wire:?}");
        let kinds: Vec<_> =
            outcomes(&house.events("main")).iter().map(|one| one["kind"].clone()).collect();
        assert_eq!(kinds.iter().filter(|kind| *kind == "ended").count(), 2, "{wire:?}");
        let recorded = provider.recorded();
        assert_eq!(recorded.len(), 2, "{wire:?}");
        let found = results(wire.0, &recorded[1].body);
        assert_eq!(found.len(), 3, "{wire:?}: {}", recorded[1].body);
        for (text, expected) in found.iter().zip(["alpha", "beta", "no shell here"]) {
            assert!(text.contains(expected), "{wire:?}: {found:?}");
        }
        assert_eq!(
            (&ran["usage"]["input_tokens"], &ran["usage"]["cached_tokens"]),
            (&json!(254), &json!(200)),
            "{wire:?}"
        );
        assert_eq!(ran["steps"], 2);
        house.is_whole();
    }
}

#[test]
fn a_call_that_the_owner_refuses_goes_back_in_its_place() {
    for wire in THREE {
        let calls = [
            Call::new("call-1", "filesystem__list_dir", r#"{"path":"."}"#),
            Call::new(
                "call-2",
                "bash__run",
                r#"{"command":"echo one >> effects","needs":"write"}"#,
            ),
            Call::new(
                "call-3",
                "bash__run",
                r#"{"command":"echo two >> effects","needs":"write"}"#,
            ),
        ];
        let (house, provider) =
            house(wire, [Answer::Turn(Turn::calls(&calls)), Answer::text("All right.")]);
        house.claw(&["ask", "go"]).expect(3);
        let open = house.claw(&["approvals", "--json"]).rows();
        let asked = open[0]["list"]["items"].as_array().unwrap();
        assert_eq!((open.len(), asked.len()), (1, 2), "{wire:?}: {open:?}");
        let about = |what: &str| {
            let call = asked.iter().find(|call| call["says"].to_string().contains(what)).unwrap();
            call["approval"].as_str().unwrap().to_owned()
        };
        house.claw(&["approve", &about("two")]).expect(3);
        assert_eq!(
            provider.recorded().len(),
            1,
            "{wire:?}: the model was asked with a call unanswered"
        );
        let done = house.claw(&["deny", &about("one"), "not", "that"]).expect(0);
        assert_eq!(done.out, "All right.\n", "{wire:?}");
        assert_eq!(house.in_workspace("effects"), "two\n");
        assert_eq!(provider.faults(), [""; 0], "{wire:?}");
        let found = results(wire.0, &provider.recorded()[1].body);
        assert!(found.len() == 3 && found[1].contains("not that"), "{wire:?}: {found:?}");
        house.is_whole();
    }
}

#[test]
fn a_history_goes_on_over_many_turns() {
    for wire in THREE {
        let call = |id: &str| {
            Answer::Turn(Turn::calls(&[Call::new(id, "filesystem__list_dir", r#"{"path":"."}"#)]))
        };
        let answers = [
            call("x"),
            Answer::text("the one"),
            call("x"),
            Answer::text("two"),
            Answer::text("three"),
        ];
        let (house, provider) = house(wire, answers);
        for (ask, reply) in [("first", "the one\n"), ("second", "two\n"), ("third", "three\n")] {
            assert_eq!(house.claw(&["ask", ask]).expect(0).out, reply, "{wire:?}");
        }
        assert_eq!(provider.faults(), [""; 0], "{wire:?}");
        let last = provider.recorded().pop().unwrap().body.to_string();
        let places: Vec<_> = ["first", "the one", "second", "two", "third"]
            .iter()
            .map(|word| last.find(&format!("{word}\"")))
            .collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{wire:?}: {places:?} {last}"
        );
        house.is_whole();
    }
}

#[test]
fn a_cut_stream_is_asked_for_again_and_the_reply_is_printed_once() {
    for wire in THREE {
        let whole = Turn::text("The whole reply.").frames(wire.0);
        let cut = whole[..whole.len() - 1].concat();
        let half = &cut[..cut.len() - 3];
        let answers = [
            Answer::raw(&cut, Then::End),
            Answer::raw(half, Then::Reset),
            Answer::text("The whole reply."),
        ];
        let (house, provider) = house(wire, answers);
        let ran = house.claw(&["ask", "go"]).expect(0);
        assert_eq!(ran.out, "The whole reply.\n", "{wire:?}: {ran:?}");
        assert!(!ran.err.contains("The whole reply"), "{wire:?}: {ran:?}");
        assert_eq!(provider.recorded().len(), 3, "{wire:?}");
        let replies =
            house.events("main").iter().filter(|event| event["type"] == "model.reply").count();
        assert_eq!(replies, 1, "{wire:?}");
        house.is_whole();
    }
}

#[test]
fn a_chat_shows_a_repeated_stream_once() {
    let wire = THREE[1];
    let whole = Turn::text("The whole reply.").frames(wire.0);
    let (house, _provider) = house(
        wire,
        [Answer::raw(&whole[..2].concat(), Then::End), Answer::text("The whole reply.")],
    );
    let chat = house.claw_with_stdin(&["chat"], b"go\n").expect(0);
    assert_eq!(chat.out.matches("The whole reply.").count(), 1, "{chat:?}");
}

#[test]
fn a_short_limit_is_waited_for_and_a_long_one_is_told() {
    for wire in THREE {
        let (house, provider) =
            house(wire, [Answer::limited("retry-after", "1"), Answer::text("now")]);
        let began = Instant::now();
        assert_eq!(house.claw(&["ask", "go"]).expect(0).out, "now\n", "{wire:?}");
        assert!(began.elapsed() >= Duration::from_secs(1), "{wire:?}: it did not wait");
        assert_eq!(provider.recorded().len(), 2);

        provider.push(Answer::limited("retry-after", "3600"));
        let hour = || {
            let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
            (now + Duration::from_secs(3600)).strftime("%H:").to_string()
        };
        let before = hour();
        // It waits for no hour: that is longer than a command may take here.
        let ran = house.claw(&["ask", "again"]).expect(4);
        assert!(
            ran.out.is_empty()
                && ran.err.contains("Try again at")
                && [before, hour()].iter().any(|hour| ran.err.contains(hour)),
            "{wire:?}: {ran:?}"
        );
        assert_eq!(provider.recorded().len(), 3, "{wire:?}: it was asked again");

        provider.push(Answer::text("back"));
        assert_eq!(
            house.claw(&["ask", "and now"]).expect(0).out,
            "back\n",
            "{wire:?}: the session did not survive"
        );
        assert_eq!(provider.faults(), [""; 0], "{wire:?}");
        assert!(
            provider.recorded()[3].body.to_string().contains("again"),
            "{wire:?}: a message was lost"
        );
        house.is_whole();
    }
}

#[test]
fn a_refused_key_names_its_setting() {
    for (wire, variable) in
        THREE.into_iter().zip(["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"])
    {
        let body = format!(r#"{{"error":{{"message":"invalid key {KEY}"}}}}"#);
        let (house, provider) = house(wire, [Answer::status(401, &body), Answer::text("fine")]);
        let ran = house.claw(&["ask", "--json", "go"]).expect(4);
        let error = ran.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(variable) && !error.contains(KEY), "{wire:?}: {error}");
        assert_eq!(ran.json()["reply"], Value::Null);
        assert_eq!(provider.recorded().len(), 1, "{wire:?}: it was asked again");
        assert_eq!(house.claw(&["ask", "once more"]).expect(0).out, "fine\n");
        house.is_whole();
    }
}

#[test]
fn a_provider_that_is_away_is_told_and_nothing_is_lost() {
    let house = House::at(THREE[1].1, NOBODY_LISTENS);
    let ran = house.claw(&["ask", "--json", "are you there?"]).expect(4);
    assert!(ran.json()["error"].is_string(), "{ran:?}");
    assert_eq!(program::said(&house.events("main")), ["are you there?"]);
    house.is_whole();
}

fn too_long(wire: Wire) -> Answer {
    let body = match wire {
        Wire::Anthropic => {
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#
        }
        Wire::Gemini => {
            r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}"#
        }
        _ => {
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#
        }
    };
    Answer::status(400, body)
}

/// So much of a request that the next one is shorter without it.
fn old_answer() -> Answer {
    Answer::text(&format!("old answer{}", " and more of it".repeat(600)))
}

#[test]
fn a_conversation_that_is_too_long_is_summarised_once_and_answered() {
    for wire in THREE {
        let answers = [
            old_answer(),
            too_long(wire.0),
            Answer::text("They talked of old things."),
            Answer::text("new answer"),
        ];
        let (house, provider) = house(wire, answers);
        house.claw(&["ask", "old question"]).expect(0);
        let ran = house.claw(&["ask", "new question"]).expect(0);
        assert_eq!(ran.out, "new answer\n", "{wire:?}: {ran:?}");
        assert_eq!(provider.faults(), [""; 0], "{wire:?}");
        let last = provider.recorded()[3].body.to_string();
        assert!(
            last.contains("They talked of old things.") && last.contains("new question"),
            "{wire:?}: {last}"
        );
        assert!(!last.contains("old question"), "{wire:?}: {last}");
        assert!(
            program::said(&house.events("main")).contains(&"old question".to_owned()),
            "the log forgot"
        );
        house.is_whole();
    }
}

#[test]
fn a_summary_that_fails_changes_nothing_but_drops_the_oldest_with_a_notice() {
    let wire = THREE[0];
    let refused = || {
        Answer::status(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#,
        )
    };
    let answers = [old_answer(), too_long(wire.0), refused(), Answer::text("new answer")];
    let (house, provider) = house(wire, answers);
    house.claw(&["ask", "old question"]).expect(0);
    let ran = house.claw(&["ask", "new question"]).expect(0);
    assert_eq!(ran.out, "new answer\n", "{ran:?}");
    assert!(ran.err.contains("could not be summarised"), "{ran:?}");
    assert!(!provider.recorded()[3].body.to_string().contains("old question"));
    house.is_whole();
}

#[test]
fn a_conversation_that_is_too_long_by_itself_ends_with_a_sentence() {
    let wire = THREE[1];
    let (house, provider) = house(wire, [too_long(wire.0), Answer::text("short is fine")]);
    let ran = house.claw(&["ask", "something very long"]).expect(4);
    assert!(ran.err.contains("longer than"), "{ran:?}");
    assert_eq!(house.claw(&["ask", "short"]).expect(0).out, "short is fine\n");
    assert_eq!(provider.faults(), [""; 0]);
    house.is_whole();
}

/// Claw's own tools and the persona are more than the model reads. No summary changes that.
#[test]
fn a_model_that_is_too_small_for_the_tools_is_told_of_and_asked_once_a_turn() {
    let wire = THREE[1];
    let (house, provider) = house(wire, [too_long(wire.0), too_long(wire.0)]);
    for turn in 1..=2 {
        let ran = house.claw(&["ask", "hello"]).expect(4);
        for says in ["longer than model-x", "the smaller part of it", "fewer tool servers"] {
            assert!(ran.err.contains(says), "{says}: {ran:?}");
        }
        for untrue in ["dropped", "summarised", "still sees"] {
            assert!(!ran.err.contains(untrue), "{untrue}: {ran:?}");
        }
        assert_eq!(provider.recorded().len(), turn, "{ran:?}");
    }
    house.is_whole();
}
