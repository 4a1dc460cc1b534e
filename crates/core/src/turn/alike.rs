//! Whether a turn goes in circles: replies in a row with the same calls and the same results, but
//! for what varies by itself. Pure. Must not know which limit is kept, or any tool.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::state::{Call, Turn};
use crate::domain::{Outcome, ToolOutput, canonical};

/// What differs although nothing has changed. In order: digests of kept results; moments since 1970
/// with the numbers behind them (the names of kept files); times of day; durations; fields that
/// hold a duration. `None` cannot be: a test compiles it.
static VARIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let kinds = [
        r"\b[0-9a-f]{64}\b",
        r"\b[0-9]{10,}(?:-[0-9]+)*\b",
        r"(?:\b|T)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?(?:\b|Z)",
        r"\b(?:[0-9]+ ?h ?)?(?:[0-9]+ ?m(?:in)? ?)?[0-9]+(?:\.[0-9]+)? ?(?:ns|µs|us|ms|s|secs?|seconds?)\b",
        r#"(?i:\b[a-z_]*(?:duration|elapsed|took|time)[a-z_]*"?\s?[:=]\s?[0-9]+(?:\.[0-9]+)?)"#,
    ];
    Regex::new(&kinds.join("|")).ok()
});

/// How many of the newest replies in a row have the same calls with the same results. Identical
/// calls side by side in one reply are one. A message of the owner begins anew: what the owner
/// repeats is a request.
pub fn repeated_replies(turn: &Turn<'_>) -> usize {
    let calls = turn.newest_replies().map(|reply| turn.calls_of(reply));
    let mut replies = calls.filter(|calls| !calls.is_empty());
    let Some(newest) = replies.next() else { return 0 };
    let Some(seen) = seen(newest) else { return 1 };
    let asked_for = asked_for(newest);
    // Comparing what was asked for is cheap, and mostly tells two replies apart.
    let again = |calls: &&[Call<'_>]| {
        self::asked_for(calls) == asked_for && self::seen(calls).as_ref() == Some(&seen)
    };
    1 + replies.take_while(again).count()
}

fn asked_for(calls: &[Call<'_>]) -> BTreeSet<(String, String)> {
    calls.iter().map(name_and_input).collect()
}

/// The calls of a reply with what came of them, as they are compared. `None` if it is no repetition
/// whatever the others are: a call has no result yet, or waits for something that goes on.
fn seen(calls: &[Call<'_>]) -> Option<BTreeSet<((String, String), String)>> {
    calls.iter().map(|call| Some((name_and_input(call), compared(call.outcome?)?))).collect()
}

fn name_and_input(call: &Call<'_>) -> (String, String) {
    (call.tool_use.name.clone(), canonical::canonical_json(&call.tool_use.input))
}

/// What a model sees of a result, without what varies by itself.
fn compared(outcome: &Outcome) -> Option<String> {
    let (kind, text) = match outcome {
        Outcome::Ended { output } if goes_on(output) => return None,
        Outcome::Ended { output } => {
            let images: Vec<&str> =
                output.images.iter().map(|image| image.digest.as_str()).collect();
            (format!("ended, error {}, images {}", output.is_error, images.join(" ")), &output.text)
        }
        Outcome::Denied { reason, .. } => ("denied".to_owned(), reason),
        Outcome::Unknown { reason } => ("unknown".to_owned(), reason),
        Outcome::Parked { .. } | Outcome::Left => return None,
    };
    Some(format!("{kind}\n{}", without_what_varies(text)))
}

/// `"running": true` in structured content: the call looked at something that goes on, and to look
/// again is to wait.
fn goes_on(output: &ToolOutput) -> bool {
    output.structured.as_ref().and_then(|value| value.get("running")) == Some(&Value::Bool(true))
}

fn without_what_varies(text: &str) -> Cow<'_, str> {
    VARIES.as_ref().map_or(Cow::Borrowed(text), |varies| varies.replace_all(text, "…"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::next::tests::{id, log, result, said, started, uses};
    use super::*;
    use crate::domain::EventBody;

    #[track_caller]
    fn same(one: &str, other: &str) -> bool {
        assert!(VARIES.is_some(), "the expression compiles");
        without_what_varies(one) == without_what_varies(other)
    }

    /// One reply for each of these: the results of its calls, which are all the same call.
    fn repeats(replies: &[&[&str]]) -> usize {
        let mut bodies = vec![started(), said("a")];
        for results in replies {
            let seq = bodies.len() as u64 + 1;
            bodies.push(uses(&vec!["x"; results.len()]));
            bodies.extend((0..).zip(*results).map(|(place, text)| result(id(seq, place), text)));
        }
        repeated_replies(&log(bodies).open_turn().unwrap())
    }

    #[test]
    fn durations_and_moments_vary_by_themselves() {
        for (one, other) in [
            (
                "exit code 1 after 0.02 s\n\nno such file",
                "exit code 1 after 12.31 s\n\nno such file",
            ),
            ("3 failed in 0.12s", "3 failed in 3.4s"),
            ("real\t0m0.003s", "real\t1m10.250s"),
            ("Finished in 0.00123 seconds (5ms)", "Finished in 1 second (35 µs)"),
            ("{\"duration_ms\":34,\"ok\":false}", "{\"duration_ms\":4711,\"ok\":false}"),
            ("2026-11-22T04:44:08.123Z refused", "2026-11-22T04:45:00.001Z refused"),
            (
                "see .claw/output/run-01790000000123-77-4.txt",
                "see .claw/output/run-01790000099123-77-19.txt",
            ),
            (&"a1".repeat(32), &"b2".repeat(32)),
        ] {
            assert!(same(one, other), "{one:?} and {other:?}: {:?}", without_what_varies(one));
        }
    }

    #[test]
    fn everything_else_is_news() {
        for (one, other) in [
            ("exit code 1 after 0.02 s", "exit code 2 after 0.02 s"),
            ("120 of 400 files", "121 of 400 files"),
            ("line 10: x", "line 11: x"),
            ("v1.2.3", "v1.2.4"),
            ("2 sheep", "3 sheep"),
            ("", "a"),
        ] {
            assert!(!same(one, other), "{one:?} and {other:?}: {:?}", without_what_varies(one));
        }
    }

    #[test]
    fn a_reply_counts_once_however_often_it_has_the_same_call() {
        assert_eq!(repeats(&[]), 0);
        assert_eq!(repeats(&[&["r", "r", "r", "r"]]), 1);
        assert_eq!(repeats(&[&["r", "r"], &["r after 1 s", "r after 2 s"]]), 1);
        assert_eq!(
            repeats(&[&["r after 3 s"], &["r after 1 s", "r after 2 s"], &["r after 9 s"]]),
            3
        );
        assert_eq!(repeats(&[&["r"], &["news"], &["r"], &["r"]]), 2);
    }

    #[test]
    fn a_look_at_what_goes_on_is_no_repetition() {
        let look = |running: bool| {
            let output = ToolOutput {
                text: "job 1: no news".into(),
                structured: Some(json!({"running": running})),
                ..ToolOutput::default()
            };
            EventBody::ToolResult { call: id(0, 0), outcome: Box::new(Outcome::Ended { output }) }
        };
        let turn = |running| {
            let mut bodies = vec![started(), said("a")];
            for _ in 0..3 {
                let EventBody::ToolResult { outcome, .. } = look(running) else { unreachable!() };
                let seq = bodies.len() as u64 + 1;
                bodies.extend([uses(&["x"]), EventBody::ToolResult { call: id(seq, 0), outcome }]);
            }
            repeated_replies(&log(bodies).open_turn().unwrap())
        };
        assert_eq!((turn(true), turn(false)), (1, 3));
    }
}
