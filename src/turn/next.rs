//! The decision procedure of a turn: log in, step out. Pure and total: no clock, no database, no
//! model; everything that happened is an event. Whoever resumes a turn after a crash asks the same
//! question of the same log.

use std::collections::{HashMap, HashSet};

use super::alike::repeated_replies;
use super::estimate;
use super::log::Log;
use crate::domain::{
    Action, Answer, ApprovalId, Block, CallId, Event, EventBody, Finish, PauseCause, ToolUse,
    TurnEnd,
};

/// How a question is closed by a message of the owner.
const SUPERSEDED: &str = "superseded";
/// What the person is told who did not let the turn go on.
const NOT_TODAY: &str = "The turn does not go on: most of today's budget is used. Write again to be asked again, or tomorrow.";
const NOT_ONCE_MORE: &str = "The turn does not go on: claw ended unexpectedly in it again and again. Write again to start another one.";

/// The limits that the decision needs.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most model replies in one turn.
    pub model_steps_max: u32,
    /// The most estimated tokens in what a model sees.
    pub window_tokens: u64,
    /// How many replies in a row may have the same calls with the same results before the turn is
    /// stopped.
    pub identical_calls_max: u32,
}

/// What to do now.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    AskModel,
    /// Every tool use of the turn that has no answer and does not wait for a human.
    Call(Vec<(CallId, ToolUse)>),
    /// Run these staged actions, which the owner has confirmed, without a model; with or without an
    /// open turn.
    Act(Vec<(CallId, Action)>),
    /// Summarise everything up to and including this event.
    Compact {
        through_seq: u64,
    },
    /// Everything that is unanswered waits for a human: let the turn go.
    Park,
    /// The model has answered: send it and end the turn.
    Deliver,
    /// End the turn for another reason; the runner answers what is unanswered.
    Stop(TurnEnd),
    /// Nothing to do.
    Done,
}

/// The next step of a log.
pub fn next(log: &Log, bounds: &Bounds) -> Step {
    let actions = confirmed(log.events());
    let Some(turn) = log.open_turn() else {
        if !actions.is_empty() {
            return Step::Act(actions);
        }
        return match compaction_wanted(log.events()).then(|| compactable(log)).flatten() {
            Some(through_seq) => Step::Compact { through_seq },
            None => Step::Done,
        };
    };
    if let Some(end) = stopped(turn) {
        return Step::Stop(end);
    }
    // A tap is the owner's own act: it waits for no model and no other question.
    if !actions.is_empty() {
        return Step::Act(actions);
    }
    if let Some(step) = paused(turn) {
        return step;
    }
    if refused(turn) {
        return Step::Deliver;
    }
    let open = unanswered(log.session(), turn);
    if !open.is_empty() {
        let waiting = waiting_for_a_human(turn);
        let ready: Vec<_> = open.into_iter().filter(|(id, _)| !waiting.contains_key(id)).collect();
        return if ready.is_empty() { Step::Park } else { Step::Call(ready) };
    }
    if let Some(step) = after_a_failure(log, turn) {
        return step;
    }
    if answered(turn) {
        return Step::Deliver;
    }
    if let Some(limit) = limit_met(turn, bounds) {
        return Step::Stop(TurnEnd::Limit { text: limit });
    }
    if let Some(text) = too_long(log.session(), turn, bounds) {
        return Step::Stop(TurnEnd::Limit { text });
    }
    let overflow = log.events().iter().map(estimate::of_event).sum::<u64>() > bounds.window_tokens;
    if (overflow || compaction_wanted(log.events()))
        && let Some(through_seq) = compactable(log)
    {
        return Step::Compact { through_seq };
    }
    Step::AskModel
}

/// The tool uses of a turn without a result, in the order in which the model wished for them.
pub fn unanswered(session: &crate::domain::SessionId, turn: &[Event]) -> Vec<(CallId, ToolUse)> {
    let done: HashSet<&CallId> = turn
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolResult { call, .. } => Some(call),
            _ => None,
        })
        .collect();
    let mut open = Vec::new();
    for event in turn {
        let EventBody::ModelReply { blocks, .. } = &event.body else { continue };
        for (index, block) in blocks.iter().enumerate() {
            let Block::ToolUse(tool_use) = block else { continue };
            let id = CallId::Reply {
                session: session.clone(),
                reply_seq: event.seq,
                block: index as u32,
            };
            if !done.contains(&id) {
                open.push((id, tool_use.clone()));
            }
        }
    }
    open
}

/// The calls whose newest question has no answer, with that question.
pub fn waiting_for_a_human(turn: &[Event]) -> HashMap<CallId, ApprovalId> {
    let mut waiting = HashMap::new();
    for event in turn {
        match &event.body {
            EventBody::CallParked { call, approval } => {
                waiting.insert(call.clone(), approval.clone());
            }
            EventBody::CallAnswered { call, approval, .. }
                if waiting.get(call) == Some(approval) =>
            {
                waiting.remove(call);
            }
            _ => {}
        }
    }
    waiting
}

/// The staged actions that were confirmed and have no result, in the order of their answers.
pub fn confirmed(events: &[Event]) -> Vec<(CallId, Action)> {
    let mut open: Vec<(CallId, Action)> = Vec::new();
    for event in events {
        match &event.body {
            EventBody::ActionAnswered {
                call,
                action,
                answer: Some(Answer::Allow { .. } | Answer::Press { .. }),
                ..
            } if !open.iter().any(|(id, _)| id == call) => {
                open.push((call.clone(), action.clone()));
            }
            EventBody::ActionResult { call, .. } => open.retain(|(id, _)| id != call),
            _ => {}
        }
    }
    open
}

fn stopped(turn: &[Event]) -> Option<TurnEnd> {
    turn.iter().find_map(|event| match &event.body {
        EventBody::StopRequested { by } => Some(TurnEnd::Stopped { by: by.clone() }),
        EventBody::LimitReached { text, .. } => Some(TurnEnd::Limit { text: text.clone() }),
        _ => None,
    })
}

/// A question about the turn itself and not about one of its calls: whether it may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    pub call: CallId,
    pub cause: PauseCause,
    /// Whether it goes on; `None` while nobody has answered.
    pub goes_on: Option<bool>,
}

/// The pauses of a turn, in order.
pub fn pauses(turn: &[Event]) -> Vec<Pause> {
    let mut found: Vec<Pause> = Vec::new();
    for event in turn {
        match &event.body {
            EventBody::CallParked { call: call @ CallId::Pause { cause, .. }, .. } => {
                found.push(Pause { call: call.clone(), cause: *cause, goes_on: None });
            }
            EventBody::CallAnswered { call, answer, by, .. } => {
                // A message of the owner is no answer: the turn goes on with it, and asks again if
                // it still has to.
                let goes_on = matches!(answer, Some(Answer::Allow { .. }))
                    || (answer.is_none() && by == SUPERSEDED);
                if let Some(pause) = found.iter_mut().find(|pause| pause.call == *call) {
                    pause.goes_on = Some(goes_on);
                }
            }
            _ => {}
        }
    }
    found
}

/// A turn that waits for leave to go on is parked; without it, it ends.
fn paused(turn: &[Event]) -> Option<Step> {
    pauses(turn).into_iter().find_map(|pause| match pause.goes_on {
        None => Some(Step::Park),
        Some(true) => None,
        Some(false) => {
            let text = match pause.cause {
                PauseCause::Budget => NOT_TODAY,
                PauseCause::Deaths => NOT_ONCE_MORE,
            };
            Some(Step::Stop(TurnEnd::Limit { text: text.to_owned() }))
        }
    })
}

/// A model that failed stops the turn, except that a context that is too long is compacted once.
fn after_a_failure(log: &Log, turn: &[Event]) -> Option<Step> {
    let failed =
        turn.iter().rposition(|event| matches!(event.body, EventBody::ModelFailed { .. }))?;
    let after = turn.get(failed + 1..)?;
    if after.iter().any(|event| moves_on(&event.body)) {
        return None;
    }
    let EventBody::ModelFailed { reason, context_too_long, .. } = &turn.get(failed)?.body else {
        return None;
    };
    let tried = turn.iter().any(|event| is_compaction(&event.body));
    if *context_too_long
        && !tried
        && let Some(through_seq) = compactable(log)
    {
        return Some(Step::Compact { through_seq });
    }
    Some(Step::Stop(TurnEnd::Failed { text: reason.clone() }))
}

fn moves_on(body: &EventBody) -> bool {
    is_compaction(body)
        || matches!(body, EventBody::ModelReply { .. } | EventBody::UserMessage { .. })
}

fn is_compaction(body: &EventBody) -> bool {
    matches!(body, EventBody::Summary { .. } | EventBody::WindowDropped { .. })
}

/// The model refused: what it wished for before it did is not called.
fn refused(turn: &[Event]) -> bool {
    let reply = turn.iter().rev().find(|event| matches!(event.body, EventBody::ModelReply { .. }));
    matches!(
        reply.map(|event| &event.body),
        Some(EventBody::ModelReply { finish: Finish::Refusal { .. }, .. })
    )
}

/// The last word is a reply without tool uses, and nobody has written since.
fn answered(turn: &[Event]) -> bool {
    let last = turn.iter().rev().find(|event| {
        matches!(
            event.body,
            EventBody::ModelReply { .. }
                | EventBody::UserMessage { .. }
                | EventBody::ToolResult { .. }
        )
    });
    match last.map(|event| &event.body) {
        Some(EventBody::ModelReply { blocks, .. }) => {
            !blocks.iter().any(|block| matches!(block, Block::ToolUse(_)))
        }
        _ => false,
    }
}

fn limit_met(turn: &[Event], bounds: &Bounds) -> Option<String> {
    let steps =
        turn.iter().filter(|event| matches!(event.body, EventBody::ModelReply { .. })).count();
    if steps >= bounds.model_steps_max as usize {
        return Some(format!(
            "This turn was stopped after {steps} model steps (limits.model_steps_max). Write again to go on."
        ));
    }
    let repeats = repeated_replies(turn);
    (repeats >= bounds.identical_calls_max as usize).then(|| loop_text(repeats))
}

/// Estimated tokens of what people have written in a turn.
pub fn written_tokens(turn: &[Event]) -> u64 {
    turn.iter()
        .filter(|event| matches!(event.body, EventBody::UserMessage { .. }))
        .map(estimate::of_event)
        .sum()
}

/// Whether what was written in this turn is by itself more than is sent to a model. No summary of
/// what came before could help.
pub fn is_over_the_window(turn: &[Event], bounds: &Bounds) -> bool {
    let asked = turn.iter().any(|event| matches!(event.body, EventBody::ModelReply { .. }));
    !asked && written_tokens(turn) > bounds.window_tokens
}

fn too_long(session: &crate::domain::SessionId, turn: &[Event], bounds: &Bounds) -> Option<String> {
    is_over_the_window(turn, bounds).then(|| {
        let tokens = written_tokens(turn);
        format!(
            "Your message was not sent to the model: it has about {tokens} tokens, more than `limits.window_tokens` allows. Put \
             it into a file of the workspace and ask about that, or send it in parts. Nothing is lost: `claw sessions show \
             {session}` has it."
        )
    })
}

/// What the person is told whose turn goes in circles.
pub(super) fn loop_text(repeats: usize) -> String {
    format!(
        "This turn was stopped: the same call gave the same result {repeats} times in a row \
         (limits.identical_calls_max). Write again to go on."
    )
}

/// Whether `/compact` was asked for and nothing has come of it yet.
fn compaction_wanted(events: &[Event]) -> bool {
    let asked =
        events.iter().rposition(|event| matches!(event.body, EventBody::CompactRequested {}));
    let done = events.iter().rposition(|event| is_compaction(&event.body));
    asked > done
}

/// Up to where the oldest ended turns can be summarised: they make up half of the window, and at
/// least one of them. `None` when no ended turn is in the window.
fn compactable(log: &Log) -> Option<u64> {
    let total: u64 = log.events().iter().map(estimate::of_event).sum();
    let mut seen = 0;
    let mut through = None;
    let boundary = log.events().iter().rev().find_map(|event| match &event.body {
        EventBody::Summary { through_seq, .. } | EventBody::WindowDropped { through_seq, .. } => {
            Some(*through_seq)
        }
        _ => None,
    });
    for event in log.events() {
        seen += estimate::of_event(event);
        if matches!(event.body, EventBody::TurnEnded { .. }) && Some(event.seq) > boundary {
            through = Some(event.seq);
            if seen * 2 >= total {
                break;
            }
        }
    }
    through
}

#[cfg(test)]
pub(crate) mod tests;
