//! What a turn is so far, of any log.

use proptest::prelude::*;

use super::*;
use crate::domain::Event;
use crate::turn::next::tests::{
    acted, any_body, confirmed_by_tap, ended, failed, id, log, parked, pause, reply, result, said,
    session, started, summary, text, uses,
};

fn at(times: &[(i64, EventBody)]) -> Vec<Event> {
    let event = |(seq, (at_ms, body)): (u64, &(i64, EventBody))| Event {
        seq,
        at_ms: *at_ms,
        body: body.clone(),
    };
    (1..).zip(times).map(event).collect()
}

fn answered(call: CallId) -> EventBody {
    EventBody::CallAnswered { call, approval: ApprovalId("q".into()), answer: None, by: "p".into() }
}

#[test]
fn what_a_person_and_a_confirmed_action_take_is_none_of_its_time() {
    let events = at(&[
        (0, started()),
        (10, said("a")),
        (100, uses(&["x"])),
        (1_000, parked(id(3, 0), "q")),
        (50_000, answered(id(3, 0))),
        (51_000, confirmed_by_tap(id(1, 0))),
        (53_000, acted(id(1, 0), "done")),
        (53_200, result(id(3, 0), "y")),
        (53_500, text("b")),
        (53_500, ended()),
    ]);
    let turn = Turn::of(&session(), &events).working_ms;
    assert_eq!(turn, 90 + 900 + 200 + 300);
    let waited = Turn::of(&session(), &events).waiting_ms;
    assert_eq!(turn + waited, 53_500, "every moment is one of the two");
    // By another clock, which says of each gap that it was one second.
    assert_eq!(Turn::measured(&session(), &events, |_, _| 1_000).working_ms, 5_000);
}

#[test]
fn each_call_has_its_own_end_and_its_own_question() {
    let log = log(vec![
        started(),
        said("a"),
        uses(&["x", "y", "z"]),
        parked(id(3, 1), "q"),
        result(id(3, 2), "of z"),
        result(id(3, 0), "of x"),
    ]);
    let turn = log.open_turn().unwrap();
    let ends: Vec<bool> = turn.calls.iter().map(|call| call.outcome.is_some()).collect();
    assert_eq!(ends, [true, false, true]);
    assert_eq!(turn.unanswered().into_iter().map(|(id, _)| id).collect::<Vec<_>>(), [id(3, 1)]);
    let came: Vec<&CallId> = turn.results.iter().map(|ended| ended.call).collect();
    assert_eq!(came, [&id(3, 2), &id(3, 0)], "as they came");
    assert!(turn.waiting.contains_key(&id(3, 1)) && turn.waiting.len() == 1);
    assert_eq!((turn.steps(), turn.answered, turn.seq), (1, false, 1));
}

#[test]
fn a_failure_is_over_when_something_moves_the_turn_on() {
    let begun = vec![started(), said("a"), failed(true)];
    let with = |more: &[EventBody]| [begun.clone(), more.to_vec()].concat();
    let failure = |bodies| {
        let log = log(bodies);
        let turn = log.open_turn().unwrap();
        (turn.failure.map(|failure| failure.context_too_long), turn.compacted)
    };
    assert_eq!(failure(begun.clone()), (Some(true), false));
    assert_eq!(failure(with(&[summary(0)])), (None, true));
    assert_eq!(failure(with(&[said("b")])), (None, false));
    assert_eq!(failure(with(&[text("b")])), (None, false));
    assert_eq!(failure(with(&[summary(0), failed(false)])), (Some(false), true));
}

#[test]
fn the_tokens_of_a_summary_are_its_tokens_too_and_of_another_turn_are_not() {
    let usage = |tokens| Usage { input_tokens: tokens, ..Usage::default() };
    let replied = |tokens| match reply(Vec::new(), Finish::Complete) {
        EventBody::ModelReply { blocks, finish, provider, model, notice, .. } => {
            EventBody::ModelReply { blocks, finish, provider, model, notice, usage: usage(tokens) }
        }
        other => other,
    };
    let spent = crate::domain::Spent { usage: usage(10), provider: "x".into(), model: "x".into() };
    let summary = EventBody::Summary {
        text: "s".into(),
        through_seq: 0,
        spent: Some(spent),
        made: Box::new(crate::domain::Compaction::default()),
    };
    let bodies = [started(), said("a"), summary, replied(100), ended(), started(), replied(1_000)];
    let events = at(&bodies.map(|body| (0, body)));
    let session = session();
    let turn = Turn::of(&session, &events);
    assert_eq!((turn.usage.input_tokens, turn.steps()), (110, 1));
    assert_eq!(turn.end, Some(&TurnEnd::Answered));
}

#[test]
fn a_pause_is_answered_by_who_may_and_a_message_only_puts_it_off() {
    let call = pause(1, PauseCause::Budget);
    let goes_on = |answer, by: &str| {
        let (approval, by) = (ApprovalId("q".into()), by.to_owned());
        let answered = EventBody::CallAnswered { call: call.clone(), approval, answer, by };
        let log = log(vec![started(), said("a"), parked(call.clone(), "q"), answered]);
        let turn = log.open_turn().unwrap();
        assert!(turn.waiting.is_empty());
        turn.pauses.first().unwrap().goes_on
    };
    assert_eq!(goes_on(None, "superseded"), Some(true));
    assert_eq!(goes_on(None, "expired"), Some(false));
    assert_eq!(goes_on(Some(Answer::Never), "p"), Some(false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn event_by_event_it_is_the_same_as_at_once(bodies in proptest::collection::vec(any_body(), 0..40)) {
        let log = log(bodies);
        let session = session();
        let mut followed = None;
        for event in log.events() {
            Turn::follow(&mut followed, &session, event);
            if followed.as_ref().is_some_and(|turn: &Turn<'_>| turn.end.is_some()) {
                followed = None;
            }
        }
        prop_assert_eq!(format!("{followed:?}"), format!("{:?}", log.open_turn()));
    }
}
