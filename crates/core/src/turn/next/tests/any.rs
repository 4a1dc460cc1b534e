//! Any event, for properties of any log. Must not know what is held of it.

use proptest::prelude::*;

use super::*;

/// Any event at any place, also such that no runner would write.
pub(in crate::turn) fn any_body() -> impl Strategy<Value = EventBody> {
    let call = || {
        let reply = (1_u64..20, 0_u32..3).prop_map(|(seq, block)| id(seq, block));
        let cause = prop_oneof![Just(PauseCause::Budget), Just(PauseCause::Deaths)];
        prop_oneof![9 => reply, 1 => (1_u64..20, cause).prop_map(|(seq, cause)| pause(seq, cause))]
    };
    prop_oneof![
        Just(started()),
        Just(ended()),
        "[a-c]{0,3}".prop_map(|text| said(&text)),
        "[a-c]{0,3}".prop_map(|said| text(&said)),
        proptest::collection::vec("[ab]", 0..3)
            .prop_map(|inputs| { uses(&inputs.iter().map(String::as_str).collect::<Vec<_>>()) }),
        Just(reply(vec![], Finish::Refusal { reason: "r".into() })),
        (call(), "[ab]").prop_map(|(call, text)| result(call, &text)),
        call().prop_map(|call| result(call, &"long ".repeat(1_000))),
        call().prop_map(|call| EventBody::ToolResult {
            call,
            outcome: Box::new(Outcome::Unknown { reason: "u".into() })
        }),
        (call(), "[ab]").prop_map(|(call, approval)| parked(call, &approval)),
        (call(), "[ab]").prop_map(|(call, approval)| answered_with(call, &approval)),
        any::<bool>().prop_map(failed),
        call().prop_map(confirmed_by_tap),
        call().prop_map(|call| tapped(call, None)),
        (call(), "[ab]").prop_map(|(call, text)| acted(call, &text)),
        Just(EventBody::ModelPartial { text: "half".into() }),
        "[ab]".prop_map(|text| EventBody::TurnContext { text }),
        "[ab]".prop_map(|text| EventBody::TurnNamed {
            call: None,
            named: Box::new(crate::domain::Named::Resource {
                server: "s".into(),
                uri: "u:x".into()
            }),
            state: crate::domain::NamedState::Given,
            text,
            images: Vec::new(),
        }),
        "[ab]".prop_map(|text| EventBody::TurnProject { text, files: Vec::new() }),
        (0_u64..2_000).prop_map(|estimated_tokens| EventBody::PromptPacked {
            from_seq: 1,
            dropped_events: 0,
            estimated_tokens,
            account: Some(Box::default()),
        }),
        (0_u64..9_000).prop_map(counted),
        Just(EventBody::StopRequested { by: "p".into() }),
        Just(EventBody::CompactRequested { from: None }),
        Just(EventBody::SessionCleared {}),
        Just(EventBody::WindowIdle { idle_s: 3_600 }),
        Just(EventBody::CompactionFailed { reason: "no".into(), asked_ms: vec![0] }),
        (1_u64..20, 0_u32..3).prop_map(|(seq, block)| cut(&[id(seq, block)])),
        (0_u64..25).prop_map(summary),
        (0_u64..25).prop_map(dropped),
        (0_u64..25, 0_u64..25).prop_map(|(from, through)| undone(from, through)),
    ]
}

/// A reply whose provider has counted.
fn counted(input_tokens: u64) -> EventBody {
    EventBody::ModelReply {
        blocks: vec![Block::Text { text: "c".into() }],
        finish: Finish::Complete,
        usage: Usage { input_tokens, ..Usage::default() },
        provider: "p".into(),
        model: "m".into(),
        notice: None,
    }
}
