//! What is packed, and what is said of it.

use std::sync::{Arc, OnceLock};

use serde_json::json;

use super::*;
use crate::turn::next::tests::{
    any_body, ended, id, log, result, said, started, summary, text, uses,
};
use crate::turn::persona::PersonaText;
use crate::turn::window::estimated;
use proptest::prelude::*;

fn persona() -> Persona {
    let mut persona = Persona::of("You are claw.", "/w", "os");
    persona.texts.push(PersonaText {
        name: Some("USER.md".into()),
        text: "Her name is Anna.".into(),
        of: "USER.md".into(),
        cut: Some("longer than 64 KiB".into()),
    });
    persona
}

pub(super) fn tools(count: usize) -> Arc<[ToolSpec]> {
    let tool = |number| ToolSpec {
        name: format!("s__{number:02}"),
        description: "Does something with a thing. ".repeat(8),
        input_schema: json!({"type": "object"}),
    };
    (0..count).map(tool).collect()
}

fn packed(log: &Log, persona: &Persona, count: usize) -> Packed {
    packed_beside(log, persona, count, &OnceLock::new())
}

fn packed_beside(
    log: &Log,
    persona: &Persona,
    count: usize,
    tools_account: &OnceLock<PromptPart>,
) -> Packed {
    let parts = Parts {
        persona,
        instructions: "",
        tools: tools(count),
        tools_account,
        tools_known: PromptTools::default(),
        zone: None,
    };
    pack(log, parts, str::to_owned)
}

/// The definitions of a list are digested for the first request alone.
#[test]
fn what_is_said_of_the_tools_stands_beside_their_list() {
    let (log, beside) = (log(vec![started(), said("a")]), OnceLock::new());
    let first = packed_beside(&log, &persona(), 2, &beside).account.tools;
    assert_eq!((Some(&first), first.tokens > 0), (beside.get(), true));
    assert_ne!(first, packed(&log, &persona(), 3).account.tools);
    let known = PromptPart { digest: "known".into(), tokens: 7 };
    let beside = OnceLock::from(known.clone());
    assert_eq!(packed_beside(&log, &persona(), 2, &beside).account.tools, known);
}

/// The log with one request more.
fn asked(mut log: Log, persona: &Persona, count: usize) -> (Log, Option<PromptAccount>) {
    let account = packed(&log, persona, count).account;
    let event = packed_event(&log, Some(account));
    let EventBody::PromptPacked { account, .. } = &event else { panic!("{event:?}") };
    let written = account.as_deref().cloned();
    log.push(0, event);
    (log, written)
}

#[test]
fn what_stands_beside_the_conversation_is_written_down_when_it_changes() {
    let log = log(vec![started(), said("a")]);
    let mut persona = persona();
    let (log, first) = asked(log, &persona, 2);
    let first = first.unwrap();
    assert_eq!((first.texts.len(), first.tools_count), (2, 2));
    assert_eq!(first.cut[0].what, "USER.md");
    assert!(first.persona.tokens > 0 && first.rules.tokens > 300 && first.tools.tokens > 0);
    let (log, same) = asked(log, &persona, 2);
    assert_eq!(same, None);
    let (log, more_tools) = asked(log, &persona, 3);
    let more_tools = more_tools.unwrap();
    assert_eq!(more_tools.persona, first.persona);
    assert_ne!(more_tools.tools.digest, first.tools.digest);
    persona.texts[1].text.push_str(" She lives in Graz.");
    let (log, other_words) = asked(log, &persona, 3);
    let other_words = other_words.unwrap();
    assert_ne!(other_words.persona.digest, first.persona.digest);
    assert_eq!(other_words.texts[0], first.texts[0], "this text is as it was");
    assert_ne!(other_words.texts[1].digest, first.texts[1].digest);
    // A summary takes what was said of it out of the window.
    let through = log.next_seq() - 1;
    let mut log = log;
    log.push(0, summary(through));
    assert!(asked(log, &persona, 3).1.is_some());
}

#[test]
fn a_request_grows_the_log_by_a_line() {
    let (log, first) = asked(log(vec![started(), said("a")]), &persona(), 40);
    let bytes = |event: &EventBody| serde_json::to_string(event).unwrap().len();
    let event = packed_event(&log, first.clone());
    assert!(bytes(&event) < 120, "{}", bytes(&event));
    let whole = serde_json::to_string(&first).unwrap();
    assert!(whole.len() < 600, "{whole}");
}

#[test]
fn no_part_of_the_request_is_left_out_of_the_account() {
    let persona = persona();
    let packed = packed(&log(vec![started(), said("a")]), &persona, 1);
    let Packed { request, account } = packed;
    let said = account.persona.tokens + account.rules.tokens;
    // Each part is rounded up, and has its frame.
    let whole = crate::turn::estimate::of_text(&request.system);
    assert!((whole..=whole + 10).contains(&said), "{said} of {whole}");
}

proptest! {
    #[test]
    fn the_shares_of_any_log_are_its_size(bodies in proptest::collection::vec(any_body(), 0..40)) {
        let log = log(bodies);
        prop_assert_eq!(shares(&log).tokens(), estimated(&log).tokens);
    }
}

#[test]
fn each_kind_has_its_share() {
    let events = vec![
        started(),
        said("a"),
        EventBody::TurnContext { text: "[mode: edits]".into() },
        uses(&["1"]),
        result(id(4, 0), "one"),
        text("done"),
        ended(),
    ];
    let shares = shares(&log(events));
    assert!(shares.messages > 0 && shares.results > 0 && shares.told > 0, "{shares:?}");
    assert_eq!((shares.summary, shares.recalled), (0, 0));
}
