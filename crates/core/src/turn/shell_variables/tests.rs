//! What shells keep, from logs: what changes it, whose it is, and what takes it back.

use serde_json::json;

use super::*;
use crate::domain::{Compaction, EventBody, Origin, Outcome};
use crate::turn::next::tests::{ended, id, log, said, started, text, uses};
use crate::turn::shells;

fn left(call: CallId, set: &[(&str, &str)], unset: &[&str]) -> EventBody {
    let shell_variables = Some(Box::new(ShellVariables {
        server: "bash".into(),
        set: set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        unset: unset.iter().map(|name| (*name).into()).collect(),
    }));
    let output = ToolOutput { shell_variables, ..ToolOutput::default() };
    EventBody::ToolResult { call, outcome: Box::new(Outcome::Ended { output }) }
}

fn told(log: &Log) -> Option<(String, bool)> {
    ShellFold::<Variables>::now(log).told()
}

fn started_by(origin: Origin, principal: &str) -> EventBody {
    EventBody::TurnStarted { origin, principal: principal.into(), role: None }
}

fn tool_use() -> ToolUse {
    ToolUse { id: "x".into(), name: "bash__run".into(), input: json!({}), broken_input: None }
}

/// What a call of the next reply has: `A=1 B=2`.
fn keeps(events: &[EventBody]) -> String {
    let log = log(events.to_vec());
    let kept = before(&log, &[(id(log.next_seq(), 0), tool_use())]).remove("bash");
    let words = kept.unwrap_or_default().into_iter().map(|(name, value)| format!("{name}={value}"));
    words.collect::<Vec<_>>().join(" ")
}

/// One turn of the owner's in which two commands run side by side: events 1 to 5.
fn turn(ends: [EventBody; 2]) -> Vec<EventBody> {
    let [one, two] = ends;
    vec![started(), said("a"), uses(&["x", "y"]), one, two]
}

fn usual() -> Vec<EventBody> {
    turn([left(id(3, 0), &[("A", "0"), ("B", "0")], &[]), left(id(3, 1), &[("A", "1")], &[])])
}

#[test]
fn the_last_one_of_a_reply_that_has_changed_a_name_counts_whenever_it_ends() {
    let first = || left(id(3, 0), &[("A", "first"), ("B", "first")], &[]);
    let last = || left(id(3, 1), &[("A", "last")], &["C"]);
    for ends in [[first(), last()], [last(), first()]] {
        assert_eq!(keeps(&turn(ends)), "A=last B=first");
    }
    let taken = || left(id(3, 1), &[], &["A"]);
    for ends in [[first(), taken()], [taken(), first()]] {
        assert_eq!(keeps(&turn(ends)), "B=first");
    }
}

#[test]
fn calls_of_a_reply_have_what_the_replies_before_it_have_left() {
    let log = log(usual());
    // As it is after a kill, when one of two has ended.
    assert_eq!(before(&log, &[(id(3, 1), tool_use())]), Keeps::new());
}

#[test]
fn what_a_server_says_by_itself_is_data() {
    let mut events = usual();
    events.push(uses(&["x", "y"]));
    let unknown = Outcome::Unknown { reason: "killed".into() };
    events.push(EventBody::ToolResult { call: id(6, 0), outcome: Box::new(unknown) });
    let told = json!({"variables_left": {"set": {"EVIL": "1"}, "unset": ["A"]}});
    let output = ToolOutput { structured: Some(told), ..ToolOutput::default() };
    events.push(EventBody::ToolResult {
        call: id(6, 1),
        outcome: Box::new(Outcome::Ended { output }),
    });
    assert_eq!(keeps(&events), "A=1 B=0");
}

#[test]
fn a_new_conversation_an_undo_and_the_owners_command_take_it_back() {
    let mut events = usual();
    events.extend([text("done"), ended(), started(), said("b"), uses(&["x"])]);
    events.extend([left(id(10, 0), &[("C", "3")], &["A"]), text("done"), ended()]);
    let with = |end| events.iter().cloned().chain([end]).collect::<Vec<_>>();
    assert_eq!(keeps(&events), "B=0 C=3");
    assert_eq!(keeps(&with(EventBody::SessionCleared {})), "");
    let undone = EventBody::ExchangeDropped { from_seq: 8, through_seq: 13 };
    assert_eq!(keeps(&with(undone)), "A=1 B=0");
    let folder = EventBody::ShellForgotten { part: ShellPart::Folder };
    assert_eq!(keeps(&with(folder)), "B=0 C=3");
    let forgotten = with(EventBody::ShellForgotten { part: ShellPart::Variables });
    assert_eq!(keeps(&forgotten), "");
    let unwanted = |events: &[EventBody]| shells::unwanted(&log(events.to_vec()), (true, false));
    assert_eq!((unwanted(&forgotten), unwanted(&events)), (vec![], vec![ShellPart::Variables]));
    assert_eq!(told(&log(forgotten)).unwrap().0, "exported: nothing");
}

#[test]
fn everybody_has_shells_of_their_own_and_a_job_begins_with_nothing() {
    let mut events = usual();
    events.extend([text("done"), ended(), started_by(Origin::Forwarded, "telegram:9")]);
    assert_eq!(keeps(&events), "");
    assert_eq!(told(&log(events.clone())).unwrap().0, "exported: nothing");
    events.extend([said("b"), uses(&["x"]), left(id(10, 0), &[("G", "9")], &[]), text("done")]);
    events.extend([ended(), started()]);
    assert_eq!(keeps(&events), "A=1 B=0");
    assert_eq!(told(&log(events.clone())).unwrap().0, "exported: `A` `B`");
    events.extend([ended(), started_by(Origin::Forwarded, "telegram:9")]);
    assert_eq!(keeps(&events), "G=9");
    let job = || started_by(Origin::Schedule, "schedule:j3.1");
    events.extend([ended(), job(), said("c"), uses(&["x"])]);
    let seq = events.len() as u64;
    events.extend([left(id(seq, 0), &[("J", "1")], &[]), uses(&["x"])]);
    assert_eq!(keeps(&events), "J=1");
    events.extend([text("done"), ended(), job()]);
    assert_eq!(keeps(&events), "");
}

#[test]
fn a_summary_keeps_what_the_replaced_part_has_left() {
    let mut events = usual();
    events.extend([text("done"), ended()]);
    let through_seq = events.len() as u64;
    events.extend([started(), said("b"), uses(&["x"]), left(id(10, 0), &[("C", "3")], &["B"])]);
    let shell_variables = kept(&log(events.clone()), through_seq);
    assert_eq!(shell_variables.len(), 1);
    let made = Compaction { before_tokens: 1, shell_variables, ..Compaction::default() };
    let summary =
        EventBody::Summary { text: "s".into(), through_seq, spent: None, made: Box::new(made) };
    let with = |end| events.iter().cloned().chain([summary.clone(), end]).collect::<Vec<_>>();
    assert_eq!(keeps(&with(text("on"))), "A=1 C=3");
    let undone = EventBody::ExchangeDropped { from_seq: 8, through_seq: 11 };
    assert_eq!(keeps(&with(undone.clone())), "A=1 B=0");
    assert_eq!(told(&log(with(undone))).unwrap().0, "exported: `A` `B`");
}

#[test]
fn commands_side_by_side_leave_no_more_than_one_call_can_give() {
    let many = |letter: char| -> Vec<(String, String)> {
        (0..40).map(|n| (format!("{letter}{n:02}"), "x".to_owned())).collect()
    };
    let (a, b) = (many('A'), many('B'));
    let of = |block, all: &[(String, String)]| {
        let pairs: Vec<(&str, &str)> =
            all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        left(id(3, block), &pairs, &[])
    };
    let events = turn([of(0, &a), of(1, &b)]);
    let log = log(events);
    let kept = before(&log, &[(id(log.next_seq(), 0), tool_use())]).remove("bash").unwrap();
    assert_eq!(kept.len(), claw_kit::variables::COUNT_MAX);
    assert!(claw_kit::variables::check(&kept).is_ok());
    assert!(told(&log).unwrap().0.ends_with("and 52 more, which `export -p` tells"));
}

#[test]
fn a_model_is_told_once_and_again_when_it_has_changed() {
    let mut events = usual();
    events.extend([text("done"), ended(), started()]);
    assert_eq!(told(&log(events.clone())), Some(("exported: `A` `B`".to_owned(), true)));
    events.push(EventBody::TurnContext { text: "[…]".into() });
    assert_eq!(told(&log(events)), Some(("exported: `A` `B`".to_owned(), false)));
    assert_eq!(told(&log(vec![started(), said("a")])), None);
}
