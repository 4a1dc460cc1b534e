//! Fifty turns over midnight, with recalls, a mode, a new tool and files of the workspace that
//! change: how much of each request is the request before.

use jiff::tz::TimeZone;
use serde_json::json;

use super::tests::tools;
use super::*;
use crate::domain::{Event, ProjectText, PromptTools};
use crate::turn::next::tests::{ended, log, said, started, text};
use crate::turn::project;

const TURNS: usize = 50;
const MINUTE_MS: i64 = 60_000;
/// 2026-11-23 20:00 UTC; a turn every ten minutes goes over midnight.
const BEGAN_MS: i64 = 1_795_464_000_000;

/// The parts in the order in which a provider reads them, each without its end.
fn parts(request: &Request) -> [String; 3] {
    let tools: String = request.tools.iter().map(|tool| json!(tool).to_string()).collect();
    let messages = json!(request.messages).to_string();
    // What is said next goes on in the last message.
    let messages = messages.trim_end_matches(['}', ']']).to_owned();
    [tools, request.system.clone(), messages]
}

/// How many bytes of a request its predecessor begins with. A part may go on where the one before
/// ended (a new tool, new words); behind a part that has changed nothing counts.
fn kept(before: &[String; 3], after: &[String; 3]) -> usize {
    let mut kept = 0;
    for (one, other) in before.iter().zip(after) {
        kept += one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        if !other.starts_with(one.as_str()) {
            break;
        }
    }
    kept
}

/// Per thousand of each request that its predecessor begins with.
fn shares_of_a_day(persona_at: impl Fn(i64) -> Persona) -> Vec<usize> {
    let mut log: Log = log(Vec::new());
    let (mut before, mut shares): (Option<[String; 3]>, Vec<usize>) = (None, Vec::new());
    for turn in 0..TURNS {
        let at_ms = BEGAN_MS + turn as i64 * 10 * MINUTE_MS;
        let mut push = |body: EventBody| -> Event { log.push(at_ms, body) };
        push(started());
        match turn % 7 {
            3 => drop(push(EventBody::TurnContext { text: format!("[mode: edits; git: {turn}]") })),
            5 => drop(push(EventBody::TurnRecalled {
                call: crate::turn::next::tests::id(1, 0),
                text: format!("[from your memory]\n> Note {turn}: {}", "words ".repeat(30)),
                notes: Vec::new(),
                left_out: 0,
            })),
            _ => {}
        }
        let words = format!("Use tabs, version {}.", turn / 20);
        let files = [ProjectText { name: "AGENTS.md", text: words, bytes: 30, is_cut: false }];
        if let Some(event) = project::event(&log, &files, str::to_owned) {
            log.push(at_ms, event);
        }
        log.push(at_ms, said(&format!("Question {turn}: {}", "what ".repeat(20))));
        let persona = persona_at(at_ms);
        let count = if turn < 30 { 25 } else { 26 };
        let zone = TimeZone::UTC;
        let described = Parts {
            persona: &persona,
            instructions: "",
            tools: tools(count),
            tools_account: &std::sync::OnceLock::new(),
            tools_known: PromptTools::default(),
            zone: Some(&zone),
        };
        let now = parts(&pack(&log, described, str::to_owned).request);
        if let Some(before) = &before {
            shares.push(kept(before, &now) * 1000 / now.iter().map(String::len).sum::<usize>());
        }
        before = Some(now);
        log.push(at_ms, text(&"An answer. ".repeat(10)));
        log.push(at_ms, ended());
    }
    shares
}

fn persona() -> Persona {
    Persona::of(&"You are claw, and this is who you are. ".repeat(100), "/w", "linux x86_64")
}

#[test]
fn each_request_of_a_day_begins_with_the_one_before() {
    let shares = shares_of_a_day(|_| persona());
    let least = shares.iter().min().unwrap();
    assert!(*least >= 950, "per thousand: {shares:?}");
}

/// What the test above is for: with a clock in the instructions it would fail.
#[test]
fn a_clock_in_the_instructions_would_be_noticed() {
    let shares = shares_of_a_day(|at_ms| Persona { platform: format!("at {at_ms}"), ..persona() });
    assert!(shares.iter().all(|share| *share < 950), "{shares:?}");
}
