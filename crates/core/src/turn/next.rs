//! The decision procedure of a turn: log in, step out. Pure and total: no clock, no database, no
//! model; everything that happened is an event. Whoever resumes a turn after a crash asks the same
//! question of the same log.

use super::alike::repeated_replies;
use super::estimate;
use super::kinds::{InWindow, meaning};
use super::log::Log;
use super::state::Turn;
use crate::domain::{Action, CallId, Finish, PauseCause, SessionId, ToolUse, TurnEnd};

/// What the person is told who did not let the turn go on.
const NOT_TODAY: &str = "The turn does not go on: most of today's budget is used. Write again to \
    be asked again, or tomorrow.";
const NOT_ONCE_MORE: &str = "The turn does not go on: claw ended unexpectedly in it again and \
    again. Write again to start another one.";

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
    let actions = log.confirmed();
    let Some(turn) = log.open_turn() else {
        if !actions.is_empty() {
            return Step::Act(actions);
        }
        return match log.wants_compaction().then(|| compactable(log)).flatten() {
            Some(through_seq) => Step::Compact { through_seq },
            None => Step::Done,
        };
    };
    if let Some(end) = turn.stop {
        return Step::Stop(end);
    }
    // A tap is the owner's own act: it waits for no model and no other question.
    if !actions.is_empty() {
        return Step::Act(actions);
    }
    if let Some(step) = paused(&turn) {
        return step;
    }
    if refused(&turn) {
        return Step::Deliver;
    }
    let open = turn.unanswered();
    if !open.is_empty() {
        let waits = |id: &CallId| turn.waiting.contains_key(id);
        let ready: Vec<_> = open.into_iter().filter(|(id, _)| !waits(id)).collect();
        return if ready.is_empty() { Step::Park } else { Step::Call(ready) };
    }
    if let Some(step) = after_a_failure(log, &turn) {
        return step;
    }
    if turn.answered {
        return Step::Deliver;
    }
    if let Some(limit) = limit_met(&turn, bounds) {
        return Step::Stop(TurnEnd::Limit { text: limit });
    }
    if let Some(text) = too_long(log.session(), &turn, bounds) {
        return Step::Stop(TurnEnd::Limit { text });
    }
    let overflow = log.events().iter().map(estimate::of_event).sum::<u64>() > bounds.window_tokens;
    if (overflow || log.wants_compaction())
        && let Some(through_seq) = compactable(log)
    {
        return Step::Compact { through_seq };
    }
    Step::AskModel
}

/// A turn that waits for leave to go on is parked; without it, it ends.
fn paused(turn: &Turn<'_>) -> Option<Step> {
    turn.pauses.iter().find_map(|pause| match pause.goes_on {
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
fn after_a_failure(log: &Log, turn: &Turn<'_>) -> Option<Step> {
    let failure = turn.failure.as_ref()?;
    if failure.context_too_long
        && !turn.compacted
        && let Some(through_seq) = compactable(log)
    {
        return Some(Step::Compact { through_seq });
    }
    Some(Step::Stop(TurnEnd::Failed { text: failure.reason.to_owned() }))
}

/// The model refused: what it wished for before it did is not called.
fn refused(turn: &Turn<'_>) -> bool {
    turn.replies.last().is_some_and(|reply| matches!(reply.finish, Finish::Refusal { .. }))
}

fn limit_met(turn: &Turn<'_>, bounds: &Bounds) -> Option<String> {
    let steps = turn.steps();
    if steps >= bounds.model_steps_max {
        return Some(format!(
            "This turn was stopped after {steps} model steps (limits.model_steps_max). Write \
             again to go on."
        ));
    }
    let repeats = repeated_replies(turn);
    (repeats >= bounds.identical_calls_max as usize).then(|| loop_text(repeats))
}

/// Whether what was written in this turn is by itself more than is sent to a model. No summary of
/// what came before could help.
pub fn is_over_the_window(turn: &Turn<'_>, bounds: &Bounds) -> bool {
    turn.replies.is_empty() && turn.written_tokens() > bounds.window_tokens
}

fn too_long(session: &SessionId, turn: &Turn<'_>, bounds: &Bounds) -> Option<String> {
    is_over_the_window(turn, bounds).then(|| {
        let tokens = turn.written_tokens();
        format!(
            "Your message was not sent to the model: it has about {tokens} tokens, more than \
             `limits.window_tokens` allows. Put it into a file of the workspace and ask about \
             that, or send it in parts. Nothing is lost: `claw sessions show {session}` has it."
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

/// Up to where the oldest ended turns can be summarised: they make up half of the window, and at
/// least one of them. `None` when no ended turn is in the window.
fn compactable(log: &Log) -> Option<u64> {
    let total: u64 = log.events().iter().map(estimate::of_event).sum();
    let mut seen = 0;
    let mut through = None;
    let boundary = log.begins_behind();
    for event in log.events() {
        seen += estimate::of_event(event);
        if meaning(event).window == InWindow::TurnEnds && Some(event.seq) > boundary {
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
