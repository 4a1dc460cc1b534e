//! When a window is made smaller, and by which step: results cut in place, the oldest turns
//! summarised, or dropped where nothing else is left. Pure, and read from the log alone: the newest
//! event says what time it is. Must not know how a summary is written.

use super::counted::Ratio;
use super::cut;
use super::kinds::CompactionRequest;
use super::log::Log;
use super::next::{Bounds, Step};
use super::state::Turn;
use super::totals::EndedTurn;
use super::window::{self, Size};
use crate::domain::{EventBody, PromptAccount, UnixMillis};

/// A compaction that leaves more than this has to go on, in percent of the window before it.
pub const LEFT_PERCENT_MAX: u64 = 60;
/// Ended turns that stay beside a summary, in percent of the window before it.
const TURNS_KEPT_PERCENT: u64 = 25;
/// Results are cut when that spares at least this part of the window, in percent.
const CUT_PERCENT_MIN: u64 = 10;
/// Room is made when that spares at least this part of the request, in percent: what a provider
/// does not take because of its tools becomes no shorter by a summary.
const SPARED_PERCENT_MIN: u64 = 5;
/// So often a model is asked for a summary of one session in an hour.
pub const ASKED_PER_HOUR_MAX: usize = 3;
const HOUR_MS: i64 = 60 * 60 * 1000;
/// A model works at the results of its newest replies.
const REPLIES_KEPT: usize = 2;

/// The step of a compaction that is due now, if one is. Without an open turn only one that was
/// requested is.
pub(super) fn due(log: &Log, turn: Option<&Turn<'_>>, bounds: &Bounds) -> Option<Step> {
    let newest = newest_in_a_row(log);
    if let Some(step) = too_little(log, newest, bounds) {
        return Some(step);
    }
    let request = log.requested_compaction();
    if request.is_none() && turn.is_none() {
        return None;
    }
    let size = window::size(log);
    let room = window::room(log, bounds);
    let (is_full, is_cut) = (is_full(size, room, bounds), newest.is_some_and(is_cut_too_little));
    if request.is_none() && !is_full && !is_cut {
        return None;
    }
    let tried = turn.is_some_and(|turn| turn.compacted || turn.compaction_failed);
    let may_ask = !(tried && request.is_none()) && may_ask(log);
    let through = boundary(log, bounds, request);
    let summarises = through.filter(|_| may_ask);
    // A result that is cut is still a message.
    let is_long = request.is_some() || size.tokens > room;
    if newest.is_none() && is_long {
        let kept = if summarises.is_some() { REPLIES_KEPT } else { 1 };
        if let Some(step) = cuts(log, turn, kept, size) {
            return Some(step);
        }
    }
    match (summarises, through) {
        (Some(through_seq), _) => Some(Step::Compact { through_seq }),
        (None, Some(through_seq)) if size.tokens > hard(room) => Some(Step::Drop { through_seq }),
        _ => None,
    }
}

/// What makes room when the provider says that it is asked with too much.
pub(super) fn after_too_long(log: &Log, turn: &Turn<'_>, bounds: &Bounds) -> Option<Step> {
    if let Some(step) = cuts(log, Some(turn), 1, window::size(log)) {
        return Some(step);
    }
    let through_seq = boundary(log, bounds, Some(CompactionRequest::Asked))?;
    let ended = log.totals().ended.iter().find(|turn| turn.seq == through_seq)?;
    let request = window::estimated(log).tokens + tokens_beside(log);
    if ended.through.tokens * 100 < request * SPARED_PERCENT_MIN {
        return None;
    }
    if turn.compacted || turn.compaction_failed || !may_ask(log) {
        return Some(Step::Drop { through_seq });
    }
    Some(Step::Compact { through_seq })
}

/// Estimated tokens of what stood beside the conversation when a model was asked last.
pub(super) fn tokens_beside(log: &Log) -> u64 {
    log.beside().map_or(0, PromptAccount::tokens)
}

/// Whether a model may be asked for a summary once more in this hour.
pub fn may_ask(log: &Log) -> bool {
    asked_in_the_hour(log).len() < ASKED_PER_HOUR_MAX
}

/// When a model was asked within the hour before the newest event.
pub fn asked_in_the_hour(log: &Log) -> Vec<UnixMillis> {
    let now = log.events().last().map_or(0, |event| event.at_ms);
    let recent = |at: &&UnixMillis| now - **at < HOUR_MS;
    log.summaries_asked_ms().iter().filter(recent).copied().collect()
}

/// The newest ended turn's end, if it is in the window.
pub fn last_ended_turn(log: &Log) -> Option<u64> {
    log.totals().ended.last().map(|turn| turn.seq)
}

/// What a window may grow to while no summary can be had. With more, its oldest part is dropped.
fn hard(room: u64) -> u64 {
    room.saturating_add(room / 3)
}

fn is_full(size: Size, room: u64, bounds: &Bounds) -> bool {
    let messages = u64::from(bounds.window_messages);
    size.tokens > room || (messages > 0 && size.messages > messages)
}

/// The last step of a compaction that has just been made: no model was asked since.
fn newest_in_a_row(log: &Log) -> Option<&EventBody> {
    let bodies = log.events().iter().rev().map(|event| &event.body);
    let mut bodies = bodies.take_while(|body| {
        !matches!(
            body,
            EventBody::ModelReply { .. }
                | EventBody::ModelFailed { .. }
                | EventBody::TurnEnded { .. }
                | EventBody::CompactRequested { .. }
                | EventBody::WindowIdle { .. }
        )
    });
    bodies.find(|body| {
        matches!(
            body,
            EventBody::ResultsCut { .. }
                | EventBody::Summary { .. }
                | EventBody::WindowDropped { .. }
                | EventBody::CompactionFailed { .. }
        )
    })
}

fn leaves_too_much(before_tokens: u64, after_tokens: u64) -> bool {
    after_tokens * 100 > before_tokens * LEFT_PERCENT_MAX
}

fn is_cut_too_little(newest: &EventBody) -> bool {
    matches!(newest, EventBody::ResultsCut { before_tokens, after_tokens, .. }
        if leaves_too_much(*before_tokens, *after_tokens))
}

/// A summary that makes no room is followed by the drop of what ended turns are left. A small
/// window, which somebody has had summarised, needs no room.
fn too_little(log: &Log, newest: Option<&EventBody>, bounds: &Bounds) -> Option<Step> {
    let Some(EventBody::Summary { made, .. }) = newest else { return None };
    let is_large = made.before_tokens > window::room(log, bounds) / 2;
    let drops = is_large && leaves_too_much(made.before_tokens, made.after_tokens);
    drops.then(|| last_ended_turn(log)).flatten().map(|through_seq| Step::Drop { through_seq })
}

fn cuts(log: &Log, turn: Option<&Turn<'_>>, replies_kept: usize, size: Size) -> Option<Step> {
    let (calls, spared_bytes) = cut::candidates(log, turn, replies_kept);
    let spared = Ratio::of(log).of_tokens(spared_bytes / 4);
    let enough = spared * 100 >= size.tokens * CUT_PERCENT_MIN;
    (enough && !calls.is_empty())
        .then(|| Step::CutResults { calls: calls.into_iter().cloned().collect() })
}

/// Up to where the oldest ended turns go. The newest of them stay, as far as they are small, unless
/// the window is to begin anew. `None` if that gains too little, or nothing ended is in the window.
fn boundary(log: &Log, bounds: &Bounds, request: Option<CompactionRequest>) -> Option<u64> {
    let totals = log.totals();
    let last = totals.ended.last()?;
    if request == Some(CompactionRequest::Idle) {
        return Some(last.seq);
    }
    let messages_max = match bounds.window_messages {
        0 => u64::MAX,
        most => u64::from(most) / 2,
    };
    // With this turn and all behind it there is too much to stay; so there is with each older one.
    let too_much = |turn: &EndedTurn| {
        let kept_tokens = last.through.tokens - turn.before.tokens;
        let kept_messages = totals.size.messages - turn.before.messages;
        kept_tokens * 100 > totals.size.tokens * TURNS_KEPT_PERCENT || kept_messages > messages_max
    };
    let goes = totals.ended.partition_point(too_much).checked_sub(1);
    let newest = goes.and_then(|at| totals.ended.get(at)).map(|turn| turn.seq);
    newest.or(request.is_some().then_some(last.seq))
}

#[cfg(test)]
mod tests;
