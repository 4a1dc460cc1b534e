//! Replays a log: for every prefix of it, `next` must say the step that the event behind it came
//! from. Pure. Must not know where a log is kept, or how a difference is shown.
//!
//! What a log holds is of two kinds. **Inputs** come from outside and are never compared: messages,
//! answers, stops, orders, and limits that need a clock or a count over other sessions
//! (`limit.reached`). **Steps** are what the runner writes because `next` told it to; each of them
//! is compared.

use super::alike::repeated_replies;
use super::cut;
use super::kinds::{Written, of_body};
use super::log::Log;
use super::next::{Bounds, Step, loop_text, next};
use super::state::{Call, Turn};
use crate::domain::{CallId, Event, EventBody, PauseCause, SessionId, TurnEnd};

/// Limits that no turn meets.
const NONE_MET: Bounds = Bounds {
    model_steps_max: u32::MAX,
    window_tokens: u64::MAX,
    window_messages: 0,
    model_tokens: u64::MAX,
    identical_calls_max: u32::MAX,
};

/// What came of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replayed {
    /// How many events were looked at, up to and including the first that differs.
    pub events: u64,
    /// How many of them were steps, and so compared.
    pub steps: u64,
    /// How many of these `next` says only under other limits than today's: `claw.toml` was changed
    /// since, or the way in which a loop is counted.
    pub other_limits: u64,
    pub difference: Option<Difference>,
}

/// The first event that is not what `next` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub seq: u64,
    /// What `next` says of everything before that event.
    pub next: Step,
    /// What stands in the log.
    pub stands: EventBody,
}

/// Replays the whole log of a session, from its first event on.
pub fn replay(session: &SessionId, events: Vec<Event>, bounds: &Bounds) -> Replayed {
    let mut log = Log::new(session.clone(), Vec::new(), 0);
    let mut replayed = Replayed::default();
    for event in events {
        replayed.events += 1;
        if of_body(&event.body).written != Written::Input {
            replayed.steps += 1;
            let step = next(&log, bounds);
            if !leads_to(&log, &step, &event.body) {
                let other = other_limits(&log)
                    .iter()
                    .any(|other| leads_to(&log, &next(&log, other), &event.body));
                if !other && !old_loop(&log, &event.body) && !is_old_compaction(&event.body) {
                    replayed.difference =
                        Some(Difference { seq: event.seq, next: step, stands: event.body });
                    return replayed;
                }
                replayed.other_limits += 1;
            }
        }
        log.follow(event);
    }
    replayed
}

/// Whether the runner writes such an event when it does this step.
fn leads_to(log: &Log, step: &Step, body: &EventBody) -> bool {
    if of_body(body).written == Written::AskingTheModel {
        return *step == Step::AskModel;
    }
    match (body, step) {
        // Whether the turn itself may go on depends on what the day has taken, in all sessions; it
        // is asked before the model is.
        (EventBody::CallParked { call: CallId::Pause { turn_seq, .. }, .. }, Step::AskModel) => {
            is_of_open_turn(log, *turn_seq)
        }
        // So does whether the process has died over the step again and again; that is asked before
        // any step.
        (
            EventBody::CallParked {
                call: CallId::Pause { turn_seq, cause: PauseCause::Deaths, .. },
                ..
            },
            Step::Call(_) | Step::CutResults { .. } | Step::Compact { .. } | Step::Drop { .. },
        ) => is_of_open_turn(log, *turn_seq),
        (
            EventBody::CallParked { call, .. } | EventBody::ToolResult { call, .. },
            Step::Call(uses),
        ) => uses.iter().any(|(id, _)| id == call),
        // A stop answers what was confirmed and has not run.
        (EventBody::ActionResult { call, .. }, Step::Act(_) | Step::Stop(_)) => {
            log.confirmed().iter().any(|(id, _)| id == call)
        }
        // The end of a turn answers what is unanswered.
        (EventBody::ToolResult { call, .. }, Step::Stop(_) | Step::Deliver) => {
            has_open_call(log, call)
        }
        (EventBody::Summary { through_seq, .. }, Step::Compact { through_seq: wanted }) => {
            through_seq == wanted
        }
        (EventBody::CompactionFailed { .. }, Step::CutResults { .. } | Step::Compact { .. }) => {
            true
        }
        (EventBody::WindowDropped { through_seq, .. }, Step::Drop { through_seq: wanted }) => {
            through_seq == wanted
        }
        (EventBody::ResultsCut { cut, .. }, Step::CutResults { calls }) => {
            let named: Vec<_> = cut.iter().map(|one| (one.reply_seq, one.block)).collect();
            calls.iter().filter_map(cut::key).eq(named)
        }
        (EventBody::TurnEnded { end: TurnEnd::Answered }, Step::Deliver) => !has_open_calls(log),
        (EventBody::TurnEnded { end }, Step::Stop(wanted)) => end == wanted && !has_open_calls(log),
        _ => false,
    }
}

fn is_of_open_turn(log: &Log, turn_seq: u64) -> bool {
    log.open_turn().is_some_and(|turn| turn.seq == turn_seq)
}

/// Whether the window was made smaller in the way in which that was decided before results were
/// cut: by the oldest half, and with a drop as soon as a summary failed.
fn is_old_compaction(body: &EventBody) -> bool {
    match body {
        EventBody::Summary { made, .. } | EventBody::WindowDropped { made, .. } => {
            made.is_unknown()
        }
        _ => false,
    }
}

/// Whether this turn was stopped as a loop in the way in which results were counted before replies
/// were: each by itself, and with what varies in it.
fn old_loop(log: &Log, body: &EventBody) -> bool {
    let EventBody::TurnEnded { end: TurnEnd::Limit { text } } = body else { return false };
    // Where no limit is met the model would be asked, and that is where a loop was looked for.
    let asks = |step| {
        matches!(
            step,
            Step::AskModel | Step::CutResults { .. } | Step::Compact { .. } | Step::Drop { .. }
        )
    };
    asks(next(log, &NONE_MET))
        && *text == loop_text(log.open_turn().as_ref().map_or(0, same_results))
}

/// How many of the newest results in a row are the same call with exactly the same outcome.
fn same_results(turn: &Turn<'_>) -> usize {
    let since = turn.messages.last().map_or(0, |message| message.seq);
    let newest_first = turn.results.iter().rev().take_while(|ended| ended.seq > since);
    let mut results =
        newest_first.filter_map(|ended| Some((asked_for(turn, ended.call)?, ended.outcome)));
    let Some(newest) = results.next() else { return 0 };
    1 + results.take_while(|other| *other == newest).count()
}

fn asked_for<'a>(turn: &Turn<'a>, call: &CallId) -> Option<(&'a str, &'a serde_json::Value)> {
    let known = turn.calls.iter().find(|known| known.id == *call)?;
    Some((&known.tool_use.name, &known.tool_use.input))
}

fn has_open_call(log: &Log, call: &CallId) -> bool {
    let open = |known: &Call<'_>| known.id == *call && known.outcome.is_none();
    log.open_turn().is_some_and(|turn| turn.calls.iter().any(open))
}

fn has_open_calls(log: &Log) -> bool {
    log.open_turn().is_some_and(|turn| turn.calls.iter().any(|call| call.outcome.is_none()))
}

/// The limits are settings, so they are an input too, and one that the log does not hold. These are
/// the limits under which `next` can come to anything else than under today's: none of them met, or
/// exactly one.
fn other_limits(log: &Log) -> [Bounds; 5] {
    let turn = log.open_turn().unwrap_or_else(|| Turn::new(log.session()));
    let none_met = NONE_MET;
    [
        none_met,
        Bounds { model_steps_max: turn.steps().max(1), ..none_met },
        Bounds { identical_calls_max: (repeated_replies(&turn) as u32).max(1), ..none_met },
        Bounds { window_tokens: 0, ..none_met },
        // The whole is too much, and what was written last is not.
        Bounds { window_tokens: turn.written_tokens(), ..none_met },
    ]
}

impl Difference {
    /// One sentence: event number, what `next` says, what stands in the log.
    pub fn sentence(&self) -> String {
        format!(
            "event {} is {}, where next() says {}",
            self.seq,
            event_words(&self.stands),
            step_words(&self.next)
        )
    }
}

fn event_words(body: &EventBody) -> String {
    let kind = kind_of(body);
    match body {
        EventBody::CallParked { call, .. }
        | EventBody::ToolResult { call, .. }
        | EventBody::ActionResult { call, .. } => format!("{kind} of {call}"),
        EventBody::Summary { through_seq, .. } | EventBody::WindowDropped { through_seq, .. } => {
            format!("{kind} through event {through_seq}")
        }
        EventBody::TurnEnded { end } => format!("{kind} ({})", end_words(end)),
        _ => kind,
    }
}

/// The name under which an event is stored.
pub fn kind_of(body: &EventBody) -> String {
    let stored = serde_json::to_value(body).unwrap_or_default();
    stored.get("type").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

fn step_words(step: &Step) -> String {
    match step {
        Step::AskModel => "AskModel".to_owned(),
        Step::Call(uses) => {
            format!(
                "Call({})",
                uses.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>().join(", ")
            )
        }
        Step::Act(actions) => {
            format!(
                "Act({})",
                actions.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>().join(", ")
            )
        }
        Step::CutResults { calls } => {
            let calls: Vec<String> = calls.iter().map(ToString::to_string).collect();
            format!("CutResults({})", calls.join(", "))
        }
        Step::Compact { through_seq } => format!("Compact through event {through_seq}"),
        Step::Drop { through_seq } => format!("Drop through event {through_seq}"),
        Step::Park => "Park".to_owned(),
        Step::Deliver => "Deliver".to_owned(),
        Step::Stop(end) => format!("Stop({})", end_words(end)),
        Step::Done => "Done".to_owned(),
    }
}

fn end_words(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Answered => "answered".to_owned(),
        TurnEnd::Stopped { by } => format!("stopped by {by}"),
        TurnEnd::Limit { text } => format!("limit: {text}"),
        TurnEnd::Failed { text } => format!("failed: {text}"),
    }
}

#[cfg(test)]
mod tests;
