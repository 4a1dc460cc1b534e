//! Chats that cannot be reached, replies to nothing, rate limits, and what the bot says of itself.

use std::time::Duration;

use serde_json::json;
use teloxide_core::prelude::*;
use teloxide_core::types::{BotCommand, ChatAction, MessageId, ReplyParameters, ThreadId};
use teloxide_core::{ApiError, RequestError};

use super::botapi::Limits;
use super::{raw_call, start, with_anna, words};

#[tokio::test]
async fn chats_that_cannot_be_reached() {
    let (api, bot) = start();
    let (anna, bert) = (api.user("Anna"), api.user("Bert"));
    let group = api.group("Family", &[&anna]);
    let large = api.supergroup("Village", &[&anna]);
    let to = |chat: i64| bot.send_message(ChatId(chat), "hello").into_future();
    assert_eq!(
        words(to(bert.id).await),
        ApiError::ChatNotFound.to_string(),
        "he never wrote to the bot"
    );
    assert_eq!(words(to(-99).await), ApiError::ChatNotFound.to_string());
    assert!(
        raw_call(&api, "sendMessage", r#"{"text":"x"}"#)
            .1
            .contains("Bad Request: chat_id is empty")
    );
    anna.starts();
    to(anna.id).await.unwrap();
    anna.blocks();
    assert!(matches!(to(anna.id).await, Err(RequestError::Api(ApiError::BotBlocked))));
    assert!(
        raw_call(&api, "sendMessage", &json!({"chat_id": anna.id, "text": "x"}).to_string())
            .0
            .contains(" 403 ")
    );
    assert!(bot.send_chat_action(ChatId(anna.id), ChatAction::Typing).await.is_err());
    anna.unblocks();
    to(anna.id).await.unwrap();
    api.kick(group, &anna);
    api.kick(large, &anna);
    assert_eq!(words(to(group).await), "Forbidden: bot was kicked from the group chat");
    assert!(matches!(to(large).await, Err(RequestError::Api(ApiError::BotKickedFromSupergroup))));
    api.readmit(group, &anna);
    to(group).await.unwrap();
}

#[tokio::test]
async fn replies_and_topics_that_are_not_there() {
    let (api, bot, anna) = with_anna();
    let reply =
        |to: i32| bot.send_message(anna, "x").reply_parameters(ReplyParameters::new(MessageId(to)));
    let first = bot.send_message(anna, "one").await.unwrap();
    let answer = reply(first.id.0).await.unwrap();
    assert_eq!(answer.reply_to_message().unwrap().id, first.id);
    let missing = reply(999).await;
    assert!(
        matches!(missing, Err(RequestError::Api(ApiError::MessageToReplyNotFound))),
        "{missing:?}"
    );
    bot.delete_message(anna, first.id).await.unwrap();
    assert!(reply(first.id.0).await.is_err(), "deleted is not there");
    let lenient = ReplyParameters::new(MessageId(999)).allow_sending_without_reply();
    assert!(
        bot.send_message(anna, "x")
            .reply_parameters(lenient)
            .await
            .unwrap()
            .reply_to_message()
            .is_none()
    );
    let user = api.user("Bert");
    let forum = api.forum("Work", &[&user]);
    let topic = user.opens_topic(forum, "Bills").topic.unwrap();
    let to = |topic| {
        bot.send_message(ChatId(forum), "x")
            .message_thread_id(ThreadId(MessageId(topic)))
            .into_future()
    };
    assert!(to(topic).await.unwrap().is_topic_message);
    assert_eq!(words(to(topic + 50).await), "Bad Request: message thread not found");
}

#[tokio::test]
async fn rate_limits_when_they_are_on() {
    let (api, bot, anna) = with_anna();
    let user = api.user("Bert");
    let group = ChatId(api.group("Family", &[&user]));
    let say = |chat| bot.send_message(chat, "x").into_future();
    for _ in 0..5 {
        say(anna).await.unwrap();
    }
    api.limit(Limits::TELEGRAM);
    say(anna).await.unwrap();
    assert!(matches!(say(anna).await, Err(RequestError::RetryAfter(wait)) if wait.seconds() == 1));
    say(group).await.unwrap();
    api.let_pass(Duration::from_secs(1));
    say(anna).await.unwrap();
    for _ in 1..20 {
        api.let_pass(Duration::from_millis(1_100));
        say(group).await.unwrap();
        say(anna).await.unwrap();
    }
    api.let_pass(Duration::from_secs(2));
    assert!(matches!(say(group).await, Err(RequestError::RetryAfter(wait)) if wait.seconds() > 10));
    say(anna).await.unwrap();
    api.limit(Limits { overall_per_s: Some(2), ..Limits::default() });
    say(anna).await.unwrap();
    say(group).await.unwrap();
    let (head, body) =
        raw_call(&api, "sendMessage", &json!({"chat_id": anna, "text": "x"}).to_string());
    assert!(head.contains(" 429 ") && head.contains("retry-after: 1"), "{head}");
    assert!(body.contains(r#""parameters":{"retry_after":1}"#), "{body}");
}

#[tokio::test]
async fn commands() {
    let (api, bot) = start();
    bot.set_my_commands([BotCommand::new("new", "a new session")]).await.unwrap();
    assert_eq!(bot.get_my_commands().await.unwrap()[0].command, "new");
    assert_eq!(api.commands()[0]["description"], "a new session");
    assert_eq!(
        words(bot.set_my_commands([BotCommand::new("New", "x")]).await),
        "Bad Request: BOT_COMMAND_INVALID"
    );
    let bare = bot.set_my_commands([BotCommand::new("new", "")]).await;
    assert_eq!(words(bare), "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID");
    let many: Vec<_> = (0..101).map(|number| BotCommand::new(format!("c{number}"), "x")).collect();
    assert_eq!(words(bot.set_my_commands(many).await), "Bad Request: BOT_COMMANDS_TOO_MUCH");
}

#[tokio::test]
async fn the_account_and_chats() {
    let (api, bot, anna) = with_anna();
    let me = bot.get_me().await.unwrap();
    assert_eq!((me.id.0 as i64, me.username()), (api.bot_id(), "claw_test_bot"));
    assert!(bot.get_chat(anna).await.unwrap().is_private());
    let user = api.user("Bert");
    assert!(bot.get_chat(ChatId(api.forum("Work", &[&user]))).await.unwrap().is_supergroup());
    assert!(bot.get_chat(ChatId(api.group("Family", &[&user]))).await.unwrap().is_group());
    bot.send_chat_action(anna, ChatAction::Typing).await.unwrap();
    assert_eq!(api.actions(anna.0), ["typing"]);
    let body = json!({"chat_id": anna, "action": "dancing"}).to_string();
    assert!(
        raw_call(&api, "sendChatAction", &body)
            .1
            .contains("Bad Request: wrong parameter action in request")
    );
    bot.delete_webhook().drop_pending_updates(true).await.unwrap();
    assert!(bot.get_updates().await.unwrap().is_empty());
}
