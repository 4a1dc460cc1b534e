//! Whether a turn goes in circles: replies in a row with the same calls and the same results, but
//! for what varies by itself. Pure. Must not know which limit is kept, or any tool.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::domain::{Block, CallId, Event, EventBody, Outcome, ToolOutput, canonical};

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

type Uses<'a> = Vec<(u32, &'a str, &'a Value)>;
type Results<'a> = HashMap<(u64, u32), &'a Outcome>;

/// How many of the newest replies in a row have the same calls with the same results. Identical
/// calls side by side in one reply are one. A word of the owner begins anew: what the owner repeats
/// is a wish.
pub fn repeated_replies(turn: &[Event]) -> usize {
    let since = turn
        .iter()
        .rposition(|event| matches!(event.body, EventBody::UserMessage { .. }))
        .unwrap_or(0);
    let events = turn.get(since..).unwrap_or_default();
    let mut replies = events.iter().rev().filter_map(uses);
    let Some((newest_seq, newest)) = replies.next() else { return 0 };
    let results = results(events);
    let Some(seen) = seen(newest_seq, &newest, &results) else { return 1 };
    let wished = wished(&newest);
    let again = |(seq, uses): &(u64, Uses<'_>)| {
        // Comparing what was wished for is cheap, and mostly tells two replies apart.
        self::wished(uses) == wished && self::seen(*seq, uses, &results).as_ref() == Some(&seen)
    };
    1 + replies.take_while(again).count()
}

/// The calls of a reply that has some, with their places in it.
fn uses(event: &Event) -> Option<(u64, Uses<'_>)> {
    let EventBody::ModelReply { blocks, .. } = &event.body else { return None };
    let uses: Uses<'_> = (0..)
        .zip(blocks)
        .filter_map(|(place, block)| match block {
            Block::ToolUse(tool_use) => Some((place, tool_use.name.as_str(), &tool_use.input)),
            _ => None,
        })
        .collect();
    (!uses.is_empty()).then_some((event.seq, uses))
}

fn results(events: &[Event]) -> Results<'_> {
    events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolResult { call: CallId::Reply { reply_seq, block, .. }, outcome } => {
                Some(((*reply_seq, *block), outcome))
            }
            _ => None,
        })
        .collect()
}

fn wished(uses: &Uses<'_>) -> BTreeSet<(String, String)> {
    uses.iter()
        .map(|(_, name, input)| ((*name).to_owned(), canonical::canonical_json(input)))
        .collect()
}

/// The calls of a reply with what came of them, as they are compared. `None` if it is no repetition
/// whatever the others are: a call has no result yet, or waits for something that goes on.
fn seen(
    seq: u64,
    uses: &Uses<'_>,
    results: &Results<'_>,
) -> Option<BTreeSet<(String, String, String)>> {
    uses.iter()
        .map(|(place, name, input)| {
            let outcome = results.get(&(seq, *place))?;
            Some(((*name).to_owned(), canonical::canonical_json(input), compared(outcome)?))
        })
        .collect()
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
        Outcome::Parked { .. } => return None,
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
        repeated_replies(log(bodies).open_turn().unwrap())
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
            EventBody::ToolResult { call: id(0, 0), outcome: Outcome::Ended { output } }
        };
        let turn = |running| {
            let mut bodies = vec![started(), said("a")];
            for _ in 0..3 {
                let EventBody::ToolResult { outcome, .. } = look(running) else { unreachable!() };
                let seq = bodies.len() as u64 + 1;
                bodies.extend([uses(&["x"]), EventBody::ToolResult { call: id(seq, 0), outcome }]);
            }
            repeated_replies(log(bodies).open_turn().unwrap())
        };
        assert_eq!((turn(true), turn(false)), (1, 3));
    }
}
