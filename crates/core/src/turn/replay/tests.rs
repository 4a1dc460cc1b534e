//! What a replay finds in a log that somebody has changed, and what it does not take for a
//! difference.

use super::*;
use crate::domain::{Answer, ApprovalId, DeniedBy, Finish, Outcome, PauseCause, Scope, Term};
use crate::turn::next::tests::{
    BOUNDS, acted, confirmed_by_tap, ended, failed, id, log, parked, pause, reply, result, said,
    session, started, summary, text, uses,
};

fn replayed(bodies: Vec<EventBody>) -> Replayed {
    replay(&session(), log_of(bodies), &BOUNDS)
}

/// All events, also those that the window has forgotten.
fn log_of(bodies: Vec<EventBody>) -> Vec<Event> {
    bodies.into_iter().zip(1..).map(|(body, seq)| Event { seq, at_ms: 0, body }).collect()
}

#[track_caller]
fn differs(bodies: Vec<EventBody>, seq: u64, sentence: &str) {
    let difference = replayed(bodies).difference.expect("a difference");
    assert_eq!((difference.seq, difference.sentence().as_str()), (seq, sentence));
}

fn limit_end(text: &str) -> EventBody {
    EventBody::TurnEnded { end: TurnEnd::Limit { text: text.into() } }
}

fn packed() -> EventBody {
    EventBody::PromptPacked { from_seq: 1, dropped_events: 0, estimated_tokens: 0, account: None }
}

fn superseded(call: CallId, approval: &str) -> EventBody {
    EventBody::CallAnswered {
        call,
        approval: ApprovalId(approval.into()),
        answer: None,
        by: "superseded".into(),
    }
}

fn stop() -> EventBody {
    EventBody::StopRequested { by: "p".into() }
}

#[test]
fn a_whole_conversation_replays() {
    let bodies = vec![
        started(),
        said("a"),
        packed(),
        uses(&["1", "2"]),
        result(id(4, 1), "r"),
        parked(id(4, 0), "q"),
        superseded(id(4, 0), "q"),
        result(id(4, 0), "no"),
        said("b"),
        packed(),
        text("ok"),
        ended(),
        EventBody::CompactRequested { from: None },
        summary(12),
        EventBody::SessionCleared {},
        started(),
        said("c"),
        packed(),
        EventBody::ModelPartial { text: "I w".into() },
        stop(),
        EventBody::TurnEnded { end: TurnEnd::Stopped { by: "p".into() } },
    ];
    let all = bodies.len() as u64;
    assert_eq!(
        replayed(bodies),
        Replayed { events: all, steps: 12, other_limits: 0, difference: None }
    );
}

#[test]
fn the_end_of_a_turn_writes_the_missing_results() {
    let stopped = EventBody::TurnEnded { end: TurnEnd::Stopped { by: "p".into() } };
    let bodies = vec![
        started(),
        said("a"),
        uses(&["1"]),
        parked(id(3, 0), "q"),
        stop(),
        result(id(3, 0), "no"),
        stopped,
    ];
    assert_eq!(replayed(bodies).difference, None);
    let refused = reply(
        match uses(&["1"]) {
            EventBody::ModelReply { blocks, .. } => blocks,
            other => panic!("{other:?}"),
        },
        Finish::Refusal { reason: "no".into() },
    );
    assert_eq!(
        replayed(vec![started(), said("a"), refused, result(id(3, 0), "no"), ended()]).difference,
        None
    );
}

#[test]
fn a_turn_that_asks_whether_it_may_go_on_does_so_before_it_asks_the_model() {
    let asks = parked(pause(1, PauseCause::Budget), "q");
    let allowed = EventBody::CallAnswered {
        call: pause(1, PauseCause::Budget),
        approval: ApprovalId("q".into()),
        answer: Some(Answer::Allow { term: Term::Once, scope: Scope::Exact }),
        by: "p".into(),
    };
    let bodies = vec![started(), said("a"), asks.clone(), allowed, packed(), text("ok"), ended()];
    assert_eq!(replayed(bodies).difference, None);
    let sentence = "event 4 is call.parked of main:1:budget.0, where next() says Deliver";
    differs(vec![started(), said("a"), text("ok"), asks.clone()], 4, sentence);
    differs(
        vec![started(), said("a"), asks, text("ok")],
        4,
        "event 4 is model.reply, where next() says Park",
    );
}

#[test]
fn what_a_tap_leads_to_replays_and_what_none_does_is_found() {
    let over = vec![started(), said("a"), text("ok"), ended()];
    let tapped = [over.clone(), vec![confirmed_by_tap(id(2, 0)), acted(id(2, 0), "r")]].concat();
    assert_eq!(
        replayed(tapped.clone()),
        Replayed { events: 6, steps: 3, other_limits: 0, difference: None }
    );
    differs(
        [tapped, vec![acted(id(2, 0), "r")]].concat(),
        7,
        "event 7 is action.result of main:2:0, where next() says Done",
    );
    let before =
        [over.clone(), vec![confirmed_by_tap(id(2, 0)), started(), said("b"), packed()]].concat();
    differs(before, 8, "event 8 is prompt.packed, where next() says Act(main:2:0)");
    differs(
        [over, vec![acted(id(2, 0), "r")]].concat(),
        5,
        "event 5 is action.result of main:2:0, where next() says Done",
    );
}

#[test]
fn the_first_difference_is_named() {
    differs(
        vec![started(), said("a"), uses(&["1"]), text("ok"), ended()],
        4,
        "event 4 is model.reply, where next() says Call(main:3:0)",
    );
    differs(
        vec![started(), said("a"), text("ok"), text("more")],
        4,
        "event 4 is model.reply, where next() says Deliver",
    );
    differs(
        vec![started(), said("a"), uses(&["1"]), parked(id(3, 0), "q"), result(id(3, 0), "r")],
        5,
        "event 5 is tool.result of main:3:0, where next() says Park",
    );
    differs(
        vec![started(), said("a"), uses(&["1"]), result(id(3, 0), "r"), result(id(3, 0), "r")],
        5,
        "event 5 is tool.result of main:3:0, where next() says AskModel",
    );
    differs(
        vec![started(), said("a"), ended()],
        3,
        "event 3 is turn.ended (answered), where next() says AskModel",
    );
    differs(
        vec![
            started(),
            said("a"),
            uses(&["1"]),
            stop(),
            EventBody::TurnEnded { end: TurnEnd::Stopped { by: "p".into() } },
        ],
        5,
        "event 5 is turn.ended (stopped by p), where next() says Stop(stopped by p)",
    );
    differs(
        vec![started(), said("a"), failed(false), ended()],
        4,
        "event 4 is turn.ended (answered), where next() says Stop(failed: down)",
    );
    differs(vec![text("out of nothing")], 1, "event 1 is model.reply, where next() says Done");
    differs(
        vec![
            started(),
            said("a"),
            text("b"),
            ended(),
            EventBody::CompactRequested { from: None },
            summary(3),
        ],
        6,
        "event 6 is summary through event 3, where next() says Compact through event 4",
    );
}

#[test]
fn a_step_that_only_other_limits_lead_to_is_counted_and_no_difference() {
    let denied = |at| EventBody::ToolResult {
        call: id(at, 0),
        outcome: Box::new(Outcome::denied(DeniedBy::Request, at.to_string())),
    };
    let mut bodies = vec![started(), said("a")];
    for at in [3, 5, 7, 9] {
        bodies.extend([uses(&["1"]), denied(at)]);
    }
    let text_of_4 =
        "This turn was stopped after 4 model steps (limits.model_steps_max). Write again to go on.";
    let at_the_limit = [bodies.clone(), vec![limit_end(text_of_4)]].concat();
    assert_eq!(replayed(at_the_limit.clone()).other_limits, 0);
    // Today's limit is lower than it was then, or higher.
    let bounds = Bounds { model_steps_max: 2, ..BOUNDS };
    let low = replay(&session(), log_of(at_the_limit.clone()), &bounds);
    assert_eq!((low.difference, low.other_limits), (None, 2));
    let bounds = Bounds { model_steps_max: 9, ..BOUNDS };
    let high = replay(&session(), log_of(at_the_limit), &bounds);
    assert_eq!((high.difference, high.other_limits), (None, 1));
    let wrong = [bodies, vec![limit_end("for no reason")]].concat();
    differs(
        wrong,
        11,
        &format!(
            "event 11 is turn.ended (limit: for no reason), where next() says Stop(limit: {text_of_4})"
        ),
    );
}

#[test]
fn it_follows_the_window_and_numbers_of_the_log() {
    let mut whole = log(Vec::new());
    for event in log_of(vec![started(), said("a"), text("b"), ended(), summary(4), started()]) {
        whole.follow(event);
    }
    assert_eq!((whole.events().len(), whole.next_seq()), (2, 7));
}

/// Results that the way of counting before this one took for a loop, or did not.
#[test]
fn a_log_from_before_replies_were_counted_replays() {
    let text = crate::turn::next::loop_text(3);
    let side_by_side = |text: &str| {
        let same = [result(id(3, 2), "r"), result(id(3, 0), "r"), result(id(3, 1), "r")];
        [vec![started(), said("a"), uses(&["x", "x", "x"])], same.to_vec(), vec![limit_end(text)]]
            .concat()
    };
    let replayed_old = replayed(side_by_side(&text));
    assert_eq!((replayed_old.difference, replayed_old.other_limits), (None, 1));
    differs(
        side_by_side(&crate::turn::next::loop_text(2)),
        7,
        &format!(
            "event 7 is turn.ended (limit: {}), where next() says AskModel",
            crate::turn::next::loop_text(2)
        ),
    );
    // A command that was repeated went unnoticed, because its result held its duration.
    let mut unnoticed = vec![started(), said("a")];
    for n in 0..3_u64 {
        let seq = unnoticed.len() as u64 + 1;
        unnoticed
            .extend([uses(&["x"]), result(id(seq, 0), &format!("exit code 1 after 0.0{n} s"))]);
    }
    unnoticed.extend([self::text("done"), ended()]);
    let replayed_old = replayed(unnoticed);
    assert_eq!((replayed_old.difference, replayed_old.other_limits), (None, 1));
}
