//! Every step from the log that leads to it; that no log makes `next` panic; and that a simulated
//! turn can be replayed.

use serde_json::json;

use super::*;
use crate::domain::{
    Address, Answer, ApprovalId, Block, Compaction, CutResult, Event, EventBody, Origin, Outcome,
    Scope, Term, ToolOutput, Usage,
};

mod any;
mod simulation;

pub(in crate::turn) use any::any_body;

pub(in crate::turn) const BOUNDS: Bounds = Bounds {
    model_steps_max: 4,
    window_tokens: 100_000,
    window_messages: 0,
    model_tokens: u64::MAX,
    identical_calls_max: 3,
};

pub(in crate::turn) fn session() -> SessionId {
    SessionId::new("main").unwrap()
}

pub(in crate::turn) fn log(bodies: Vec<EventBody>) -> Log {
    let mut log = Log::new(session(), Vec::new(), 0);
    for body in bodies {
        log.push(0, body);
    }
    log
}

pub(in crate::turn) fn started() -> EventBody {
    EventBody::TurnStarted { origin: Origin::Owner, principal: "p".into(), role: None }
}

pub(in crate::turn) fn said(text: &str) -> EventBody {
    let blocks = vec![Block::Text { text: text.into() }];
    EventBody::UserMessage {
        blocks,
        inbox_id: 1,
        from: Address("console/1".into()),
        origin: Origin::Owner,
    }
}

pub(in crate::turn) fn reply(blocks: Vec<Block>, finish: Finish) -> EventBody {
    EventBody::ModelReply {
        blocks,
        finish,
        usage: Usage::default(),
        provider: "x".into(),
        model: "x".into(),
        notice: None,
    }
}

pub(in crate::turn) fn text(text: &str) -> EventBody {
    reply(vec![Block::Text { text: text.into() }], Finish::Complete)
}

pub(in crate::turn) fn uses(inputs: &[&str]) -> EventBody {
    let blocks = inputs.iter().map(|input| {
        Block::ToolUse(Box::new(ToolUse {
            id: "same".into(),
            name: "s__t".into(),
            input: json!({"text": input}),
            broken_input: None,
        }))
    });
    reply(blocks.collect(), Finish::ToolUse)
}

pub(in crate::turn) fn id(reply_seq: u64, block: u32) -> CallId {
    CallId::Reply { session: session(), reply_seq, block }
}

pub(in crate::turn) fn pause(turn_seq: u64, cause: PauseCause) -> CallId {
    CallId::Pause { session: session(), turn_seq, cause, nth: 0 }
}

pub(in crate::turn) fn result(call: CallId, text: &str) -> EventBody {
    let output = ToolOutput { text: text.into(), ..ToolOutput::default() };
    EventBody::ToolResult { call, outcome: Box::new(Outcome::Ended { output }) }
}

pub(in crate::turn) fn parked(call: CallId, approval: &str) -> EventBody {
    EventBody::CallParked { call, approval: ApprovalId(approval.into()) }
}

fn answered_with(call: CallId, approval: &str) -> EventBody {
    let answer = Some(Answer::Allow { term: Term::Once, scope: Scope::Exact });
    EventBody::CallAnswered { call, approval: ApprovalId(approval.into()), answer, by: "p".into() }
}

pub(in crate::turn) fn action(text: &str) -> Action {
    let (server, tool) = ("shop".to_owned(), "confirm".to_owned());
    Action { server, tool, arguments: json!({"text": text}), summary: format!("Add {text}") }
}

pub(in crate::turn) fn tapped(call: CallId, answer: Option<Answer>) -> EventBody {
    EventBody::ActionAnswered {
        call,
        approval: ApprovalId("t".into()),
        action: Box::new(action("x")),
        answer,
        by: "p".into(),
    }
}

pub(in crate::turn) fn confirmed_by_tap(call: CallId) -> EventBody {
    tapped(call, Some(Answer::Allow { term: Term::Once, scope: Scope::Exact }))
}

pub(in crate::turn) fn acted(call: CallId, text: &str) -> EventBody {
    let output = ToolOutput { text: text.into(), ..ToolOutput::default() };
    EventBody::ActionResult {
        call,
        action: Box::new(action("x")),
        outcome: Box::new(Outcome::Ended { output }),
    }
}

pub(in crate::turn) fn failed(context_too_long: bool) -> EventBody {
    EventBody::ModelFailed { reason: "down".into(), context_too_long, key_refused: false }
}

pub(in crate::turn) fn ended() -> EventBody {
    EventBody::TurnEnded { end: TurnEnd::Answered }
}

/// Of today's form, and with nothing in it.
fn made() -> Compaction {
    Compaction { before_tokens: 1, ..Compaction::default() }
}

pub(in crate::turn) fn summary(through_seq: u64) -> EventBody {
    EventBody::Summary { text: "before".into(), through_seq, spent: None, made: Box::new(made()) }
}

fn dropped(through_seq: u64) -> EventBody {
    EventBody::WindowDropped {
        reason: "no".into(),
        through_seq,
        kept_summary: String::new(),
        made: Box::new(made()),
    }
}

pub(in crate::turn) fn cut(calls: &[CallId]) -> EventBody {
    let one = |call: &CallId| {
        let (reply_seq, block) = crate::turn::cut::key(call).unwrap();
        CutResult { reply_seq, block, artifact: "0123456789abcdef".into() }
    };
    let cut = calls.iter().map(one).collect();
    EventBody::ResultsCut { cut, bytes: 1_200, before_tokens: 10_000, after_tokens: 1_000 }
}

pub(in crate::turn) fn undone(from_seq: u64, through_seq: u64) -> EventBody {
    EventBody::ExchangeDropped { from_seq, through_seq }
}

fn step(bodies: Vec<EventBody>) -> Step {
    next(&log(bodies), &BOUNDS)
}

fn calls(step: Step) -> Vec<CallId> {
    match step {
        Step::Call(uses) => uses.into_iter().map(|(id, _)| id).collect(),
        other => panic!("{other:?}"),
    }
}

fn limit(step: Step) -> String {
    match step {
        Step::Stop(TurnEnd::Limit { text }) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_to_do_outside_of_a_turn() {
    assert_eq!(step(vec![]), Step::Done);
    assert_eq!(step(vec![started(), said("a"), text("b"), ended()]), Step::Done);
    assert_eq!(step(vec![EventBody::SessionCleared {}]), Step::Done);
}

#[test]
fn a_message_is_for_the_model_and_its_answer_for_the_person() {
    assert_eq!(step(vec![started(), said("a")]), Step::AskModel);
    assert_eq!(step(vec![started(), said("a"), text("b")]), Step::Deliver);
    assert_eq!(step(vec![started(), said("a"), text("b"), said("c")]), Step::AskModel);
    assert_eq!(step(vec![started(), said("a"), reply(vec![], Finish::Complete)]), Step::Deliver);
}

#[test]
fn every_unanswered_use_is_called_and_none_twice() {
    let open = vec![started(), said("a"), uses(&["1", "2"])];
    assert_eq!(calls(step(open.clone())), [id(3, 0), id(3, 1)]);
    let half = [open, vec![result(id(3, 1), "r")]].concat();
    assert_eq!(
        calls(step(half.clone())),
        [id(3, 0)],
        "uses are told apart although the provider's ids are the same"
    );
    assert_eq!(step([half, vec![result(id(3, 0), "r")]].concat()), Step::AskModel);
}

#[test]
fn what_waits_for_a_human_is_not_called_and_its_siblings_are() {
    let one = vec![started(), said("a"), uses(&["1", "2"]), parked(id(3, 0), "q")];
    assert_eq!(calls(step(one.clone())), [id(3, 1)]);
    let all = [one, vec![result(id(3, 1), "r")]].concat();
    assert_eq!(step(all.clone()), Step::Park);
    let answered = [all.clone(), vec![answered_with(id(3, 0), "q")]].concat();
    assert_eq!(calls(step(answered.clone())), [id(3, 0)]);
    let again = [answered, vec![parked(id(3, 0), "q2")]].concat();
    assert_eq!(step(again.clone()), Step::Park, "a question that is asked again is open again");
    assert_eq!(
        step([again, vec![answered_with(id(3, 0), "q")]].concat()),
        Step::Park,
        "an old answer is none to it"
    );
}

#[test]
fn a_stop_and_a_limit_end_the_turn_whatever_is_open() {
    let stop = EventBody::StopRequested { by: "p".into() };
    let limit = EventBody::LimitReached { limit: "turn_time_s".into(), text: "late".into() };
    for before in [
        vec![],
        vec![uses(&["1"])],
        vec![uses(&["1"]), parked(id(3, 0), "q")],
        vec![text("b")],
        vec![failed(true)],
    ] {
        let open = [vec![started(), said("a")], before].concat();
        let stopped = TurnEnd::Stopped { by: "p".into() };
        assert_eq!(step([open.clone(), vec![stop.clone()]].concat()), Step::Stop(stopped));
        let late = TurnEnd::Limit { text: "late".into() };
        assert_eq!(step([open, vec![limit.clone()]].concat()), Step::Stop(late));
    }
    assert_eq!(
        step(vec![started(), said("a"), stop, ended(), started(), said("b")]),
        Step::AskModel
    );
}

#[test]
fn a_refusal_is_delivered_and_calls_nothing() {
    let tool_use = Block::ToolUse(Box::new(ToolUse {
        id: "1".into(),
        name: "t".into(),
        input: json!({}),
        broken_input: None,
    }));
    let refusal = Finish::Refusal { reason: "no".into() };
    assert_eq!(step(vec![started(), said("a"), reply(vec![tool_use], refusal)]), Step::Deliver);
}

#[test]
fn a_failed_model_ends_the_turn_and_a_long_context_is_compacted_once() {
    let down = Step::Stop(TurnEnd::Failed { text: "down".into() });
    assert_eq!(step(vec![started(), said("a"), failed(false)]), down);
    assert_eq!(step(vec![started(), said("a"), failed(true)]), down, "there is nothing to compact");
    let old = vec![started(), said("a"), text("b"), ended(), started(), said("c"), failed(true)];
    assert_eq!(step(old.clone()), Step::Compact { through_seq: 4 });
    assert_eq!(step([old.clone(), vec![summary(4)]].concat()), Step::AskModel);
    assert_eq!(step([old.clone(), vec![dropped(4)]].concat()), Step::AskModel);
    assert_eq!(step([old, vec![summary(4), failed(true)]].concat()), down);
}

#[test]
fn a_turn_has_a_most_number_of_model_steps() {
    let mut bodies = vec![started(), said("a")];
    for n in 0..4_u64 {
        assert_eq!(step(bodies.clone()), Step::AskModel, "after {n} steps");
        let seq = bodies.len() as u64 + 1;
        bodies.extend([uses(&[&n.to_string()]), result(id(seq, 0), "r")]);
    }
    assert!(limit(step(bodies.clone())).contains("model_steps_max"));
    // A last word at the limit is still delivered.
    bodies.truncate(bodies.len() - 2);
    bodies.push(text("done"));
    assert_eq!(step(bodies), Step::Deliver);
}

#[test]
fn the_same_call_with_the_same_result_stops_the_turn() {
    let turn = |rounds: &[(&str, &str)]| {
        let mut bodies = vec![started(), said("a")];
        for (input, output) in rounds {
            let seq = bodies.len() as u64 + 1;
            bodies.extend([uses(&[input]), result(id(seq, 0), output)]);
        }
        step(bodies)
    };
    assert!(limit(turn(&[("1", "r"), ("1", "r"), ("1", "r")])).contains("identical_calls_max"));
    assert_eq!(turn(&[("1", "r"), ("1", "r")]), Step::AskModel);
    assert_eq!(
        turn(&[("1", "r"), ("1", "other"), ("1", "r")]),
        Step::AskModel,
        "the result changes: that is progress"
    );
    assert_eq!(turn(&[("1", "r"), ("2", "r"), ("1", "r")]), Step::AskModel);
}

#[test]
fn a_full_window_is_compacted_from_the_oldest_turn_on() {
    let long = "x".repeat(4000);
    let bodies = vec![
        started(),
        said(&long),
        text("b"),
        ended(),
        started(),
        said("c"),
        text("d"),
        ended(),
        started(),
        said("e"),
    ];
    let small = Bounds { window_tokens: 500, ..BOUNDS };
    assert_eq!(next(&log(bodies.clone()), &small), Step::Compact { through_seq: 4 });
    assert_eq!(next(&log([bodies.clone(), vec![summary(4)]].concat()), &small), Step::AskModel);
    assert_eq!(next(&log(bodies), &BOUNDS), Step::AskModel);
    // One message alone cannot be summarised away, and is not sent.
    let refused = next(&log(vec![started(), said(&long)]), &small);
    assert!(
        matches!(&refused, Step::Stop(TurnEnd::Limit { text }) if text.contains("window_tokens")),
        "{refused:?}"
    );
}

#[test]
fn a_requested_compaction_is_carried_out_once() {
    let asked =
        vec![started(), said("a"), text("b"), ended(), EventBody::CompactRequested { from: None }];
    assert_eq!(step(asked.clone()), Step::Compact { through_seq: 4 });
    assert_eq!(step([asked.clone(), vec![summary(4)]].concat()), Step::Done);
    assert_eq!(step([asked.clone(), vec![dropped(4)]].concat()), Step::Done);
    assert_eq!(
        step([asked, vec![started(), said("c")]].concat()),
        Step::Compact { through_seq: 4 }
    );
    assert_eq!(step(vec![EventBody::CompactRequested { from: None }]), Step::Done);
}

#[test]
fn a_dropped_exchange_is_no_work_and_no_weight() {
    let long = "x".repeat(4000);
    let first = vec![started(), said("a"), text("b"), ended()];
    let second = vec![started(), said(&long), text("d"), ended()];
    let both = [first, second, vec![undone(5, 8)]].concat();
    assert_eq!(step(both.clone()), Step::Done);
    let small = Bounds { window_tokens: 500, ..BOUNDS };
    let on = [both, vec![started(), said("e")]].concat();
    assert_eq!(next(&log(on.clone()), &small), Step::AskModel, "what was dropped fills no window");
    let requested = [on, vec![EventBody::CompactRequested { from: None }]].concat();
    assert_eq!(
        step(requested),
        Step::Compact { through_seq: 4 },
        "what was dropped is not summarised"
    );
}

#[test]
fn what_was_confirmed_is_run_before_everything_else_and_once() {
    let act = |bodies: Vec<EventBody>| match step(bodies) {
        Step::Act(actions) => actions.into_iter().map(|(id, _)| id).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let over = vec![started(), said("a"), text("b"), ended()];
    let tap = [
        over.clone(),
        vec![confirmed_by_tap(id(3, 1)), tapped(id(3, 0), Some(Answer::Press { index: 0 }))],
    ]
    .concat();
    assert_eq!(act(tap.clone()), [id(3, 1), id(3, 0)], "without a turn, in the order of the taps");
    assert_eq!(act([tap.clone(), vec![acted(id(3, 1), "r")]].concat()), [id(3, 0)]);
    assert_eq!(step([tap, vec![acted(id(3, 1), "r"), acted(id(3, 0), "r")]].concat()), Step::Done);
    for answer in [None, Some(Answer::Deny { word: None }), Some(Answer::Never)] {
        assert_eq!(step([over.clone(), vec![tapped(id(3, 0), answer)]].concat()), Step::Done);
    }
    for turn in [
        vec![],
        vec![uses(&["1"])],
        vec![uses(&["1"]), parked(id(7, 0), "q")],
        vec![failed(false)],
        vec![text("d")],
    ] {
        let open =
            [over.clone(), vec![started(), said("c")], turn, vec![confirmed_by_tap(id(3, 0))]]
                .concat();
        assert_eq!(act(open.clone()), [id(3, 0)]);
        let stopping = [open, vec![EventBody::StopRequested { by: "p".into() }]].concat();
        assert_eq!(
            step(stopping),
            Step::Stop(TurnEnd::Stopped { by: "p".into() }),
            "a stop is not overtaken"
        );
    }
}
