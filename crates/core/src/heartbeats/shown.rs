//! A heartbeat in a list of what comes: when next, and what is left of its day. Pure: time and
//! state are given. Must not know who reads it.

use jiff::Timestamp;

use super::{times, words};
use crate::config::Heartbeat;
use crate::store::HeartbeatState;

/// Of the prompt in a line about it, in characters.
const PROMPT_CHARS_MAX: usize = 120;

/// What a person reads of a heartbeat. Plain text, no Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatShown {
    pub name: String,
    /// The beginning of its prompt, on one line.
    pub prompt: String,
    /// `Tuesday 2026-11-24 07:30`, as a clock in its zone shows it. `None`: not within a week.
    pub next: Option<String>,
    pub zone: String,
    /// `at 07:30, Mon Tue`.
    pub when: String,
    pub requests_left: u64,
    pub tokens_left: u64,
    /// What keeps it from its work.
    pub fault: Option<String>,
}

/// `day` is the owner's, by which the budget goes.
pub fn shown(
    heartbeat: &Heartbeat,
    state: HeartbeatState,
    day: &str,
    now: Timestamp,
) -> HeartbeatShown {
    let (requests, tokens) = state.used_on(day);
    let budget = heartbeat.budget;
    let line = heartbeat.prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    let prompt = match line.char_indices().nth(PROMPT_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    };
    HeartbeatShown {
        name: heartbeat.name.clone(),
        prompt,
        next: times::next(heartbeat, now).map(|at| words::local(heartbeat, at)),
        zone: heartbeat.zone.iana_name().unwrap_or("the system's zone").to_owned(),
        when: words::schedule(heartbeat),
        requests_left: budget.requests_day_max.saturating_sub(requests),
        tokens_left: budget.tokens_day_max.saturating_sub(tokens),
        fault: state.fault.or(state.turn_fault),
    }
}

impl HeartbeatShown {
    /// `Tuesday 2026-11-24 07:30 (Europe/Berlin)`.
    pub fn next_in_zone(&self) -> String {
        match &self.next {
            Some(next) => format!("{next} ({})", self.zone),
            None => "not within a week".to_owned(),
        }
    }

    /// What it may still take today.
    pub fn left(&self) -> String {
        let count = |count: u64, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        if self.requests_left == 0 || self.tokens_left == 0 {
            return "stopped for today, its budget is used up".to_owned();
        }
        let (requests, tokens) =
            (count(self.requests_left, "request"), count(self.tokens_left, "token"));
        format!("left today: {requests}, {tokens}")
    }
}
