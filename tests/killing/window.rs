//! Whether a summary kept what it should: every request tells of every message of the conversation,
//! in its own words or in those of a summary. Must not know who asked for one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::findings::Findings;
use super::model::known;

/// What each request tells of. Read once for all sessions, because there are thousands.
pub fn known_in(requests: &[Value]) -> Vec<BTreeSet<String>> {
    requests.iter().map(known).collect()
}

/// `events` of one session, `known` of the requests of all. A conversation ends with `/new`; what
/// was undone may be forgotten.
pub fn judge(events: &[(i64, Value)], known: &[BTreeSet<String>], findings: &mut Findings) {
    let of = |event: &Value| {
        let text = event["blocks"][0]["text"].as_str().unwrap_or_default().to_owned();
        text.split("TASK ")
            .skip(1)
            .filter_map(|rest| rest.split_once(" ["))
            .map(|(name, _)| name.to_owned())
            .next()
    };
    findings.seen.summaries +=
        events.iter().filter(|(_, event)| event["type"] == "summary").count();
    let (mut earlier, mut lost) = (Vec::<String>::new(), BTreeSet::new());
    let undone = |seq: i64| {
        let covers = |event: &Value| {
            let edge = |name: &str| event[name].as_i64().unwrap_or_default();
            event["type"] == "exchange.dropped"
                && (edge("from_seq")..=edge("through_seq")).contains(&seq)
        };
        events.iter().any(|(_, event)| covers(event))
    };
    for (seq, event) in events {
        match event["type"].as_str() {
            Some("session.cleared" | "window.dropped") => earlier.clear(),
            Some("user.message") if !undone(*seq) => {
                let Some(name) = of(event) else { continue };
                // Requests that know this message are of this conversation and come after all that
                // is before it.
                for request in known.iter().filter(|known| known.contains(&name)) {
                    lost.extend(earlier.iter().filter(|one| !request.contains(*one)).cloned());
                }
                earlier.push(name);
            }
            _ => {}
        }
    }
    for name in lost {
        findings.lost.push(format!("the model was not told of the message {name} any more"));
    }
}
