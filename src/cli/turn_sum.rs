//! What a turn took, read from its events: steps, tokens, time. Must not know how it is shown
//! beside them.

use crate::domain::{Event, EventBody, TurnEnd, UnixMillis, Usage};

/// One turn, from its start on.
#[derive(Debug)]
pub struct TurnSum {
    steps: u32,
    calls: u32,
    usage: Usage,
    last_ms: UnixMillis,
    working_ms: i64,
    waiting_ms: i64,
}

impl TurnSum {
    /// Takes the next event of a log into the sum of the turn that it belongs to.
    pub fn follow(turn: &mut Option<Self>, event: &Event) {
        if matches!(event.body, EventBody::TurnStarted { .. }) {
            *turn = Some(Self {
                steps: 0,
                calls: 0,
                usage: Usage::default(),
                last_ms: event.at_ms,
                working_ms: 0,
                waiting_ms: 0,
            });
        }
        let Some(turn) = turn else { return };
        let gap_ms = (event.at_ms - turn.last_ms).max(0);
        match time_of(&event.body) {
            Time::Waiting => turn.waiting_ms += gap_ms,
            Time::Working => turn.working_ms += gap_ms,
        }
        turn.last_ms = event.at_ms;
        if let Some((usage, ..)) = event.body.spent() {
            turn.usage.input_tokens += usage.input_tokens;
            turn.usage.output_tokens += usage.output_tokens;
            turn.usage.cached_tokens += usage.cached_tokens;
            turn.usage.cache_write_tokens += usage.cache_write_tokens;
        }
        match &event.body {
            EventBody::ModelReply { .. } => turn.steps += 1,
            EventBody::ToolResult { .. } => turn.calls += 1,
            _ => {}
        }
    }

    /// The line at the end of the turn.
    pub fn ended(&self, end: &TurnEnd) -> String {
        let how = match end {
            TurnEnd::Answered => "answered",
            TurnEnd::Stopped { .. } => "stopped",
            TurnEnd::Limit { .. } => "ended by a limit",
            TurnEnd::Failed { .. } => "failed",
        };
        format!("── {how}: {}", self.sums())
    }

    /// The line behind a turn that has no end yet.
    pub fn open(&self) -> String {
        format!("── not ended yet: {}", self.sums())
    }

    fn sums(&self) -> String {
        let count = |number: u32, one: &str| {
            format!("{number} {one}{}", if number == 1 { "" } else { "s" })
        };
        let waited = match self.waiting_ms {
            0..1000 => String::new(),
            ms => format!(", {} waiting for a person", seconds(ms)),
        };
        let written = match self.usage.cache_write_tokens {
            0 => String::new(),
            tokens => format!(", {tokens} written to the cache"),
        };
        format!(
            "{}, {}, {} tokens in ({} cached{written}), {} out, {}{waited}",
            count(self.steps, "step"),
            count(self.calls, "call"),
            self.usage.input_tokens,
            self.usage.cached_tokens,
            self.usage.output_tokens,
            seconds(self.working_ms)
        )
    }
}

/// What the time before an event was spent on.
enum Time {
    Working,
    Waiting,
}

/// As the limit of a turn's time counts it: what comes from a person was waited for, and what a
/// person has confirmed runs on that person's account (`session::watch`).
fn time_of(body: &EventBody) -> Time {
    match body {
        EventBody::UserMessage { .. }
        | EventBody::CallAnswered { .. }
        | EventBody::ActionAnswered { .. }
        | EventBody::ActionResult { .. } => Time::Waiting,
        EventBody::TurnStarted { .. }
        | EventBody::PromptPacked { .. }
        | EventBody::ModelReply { .. }
        | EventBody::ModelPartial { .. }
        | EventBody::ModelFailed { .. }
        | EventBody::CallParked { .. }
        | EventBody::ToolResult { .. }
        | EventBody::StopRequested { .. }
        | EventBody::LimitReached { .. }
        | EventBody::CompactRequested {}
        | EventBody::Summary { .. }
        | EventBody::WindowDropped { .. }
        | EventBody::SessionCleared {}
        | EventBody::ExchangeDropped { .. }
        | EventBody::TurnEnded { .. } => Time::Working,
    }
}

fn seconds(ms: i64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Finish, Origin};

    #[test]
    fn waiting_for_a_person_is_counted_apart() {
        let started =
            EventBody::TurnStarted { origin: Origin::Owner, principal: "p".into(), role: None };
        let usage =
            Usage { input_tokens: 100, output_tokens: 7, cached_tokens: 60, ..Usage::default() };
        let reply = EventBody::ModelReply {
            blocks: Vec::new(),
            finish: Finish::Complete,
            usage,
            provider: "x".into(),
            model: "x".into(),
            notice: None,
        };
        let call = crate::domain::CallId::Reply {
            session: crate::domain::SessionId::new("main").unwrap(),
            reply_seq: 2,
            block: 0,
        };
        let approval = crate::domain::ApprovalId("q".into());
        let answered = EventBody::CallAnswered { call, approval, answer: None, by: "p".into() };
        let mut turn = None;
        for (at_ms, body) in
            [(0, started), (1500, reply.clone()), (61_500, answered), (62_000, reply)]
        {
            TurnSum::follow(&mut turn, &Event { seq: 1, at_ms, body });
        }
        let line = turn.unwrap().ended(&TurnEnd::Answered);
        assert_eq!(
            line,
            "── answered: 2 steps, 0 calls, 200 tokens in (120 cached), 14 out, 2.0 s, 60.0 s waiting for a person"
        );
    }
}
