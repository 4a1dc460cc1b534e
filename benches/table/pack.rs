//! Packing the window of a long conversation, whose compactions were made as it went on: time and
//! size must not grow with the events of the session. Also the account of many tools.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use claw_core::domain::{
    Address, Block, EventBody, Finish, KeptWords, Origin, PromptPart, PromptTools, SessionId,
    ToolSpec, TurnEnd, Usage,
};
use claw_core::turn::persona::Persona;
use claw_core::turn::prompt::{Parts, pack};
use claw_core::turn::summarise::made;
use claw_core::turn::{Bounds, Log, Step, next, transcript};

use crate::{Row, median};

const SOME: u64 = 200;
const FEW: u64 = 1_000;
const MANY: u64 = 20_000;
const RUNS: usize = 50;
const TOOLS: usize = 60;
const TEXT_BYTES: usize = 400;

pub fn rows() -> Vec<Row> {
    let (some, few, many) = (packed(SOME), packed(FEW), packed(MANY));
    let row = |events, (ms, bytes): (f64, usize), note: String| {
        Row::new(
            format!("packing a window, {events} events"),
            format!("{ms:.2} ms"),
            format!("{} KB in a request{note}", bytes / 1_000),
        )
    };
    // The window of the first is not full yet.
    vec![
        row(SOME, some, String::new()),
        row(FEW, few, String::new()),
        row(MANY, many, format!("; {:.2} times", many.0 / few.0)),
        account(),
    ]
}

/// What the definitions of many tools add to a request: the first time, and beside a list whose
/// account is known.
fn account() -> Row {
    let spec = |number| ToolSpec {
        name: format!("server__tool_{number}"),
        description: "Does something with a thing, and says how. ".repeat(15),
        input_schema: serde_json::json!({"type": "object", "properties": {
            "path": {"type": "string", "description": "Where it is. ".repeat(20)},
            "content": {"type": "string", "description": "What it becomes. ".repeat(20)},
        }}),
    };
    let tools: Arc<[ToolSpec]> = (0..TOOLS).map(spec).collect();
    let (log, persona) =
        (Log::new(SessionId::new("main").unwrap(), Vec::new(), 0), Persona::of("", "/w", "x"));
    let ms = |account: &OnceLock<PromptPart>| {
        let (persona, tools) = (&persona, tools.clone());
        let (instructions, tools_known) = ("", PromptTools::default());
        let parts =
            Parts { persona, instructions, tools, tools_account: account, tools_known, zone: None };
        let began = Instant::now();
        assert!(pack(&log, parts, str::to_owned).account.tools.tokens > 0);
        began.elapsed().as_secs_f64() * 1_000.0
    };
    let known = OnceLock::new();
    let first = median((0..RUNS).map(|_| ms(&OnceLock::new())).collect());
    let later = median((0..RUNS).map(|_| ms(&known)).collect());
    Row::new(
        format!("the account of {TOOLS} tools"),
        format!("{later:.3} ms"),
        format!("{first:.3} ms the first time"),
    )
}

/// Milliseconds and bytes of the largest window among the last turns, so that it does not count how
/// long ago the last compaction was.
fn packed(events: u64) -> (f64, usize) {
    let bounds = Bounds {
        model_steps_max: 20,
        window_tokens: 20_000,
        window_messages: 0,
        model_tokens: u64::MAX,
        identical_calls_max: 3,
    };
    let mut log = Log::new(SessionId::new("main").unwrap(), Vec::new(), 0);
    let mut largest = (0.0, 0);
    while log.next_seq() <= events {
        let at_ms = log.next_seq() as i64 * 600_000;
        said(log.next_seq()).into_iter().for_each(|body| drop(log.push(at_ms, body)));
        if let Step::Compact { through_seq } = next(&log, &bounds) {
            let text = "What we talked about. ".repeat(100);
            let made = made(&log, through_seq, &text, KeptWords::default(), Some(at_ms));
            log.push(
                at_ms,
                EventBody::Summary { text, through_seq, spent: None, made: Box::new(made) },
            );
        }
        let is_late = log.next_seq() + 400 > events;
        if is_late {
            let bytes = size(&log);
            if bytes > largest.1 {
                largest = (time_ms(&log, &bounds), bytes);
            }
        }
        let answer = EventBody::ModelReply {
            blocks: text(log.next_seq()),
            finish: Finish::Complete,
            usage: Usage::default(),
            provider: "x".into(),
            model: "x".into(),
            notice: None,
        };
        log.push(at_ms, answer);
        log.push(at_ms, EventBody::TurnEnded { end: TurnEnd::Answered });
    }
    largest
}

fn said(seq: u64) -> Vec<EventBody> {
    vec![
        EventBody::TurnStarted { origin: Origin::Owner, principal: "bench".into(), role: None },
        EventBody::UserMessage {
            blocks: text(seq),
            inbox_id: seq as i64,
            from: Address("console/bench".into()),
            origin: Origin::Owner,
        },
    ]
}

fn text(seq: u64) -> Vec<Block> {
    vec![Block::Text { text: format!("{seq} {}", "word ".repeat(TEXT_BYTES / 5)) }]
}

fn size(log: &Log) -> usize {
    serde_json::to_string(&transcript::to_ask(log, None)).unwrap().len()
}

/// What one request takes: the decision, and the messages.
fn time_ms(log: &Log, bounds: &Bounds) -> f64 {
    let once = |_| {
        let began = Instant::now();
        let step = next(log, bounds);
        let messages = transcript::to_ask(log, Some(&jiff::tz::TimeZone::UTC));
        assert!(step != Step::Done && !messages.is_empty());
        began.elapsed().as_secs_f64() * 1_000.0
    };
    median((0..RUNS).map(once).collect())
}
