//! Any log, packed, is a history that every wire takes: the stand-ins refuse what the
//! providers would (a result that does not follow its call, an empty message, roles that do
//! not alternate). Nothing in it had to be repaired on its way to the wire: what the log holds
//! is what a model reads.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::wires::threaded::Threaded;
use crate::wires::{Answer, WIRES, Wire, asking};
use claw_core::domain::{
    Address, Block, CallId, CutResult, DeniedBy, EventBody, Finish, KeptWords, Origin, Outcome,
    ProjectFile, SessionId, ToolOutput, ToolUse, TurnEnd, Usage,
};
use claw_core::model::Model as _;
use claw_core::turn::{Log, transcript};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::json;

/// What a result is told as that a history lacks; `model/history.rs` owns the sentence.
const REPAIRED: &str = "No result was recorded for this call";
const EVENTS_MAX: usize = 40;
/// Requests take a round-trip each; the transcript has a property of its own with more cases.
const CASES: u32 = 150;

fn session() -> SessionId {
    SessionId::new("main").unwrap()
}

fn id(reply_seq: u64, block: u32) -> CallId {
    CallId::Reply { session: session(), reply_seq, block }
}

fn text(words: &str) -> Vec<Block> {
    vec![Block::Text { text: words.into() }]
}

fn reply(blocks: Vec<Block>) -> EventBody {
    EventBody::ModelReply {
        blocks,
        finish: Finish::Complete,
        usage: Usage::default(),
        provider: "claude".into(),
        model: "x".into(),
        notice: None,
    }
}

/// Ids as providers give them: twice the same, empty, odd, too long.
fn uses(ids: &[u8], words: &str) -> EventBody {
    let name = |id: &u8| match id % 4 {
        0 => String::new(),
        1 => "same".to_owned(),
        2 => format!("call:{id}/ü"),
        _ => "long".repeat(60),
    };
    let one = |id: &u8| {
        let input = json!({"x": id});
        Block::ToolUse(Box::new(ToolUse {
            id: name(id),
            name: "s__t".into(),
            input,
            broken_input: None,
        }))
    };
    // Gemini wants back what it has signed, and the others do not get it.
    let data = json!({"type": "call_signature", "signature": "c2lnLWNhbGw="});
    let signed = Block::Opaque { provider: "gemini".into(), data: Box::new(data) };
    let words = text(words).into_iter();
    reply(words.chain([signed]).chain(ids.iter().map(one)).collect())
}

fn any_body() -> impl Strategy<Value = EventBody> {
    let call = || (1_u64..EVENTS_MAX as u64, 0_u32..4).prop_map(|(seq, block)| id(seq, block));
    let words = || prop_oneof![Just(String::new()), Just(" \n".to_owned()), "[a-c]{1,3}"];
    prop_oneof![
        3 => Just(EventBody::TurnStarted {
            origin: Origin::Owner, principal: "p".into(), role: None
        }),
        3 => Just(EventBody::TurnEnded { end: TurnEnd::Answered }),
        5 => words().prop_map(|words| EventBody::UserMessage {
            blocks: text(&words),
            inbox_id: 1,
            from: Address("console/1".into()),
            origin: Origin::Owner,
        }),
        3 => words().prop_map(|words| reply(text(&words))),
        1 => Just(reply(Vec::new())),
        4 => (proptest::collection::vec(any::<u8>(), 0..4), words())
            .prop_map(|(ids, words)| uses(&ids, &words)),
        4 => (call(), words()).prop_map(|(call, text)| EventBody::ToolResult {
            call,
            outcome: Box::new(Outcome::Ended { output: ToolOutput { text, ..ToolOutput::default() } }),
        }),
        2 => call().prop_map(|call| EventBody::ToolResult {
            call, outcome: Box::new(Outcome::denied(DeniedBy::Request, "no"))
        }),
        1 => words().prop_map(|text| EventBody::TurnContext { text }),
        1 => words().prop_map(|text| EventBody::TurnProject {
            text,
            files: vec![ProjectFile {
                name: "AGENTS.md".into(), digest: "0".into(), bytes: 1, is_cut: false
            }],
        }),
        1 => words().prop_map(|text| EventBody::TurnNamed {
            call: None,
            named: Box::new(claw_core::domain::Named::Resource { server: "s".into(), uri: "u:x".into() }),
            state: claw_core::domain::NamedState::Given,
            text,
            images: Vec::new(),
        }),
        1 => words().prop_map(|text| EventBody::TurnRecalled {
            call: id(1, 0), text, notes: Vec::new(), left_out: 0
        }),
        1 => words().prop_map(|text| EventBody::ModelPartial { text }),
        1 => call().prop_map(|call| {
            let (reply_seq, block) = match call {
                CallId::Reply { reply_seq, block, .. } => (reply_seq, block),
                _ => (0, 0),
            };
            let cut = vec![CutResult { reply_seq, block, artifact: "0123456789abcdef".into() }];
            EventBody::ResultsCut { cut, bytes: 2, before_tokens: 2, after_tokens: 1 }
        }),
        1 => (0_u64..EVENTS_MAX as u64, words()).prop_map(|(through_seq, text)| {
            let kept = KeptWords::default();
            let made = claw_core::domain::Compaction { kept, ..Default::default() };
            EventBody::Summary { text, through_seq, spent: None, made: Box::new(made) }
        }),
        1 => (0_u64..EVENTS_MAX as u64, 0_u64..EVENTS_MAX as u64).prop_map(
            |(from_seq, through_seq)| EventBody::ExchangeDropped { from_seq, through_seq }
        ),
        1 => Just(EventBody::SessionCleared {}),
    ]
}

#[test]
fn any_log_is_a_history_that_every_wire_takes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stand_ins: Vec<(Wire, Threaded)> =
        WIRES.into_iter().map(|wire| (wire, Threaded::start(wire, []))).collect();
    let config =
        ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(bodies in proptest::collection::vec(any_body(), 0..EVENTS_MAX))| {
        let mut log = Log::new(session(), Vec::new(), 0);
        for (minute, body) in bodies.into_iter().enumerate() {
            log.push(minute as i64 * 60_000, body);
        }
        let messages = transcript::to_ask(&log, Some(&TimeZone::UTC));
        // A model is asked when somebody has said something.
        if messages.is_empty() {
            return Ok(());
        }
        for (wire, stand_in) in &stand_ins {
            let (before, asked) = (stand_in.faults().len(), stand_in.recorded().len());
            stand_in.push(Answer::text("Yes."));
            let model = asking::model(asking::target(*wire, &stand_in.base_url));
            let request = asking::request(messages.clone());
            let reply = runtime.block_on(model.reply(&request, &mut |_| {}));
            let faults = stand_in.faults().split_off(before);
            prop_assert_eq!(faults, [""; 0], "{:?}: {:?}", wire, log.events());
            prop_assert!(reply.is_ok(), "{:?}: {:?}", wire, reply);
            let sent = stand_in.recorded_behind(asked);
            prop_assert!(!sent.is_empty(), "{:?}: nothing was asked", wire);
            for one in sent {
                let body = one.body.to_string();
                prop_assert!(!body.contains(REPAIRED), "{:?}: {:?}", wire, log.events());
            }
        }
    });
}
