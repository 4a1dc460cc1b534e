//! That totals which grow with their log are those of the whole log, and how often an event is
//! looked at.

use proptest::prelude::*;

use super::super::kinds::LOOKS;
use super::super::log::Log;
use super::super::next::Bounds;
use super::super::next::tests::{
    BOUNDS, acted, confirmed_by_tap, ended, id, result, said, session, started, summary, text, uses,
};
use super::super::replay::replay;
use super::*;
use crate::domain::{CutResult, PromptAccount, PromptPart, Usage};

/// An event that may come next in a log, or not: totals must not depend on its making sense.
fn any_body() -> impl Strategy<Value = EventBody> {
    let seqs = 1..40_u64;
    prop_oneof![
        4 => Just(started()),
        4 => "[a-z ]{0,90}".prop_map(|words| said(&words)),
        4 => (any::<bool>(), 1_000..9_000_u64).prop_map(|(beside, tokens)| packed(beside, tokens)),
        4 => ("[ab]", 0..9_000_u64).prop_map(|(model, tokens)| counted(&model, tokens)),
        2 => Just(uses(&["1"])),
        4 => (seqs.clone(), 0..6_000_usize)
            .prop_map(|(seq, bytes)| result(id(seq, 0), &"r".repeat(bytes))),
        2 => seqs.clone().prop_map(cut),
        3 => Just(ended()),
        1 => seqs.clone().prop_map(summary),
        1 => Just(EventBody::SessionCleared {}),
        1 => Just(EventBody::CompactRequested { from: None }),
        1 => Just(EventBody::CompactionFailed { reason: "x".into(), asked_ms: vec![3] }),
        1 => (seqs.clone(), seqs.clone()).prop_map(|(one, other)| EventBody::ExchangeDropped {
            from_seq: one.min(other),
            through_seq: one.max(other),
        }),
        1 => seqs.clone().prop_map(|seq| confirmed_by_tap(id(seq, 0))),
        1 => seqs.prop_map(|seq| acted(id(seq, 0), "done")),
    ]
}

fn packed(says_beside: bool, estimated_tokens: u64) -> EventBody {
    let tools = PromptPart { tokens: 700, ..PromptPart::default() };
    let account = PromptAccount { tools, ..PromptAccount::default() };
    EventBody::PromptPacked {
        from_seq: 1,
        dropped_events: 0,
        estimated_tokens,
        account: says_beside.then(|| Box::new(account)),
    }
}

fn counted(by: &str, input_tokens: u64) -> EventBody {
    match text("ok") {
        EventBody::ModelReply { blocks, finish, provider, notice, .. } => EventBody::ModelReply {
            blocks,
            finish,
            usage: Usage { input_tokens, ..Usage::default() },
            provider,
            model: by.to_owned(),
            notice,
        },
        other => other,
    }
}

fn cut(reply_seq: u64) -> EventBody {
    let one = CutResult { reply_seq, block: 0, artifact: "a".into() };
    EventBody::ResultsCut { cut: vec![one], bytes: 1_200, before_tokens: 2, after_tokens: 1 }
}

proptest! {
    #[test]
    fn totals_that_grow_with_a_log_are_those_of_the_whole(
        bodies in prop::collection::vec(any_body(), 0..60),
    ) {
        let mut log = Log::new(session(), Vec::new(), 0);
        for body in bodies {
            log.push(7, body);
            prop_assert_eq!(log.totals(), &Totals::of(log.events()));
        }
    }
}

/// How often an event is looked at in the replay of a conversation of so many turns.
fn looks(turns: u64, bounds: &Bounds) -> u64 {
    let turn = [started(), said("a"), packed(false, 10), uses(&["1"])];
    let mut bodies = Vec::new();
    for number in 0..turns {
        bodies.extend(turn.clone());
        bodies.push(result(id(number * 8 + 4, 0), &"r".repeat(300)));
        bodies.extend([packed(false, 10), text("ok"), ended()]);
    }
    let numbered = bodies.into_iter().zip(1..);
    let events: Vec<_> = numbered.map(|(body, seq)| Event { seq, at_ms: 0, body }).collect();
    LOOKS.set(0);
    assert_eq!(replay(&session(), events, bounds).difference, None);
    LOOKS.get()
}

#[test]
fn a_replay_looks_at_an_event_as_often_in_a_log_ten_times_as_long() {
    // With room for all of it, and as a log that was written under larger limits than today's.
    for bounds in [BOUNDS, Bounds { window_tokens: 500, ..BOUNDS }] {
        let (short, long) = (looks(20, &bounds), looks(200, &bounds));
        assert!(long <= short * 11, "{short} looks, and {long} at ten times the length");
    }
}
