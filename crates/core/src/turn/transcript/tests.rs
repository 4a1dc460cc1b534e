//! What a model is sent, whatever the log looks like.

use proptest::prelude::*;

use super::*;
use crate::domain::EventBody;
use crate::turn::next::tests::{
    acted, any_body, confirmed_by_tap, ended, id, log, result, said, started, summary, tapped,
    text, undone, uses,
};

fn shape(messages: &[Message]) -> Vec<(Role, Vec<String>)> {
    let block = |block: &Block| match block {
        Block::Text { text } => text.clone(),
        Block::ToolUse(tool_use) => format!("use {}", tool_use.input["text"].as_str().unwrap()),
        Block::ToolResult { content, .. } => format!("result {content}"),
        Block::ImageRef { digest, .. } => format!("image {digest}"),
        other => panic!("{other:?}"),
    };
    messages
        .iter()
        .map(|message| (message.role, message.blocks.iter().map(block).collect()))
        .collect()
}

#[test]
fn results_follow_their_reply_in_the_order_of_the_uses() {
    let late = vec![
        started(),
        said("a"),
        uses(&["1", "2"]),
        result(id(3, 1), "two"),
        result(id(3, 0), "one"),
        said("b"),
        text("c"),
        ended(),
    ];
    let user =
        |blocks: &[&str]| (Role::User, blocks.iter().map(|text| (*text).to_owned()).collect());
    let model =
        |blocks: &[&str]| (Role::Assistant, blocks.iter().map(|text| (*text).to_owned()).collect());
    let expected: Vec<(Role, Vec<String>)> = vec![
        user(&["a"]),
        model(&["use 1", "use 2"]),
        user(&["result one", "result two", "b"]),
        model(&["c"]),
    ];
    assert_eq!(shape(&fold(&log(late))), expected);
}

#[test]
fn a_result_that_was_put_aside_may_have_run() {
    let note =
        EventBody::LimitReached { limit: "log".into(), text: "event 4 was put aside".into() };
    let bodies = vec![started(), said("a"), uses(&["1", "2"]), note, result(id(3, 1), "two")];
    let shown = shape(&fold(&log(bodies)));
    let results = shown.last().unwrap().1.clone();
    assert!(
        results[0].starts_with("result Interrupted: it may or may not have run"),
        "{results:?}"
    );
    assert_eq!(results[1], "result two");
    let shown = shape(&fold(&log(vec![started(), said("a"), uses(&["1"])])));
    assert_eq!(shown.last().unwrap().1, ["result No result yet: it waits for the owner."]);
}

#[test]
fn images_of_results_follow_all_results_in_their_order() {
    let seen = |call, text: &str, digests: &[&str]| {
        let image = |digest: &&str| ImageRef {
            mime: "image/png".into(),
            digest: (*digest).into(),
            bytes: 1,
        };
        let images = digests.iter().map(image).collect();
        let output = crate::domain::ToolOutput { text: text.into(), images, ..Default::default() };
        EventBody::ToolResult { call, outcome: Box::new(Outcome::Ended { output }) }
    };
    let two = seen(id(3, 1), "two", &["c"]);
    let bodies = vec![
        started(),
        said("a"),
        uses(&["1", "2"]),
        two,
        seen(id(3, 0), "one", &["a", "b"]),
        said("x"),
    ];
    let messages = shape(&fold(&log(bodies)));
    let expected = ["result one", "result two", IMAGES_INTRO, "image a", "image b", "image c", "x"];
    assert_eq!(messages.last().unwrap().1, expected);
}

/// What became of actions is part of what the user says, never between a use and its result, and
/// the same bytes later.
#[test]
fn actions_are_told_behind_results_and_before_the_next_words() {
    let proposal: crate::domain::Proposal =
        serde_json::from_value(serde_json::json!({"tool": "confirm", "summary": "Add x"})).unwrap();
    let output = crate::domain::ToolOutput {
        text: "r".into(),
        actions: vec![proposal],
        ..Default::default()
    };
    let proposing =
        EventBody::ToolResult { call: id(3, 0), outcome: Box::new(Outcome::Ended { output }) };
    let mut bodies = vec![
        started(),
        said("a"),
        uses(&["1", "2"]),
        proposing,
        confirmed_by_tap(id(9, 0)),
        acted(id(9, 0), "done\n[claw: so]"),
    ];
    bodies.extend([result(id(3, 1), "two"), said("b")]);
    let first = shape(&fold(&log(bodies.clone())));
    let told = &first.last().unwrap().1;
    assert!(
        told[0].starts_with("result r\n\n[claw: staged for the owner")
            && told[0].contains("1. Add x]"),
        "{told:?}"
    );
    assert_eq!(told[1], "result two");
    assert!(
        told[2].starts_with("[claw: the owner confirmed a staged action, and it ran.")
            && told[2].contains("\n> Add x (shop/confirm {\"text\":\"x\"})\n")
    );
    assert!(told[2].ends_with("\n> done\n> [claw: so]") && told[3] == "b", "{told:?}");
    let later =
        [bodies, vec![text("c"), ended(), tapped(id(9, 1), None), started(), said("d")]].concat();
    let later = shape(&fold(&log(later)));
    assert_eq!(later[..first.len()], first, "the same bytes in every request");
    assert!(
        later.last().unwrap().1[0].starts_with("[claw: nobody confirmed a staged action in time")
    );
}

#[test]
fn each_outcome_reads_as_what_it_is() {
    let outcome = |outcome| EventBody::ToolResult { call: id(3, 0), outcome: Box::new(outcome) };
    let told = |body: Option<EventBody>| {
        let messages =
            fold(&log(
                [vec![started(), said("a"), uses(&["1"])], body.into_iter().collect()].concat()
            ));
        match &messages.last().unwrap().blocks[0] {
            Block::ToolResult { content, is_error, .. } => (content.clone(), *is_error),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(told(Some(result(id(3, 0), "fine"))), ("fine".into(), false));
    let (denied, error) =
        told(Some(outcome(Outcome::denied(crate::domain::DeniedBy::Request, "because"))));
    assert!(denied == "Not run: because" && error);
    let (unknown, error) = told(Some(outcome(Outcome::Unknown { reason: "killed".into() })));
    assert!(unknown.starts_with("Interrupted: it may or may not have run (killed)") && error);
    assert!(told(None).0.contains("waits for the owner"));
}

#[test]
fn a_summary_stands_for_what_it_replaced_and_new_forgets_all() {
    let turns =
        vec![started(), said("a"), text("b"), ended(), started(), said("c"), text("d"), ended()];
    let summarised = [turns.clone(), vec![summary(4)]].concat();
    let messages = shape(&fold(&log(summarised.clone())));
    let standing = &messages[0].1[0];
    assert!(
        standing
            .ends_with("Summary of the earlier part of this conversation, by a model:\n> before"),
        "{standing}"
    );
    assert_eq!(messages[0].1[1..], ["c"]);
    let again = EventBody::WindowDropped {
        reason: "x".into(),
        through_seq: 8,
        kept_summary: "before".into(),
        made: Box::new(crate::domain::Compaction::default()),
    };
    let kept = shape(&fold(&log([summarised.clone(), vec![again]].concat())));
    assert_eq!(kept.len(), 1, "a failed compaction keeps the summary before it: {kept:?}");
    assert!(fold(&log([summarised, vec![EventBody::SessionCleared {}]].concat())).is_empty());
    assert_eq!(shape(&fold_through(&log(turns), 4)).len(), 2);
}

#[test]
fn an_exchange_that_was_dropped_is_not_told_with_its_calls() {
    let first = vec![started(), said("a"), text("b"), ended()];
    let second =
        vec![started(), said("c"), uses(&["1"]), result(id(7, 0), "one"), text("d"), ended()];
    let both = [first, second].concat();
    let told = |bodies: Vec<EventBody>| {
        shape(&fold(&log(bodies))).into_iter().flat_map(|(_, blocks)| blocks)
    };
    let once = [both, vec![undone(5, 10)]].concat();
    assert_eq!(told(once.clone()).collect::<Vec<_>>(), ["a", "b"]);
    let on = [once.clone(), vec![started(), said("e"), text("f"), ended()]].concat();
    assert_eq!(told(on).collect::<Vec<_>>(), ["a", "b", "e", "f"]);
    assert_eq!(told([once, vec![undone(1, 4)]].concat()).count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_log_every_use_has_its_result_and_roles_alternate(
        bodies in proptest::collection::vec(any_body(), 0..40),
    ) {
        let messages = fold(&log(bodies));
        for pair in messages.windows(2) {
            prop_assert_ne!(pair[0].role, pair[1].role);
        }
        for (index, message) in messages.iter().enumerate() {
            let wanted: Vec<&str> = message.blocks.iter().filter_map(|block| match block {
                Block::ToolUse(tool_use) => Some(tool_use.id.as_str()),
                _ => None,
            }).collect();
            let given: Vec<&str> = messages.get(index + 1).map_or(Vec::new(), |after| {
                after.blocks.iter().map_while(|block| match block {
                    Block::ToolResult { use_id, .. } => Some(use_id.as_str()),
                    _ => None,
                }).collect()
            });
            if !wanted.is_empty() {
                prop_assert_eq!(wanted, given);
            }
            let results_come_first = message.blocks.iter().skip_while(|b| matches!(b, Block::ToolResult { .. }));
            let late = results_come_first.filter(|block| matches!(block, Block::ToolResult { .. })).count();
            prop_assert_eq!(late, 0, "results stand first in their message");
        }
    }
}

#[test]
fn what_a_person_says_carries_its_time_and_a_request_ends_with_somebody_elses_words() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let partial = EventBody::ModelPartial { text: "I was".into() };
    let log = log(vec![started(), said("a"), partial]);
    let at = log.events()[1].at_ms;
    let asked = shape(&to_ask(&log, Some(&zone)));
    let time = Timestamp::from_millisecond(at)
        .unwrap()
        .to_zoned(zone.clone())
        .strftime("%H:%M")
        .to_string();
    assert!(
        asked[0].1[0].contains(&time) && asked[0].1[0].ends_with(", Europe/Berlin]"),
        "{asked:?}"
    );
    assert_eq!(asked[0].1[1], "a");
    assert_eq!(asked.last().unwrap(), &(Role::User, vec![GO_ON.to_owned()]));
    assert_eq!(asked, shape(&to_ask(&log, Some(&zone))));
    assert_eq!(shape(&to_ask(&log, None))[0].1, ["a"]);
}
