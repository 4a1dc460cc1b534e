//! That a log comes back as it went, and what is said of bytes that are no log.

use proptest::prelude::*;

use super::*;
use crate::domain::{Answer, ApprovalId, PauseCause, Scope, Term};
use crate::turn::next::tests::{
    BOUNDS, acted, confirmed_by_tap, ended, id, parked, pause, result, said, session, started,
    text, uses,
};

fn whole() -> Vec<Event> {
    let bodies = vec![
        started(),
        said("a\u{2028}b"),
        uses(&["1"]),
        result(id(3, 0), "r"),
        text("ok"),
        ended(),
    ];
    bodies.into_iter().zip(1..).map(|(body, seq)| Event { seq, at_ms: 7, body }).collect()
}

fn exported() -> String {
    write(&session(), &whole()).unwrap()
}

/// The same with another digest, as somebody would write it who wants to get past that.
fn with_lines(text: &str, events: usize) -> String {
    let lines = text.split_once('\n').unwrap().1;
    let header = json!({"claw_export": 1, "events": events, "id": "main", "session": "main", "sha256": sha256_hex(lines)});
    format!("{}\n{lines}", canonical_json(&header))
}

#[track_caller]
fn refused(text: &str, line: usize, what: &str) {
    let error = read(text.as_bytes(), &BOUNDS).unwrap_err();
    assert!(error.line == line && error.what.contains(what), "{error}");
}

#[test]
fn a_log_comes_back_as_it_went() {
    let back = read(exported().as_bytes(), &BOUNDS).unwrap();
    assert_eq!((back.session.as_str(), &back.events), ("main", &whole()));
    assert_eq!(write(&back.session, &back.events).unwrap(), exported());
}

/// Of a turn that has asked whether it may go on, and of an action that was run behind it.
fn with_a_pause_and_an_action() -> Vec<Event> {
    let asked = pause(1, PauseCause::Deaths);
    let action = CallId::Action { session: session(), result_seq: 3, index: 2 };
    let allowed = EventBody::CallAnswered {
        call: asked.clone(),
        approval: ApprovalId("q".into()),
        answer: Some(Answer::Allow { term: Term::Once, scope: Scope::Exact }),
        by: "p".into(),
    };
    let bodies = vec![
        started(),
        said("a"),
        parked(asked, "q"),
        allowed,
        text("ok"),
        ended(),
        confirmed_by_tap(action.clone()),
        acted(action, "r"),
    ];
    bodies.into_iter().zip(1..).map(|(body, seq)| Event { seq, at_ms: 7, body }).collect()
}

#[test]
fn an_export_from_before_ids_said_who_made_the_call_means_the_same() {
    let events = with_a_pause_and_an_action();
    let today = write(&session(), &events).unwrap();
    let earlier = |seq: u64, number: u32| {
        format!(r#"{{"block":{number},"reply_seq":{seq},"session":"main"}}"#)
    };
    let before = today
        .replace(r#""main:1:deaths.0""#, &earlier(1, 500))
        .replace(r#""main:3:action.2""#, &earlier(3, 2));
    assert_eq!(before.matches("reply_seq").count(), 4);
    for text in [today, with_lines(&before, 8)] {
        assert_eq!(read(text.as_bytes(), &BOUNDS).unwrap().events, events);
    }
}

#[test]
fn under_another_name_the_name_alone_differs() {
    let name = SessionId::new("copy").unwrap();
    let copy = read(exported().as_bytes(), &BOUNDS).unwrap().renamed(&name);
    let text = write(&name, &copy.events).unwrap();
    assert!(text.contains(r#""session":"copy""#) && !text.contains("main"), "{text}");
    let back = read(text.as_bytes(), &BOUNDS).unwrap().renamed(&session());
    assert_eq!(write(&session(), &back.events).unwrap(), exported());
}

#[test]
fn the_end_of_an_action_goes_along_under_its_new_name() {
    let bodies = [
        started(),
        said("a"),
        text("ok"),
        ended(),
        confirmed_by_tap(id(2, 0)),
        acted(id(2, 0), "r"),
    ];
    let events: Vec<_> =
        bodies.into_iter().zip(1..).map(|(body, seq)| Event { seq, at_ms: 7, body }).collect();
    let name = SessionId::new("copy").unwrap();
    let copy =
        read(write(&session(), &events).unwrap().as_bytes(), &BOUNDS).unwrap().renamed(&name);
    let written = write(&name, &copy.events).unwrap();
    assert!(!written.contains("main") && read(written.as_bytes(), &BOUNDS).is_ok(), "{written}");
}

#[test]
fn what_was_changed_is_found_and_its_line_named() {
    let text = exported();
    refused("", 1, "no header");
    refused("{}", 1, "no header");
    refused(&text.replace("\"claw_export\":1", "\"claw_export\":2"), 1, "version 2");
    refused(&text.replace("\"id\":\"main\",\"session\"", "\"id\":\"x\",\"session\""), 1, "id");
    refused(&text.replace("\"ok\"", "\"no\""), 1, "digest");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    refused(&lines[..6].concat(), 6, "5 events are here, and the header says 6");
    refused(&with_lines(&lines[..6].concat(), 5), 6, "no end");
    refused(&with_lines(&text.replace("\"seq\":3", "\"seq\":4"), 6), 4, "stands where 3");
    refused(&with_lines(&text.replace("\"at_ms\":7", "\"at_ms\": 7"), 6), 2, "not written as");
    refused(&with_lines(&text.replace("turn.started", "turn.stopped"), 6), 2, "unknown variant");
    let other = text.replace(
        "{\"block\":0,\"reply_seq\":3,\"session\":\"main\"}",
        "{\"block\":0,\"reply_seq\":3,\"session\":\"x\"}",
    );
    assert_ne!(other, text);
    refused(&with_lines(&other, 6), 5, "another session");
    // An action that was confirmed and would be run by whoever takes the log in.
    let mut events = whole();
    events.push(Event { seq: 7, at_ms: 7, body: confirmed_by_tap(id(4, 0)) });
    refused(&write(&session(), &events).unwrap(), 8, "would be run here");
    // A turn that never asked the model for what it is said to have answered.
    let events: Vec<_> = [started(), said("a"), ended()]
        .into_iter()
        .zip(1..)
        .map(|(body, seq)| Event { seq, at_ms: 7, body })
        .collect();
    refused(&write(&session(), &events).unwrap(), 4, "next() says AskModel");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused_with_a_line(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let lines = bytes.split(|byte| *byte == b'\n').count();
        let error = read(&bytes, &BOUNDS).unwrap_err();
        prop_assert!((1..=lines + 1).contains(&error.line), "{}", error);
    }

    #[test]
    fn a_damaged_export_is_never_taken_for_a_whole_one(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = exported().into_bytes();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        prop_assume!(bytes != exported().as_bytes());
        let lines = bytes.split(|byte| *byte == b'\n').count();
        let error = read(&bytes, &BOUNDS).unwrap_err();
        prop_assert!((1..=lines + 1).contains(&error.line), "{}", error);
    }

    #[test]
    fn lines_of_json_that_nobody_wrote(fields in proptest::collection::vec(("[a-z_.]{1,9}", "[ -~]{0,9}"), 0..6), count in 0_usize..4) {
        let line = canonical_json(&Value::Object(fields.into_iter().map(|(name, value)| (name, json!(value))).collect()));
        let text = with_lines(&format!("\n{}", format!("{line}\n").repeat(count)), count);
        prop_assert!(read(text.as_bytes(), &BOUNDS).is_err());
    }
}
