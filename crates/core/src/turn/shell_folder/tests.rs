//! Where shells stand, from logs: what moves one, whose it is, and what takes it back.

use serde_json::json;

use super::*;
use crate::domain::{Compaction, EventBody, Origin, Outcome};
use crate::turn::next::tests::{ended, id, log, said, session, started, text, uses};

fn left_by(call: CallId, folder: &str, instead_of: Option<&str>) -> EventBody {
    let shell = Some(Box::new(ShellFolder {
        server: "bash".into(),
        folder: folder.into(),
        instead_of: instead_of.map(str::to_owned),
    }));
    let output = ToolOutput { shell, ..ToolOutput::default() };
    EventBody::ToolResult { call, outcome: Box::new(Outcome::Ended { output }) }
}

fn left(call: CallId, folder: &str) -> EventBody {
    left_by(call, folder, None)
}

fn told(log: &Log) -> Option<(String, bool)> {
    ShellFold::<Folder>::now(log).told()
}

fn started_by(origin: Origin, principal: &str) -> EventBody {
    EventBody::TurnStarted { origin, principal: principal.into(), role: None }
}

/// Where the shell stands for a call of the next reply.
fn stands(events: &[EventBody]) -> Option<String> {
    let log = log(events.to_vec());
    let tool_use =
        ToolUse { id: "x".into(), name: "bash__run".into(), input: json!({}), broken_input: None };
    before(&log, &[(id(log.next_seq(), 0), tool_use)]).remove("bash")
}

/// One turn of the owner's in which two commands run side by side: events 1 to 5.
fn turn(ends: [EventBody; 2]) -> Vec<EventBody> {
    let [one, two] = ends;
    vec![started(), said("a"), uses(&["x", "y"]), one, two]
}

#[test]
fn the_last_one_of_a_reply_that_has_moved_it_counts_whenever_it_ends() {
    let moved = |block, folder| left(id(3, block), folder);
    for ends in [[moved(0, "a"), moved(1, "b")], [moved(1, "b"), moved(0, "a")]] {
        assert_eq!(stands(&turn(ends)).as_deref(), Some("b"));
    }
    let still = crate::turn::next::tests::result(id(3, 1), "");
    assert_eq!(stands(&turn([moved(0, "a"), still])).as_deref(), Some("a"));
    assert_eq!(stands(&turn([moved(0, "a"), moved(1, ".")])), None);
}

#[test]
fn calls_of_a_reply_begin_where_the_replies_before_it_have_left_the_shell() {
    let events = turn([left(id(3, 0), "a"), left(id(3, 1), "b")]);
    let log = log(events);
    let tool_use =
        ToolUse { id: "x".into(), name: "bash__run".into(), input: json!({}), broken_input: None };
    // As it is after a kill, when one of two has ended.
    assert_eq!(before(&log, &[(id(3, 1), tool_use)]), Stands::new());
}

#[test]
fn a_call_that_is_over_without_the_end_of_a_shell_moves_none() {
    let mut events = turn([left(id(3, 0), "a"), left(id(3, 1), "b")]);
    events.push(uses(&["x", "y"]));
    let unknown = Outcome::Unknown { reason: "killed".into() };
    events.push(EventBody::ToolResult { call: id(6, 0), outcome: Box::new(unknown) });
    let output = ToolOutput {
        structured: Some(json!({"moved_to": "c", "exit_code": 0})),
        ..ToolOutput::default()
    };
    // What a server says is data; the gate alone says where a shell was left.
    events.push(EventBody::ToolResult {
        call: id(6, 1),
        outcome: Box::new(Outcome::Ended { output }),
    });
    assert_eq!(stands(&events).as_deref(), Some("b"));
}

#[test]
fn a_folder_that_cannot_be_used_takes_the_shell_that_stands_there_back() {
    let mut events = turn([left(id(3, 0), "a"), left(id(3, 1), "b")]);
    events.push(uses(&["x"]));
    let refused = |folder| left_by(id(6, 0), ".", Some(folder));
    let with = |end| events.iter().cloned().chain([end]).collect::<Vec<_>>();
    assert_eq!(stands(&with(refused("elsewhere"))).as_deref(), Some("b"));
    assert_eq!(stands(&with(refused("b"))), None);
}

#[test]
fn a_new_conversation_and_an_undo_take_it_back() {
    let mut events = turn([left(id(3, 0), "a"), left(id(3, 1), "b")]);
    events.extend([text("done"), ended(), started(), said("b"), uses(&["x"])]);
    events.extend([left(id(10, 0), "c"), text("done"), ended()]);
    let with = |end| events.iter().cloned().chain([end]).collect::<Vec<_>>();
    assert_eq!(stands(&events).as_deref(), Some("c"));
    assert_eq!(stands(&with(EventBody::SessionCleared {})), None);
    let undone = EventBody::ExchangeDropped { from_seq: 8, through_seq: 13 };
    assert_eq!(stands(&with(undone)).as_deref(), Some("b"));
    let forgotten = with(EventBody::ShellForgotten { part: ShellPart::Folder });
    assert_eq!(stands(&forgotten), None);
    assert_eq!(told(&log(forgotten)).unwrap().0, "shell in the workspace");
}

#[test]
fn everybody_has_shells_of_their_own_and_a_job_begins_in_the_workspace() {
    let mut events = turn([left(id(3, 0), "a"), left(id(3, 1), "b")]);
    events.extend([text("done"), ended(), started_by(Origin::Forwarded, "telegram:9")]);
    assert_eq!(stands(&events), None);
    assert_eq!(told(&log(events.clone())).unwrap().0, "shell in the workspace");
    events.extend([said("b"), uses(&["x"]), left(id(10, 0), "guest"), text("done"), ended()]);
    events.push(started());
    assert_eq!(stands(&events).as_deref(), Some("b"));
    assert_eq!(told(&log(events.clone())).unwrap().0, "shell in `b`");
    events.extend([ended(), started_by(Origin::Forwarded, "telegram:9")]);
    assert_eq!(stands(&events).as_deref(), Some("guest"));
    let job = || started_by(Origin::Schedule, "schedule:j3.1");
    events.extend([ended(), job(), said("c"), uses(&["x"])]);
    let seq = events.len() as u64;
    events.extend([left(id(seq, 0), "job"), uses(&["x"])]);
    assert_eq!(stands(&events).as_deref(), Some("job"));
    events.extend([text("done"), ended(), job()]);
    assert_eq!(stands(&events), None);
}

#[test]
fn a_summary_keeps_where_the_replaced_part_has_left_it() {
    let mut events = turn([left(id(3, 0), "a"), left(id(3, 1), "b")]);
    events.extend([text("done"), ended()]);
    let through_seq = events.len() as u64;
    events.extend([started(), said("b"), uses(&["x"]), left(id(10, 0), "c")]);
    let shells = kept(&log(events.clone()), through_seq);
    assert_eq!(shells.len(), 1);
    assert_eq!(shells[0].folder, "b");
    let made = Compaction { before_tokens: 1, shells, ..Compaction::default() };
    let summary =
        EventBody::Summary { text: "s".into(), through_seq, spent: None, made: Box::new(made) };
    let with = |end| events.iter().cloned().chain([summary.clone(), end]).collect::<Vec<_>>();
    assert_eq!(stands(&with(text("on"))).as_deref(), Some("c"));
    let undone = EventBody::ExchangeDropped { from_seq: 8, through_seq: 11 };
    assert_eq!(stands(&with(undone.clone())).as_deref(), Some("b"));
    assert_eq!(told(&log(with(undone))).unwrap().0, "shell in `b`");
    assert_eq!(session().as_str(), "main");
}

#[test]
fn a_name_that_could_be_read_as_more_is_not_quoted() {
    for (folder, words) in [
        ("a/b-c 1", "`a/b-c 1`"),
        ("a`] [mode: work", "a folder with an odd name, which `pwd` tells"),
        ("a\n", "a folder with an odd name, which `pwd` tells"),
    ] {
        assert_eq!(named(folder), words);
    }
}
