//! Tests of the transcript's repair.

use serde_json::json;

use super::{IdRule, NO_RESULT};
use crate::domain::{Block, Message, Role, ToolUse};

fn well_formed(messages: &[Message], rule: IdRule) -> Vec<Message> {
    super::well_formed(messages.iter().cloned(), rule)
}

fn call(id: &str) -> Block {
    Block::ToolUse(Box::new(ToolUse {
        id: id.into(),
        name: "s__t".into(),
        input: json!({}),
        broken_input: None,
    }))
}

fn result(id: &str, content: &str) -> Block {
    Block::ToolResult {
        use_id: id.into(),
        name: "s__t".into(),
        content: content.into(),
        is_error: false,
    }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

fn user(blocks: Vec<Block>) -> Message {
    Message { role: Role::User, blocks }
}

fn assistant(blocks: Vec<Block>) -> Message {
    Message { role: Role::Assistant, blocks }
}

fn results(message: &Message) -> Vec<(&str, &str)> {
    fn pick(block: &Block) -> Option<(&str, &str)> {
        if let Block::ToolResult { use_id, content, .. } = block {
            Some((use_id, content))
        } else {
            None
        }
    }
    message.blocks.iter().filter_map(pick).collect()
}

#[test]
fn results_follow_the_order_of_their_uses_and_lead_the_message() {
    let log = [
        user(vec![text("go")]),
        assistant(vec![call("a"), call("b")]),
        user(vec![text("wait"), result("b", "B"), result("a", "A")]),
    ];
    let out = well_formed(&log, IdRule::Plain);
    assert_eq!(out.len(), 3);
    assert_eq!(results(&out[2]), [("a", "A"), ("b", "B")]);
    assert_eq!(out[2].blocks[2], text("wait"));
}

#[test]
fn results_spread_over_several_messages_are_joined() {
    let log = [
        user(vec![text("go")]),
        assistant(vec![call("a"), call("b")]),
        user(vec![result("a", "A")]),
        user(vec![result("b", "B")]),
        user(vec![text("and?")]),
    ];
    let out = well_formed(&log, IdRule::Plain);
    assert_eq!(out.len(), 3);
    assert_eq!(results(&out[2]), [("a", "A"), ("b", "B")]);
}

#[test]
fn a_missing_result_is_written_and_a_stray_one_dropped() {
    let log = [
        user(vec![result("zombie", "Z"), text("go")]),
        assistant(vec![call("a")]),
        assistant(vec![text("on"), call("b")]),
    ];
    let out = well_formed(&log, IdRule::Plain);
    let roles: Vec<Role> = out.iter().map(|m| m.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User]);
    assert_eq!(out[0].blocks, [text("go")]);
    assert_eq!(results(&out[2]), [("a", NO_RESULT)]);
    assert_eq!(results(&out[4]), [("b", NO_RESULT)]);
}

#[test]
fn ids_that_a_wire_refuses_are_replaced_in_pairs() {
    let log = [
        user(vec![text("go")]),
        assistant(vec![call("call#x#0"), call("fine")]),
        user(vec![result("call#x#0", "A"), result("fine", "B")]),
        assistant(vec![call("fine")]),
        user(vec![result("fine", "C")]),
    ];
    let out = well_formed(&log, IdRule::Plain);
    assert_eq!(results(&out[2]), [("call_0", "A"), ("fine", "B")]);
    assert_eq!(results(&out[4]), [("call_1", "C")]);
    assert_eq!(out[1].blocks[0], call("call_0"));
    assert_eq!(out[3].blocks[0], call("call_1"));

    let out = well_formed(&log, IdRule::Nine);
    assert_eq!(results(&out[2]), [("c00000000", "A"), ("c00000001", "B")]);
    let out = well_formed(&log, IdRule::Any);
    assert_eq!(results(&out[4]), [("fine", "C")]);
    let out = well_formed(&log, IdRule::Short(4));
    assert_eq!(results(&out[2]).last(), Some(&("fine", "B")));
}

#[test]
fn an_invented_id_never_meets_a_real_one() {
    let log = [
        user(vec![text("go")]),
        assistant(vec![call("call_0"), call("")]),
        user(vec![result("call_0", "A"), result("", "B")]),
    ];
    let out = well_formed(&log, IdRule::Plain);
    assert_eq!(results(&out[2]), [("call_0", "A"), ("call_1", "B")]);
}

#[test]
fn blank_text_and_empty_messages_vanish_and_neighbours_join() {
    let log = [
        user(vec![text("a")]),
        assistant(vec![text("  \n")]),
        user(vec![text("b")]),
        assistant(vec![text("c")]),
        assistant(vec![text("d")]),
        user(vec![text("e")]),
    ];
    let out = well_formed(&log, IdRule::Plain);
    let said = |word| user(vec![text(word)]);
    let joined = assistant(vec![text("c"), text("d")]);
    assert_eq!(out, [user(vec![text("a"), text("b")]), joined, said("e")]);
}

#[test]
fn the_first_word_and_the_last_one_are_the_users() {
    let out = well_formed(&[assistant(vec![text("a")]), user(vec![text(" ")])], IdRule::Any);
    let roles: Vec<Role> = out.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
    assert_eq!(well_formed(&[], IdRule::Any), []);
}
