//! A chain of models that play their scripts: who is asked, who is passed over, what is said.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{ChainLink, Route};
use crate::domain::{Block, Finish, Message, Role, ToolSpec, ToolUse, text_of};
use crate::model::{Delta, Model, ModelError, Reply, Request, Script, Scripted};

struct Rig {
    models: Vec<Arc<Scripted>>,
    route: Route,
}

/// Models that play their scripts; the last one may be offered no tools if `mute`.
fn rig(scripts: Vec<Vec<Script>>, mute: bool) -> Rig {
    let last = scripts.len() - 1;
    let models: Vec<_> =
        scripts.into_iter().map(|script| Arc::new(Scripted::new(script))).collect();
    let links = models.iter().enumerate().map(|(index, model)| ChainLink {
        model: model.clone(),
        calls_tools: !(mute && index == last),
    });
    let route = Route::new(links);
    Rig { models, route }
}

fn request() -> Request {
    let tool = ToolSpec {
        name: "bash__run".into(),
        description: "Runs.".into(),
        input_schema: json!({"type": "object"}),
    };
    Request {
        system: "s".into(),
        messages: vec![Message::user_text("go")],
        tools: [tool].into(),
        model: None,
    }
}

impl Rig {
    async fn ask(&self) -> Result<Reply, ModelError> {
        self.route.reply(&request(), &mut |_| {}).await
    }

    fn asked(&self) -> Vec<usize> {
        self.models.iter().map(|model| model.requests().len()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_failed_is_passed_over_for_a_minute_and_then_tried_by_the_next_request() {
    let rig = rig(
        vec![
            vec![Script::fail("overloaded"), Script::text("first again")],
            vec![Script::text("second"), Script::text("second")],
        ],
        false,
    );
    let told = rig.ask().await.unwrap();
    assert_eq!(text_of(&told.blocks), "second");
    let notice = told.notice.unwrap();
    assert!(
        notice.contains("answers now")
            && notice.contains("overloaded")
            && !notice.contains("Tools"),
        "{notice}"
    );
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(rig.ask().await.unwrap().notice, None, "a change is told once");
    assert_eq!(rig.asked(), [1, 2], "nobody asks the one that is down");
    tokio::time::advance(Duration::from_secs(1)).await;
    let back = rig.ask().await.unwrap();
    assert_eq!(text_of(&back.blocks), "first again");
    assert!(back.notice.unwrap().contains("answers again"));
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_of_a_broken_reply_is_void() {
    let broken = Script::Break {
        deltas: vec![Delta::Text("half".into())],
        error: ModelError::permanent("it broke"),
    };
    let rig = rig(vec![vec![broken], vec![Script::text("whole")]], false);
    let mut shown = Vec::new();
    rig.route.reply(&request(), &mut |delta| shown.push(delta)).await.unwrap();
    let [Delta::Text(_), Delta::Restarted { .. }, Delta::Text(whole)] = &shown[..] else {
        panic!("{shown:?}")
    };
    assert_eq!(whole, "whole");
}

#[tokio::test(start_paused = true)]
async fn one_without_tools_says_so_and_acts_on_nothing() {
    let acts = Script::blocks(
        vec![
            Block::Text { text: "I cannot.".into() },
            Block::ToolUse(Box::new(ToolUse {
                id: "1".into(),
                name: "bash__run".into(),
                input: json!({}),
                broken_input: None,
            })),
        ],
        Finish::ToolUse,
    );
    let rig = rig(vec![vec![Script::fail("down")], vec![acts]], true);
    let mut asked = request();
    let used = ToolUse {
        id: "0".into(),
        name: "bash__run".into(),
        input: json!({"command": "ls"}),
        broken_input: None,
    };
    asked
        .messages
        .push(Message { role: Role::Assistant, blocks: vec![Block::ToolUse(Box::new(used))] });
    let (use_id, name) = ("0".to_owned(), "bash__run".to_owned());
    let result = Block::ToolResult { use_id, name, content: "a.txt".into(), is_error: false };
    asked.messages.push(Message { role: Role::User, blocks: vec![result] });
    let reply = rig.route.reply(&asked, &mut |_| {}).await.unwrap();
    assert_eq!(reply.blocks, [Block::Text { text: "I cannot.".into() }]);
    assert_eq!(reply.finish, Finish::Complete);
    assert!(reply.notice.unwrap().contains("Tools are unavailable"));
    let told = &rig.models[1].requests()[0];
    assert!(told.tools.is_empty() && told.system.contains("No tools are available"));
    let words: String = told.messages.iter().map(|message| text_of(&message.blocks)).collect();
    assert!(
        words.contains("called bash__run") && words.contains("result of bash__run: a.txt"),
        "{words}"
    );
}

#[tokio::test(start_paused = true)]
async fn when_all_are_down_all_are_asked_and_the_first_one_is_heard_of() {
    let rig = rig(
        vec![vec![Script::fail("one"), Script::fail("one more")], vec![Script::fail("two"); 2]],
        false,
    );
    assert!(rig.ask().await.unwrap_err().to_string().contains("one"));
    assert!(rig.ask().await.unwrap_err().to_string().contains("one more"));
    assert_eq!(rig.asked(), [2, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_too_long_is_no_illness() {
    let long =
        Script::Fail(ModelError::ContextTooLong { model: "m".into(), detail: "too long".into() });
    let rig = rig(vec![vec![long, Script::text("short")], vec![]], false);
    assert!(matches!(rig.ask().await, Err(ModelError::ContextTooLong { .. })));
    assert_eq!(text_of(&rig.ask().await.unwrap().blocks), "short");
}
