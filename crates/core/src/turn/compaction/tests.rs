//! Which step makes a window smaller, how often a model is asked, and that requests between two
//! compactions begin with each other.

use proptest::prelude::*;

use super::*;
use crate::domain::{
    CallId, Compaction, Finish, KeptWords, Message, PromptAccount, ToolOutput, TurnEnd, Usage,
};
use crate::turn::next;
use crate::turn::next::tests::{
    BOUNDS, cut, ended, failed, id, log, reply, result, said, started, text, uses,
};
use crate::turn::prompt::packed_event;
use crate::turn::summarise::{asked_ms, cut_event, made};
use crate::turn::transcript;

const SMALL: Bounds =
    Bounds { model_steps_max: 1_000, window_tokens: 1_000, identical_calls_max: 1_000, ..BOUNDS };

/// So many bytes of text are about so many tokens by four.
fn tokens(tokens: usize) -> String {
    "word".repeat(tokens)
}

fn exchange(words: &str) -> Vec<EventBody> {
    vec![started(), said(words), text("ok"), ended()]
}

fn open(words: &str) -> Vec<EventBody> {
    vec![started(), said(words)]
}

fn push(log: &Log, body: EventBody) -> Log {
    let mut log = log.clone();
    log.push(log.events().last().map_or(0, |event| event.at_ms), body);
    log
}

fn summarised(log: &Log, through_seq: u64, summary: &str) -> Log {
    let made = made(log, through_seq, summary, KeptWords::default(), Some(0));
    let text = summary.to_owned();
    push(log, EventBody::Summary { text, through_seq, spent: None, made: Box::new(made) })
}

fn gave_up(log: &Log) -> Log {
    let asked_ms = asked_ms(log, log.events().last().map(|event| event.at_ms));
    push(log, EventBody::CompactionFailed { reason: "down".into(), asked_ms })
}

#[test]
fn long_results_go_first_and_no_model_is_asked_when_that_is_enough() {
    let long = tokens(700);
    let first =
        vec![started(), said("a"), uses(&["1"]), result(id(3, 0), &long), text("ok"), ended()];
    let full = log([first, open(&tokens(500))].concat());
    let Step::CutResults { calls } = next(&full, &SMALL) else {
        panic!("{:?}", next(&full, &SMALL))
    };
    assert_eq!(calls, [id(3, 0)]);
    let cut = push(&full, cut_event(&full, vec![cut_of(&calls[0])]));
    let told = |log: &Log| transcript::fold(log).iter().map(words).collect::<String>();
    assert!(told(&full).contains(&long) && !told(&cut).contains(&long));
    assert!(told(&cut).contains("read_artifact with artifact 0123456789abcdef"), "{}", told(&cut));
    // 1,200 before, 800 after: less than the limit, and not small enough by itself.
    assert_eq!(next(&cut, &SMALL), Step::Compact { through_seq: 6 });
    let large = tokens(2_000);
    let first =
        vec![started(), said("a"), uses(&["1"]), result(id(3, 0), &large), text("ok"), ended()];
    let full = log([first, open("b")].concat());
    let cut = push(&full, cut_event(&full, vec![cut_of(&id(3, 0))]));
    assert_eq!(next(&cut, &SMALL), Step::AskModel);
}

fn cut_of(call: &CallId) -> crate::domain::CutResult {
    match cut(std::slice::from_ref(call)) {
        EventBody::ResultsCut { mut cut, .. } => cut.remove(0),
        other => panic!("{other:?}"),
    }
}

fn words(message: &Message) -> String {
    serde_json::to_string(&message.blocks).unwrap()
}

#[test]
fn the_results_that_a_model_works_at_stay_as_long_as_anything_else_can_go() {
    let long = tokens(700);
    let step = |at: u64| vec![uses(&[&at.to_string()]), result(id(at, 0), &long)];
    let turn = [open("a"), step(3), step(5), step(7)].concat();
    let log = log(turn);
    assert_eq!(next(&log, &SMALL), Step::CutResults { calls: vec![id(3, 0), id(5, 0)] });
}

#[test]
fn the_newest_turns_stay_as_far_as_they_are_small() {
    let bodies = [exchange(&tokens(900)), exchange("b"), open(&tokens(300))].concat();
    assert_eq!(next(&log(bodies), &SMALL), Step::Compact { through_seq: 4 });
    let bodies = [exchange(&tokens(500)), exchange(&tokens(500)), open("c")].concat();
    assert_eq!(next(&log(bodies), &SMALL), Step::Compact { through_seq: 8 });
    // What has ended is a tenth of the window: nothing is gained by it.
    let bodies = [exchange(&tokens(100)), open(&tokens(950))].concat();
    assert_eq!(next(&log(bodies), &SMALL), Step::AskModel);
}

#[test]
fn messages_are_a_limit_of_their_own() {
    let bounds = Bounds { window_messages: 8, ..BOUNDS };
    let four = [exchange("a"), exchange("b"), exchange("c"), exchange("d")].concat();
    assert_eq!(next(&log([four.clone(), open("e")].concat()), &BOUNDS), Step::AskModel);
    let through = next(&log([four, open("e")].concat()), &bounds);
    // The three newest messages stay, a half of eight at most.
    assert_eq!(through, Step::Compact { through_seq: 12 });
    // A result is one, too, however long it is.
    let long = result(id(3, 0), &tokens(700));
    let call = vec![started(), said("a"), uses(&["1"]), long, text("ok"), ended()];
    let seven = log([call, exchange("b"), open("c")].concat());
    let with = |window_messages| next(&seven, &Bounds { window_messages, ..BOUNDS });
    assert_eq!(with(7), Step::AskModel);
    assert_eq!(with(6), Step::Compact { through_seq: 6 });
}

#[test]
fn a_summary_that_makes_no_room_is_followed_by_a_drop() {
    let bodies = [exchange(&tokens(800)), exchange(&tokens(100)), open(&tokens(150))].concat();
    let full = log(bodies);
    assert_eq!(next(&full, &SMALL), Step::Compact { through_seq: 4 });
    let shrunk = summarised(&full, 4, "short");
    assert_eq!(next(&shrunk, &SMALL), Step::AskModel);
    let echoed = summarised(&full, 4, &tokens(700));
    assert_eq!(next(&echoed, &SMALL), Step::Drop { through_seq: 8 });
    // Nothing that ended is left then, so the turn goes on as it is.
    let made = Compaction { before_tokens: 900, after_tokens: 860, ..Compaction::default() };
    let dropped = EventBody::WindowDropped {
        reason: "no".into(),
        through_seq: 8,
        kept_summary: String::new(),
        made: Box::new(made),
    };
    assert_eq!(next(&push(&echoed, dropped), &SMALL), Step::AskModel);
}

#[test]
fn a_model_that_fails_loses_nothing_until_there_is_no_room() {
    let full = log([exchange(&tokens(800)), open(&tokens(300))].concat());
    assert_eq!(next(&full, &SMALL), Step::Compact { through_seq: 4 });
    let failed = gave_up(&full);
    assert_eq!(next(&failed, &SMALL), Step::AskModel, "once a turn");
    let later = [exchange(&tokens(800)), open(&tokens(300))].concat();
    let mut on = log(later);
    on = gave_up(&on);
    for body in [text("ok"), ended(), started(), said("c")] {
        on = push(&on, body);
    }
    assert_eq!(next(&on, &SMALL), Step::Compact { through_seq: 9 }, "tried again");
    let over = log([exchange(&tokens(1_200)), open(&tokens(300))].concat());
    assert_eq!(next(&over, &SMALL), Step::Compact { through_seq: 4 });
    assert_eq!(next(&gave_up(&over), &SMALL), Step::Drop { through_seq: 4 });
}

#[test]
fn a_model_is_asked_three_times_an_hour_at_most() {
    let asked_at = |minutes: &[i64], now: i64| {
        let mut log = log(exchange(&tokens(900)));
        let asked_ms = minutes.iter().map(|minute| minute * 60_000).collect();
        log.push(0, EventBody::CompactionFailed { reason: "down".into(), asked_ms });
        for body in open(&tokens(300)) {
            log.push(now * 60_000, body);
        }
        next(&log, &SMALL)
    };
    assert_eq!(asked_at(&[1, 2], 30), Step::Compact { through_seq: 4 });
    assert_eq!(asked_at(&[1, 2, 3], 30), Step::AskModel);
    assert_eq!(asked_at(&[1, 2, 3], 60), Step::AskModel);
    assert_eq!(asked_at(&[1, 2, 3], 61), Step::Compact { through_seq: 4 });
}

#[test]
fn after_a_long_pause_nothing_of_before_stays() {
    let bodies = [exchange("a"), exchange("b"), vec![EventBody::WindowIdle { idle_s: 4_000 }]];
    let idle = log([bodies.concat(), open("c")].concat());
    assert_eq!(next(&idle, &BOUNDS), Step::Compact { through_seq: 8 });
    assert_eq!(next(&gave_up(&idle), &BOUNDS), Step::AskModel, "the window stays whole");
    assert_eq!(next(&summarised(&idle, 8, "s"), &BOUNDS), Step::AskModel);
}

#[test]
fn a_context_that_is_too_long_is_made_smaller_as_long_as_it_can_be() {
    let mut on = log([exchange("a"), exchange("b"), open("c"), vec![failed(true)]].concat());
    assert_eq!(next(&on, &BOUNDS), Step::Compact { through_seq: 8 });
    on = gave_up(&on);
    assert_eq!(next(&on, &BOUNDS), Step::Drop { through_seq: 8 });
    let calls = uses(&["1"]);
    let long = result(id(7, 0), &tokens(2_000));
    let other = reply(vec![], Finish::Complete);
    let working = vec![calls, long, other, failed(true)];
    let before = |words: &str| log([exchange(words), open("c"), working.clone()].concat());
    let enough = before(&tokens(200));
    assert_eq!(next(&enough, &BOUNDS), Step::Compact { through_seq: 4 }, "its results are new");
    let down = Step::Stop(TurnEnd::Failed { text: "down".into() });
    assert_eq!(next(&before("a"), &BOUNDS), down, "it would be no shorter");
}

/// What goes through a conversation of one session.
#[derive(Clone, Debug)]
enum Said {
    Words(u16),
    Call(u16),
    End,
}

fn any_said() -> impl Strategy<Value = Said> {
    prop_oneof![
        (1_u16..200).prop_map(Said::Words),
        (1_u16..1_500).prop_map(Said::Call),
        Just(Said::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Between two compactions each request begins with the request before it, message by message;
    /// and after a restart a window shows the same.
    #[test]
    fn requests_begin_with_the_one_before(all in proptest::collection::vec(any_said(), 1..60)) {
        let mut log = log(open("begin"));
        let mut stored = log.events().to_vec();
        let mut before: Vec<String> = Vec::new();
        for one in all {
            let mut bodies = match one {
                Said::Words(count) => vec![text("ok"), said(&tokens(count.into()))],
                Said::Call(count) => {
                    let at = log.next_seq();
                    let output = ToolOutput { text: tokens(count.into()), ..ToolOutput::default() };
                    let outcome = crate::domain::Outcome::Ended { output };
                    vec![uses(&["1"]), EventBody::ToolResult { call: id(at, 0), outcome: Box::new(outcome) }]
                }
                Said::End => vec![text("bye"), ended(), started(), said("hello")],
            };
            let mut compacted = false;
            loop {
                for body in bodies.drain(..) {
                    stored.push(log.push(0, body));
                }
                bodies = match next(&log, &SMALL) {
                    Step::CutResults { calls } => {
                        vec![cut_event(&log, calls.iter().map(cut_of).collect())]
                    }
                    Step::Compact { through_seq } => {
                        let made = made(&log, through_seq, "s", KeptWords::default(), None);
                        vec![EventBody::Summary { text: "s".into(), through_seq, spent: None, made: Box::new(made) }]
                    }
                    Step::Drop { through_seq } => {
                        let made = made(&log, through_seq, "", KeptWords::default(), None);
                        let (reason, kept_summary) = ("r".into(), String::new());
                        vec![EventBody::WindowDropped { reason, through_seq, kept_summary, made: Box::new(made) }]
                    }
                    _ => break,
                };
                compacted = true;
            }
            let shown = |log: &Log| -> Vec<String> {
                let messages = transcript::fold(log);
                messages.iter().flat_map(|message| &message.blocks)
                    .map(|block| serde_json::to_string(block).unwrap()).collect()
            };
            let now = shown(&log);
            if !compacted {
                prop_assert_eq!(&now[..before.len()], &before[..]);
            }
            let read_back = Log::new(log.session().clone(), stored.clone(), stored.len() as u64);
            prop_assert_eq!(&now, &shown(&read_back));
            before = now;
        }
    }
}

#[test]
fn what_a_provider_counts_makes_a_window_full_sooner_or_later() {
    let after = |percent: u64| {
        let mut log = log(vec![started(), said(&tokens(700))]);
        let packed = packed_event(&log, Some(PromptAccount::default()));
        log.push(0, packed);
        let usage = Usage {
            input_tokens: window::estimated(&log).tokens * percent / 100,
            ..Usage::default()
        };
        let reply = EventBody::ModelReply {
            blocks: vec![crate::domain::Block::Text { text: "ok".into() }],
            finish: Finish::Complete,
            usage,
            provider: "p".into(),
            model: "m".into(),
            notice: None,
        };
        for body in [reply, ended(), started(), said(&tokens(200))] {
            log.push(0, body);
        }
        next(&log, &SMALL)
    };
    assert_eq!(after(0), Step::AskModel, "by the estimate it is not full");
    assert_eq!(after(90), Step::AskModel);
    assert!(matches!(after(160), Step::Compact { .. }), "{:?}", after(160));
    assert_eq!(after(2_000), Step::AskModel, "no count of these tokens");
}
