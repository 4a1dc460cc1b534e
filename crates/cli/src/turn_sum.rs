//! What a turn took, as a line: steps, tokens, time. Must not know how it is shown beside others,
//! or how an event is counted.

use claw_kit::counted::counted;

use crate::domain::TurnEnd;
use crate::turn::Turn;

/// The line at the end of the turn.
pub fn ended(turn: &Turn<'_>, end: &TurnEnd) -> String {
    let how = match end {
        TurnEnd::Answered => "answered",
        TurnEnd::Stopped { .. } => "stopped",
        TurnEnd::Limit { .. } => "ended by a limit",
        TurnEnd::Failed { .. } => "failed",
    };
    format!("── {how}: {}", sums(turn))
}

/// The line behind a turn that has no end yet.
pub fn open(turn: &Turn<'_>) -> String {
    format!("── not ended yet: {}", sums(turn))
}

fn sums(turn: &Turn<'_>) -> String {
    let waited = match turn.waiting_ms {
        0..1000 => String::new(),
        ms => format!(", {} waiting for a person", seconds(ms)),
    };
    let usage = turn.usage;
    let written = match usage.cache_write_tokens {
        0 => String::new(),
        tokens => format!(", {tokens} written to the cache"),
    };
    format!(
        "{}, {}, {} tokens in ({} cached{written}), {} out, {}{waited}",
        counted(turn.replies.len(), "step"),
        counted(turn.results.len(), "call"),
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        seconds(turn.working_ms)
    )
}

fn seconds(ms: i64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Event, EventBody, Finish, Origin, SessionId, Usage};

    #[test]
    fn waiting_for_a_person_and_what_the_cache_took_are_counted_apart() {
        let started =
            EventBody::TurnStarted { origin: Origin::Owner, principal: "p".into(), role: None };
        let usage = Usage {
            input_tokens: 100,
            output_tokens: 7,
            cached_tokens: 60,
            cache_write_tokens: 20,
        };
        let reply = EventBody::ModelReply {
            blocks: Vec::new(),
            finish: Finish::Complete,
            usage,
            provider: "x".into(),
            model: "x".into(),
            notice: None,
        };
        let call = crate::domain::CallId::Reply {
            session: SessionId::new("main").unwrap(),
            reply_seq: 2,
            block: 0,
        };
        let approval = crate::domain::ApprovalId("q".into());
        let answered = EventBody::CallAnswered { call, approval, answer: None, by: "p".into() };
        let events = [(0, started), (1500, reply.clone()), (61_500, answered), (62_000, reply)]
            .map(|(at_ms, body)| Event { seq: 1, at_ms, body });
        let line = ended(&Turn::of(&SessionId::new("main").unwrap(), &events), &TurnEnd::Answered);
        assert_eq!(
            line,
            "── answered: 2 steps, 0 calls, 200 tokens in (120 cached, 40 written to the cache), 14 out, 2.0 s, 60.0 s \
             waiting for a person"
        );
    }
}
