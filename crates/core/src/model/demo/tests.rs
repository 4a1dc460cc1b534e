//! Tests of the demo's conversations, as a door and a turn would hold them.

use serde_json::json;

use super::{Demo, Model};
use crate::domain::{Block, Finish, Message, Role, ToolSpec, ToolUse, text_of};
use crate::model::{Delta, Reply, Request};

const TOOLS: [&str; 5] = [
    "filesystem__list_dir",
    "filesystem__read_file",
    "filesystem__write_file",
    "filesystem__search",
    "bash__run",
];

fn request(messages: Vec<Message>) -> Request {
    let spec = |name: &str| ToolSpec {
        name: name.into(),
        description: String::new(),
        input_schema: json!({}),
    };
    Request { system: "You are claw.".into(), messages, tools: TOOLS.map(spec).into(), model: None }
}

async fn ask(request: &Request) -> Reply {
    let mut shown = String::new();
    let reply = Demo
        .reply(request, &mut |delta| {
            if let Delta::Text(piece) = delta {
                shown.push_str(&piece);
            }
        })
        .await
        .unwrap();
    assert_eq!(shown, text_of(&reply.blocks), "what streams is what the reply says");
    reply
}

fn calls(reply: &Reply) -> Vec<&ToolUse> {
    fn pick(block: &Block) -> Option<&ToolUse> {
        if let Block::ToolUse(call) = block { Some(call) } else { None }
    }
    reply.blocks.iter().filter_map(pick).collect()
}

/// Plays a turn to its end; `act` gives each call's result.
async fn turn(
    request: &mut Request,
    act: impl Fn(&ToolUse) -> (String, bool),
) -> (Vec<Vec<ToolUse>>, String) {
    let mut rounds = Vec::new();
    loop {
        let reply = ask(request).await;
        request.messages.push(Message { role: Role::Assistant, blocks: reply.blocks.clone() });
        if reply.finish != Finish::ToolUse {
            return (rounds, text_of(&reply.blocks));
        }
        let uses: Vec<ToolUse> = calls(&reply).into_iter().cloned().collect();
        let blocks = uses
            .iter()
            .map(|call| {
                let (content, is_error) = act(call);
                Block::ToolResult {
                    use_id: call.id.clone(),
                    name: call.name.clone(),
                    content,
                    is_error,
                }
            })
            .collect();
        request.messages.push(Message { role: Role::User, blocks });
        rounds.push(uses);
        assert!(rounds.len() < 10, "it goes round in circles");
    }
}

fn said(text: &str) -> Request {
    request(vec![Message::user_text(text)])
}

#[tokio::test]
async fn help_says_plainly_what_it_is() {
    for text in ["help", "hello"] {
        let reply = ask(&said(text)).await;
        let words = text_of(&reply.blocks);
        assert!(words.contains("no language model") && words.contains("claw init"), "{words}");
        assert_eq!(reply.finish, Finish::Complete);
    }
}

#[tokio::test]
async fn one_call_and_its_result() {
    let mut request = said("list src");
    let (rounds, words) = turn(&mut request, |_| ("main.rs\nlib.rs".into(), false)).await;
    assert_eq!(rounds[0][0].name, "filesystem__list_dir");
    assert_eq!(rounds[0][0].input, json!({"path": "src"}));
    assert!(words.contains("```text\nmain.rs\nlib.rs\n```"), "{words}");
    assert!(words.contains("no language model"), "the first answer says what it is: {words}");
    request.messages.push(Message::user_text("run true"));
    let (rounds, words) = turn(&mut request, |_| (String::new(), false)).await;
    assert_eq!(rounds[0][0].input, json!({"command": "true", "needs": "write"}));
    assert!(words.contains("no output") && !words.contains("no language model"), "{words}");
}

#[tokio::test]
async fn and_is_parallel_and_then_waits() {
    let mut request = said("write a.txt: x and write b.txt: y and then show a.txt");
    let (rounds, words) =
        turn(&mut request, |call| (format!("did {}", call.input["path"]), false)).await;
    let names: Vec<usize> = rounds.iter().map(Vec::len).collect();
    assert_eq!(names, [2, 1]);
    assert_ne!(rounds[0][0].id, rounds[0][1].id);
    assert_ne!(rounds[0][0].id, rounds[1][0].id);
    assert_eq!(rounds[0][1].input, json!({"path": "b.txt", "content": "y"}));
    let places: Vec<_> =
        ["Writing `a.txt`", "Writing `b.txt`", "Showing `a.txt`"].map(|w| words.find(w)).to_vec();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{words}");
}

#[tokio::test]
async fn denied_failed_and_unknown_are_told_apart_and_end_the_chain() {
    for (content, expected) in [
        ("Denied by the owner: not now", "was not allowed, so it did not run"),
        ("interrupted, may have run; check before trying again", "nobody knows whether it ran"),
        ("exit code 1", "did not work"),
        ("/etc/x cannot be written: Permission denied (os error 13)", "did not work"),
    ] {
        let mut request = said("run make and then list");
        let (rounds, words) = turn(&mut request, |_| (content.into(), true)).await;
        assert_eq!(rounds.len(), 1, "a failed step stops the chain");
        assert!(words.contains(expected) && words.contains(content), "{words}");
        assert!(words.contains("did not list `.`"), "{words}");
    }
}

#[tokio::test]
async fn one_of_two_parallel_calls_is_refused() {
    let mut request = said("show a and show b");
    let (_, words) = turn(&mut request, |call| match call.input["path"].as_str() {
        Some("a") => ("denied by rule X".into(), true),
        _ => ("text of b".into(), false),
    })
    .await;
    assert!(
        words.contains("Showing `a` was not allowed") && words.contains("text of b"),
        "{words}"
    );
}

#[tokio::test]
async fn a_tool_that_is_not_offered_is_named() {
    let mut request = said("run ls");
    request.tools = request.tools.iter().filter(|spec| spec.name != "bash__run").cloned().collect();
    let reply = ask(&request).await;
    assert!(calls(&reply).is_empty());
    assert!(text_of(&reply.blocks).contains("`bash__run` is not offered"), "{reply:?}");
}

#[tokio::test]
async fn what_it_does_not_understand_it_says() {
    let words = text_of(&ask(&said("what is love `and` why?")).await.blocks);
    assert!(
        words.contains("I do not understand") && words.contains("no language model"),
        "{words}"
    );
    let words = text_of(&ask(&said(&"long ".repeat(1_000))).await.blocks);
    assert!(words.len() < 1_500, "{}", words.len());
}

#[tokio::test]
async fn a_message_that_joins_a_running_turn_is_done_next_and_the_results_in_hand_are_told() {
    let mut request = said("list and then show a");
    let reply = ask(&request).await;
    let id = calls(&reply)[0].id.clone();
    request.messages.push(Message { role: Role::Assistant, blocks: reply.blocks.clone() });
    let result = Block::ToolResult {
        use_id: id,
        name: String::new(),
        content: "a.txt".into(),
        is_error: false,
    };
    let joined = Block::Text { text: "run date".into() };
    request.messages.push(Message { role: Role::User, blocks: vec![result, joined] });
    let (rounds, words) = turn(&mut request, |_| ("Saturday".into(), false)).await;
    assert_eq!(rounds[0][0].name, "bash__run");
    assert!(words.contains("a.txt") && words.contains("Saturday"), "{words}");
}

#[tokio::test]
async fn each_message_that_came_meanwhile_is_a_command_of_its_own() {
    let several = |texts: &[&str]| {
        let block = |text: &&str| Block::Text { text: (*text).into() };
        request(vec![Message { role: Role::User, blocks: texts.iter().map(block).collect() }])
    };
    let did = |_: &ToolUse| ("did it".into(), false);
    let (rounds, words) = turn(&mut several(&["help", "write p.txt: x"]), did).await;
    assert_eq!(rounds[0][0].input, json!({"path": "p.txt", "content": "x"}));
    assert!(words.contains("I understand") && words.contains("Writing `p.txt`"), "{words}");
    let (rounds, words) = turn(&mut several(&["list", "tell me", "list src"]), did).await;
    let places: Vec<_> = rounds.iter().flatten().map(|call| &call.input["path"]).collect();
    assert_eq!(places, [".", "src"]);
    assert!(words.contains("I do not understand `tell me`."), "{words}");
    // The same call three times in a row would be taken for a loop.
    let (rounds, _) = turn(&mut several(&["list", "list", " list"]), did).await;
    assert_eq!(rounds.len(), 1);
}

#[tokio::test]
async fn a_fence_is_longer_than_what_it_holds_and_long_results_are_cut() {
    let (_, words) = turn(&mut said("show a"), |_| ("x\n````\ny".into(), false)).await;
    assert!(words.contains("`````text\nx\n````\ny\n`````"), "{words}");
    let long: String = (0..500).map(|n| format!("line {n}\n")).collect();
    let (_, words) = turn(&mut said("show a"), move |_| (long.clone(), false)).await;
    assert!(
        words.contains("line 59") && !words.contains("line 60") && words.contains("440 more lines"),
        "{words}"
    );
    let (_, words) = turn(&mut said("show a"), |_| ("ä".repeat(100_000), false)).await;
    assert!(words.chars().count() < 5_000);
}

#[tokio::test]
async fn it_plays_a_summary_when_asked_for_one() {
    let mut request = request(vec![
        Message::user_text("list"),
        Message::assistant_text("ok"),
        Message::user_text("Summarise the conversation above."),
    ]);
    request.tools = Default::default();
    request.system = "Summarize for later.".into();
    let reply = ask(&request).await;
    assert!(text_of(&reply.blocks).contains("- list"));
    assert_eq!(reply.finish, Finish::Complete);
}

#[tokio::test]
async fn an_empty_conversation_gets_help() {
    let reply = ask(&request(Vec::new())).await;
    assert!(text_of(&reply.blocks).contains("write notes.txt: hello"));
}
