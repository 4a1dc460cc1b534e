//! What a turn is so far: who speaks in it, its replies, its calls and what became of each, its
//! pauses, tokens and time. The one fold of a turn's events, which everybody reads who asks about a
//! turn. Pure. Must not know what is decided from it, or who shows it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::estimate;
use super::kinds::{self, Time};
use crate::domain::{
    Address, Answer, ApprovalId, Block, CallId, Event, EventBody, Finish, Origin, Outcome,
    PauseCause, SessionId, ToolUse, TurnEnd, Usage,
};

/// How a question is closed by a message of the owner.
const SUPERSEDED: &str = "superseded";

/// One turn, as far as its events say. It lives as long as they are looked at.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    session: &'a SessionId,
    /// The number of its `turn.started`; 0 before it.
    pub seq: u64,
    pub began_ms: i64,
    pub principal: &'a str,
    pub role: Option<&'a str>,
    /// The least trusted of those who have spoken in it.
    pub origin: Option<Origin>,
    pub messages: Vec<Message<'a>>,
    pub replies: Vec<Reply<'a>>,
    /// All tool uses, in the order in which the model asked for them.
    pub calls: Vec<Call<'a>>,
    /// The ends of calls, in the order in which they came.
    pub results: Vec<Ended<'a>>,
    /// The calls and pauses whose newest question has no answer, with that question.
    pub waiting: BTreeMap<CallId, ApprovalId>,
    /// In order.
    pub pauses: Vec<Pause>,
    /// Of all round-trips to a model, those of summaries included.
    pub usage: Usage,
    pub working_ms: i64,
    pub waiting_ms: i64,
    /// The first thing that stops it, whatever else is open.
    pub stop: Option<TurnEnd>,
    /// The limits that it has met, by their names.
    pub limits: Vec<&'a str>,
    /// Somebody wants it to stop.
    pub stop_requested: bool,
    /// The model failed, and nothing has moved the turn on since.
    pub failure: Option<Failure<'a>>,
    /// Why a provider did not take the key.
    pub key_refused: Option<&'a str>,
    /// The oldest turns were summarised or dropped in it.
    pub compacted: bool,
    /// A summary was wanted in it and not written.
    pub compaction_failed: bool,
    /// The last word is a reply without tool uses, and nobody has written since.
    pub answered: bool,
    /// What the model had written of a reply that was stopped, while no other reply has come.
    pub partial: Option<&'a str>,
    pub end: Option<&'a TurnEnd>,
    before: Option<&'a Event>,
}

/// What a person wrote.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    pub seq: u64,
    pub blocks: &'a [Block],
    pub inbox_id: i64,
    pub from: &'a Address,
}

/// One reply of the model.
#[derive(Clone, Debug)]
pub struct Reply<'a> {
    pub seq: u64,
    pub blocks: &'a [Block],
    pub finish: &'a Finish,
    pub usage: &'a Usage,
    pub model: &'a str,
    /// Its places in [`Turn::calls`].
    calls: Range<usize>,
}

/// One tool use.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub id: CallId,
    pub tool_use: &'a ToolUse,
    pub outcome: Option<&'a Outcome>,
}

/// The end of a call.
#[derive(Clone, Debug)]
pub struct Ended<'a> {
    pub seq: u64,
    pub call: &'a CallId,
    pub outcome: &'a Outcome,
}

/// Why the model gave no reply.
#[derive(Clone, Debug)]
pub struct Failure<'a> {
    pub reason: &'a str,
    pub context_too_long: bool,
}

/// A question about the turn itself and not about one of its calls: whether it may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    pub call: CallId,
    pub cause: PauseCause,
    /// Whether it goes on; `None` while nobody has answered.
    pub goes_on: Option<bool>,
}

impl<'a> Turn<'a> {
    /// Before its first event.
    pub fn new(session: &'a SessionId) -> Self {
        Self {
            session,
            seq: 0,
            began_ms: 0,
            principal: "",
            role: None,
            origin: None,
            messages: Vec::new(),
            replies: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            waiting: BTreeMap::new(),
            pauses: Vec::new(),
            usage: Usage::default(),
            working_ms: 0,
            waiting_ms: 0,
            stop: None,
            limits: Vec::new(),
            stop_requested: false,
            failure: None,
            key_refused: None,
            compacted: false,
            compaction_failed: false,
            answered: false,
            partial: None,
            end: None,
            before: None,
        }
    }

    /// The turn that these events begin with, to its end, with its time by the wall's clock.
    pub fn of(session: &'a SessionId, events: &'a [Event]) -> Self {
        Self::measured(session, events, wall_ms)
    }

    /// The same, where `between_ms` says how long it was from one event to the next.
    pub fn measured(
        session: &'a SessionId,
        events: &'a [Event],
        between_ms: impl Fn(&Event, &Event) -> i64,
    ) -> Self {
        let mut turn = Self::new(session);
        for event in events {
            turn.apply(event, &between_ms);
            if turn.end.is_some() {
                break;
            }
        }
        turn
    }

    /// Takes the next event of a log into the turn that it belongs to.
    pub fn follow(turn: &mut Option<Self>, session: &'a SessionId, event: &'a Event) {
        if matches!(event.body, EventBody::TurnStarted { .. }) {
            *turn = Some(Self::new(session));
        }
        if let Some(turn) = turn {
            turn.apply(event, &wall_ms);
        }
    }

    fn apply(&mut self, event: &'a Event, between_ms: &impl Fn(&Event, &Event) -> i64) {
        self.takes_time(event, between_ms);
        if let Some((usage, ..)) = event.body.spent() {
            self.usage.add(usage);
        }
        match &event.body {
            EventBody::TurnStarted { origin, principal, role } => {
                (self.seq, self.began_ms) = (event.seq, event.at_ms);
                (self.principal, self.role) = (principal, role.as_deref());
                self.is_spoken_in_by(*origin);
            }
            EventBody::UserMessage { blocks, inbox_id, from, origin } => {
                self.is_spoken_in_by(*origin);
                self.messages.push(Message { seq: event.seq, blocks, inbox_id: *inbox_id, from });
                (self.failure, self.answered) = (None, false);
            }
            EventBody::ModelReply { blocks, finish, usage, model, .. } => {
                let first = self.calls.len();
                self.asks_for(event.seq, blocks);
                let calls = first..self.calls.len();
                (self.failure, self.answered) = (None, calls.is_empty());
                self.partial = None;
                self.replies.push(Reply { seq: event.seq, blocks, finish, usage, model, calls });
            }
            EventBody::ModelPartial { text } => self.partial = Some(text),
            EventBody::ModelFailed { reason, context_too_long, key_refused } => {
                self.failure = Some(Failure { reason, context_too_long: *context_too_long });
                self.key_refused = key_refused.then_some(reason.as_str()).or(self.key_refused);
            }
            EventBody::CallParked { call, approval } => self.parks(call, approval),
            EventBody::CallAnswered { call, approval, answer, by } => {
                self.is_answered(call, approval, answer.as_ref(), by);
            }
            EventBody::ToolResult { call, outcome } => self.ends(event.seq, call, outcome),
            EventBody::StopRequested { by } => {
                self.stop_requested = true;
                self.stop.get_or_insert_with(|| TurnEnd::Stopped { by: by.clone() });
            }
            EventBody::LimitReached { limit, text } => {
                self.limits.push(limit);
                self.stop.get_or_insert_with(|| TurnEnd::Limit { text: text.clone() });
            }
            EventBody::Summary { .. } | EventBody::WindowDropped { .. } => {
                (self.failure, self.compacted) = (None, true);
            }
            EventBody::ResultsCut { .. } => self.failure = None,
            EventBody::CompactionFailed { .. } => self.compaction_failed = true,
            EventBody::TurnEnded { end } => self.end = Some(end),
            // What is about the window or about staged actions changes nothing in a turn.
            EventBody::TurnContext { .. }
            | EventBody::TurnProject { .. }
            | EventBody::TurnRecalled { .. }
            | EventBody::TurnNamed { .. }
            | EventBody::PromptPacked { .. }
            | EventBody::ToolsLoaded { .. }
            | EventBody::ActionAnswered { .. }
            | EventBody::ActionResult { .. }
            | EventBody::CompactRequested { .. }
            | EventBody::WindowIdle { .. }
            | EventBody::SessionCleared {}
            | EventBody::ShellForgotten { .. }
            | EventBody::ExchangeDropped { .. } => {}
        }
    }

    fn takes_time(&mut self, event: &'a Event, between_ms: &impl Fn(&Event, &Event) -> i64) {
        let gap_ms = self.before.replace(event).map_or(0, |before| between_ms(before, event));
        match kinds::meaning(event).time {
            Time::Working if gap_ms > WORKING_GAP_MAX_MS => {}
            Time::Working => self.working_ms += gap_ms,
            Time::Waiting => self.waiting_ms += gap_ms,
        }
    }

    fn is_spoken_in_by(&mut self, origin: Origin) {
        self.origin = Some(self.origin.map_or(origin, |least| least.min(origin)));
    }

    fn asks_for(&mut self, reply_seq: u64, blocks: &'a [Block]) {
        for (block, tool_use) in (0..).zip(blocks) {
            let Block::ToolUse(tool_use) = tool_use else { continue };
            let id = CallId::Reply { session: self.session.clone(), reply_seq, block };
            self.calls.push(Call { id, tool_use, outcome: None });
        }
    }

    fn parks(&mut self, call: &CallId, approval: &ApprovalId) {
        self.waiting.insert(call.clone(), approval.clone());
        if let CallId::Pause { cause, .. } = call {
            self.pauses.push(Pause { call: call.clone(), cause: *cause, goes_on: None });
        }
    }

    fn is_answered(
        &mut self,
        call: &CallId,
        approval: &ApprovalId,
        answer: Option<&Answer>,
        by: &str,
    ) {
        if self.waiting.get(call) == Some(approval) {
            self.waiting.remove(call);
        }
        // A message of the owner is no answer: the turn goes on with it, and asks again if it still
        // has to.
        let goes_on =
            matches!(answer, Some(Answer::Allow { .. })) || (answer.is_none() && by == SUPERSEDED);
        if let Some(pause) = self.pauses.iter_mut().find(|pause| pause.call == *call) {
            pause.goes_on = Some(goes_on);
        }
    }

    fn ends(&mut self, seq: u64, call: &'a CallId, outcome: &'a Outcome) {
        if let Some(known) = self.calls.iter_mut().rev().find(|known| known.id == *call) {
            known.outcome = Some(outcome);
        }
        self.results.push(Ended { seq, call, outcome });
        self.answered = false;
    }

    /// The tool uses without a result, in the order in which the model asked for them.
    pub fn unanswered(&self) -> Vec<(CallId, ToolUse)> {
        let open = self.calls.iter().filter(|call| call.outcome.is_none());
        open.map(|call| (call.id.clone(), call.tool_use.clone())).collect()
    }

    /// The calls of a reply.
    pub fn calls_of(&self, reply: &Reply<'_>) -> &[Call<'a>] {
        self.calls.get(reply.calls.clone()).unwrap_or_default()
    }

    /// How many replies of the model it holds.
    pub fn steps(&self) -> u32 {
        self.replies.len() as u32
    }

    /// The replies since somebody has written last, newest first.
    pub fn newest_replies(&self) -> impl Iterator<Item = &Reply<'a>> {
        let since = self.messages.last().map_or(0, |message| message.seq);
        self.replies.iter().rev().take_while(move |reply| reply.seq > since)
    }

    /// Estimated tokens of what people have written.
    pub fn written_tokens(&self) -> u64 {
        self.messages.iter().map(|message| estimate::of_blocks(message.blocks)).sum()
    }
}

/// No step takes longer: `limits.turn_time_s` is a day at most. Beyond it claw was not running,
/// or the clock was set.
const WORKING_GAP_MAX_MS: i64 = 24 * 60 * 60 * 1000;

fn wall_ms(before: &Event, after: &Event) -> i64 {
    (after.at_ms - before.at_ms).max(0)
}

#[cfg(test)]
mod tests;
