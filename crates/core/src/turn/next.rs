//! The decision procedure of a turn: log in, step out. Pure and total: no clock, no database, no
//! model; everything that happened is an event. Whoever resumes a turn after a crash asks the same
//! question of the same log.

use claw_kit::counted::{counted, grouped};

use super::alike::repeated_replies;
use super::compaction;
use super::log::Log;
use super::state::Turn;
use super::window;
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
    /// From so many tokens in what a model sees on, its oldest part is summarised.
    pub window_tokens: u64,
    /// The same in messages, of persons and of the model; 0 is no limit.
    pub window_messages: u32,
    /// What the model takes at once, in tokens; [`u64::MAX`] where that is not known.
    pub model_tokens: u64,
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
    /// Show these results from head and tail only from here on.
    CutResults {
        calls: Vec<CallId>,
    },
    /// Summarise everything up to and including this event.
    Compact {
        through_seq: u64,
    },
    /// Let a model see nothing any more of everything up to and including this event, but for what
    /// is kept of it without a model.
    Drop {
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
        return compaction::due(log, None, bounds).unwrap_or(Step::Done);
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
    if let Some(step) = after_a_failure(log, &turn, bounds) {
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
    compaction::due(log, Some(&turn), bounds).unwrap_or(Step::AskModel)
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

/// A model that failed stops the turn, except that a context that is too long is made smaller as
/// long as it can be.
fn after_a_failure(log: &Log, turn: &Turn<'_>, bounds: &Bounds) -> Option<Step> {
    let failure = turn.failure.as_ref()?;
    if failure.context_too_long
        && let Some(step) = compaction::after_too_long(log, turn, bounds)
    {
        return Some(step);
    }
    let tools = failure.context_too_long.then(|| tools_too_large(log)).flatten();
    let text = [failure.reason].into_iter().chain(tools.as_deref()).collect::<Vec<_>>().join(" ");
    Some(Step::Stop(TurnEnd::Failed { text }))
}

/// What fills a request that is too long, where that is not what was said.
fn tools_too_large(log: &Log) -> Option<String> {
    let (said, beside) = (window::estimated(log).tokens, compaction::tokens_beside(log));
    let account = log.beside().filter(|_| beside > said)?;
    Some(format!(
        "What was said is the smaller part of it, so `/new` and `/compact` do not help: of about \
         {} tokens the definitions of {} are {}, and the persona with claw's rules {}. Use a model \
         with a larger window, or give this agent fewer tool servers (`servers` in claw.toml); \
         `/status` says what each takes.",
        grouped(said + beside),
        counted(account.tools_count, "tool"),
        grouped(account.tools.tokens),
        grouped(account.persona.tokens + account.rules.tokens)
    ))
}

/// The model refused: what it asked for before that is not called.
fn refused(turn: &Turn<'_>) -> bool {
    turn.replies.last().is_some_and(|reply| matches!(reply.finish, Finish::Refusal { .. }))
}

fn limit_met(turn: &Turn<'_>, bounds: &Bounds) -> Option<String> {
    let steps = turn.steps();
    if steps >= bounds.model_steps_max {
        return Some(format!(
            "This turn was stopped after {} (limits.model_steps_max). Write again to go on.",
            counted(steps, "model step")
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
        format!(
            "Your message was not sent to the model: it has about {} tokens, and at most {} go at \
             once (`limits.window_tokens`, or three quarters of what the model takes, if that is \
             less). Put it into a file of the workspace and ask about that, or send it in parts. \
             Nothing is lost: the log of the session `{session}` has it.",
            grouped(turn.written_tokens()),
            grouped(bounds.window_tokens)
        )
    })
}

/// What the person is told whose turn goes in circles.
pub(super) fn loop_text(repeats: usize) -> String {
    format!(
        "This turn was stopped: the same call gave the same result {} in a row \
         (limits.identical_calls_max). Write again to go on.",
        counted(repeats, "time")
    )
}

#[cfg(test)]
pub(crate) mod tests;
