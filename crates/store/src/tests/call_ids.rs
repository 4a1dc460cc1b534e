//! Homes from before an id said who made the call: after the upgrade every row names the same call,
//! by the id that it has today.

use claw_domain::{Address, Event, EventBody, Outbound, OutboundBody, PauseCause};

use super::*;
use crate::migrate;

/// The schema under which every id was a session and two numbers.
const BEFORE: u32 = crate::schema::FIRST;
/// A reply that waits, a list of two actions with a group of buttons behind it, and a turn that has
/// asked whether it may go on for either reason: as claw wrote them then.
const ROWS: &str = include_str!("call_ids.sql");

fn home_of_before(rig: &Rig) {
    migrate::build_new(&rig.path(), &[]).unwrap();
}

fn upgraded() -> (Rig, Store) {
    let rig = Rig::new();
    home_of_before(&rig);
    rig.tamper(ROWS);
    let store = rig.open();
    (rig, store)
}

fn ids() -> [CallId; 7] {
    let action = |index| CallId::Action { session: session(), result_seq: 4, index };
    let pause = |turn_seq, cause| CallId::Pause { session: session(), turn_seq, cause, nth: 0 };
    [
        CallId::Reply { session: session(), reply_seq: 3, block: 1 },
        action(0),
        action(1),
        CallId::List { session: session(), result_seq: 4 },
        CallId::Buttons { session: session(), result_seq: 4, group: 1 },
        pause(9, PauseCause::Budget),
        pause(9, PauseCause::Deaths),
    ]
}

#[test]
fn every_open_question_and_its_call_have_the_id_of_what_they_are() {
    let (_rig, store) = upgraded();
    let open = store.read(|tx| tx.open_approvals(None)).unwrap();
    let asked: Vec<_> = open.iter().map(|row| (row.id.0.as_str(), row.call.clone())).collect();
    let names = ["q-reply", "q-one", "q-two", "q-all", "q-buttons", "q-budget", "q-deaths"];
    assert_eq!(asked, names.into_iter().zip(ids()).collect::<Vec<_>>());
    for row in &open {
        assert_eq!(row.question.call, row.call);
        assert_eq!(row.question.session, Some(session()));
        let call = store.read(|tx| tx.call(&row.call)).unwrap().unwrap();
        assert_eq!(call.id, row.call);
    }
    let [_, one, two, all, buttons, ..] = ids();
    let list = store.read(|tx| tx.staged_in(&all)).unwrap();
    assert_eq!(list.iter().map(|row| &row.call).collect::<Vec<_>>(), [&one, &two]);
    let pressed = store.read(|tx| tx.staged_in(&buttons)).unwrap();
    assert_eq!(pressed[0].call, CallId::Action { session: session(), result_seq: 4, index: 2 });
}

#[test]
fn logs_and_what_is_to_be_shown_name_the_same_calls() {
    let (_rig, store) = upgraded();
    let [reply, one, .., deaths] = ids();
    let events = store.read(|tx| tx.events_from(&session(), 1)).unwrap();
    let named: Vec<_> = events.iter().filter_map(call_of).collect();
    assert_eq!(named, [&reply, &one, &one, &deaths, &deaths], "{events:?}");
    let shown = store.read(|tx| tx.queued_outbound(&Address("telegram/1".into()))).unwrap();
    let Outbound { body: OutboundBody::Question { question, .. }, .. } = &shown[0].outbound else {
        panic!("{shown:?}");
    };
    assert_eq!(question.call, one);
}

#[test]
fn what_is_kept_of_a_call_stays_its_own_and_windows_are_made_anew() {
    let (rig, store) = upgraded();
    let [reply, one, ..] = ids();
    let kept = store.read(|tx| tx.artifacts()).unwrap();
    let calls: Vec<_> = kept.iter().map(|row| row.call.as_str()).collect();
    assert_eq!(calls, [one.to_string(), reply.to_string()]);
    let db = rusqlite::Connection::open(rig.path()).unwrap();
    let windows = db.query_row("SELECT count(*) FROM kept_windows", [], |row| row.get::<_, i64>(0));
    assert_eq!(windows.unwrap(), 0, "a window with ids of before");
}

#[test]
fn the_audit_stays_as_it_is_and_is_found_under_the_id_of_today() {
    let (_rig, store) = upgraded();
    let [_, one, ..] = ids();
    let rows = store.read(|tx| tx.audit_of(&one)).unwrap();
    assert_eq!(rows.iter().map(|row| row.call.as_str()).collect::<Vec<_>>(), ["main:4:0"]);
}

#[test]
fn rows_that_nobody_can_read_do_not_keep_a_home_from_its_upgrade() {
    let rig = Rig::new();
    home_of_before(&rig);
    rig.tamper(ROWS);
    let torn = "UPDATE events SET body = '{' WHERE type <> 'tool.result';
                UPDATE approvals SET question = 'x'; UPDATE outbox SET body = '[';
                INSERT INTO staged VALUES ('', 'no id', 1, '', '[]')";
    rig.tamper(torn);
    assert_eq!(rig.open().migrated().unwrap().from, BEFORE);
}

fn call_of(event: &Event) -> Option<&CallId> {
    match &event.body {
        EventBody::CallParked { call, .. }
        | EventBody::CallAnswered { call, .. }
        | EventBody::ActionAnswered { call, .. }
        | EventBody::ActionResult { call, .. }
        | EventBody::ToolResult { call, .. } => Some(call),
        _ => None,
    }
}
