//! Kept windows: they hold what the log holds, or are not used. No number of rows that a turn reads
//! grows with the history.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::kept_window::READ_ONE_BY_ONE_MAX;
use claw_domain::{
    Action, Address, Answer, Block, Compaction, Event, EventBody, Finish, KeptWords, Origin,
    Outcome, Spent, ToolOutput, ToolUse, TurnEnd, Usage,
};

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn said(text_said: &str) -> EventBody {
    let from = Address("console/1".into());
    EventBody::UserMessage {
        blocks: vec![text(text_said)],
        inbox_id: 7,
        from,
        origin: Origin::Owner,
    }
}

fn reply(blocks: Vec<Block>, finish: Finish) -> EventBody {
    let usage =
        Usage { input_tokens: 1, output_tokens: 2, cached_tokens: 3, cache_write_tokens: 4 };
    let (provider, model) = ("p".to_owned(), "m".to_owned());
    EventBody::ModelReply { blocks, finish, usage, provider, model, notice: Some("n".into()) }
}

/// What any event of a log may be. Numbers of other events are of this log, and some are of none.
fn body() -> impl Strategy<Value = EventBody> {
    let words =
        prop_oneof![Just("hello".to_owned()), Just("\"\\\u{0}\u{2028}👩".to_owned()), ".{0,12}"];
    let call = |seq: u64| CallId::Reply { session: session(), reply_seq: seq, block: 1 };
    prop_oneof![
        4 => words.clone().prop_map(|words| said(&words)),
        2 => words.clone().prop_map(|words| reply(vec![text(&words)], Finish::Complete)),
        2 => (words.clone(), any::<f64>(), any::<i64>()).prop_map(|(words, float, number)| {
            let input = json!({ "a": words, "b": [null, number, float.is_finite().then_some(float)], "c": u64::MAX });
            let tool_use = ToolUse { id: "c1".into(), name: "t".into(), input, broken_input: Some(words) };
            let opaque = Block::Opaque { provider: "p".into(), data: Box::new(json!({"type": "thinking"})) };
            reply(vec![opaque, Block::ToolUse(Box::new(tool_use))], Finish::ToolUse)
        }),
        1 => words.clone().prop_map(|reason| reply(Vec::new(), Finish::Refusal { reason })),
        2 => (1..40_u64, words.clone()).prop_map(move |(seq, text)| {
            let output = ToolOutput { text, structured: Some(json!({"x": 1.5})), ..ToolOutput::default() };
            EventBody::ToolResult { call: call(seq), outcome: Box::new(Outcome::Ended { output }) }
        }),
        1 => words.clone().prop_map(|principal| EventBody::TurnStarted {
            origin: Origin::Button, principal, role: Some("r".into())
        }),
        2 => Just(EventBody::TurnEnded { end: TurnEnd::Answered }),
        1 => words.clone().prop_map(|text| EventBody::TurnEnded { end: TurnEnd::Limit { text } }),
        1 => (1..40_u64).prop_map(|from_seq| EventBody::PromptPacked {
            from_seq, dropped_events: 1, estimated_tokens: 2, account: None
        }),
        1 => (0..40_u64, words.clone()).prop_map(|(through_seq, text)| EventBody::Summary {
            text, through_seq, spent: None, made: Default::default()
        }),
        1 => (0..40_u64, words.clone()).prop_map(|(through_seq, name)| {
            let (provider, model) = ("p".to_owned(), "m".to_owned());
            let kept = KeptWords {
                rules: vec![name.clone()],
                identifiers: vec![name, String::new()],
                archive: Some("a".into()),
            };
            let made = Compaction { before_tokens: 9, asked_ms: vec![-1, 7], kept, ..Compaction::default() };
            EventBody::Summary {
                text: "s".into(),
                through_seq,
                spent: Some(Spent { usage: Usage::default(), provider, model }),
                made: Box::new(made),
            }
        }),
        1 => (0..40_u64, words.clone()).prop_map(|(through_seq, kept_summary)| EventBody::WindowDropped {
            reason: "r".into(), through_seq, kept_summary, made: Default::default()
        }),
        1 => (1..40_u64).prop_map(|seq| EventBody::ExchangeDropped { from_seq: seq, through_seq: seq + 3 }),
        1 => Just(EventBody::SessionCleared {}),
        1 => (1..40_u64, words).prop_map(move |(seq, summary)| EventBody::ActionAnswered {
            call: call(seq),
            approval: ApprovalId("a".into()),
            action: Box::new(Action { server: "s".into(), tool: "t".into(), arguments: json!({}), summary }),
            answer: Some(Answer::Deny { word: None }),
            by: "b".into(),
        }),
    ]
}

fn append(tx: &Tx<'_>, seq: u64, body: EventBody) {
    tx.append_event(&session(), &Event { seq, at_ms: seq as i64 * 3, body }).unwrap();
}

/// The window as the log alone gives it.
fn from_the_log(tx: &Tx<'_>) -> Vec<Event> {
    tx.events_from(&session(), tx.window_begins(&session()).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What a model sees is a function of these events alone, so that it is the same, too.
    #[test]
    fn a_kept_window_with_what_came_after_it_is_the_window(
        bodies in proptest::collection::vec((body(), proptest::bool::weighted(0.2)), 1..40),
    ) {
        let rig = Rig::new();
        drop(rig.open());
        let conn = Connection::open(rig.path()).unwrap();
        conn.execute_batch("PRAGMA synchronous = OFF").unwrap();
        let tx = Tx::new(&conn);
        for (seq, (body, keep)) in (1..).zip(bodies) {
            append(&tx, seq, body);
            prop_assert_eq!(&tx.window(&session()).unwrap().events, &from_the_log(&tx), "at event {}", seq);
            if keep {
                tx.keep_window(&session()).unwrap();
                let window = tx.window(&session()).unwrap();
                prop_assert_eq!(&window.events, &from_the_log(&tx), "kept at event {}", seq);
                // A copy that cannot be read is as good as none, and nobody would notice.
                prop_assert_eq!(window.one_by_one, 0, "read from the log at event {}", seq);
            }
        }
    }
}

/// A log of so many turns, of five events each.
fn turns(tx: &Tx<'_>, turns: u64) {
    let first = tx.last_seq(&session()).unwrap() + 1;
    for turn in 0..turns {
        let bodies = [
            EventBody::TurnStarted { origin: Origin::Owner, principal: "p".into(), role: None },
            said("hello"),
            EventBody::PromptPacked {
                from_seq: 1,
                dropped_events: 0,
                estimated_tokens: 9,
                account: Some(Box::default()),
            },
            reply(vec![text("Hello.")], Finish::Complete),
            EventBody::TurnEnded { end: TurnEnd::Answered },
        ];
        (first + turn * 5..).zip(bodies).for_each(|(seq, body)| append(tx, seq, body));
    }
}

/// In one transaction, on a log of so many turns, of which all but the last ten are kept.
fn kept(count: u64, look: impl FnOnce(&Tx<'_>)) {
    let rig = Rig::new();
    drop(rig.open());
    let conn = Connection::open(rig.path()).unwrap();
    let _one = conn.unchecked_transaction().unwrap();
    let tx = Tx::new(&conn);
    turns(&tx, count - 10);
    tx.keep_window(&session()).unwrap();
    turns(&tx, 10);
    look(&tx);
}

/// How many rows a window is read from, besides the kept one.
fn rows_read(tx: &Tx<'_>) -> usize {
    let window = tx.window(&session()).unwrap();
    assert_eq!(window.events, from_the_log(tx));
    window.one_by_one
}

#[test]
fn a_turn_of_a_new_process_reads_as_many_rows_after_1000_turns_as_after_80() {
    kept(80, |tx| assert_eq!(rows_read(tx), 50));
    kept(1_000, |tx| {
        assert_eq!(rows_read(tx), 50);
        assert!(
            !tx.window(&session()).unwrap().is_worth_keeping(),
            "each turn would write it anew"
        );
        turns(tx, 50);
        assert!(
            tx.window(&session()).unwrap().is_worth_keeping(),
            "{READ_ONE_BY_ONE_MAX} rows were read"
        );
        tx.keep_window(&session()).unwrap();
        assert_eq!(rows_read(tx), 0);
    });
}

#[test]
fn a_clock_that_was_set_changes_nothing_in_what_is_kept() {
    kept(80, |tx| {
        for (seq, at_ms) in (401..).zip([i64::MAX, i64::MIN, 0, -1]) {
            tx.append_event(&session(), &Event { seq, at_ms, body: said("late") }).unwrap();
        }
        tx.keep_window(&session()).unwrap();
        assert_eq!(rows_read(tx), 0);
    });
}

/// Whatever is wrong with it: the log is read instead, and what is kept next is right again.
#[test]
fn what_is_damaged_or_of_another_form_or_of_another_log_is_not_used_and_made_anew() {
    let spoiled = [
        ("damaged", "UPDATE kept_windows SET body = replace(body, 'Hello', 'Jello')"),
        ("cut", "UPDATE kept_windows SET body = substr(body, 1, 100)"),
        ("no text", "UPDATE kept_windows SET digest = ''"),
        ("of another version", "UPDATE kept_windows SET form = '0 of 0.0.1'"),
        ("of another log with as many events", "UPDATE events SET at_ms = at_ms + 1"),
    ];
    for (what, sql) in spoiled {
        kept(80, |tx| {
            tx.conn.execute_batch(sql).unwrap();
            assert_eq!(rows_read(tx), 400, "{what}: it was used");
            assert!(tx.window(&session()).unwrap().is_worth_keeping(), "{what}");
            tx.keep_window(&session()).unwrap();
            assert_eq!(rows_read(tx), 0, "{what}: it was not made anew");
        });
    }
}

#[test]
fn a_log_that_got_shorter_or_begins_later_is_read_as_it_is() {
    kept(80, |tx| {
        tx.conn.execute_batch("DELETE FROM events WHERE seq > 300").unwrap();
        assert_eq!(rows_read(tx), 300, "shorter than what was kept");
    });
    kept(80, |tx| {
        append(tx, 401, EventBody::ExchangeDropped { from_seq: 396, through_seq: 400 });
        assert_eq!(rows_read(tx), 51, "an undo changes no event");
    });
    kept(80, |tx| {
        append(
            tx,
            401,
            EventBody::Summary {
                text: "s".into(),
                through_seq: 200,
                spent: None,
                made: Default::default(),
            },
        );
        assert_eq!(rows_read(tx), 51, "the younger half of what was kept");
        append(
            tx,
            402,
            EventBody::Summary {
                text: "s".into(),
                through_seq: 360,
                spent: None,
                made: Default::default(),
            },
        );
        assert_eq!(rows_read(tx), 42, "nothing of what was kept");
        append(tx, 403, EventBody::SessionCleared {});
        assert_eq!(rows_read(tx), 1);
    });
}

#[test]
fn what_the_doctor_puts_into_a_log_is_seen_at_once() {
    kept(80, |tx| {
        tx.conn.execute_batch("UPDATE events SET body = 'torn' WHERE seq = 7").unwrap();
        assert_eq!(tx.window(&session()).unwrap().events.len(), 400, "what was kept is whole");
        let damaged = tx.damaged_rows().unwrap();
        assert_eq!(damaged.len(), 1);
        assert!(tx.put_aside(&damaged[0], "a note", "p").unwrap());
        assert_eq!(rows_read(tx), 400);
        let seventh = tx.window(&session()).unwrap().events.remove(6).body;
        assert!(matches!(seventh, EventBody::LimitReached { text, .. } if text == "a note"));
    });
}
