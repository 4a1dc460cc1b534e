//! What is refused, in Telegram's words.

use std::time::Duration;

use serde_json::json;
use teloxide_core::prelude::*;
use teloxide_core::types::{BotCommand, ChatAction, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity};
use teloxide_core::types::{MessageEntityKind as Kind, MessageId, ParseMode, ReplyParameters, ThreadId};
use teloxide_core::{ApiError, Bot, RequestError};

use super::botapi::{BotApi, Limits};
use super::{raw, raw_call, start, words};

fn with_anna() -> (BotApi, Bot, ChatId) {
    let (api, bot) = start();
    let anna = api.user("Anna");
    anna.starts();
    (api, bot, ChatId(anna.id))
}

async fn refused(text: &str) -> String {
    let (_api, bot, anna) = with_anna();
    words(bot.send_message(anna, text).await)
}

async fn formatted(text: &str, entities: Vec<MessageEntity>) -> Result<(String, Vec<MessageEntity>), String> {
    let (_api, bot, anna) = with_anna();
    match bot.send_message(anna, text).entities(entities).await {
        Ok(sent) => Ok((sent.text().unwrap().to_owned(), sent.entities().unwrap_or_default().to_vec())),
        Err(error) => Err(words(Err::<(), _>(error))),
    }
}

fn entity(kind: Kind, offset: usize, length: usize) -> MessageEntity {
    MessageEntity { kind, offset, length }
}

#[test]
fn tokens_paths_and_methods() {
    let (api, _) = start();
    let token = api.token();
    for (path, status, words) in [
        ("/bot4711000001:wrong/getMe".to_owned(), "401", "Unauthorized"),
        ("/botnonsense/getMe".to_owned(), "401", "Unauthorized: invalid token specified"),
        ("/nothing".to_owned(), "404", "Not Found"),
        (format!("/bot{token}/makeCoffee"), "404", "Not Found: method not found"),
        (format!("/file/bot{token}/documents/none"), "404", "Not Found"),
    ] {
        let (head, body) = raw(&api, &path, "{}");
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {head}");
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&body["ok"], &body["description"]), (&json!(false), &json!(words)), "{path}");
    }
    let (_, body) = raw_call(&api, "getMe", "no json");
    assert!(body.contains("Bad Request"), "{body}");
}

#[tokio::test]
async fn empty_and_too_long_texts() {
    let (_api, bot, anna) = with_anna();
    assert_eq!(refused("").await, ApiError::MessageTextIsEmpty.to_string());
    assert_eq!(refused(" \n\t ").await, "Bad Request: text must be non-empty");
    // Counted in UTF-16 units: 2,048 crabs are as long as 4,096 letters.
    bot.send_message(anna, "🦀".repeat(2048)).await.unwrap();
    bot.send_message(anna, format!("  {}\n", "a".repeat(4096))).await.unwrap();
    assert_eq!(refused(&"🦀".repeat(2049)).await, ApiError::MessageIsTooLong.to_string());
    assert_eq!(refused(&"a".repeat(4097)).await, ApiError::MessageIsTooLong.to_string());
    assert_eq!(refused(&"a".repeat((1 << 15) + 1)).await, "Bad Request: text is too long");
    let sent = bot.send_message(anna, "short").await.unwrap();
    let long = bot.edit_message_text(anna, sent.id, "a".repeat(4097)).await;
    assert!(matches!(long, Err(RequestError::Api(ApiError::EditedMessageIsTooLong))), "{long:?}");
}

#[tokio::test]
async fn texts_are_cleaned_and_trimmed_with_their_entities() {
    let bold = |offset, length| vec![entity(Kind::Bold, offset, length)];
    assert_eq!(formatted("\n  a\tb\r\nc \n", vec![]).await.unwrap().0, "a b\nc");
    assert_eq!(formatted("  x🦀y  ", bold(3, 2)).await.unwrap(), ("x🦀y".into(), bold(1, 2)));
    assert_eq!(formatted("a\r\r b", bold(4, 1)).await.unwrap(), ("a b".into(), bold(2, 1)));
    assert_eq!(formatted("ab   ", bold(1, 4)).await.unwrap(), ("ab".into(), bold(1, 1)), "cut with the end");
    assert_eq!(formatted("   ab", bold(1, 4)).await.unwrap(), ("  ab".into(), bold(0, 4)), "kept up to the entity");
    assert_eq!(formatted("ab", bold(1, 0)).await.unwrap(), ("ab".into(), vec![]), "empty ones go");
}

#[tokio::test]
async fn entities_that_cannot_be() {
    let twice = |one, other| vec![one, other];
    let (bold, italic) = (|o, l| entity(Kind::Bold, o, l), |o, l| entity(Kind::Italic, o, l));
    let code = |o, l| entity(Kind::Code, o, l);
    for (entities, words) in [
        (vec![bold(9, 2)], "ends after the end of the text"),
        (vec![bold(11, 2)], "begins after the end of the text"),
        (vec![bold(5, 2)], "begins in a middle of a UTF-16 symbol"),
        (vec![bold(0, 5)], "ends in a middle of a UTF-16 symbol"),
        (twice(bold(0, 3), italic(2, 2)), "can't parse entities: bold at 0 and italic at 2 overlap in part"),
        (twice(code(0, 4), bold(1, 2)), "can't be nested"),
        (twice(bold(0, 4), code(1, 2)), "can't be nested"),
        (twice(entity(Kind::Blockquote, 0, 4), entity(Kind::Blockquote, 1, 2)), "can't be nested"),
    ] {
        let refused = formatted("abcd🦀efgh", entities.clone()).await.unwrap_err();
        assert!(refused.starts_with("Bad Request: ") && refused.contains(words), "{entities:?}: {refused}");
    }
    let good = twice(bold(0, 4), italic(1, 2));
    assert_eq!(formatted("abcd🦀efgh", good.clone()).await.unwrap().1, good);
    let quoted = twice(entity(Kind::Blockquote, 0, 10), code(1, 2));
    assert_eq!(formatted("abcd🦀efgh", quoted.clone()).await.unwrap().1, quoted);
    let (api, bot, anna) = with_anna();
    let overlap = bot.send_message(anna, "abc").entities(twice(bold(0, 2), italic(1, 2))).await;
    assert!(matches!(overlap, Err(RequestError::Api(ApiError::CantParseEntities(_)))), "{overlap:?}");
    let parsed = bot.send_message(anna, "<b>x</b>").parse_mode(ParseMode::Html).await;
    assert!(matches!(parsed, Err(RequestError::Api(ApiError::CantParseEntities(_)))), "{parsed:?}");
    let body = json!({"chat_id": anna, "text": "x", "entities": [{"type": "sparkling", "offset": 0, "length": 1}]});
    assert!(raw_call(&api, "sendMessage", &body.to_string()).1.contains("Unsupported type specified"));
    assert_eq!(api.calls_of("sendMessage").iter().filter(|call| call.refusal().is_some()).count(), 3);
}

#[tokio::test]
async fn buttons() {
    let (api, bot, anna) = with_anna();
    let ask = |data: String| {
        let markup = InlineKeyboardMarkup::new([[InlineKeyboardButton::callback("Yes", data)]]);
        bot.send_message(anna, "well?").reply_markup(markup).into_future()
    };
    ask("d".repeat(64)).await.unwrap();
    let long = ask("d".repeat(65)).await;
    assert!(matches!(long, Err(RequestError::Api(ApiError::ButtonDataInvalid))), "{long:?}");
    assert!(ask("é".repeat(33)).await.is_err(), "bytes count");
    let none = ask(String::new()).await;
    assert!(matches!(none, Err(RequestError::Api(ApiError::TextButtonsAreUnallowed))), "{none:?}");
    let body = json!({"chat_id": anna, "text": "x", "reply_markup": {"inline_keyboard": [{"text": "x"}]}});
    assert!(raw_call(&api, "sendMessage", &body.to_string()).1.contains("must be an Array of Arrays"));
    assert_eq!(api.sent(anna.0).len(), 1);
}

#[tokio::test]
async fn chats_that_cannot_be_reached() {
    let (api, bot) = start();
    let (anna, bert) = (api.user("Anna"), api.user("Bert"));
    let group = api.group("Family", &[&anna]);
    let large = api.supergroup("Village", &[&anna]);
    let to = |chat: i64| bot.send_message(ChatId(chat), "hello").into_future();
    assert_eq!(words(to(bert.id).await), ApiError::ChatNotFound.to_string(), "he never wrote to the bot");
    assert_eq!(words(to(-99).await), ApiError::ChatNotFound.to_string());
    assert!(raw_call(&api, "sendMessage", r#"{"text":"x"}"#).1.contains("Bad Request: chat_id is empty"));
    anna.starts();
    to(anna.id).await.unwrap();
    anna.blocks();
    assert!(matches!(to(anna.id).await, Err(RequestError::Api(ApiError::BotBlocked))));
    assert!(raw_call(&api, "sendMessage", &json!({"chat_id": anna.id, "text": "x"}).to_string()).0.contains(" 403 "));
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
    let reply = |to: i32| bot.send_message(anna, "x").reply_parameters(ReplyParameters::new(MessageId(to)));
    let first = bot.send_message(anna, "one").await.unwrap();
    let answer = reply(first.id.0).await.unwrap();
    assert_eq!(answer.reply_to_message().unwrap().id, first.id);
    let missing = reply(999).await;
    assert!(matches!(missing, Err(RequestError::Api(ApiError::MessageToReplyNotFound))), "{missing:?}");
    bot.delete_message(anna, first.id).await.unwrap();
    assert!(reply(first.id.0).await.is_err(), "deleted is not there");
    let lenient = ReplyParameters::new(MessageId(999)).allow_sending_without_reply();
    assert!(bot.send_message(anna, "x").reply_parameters(lenient).await.unwrap().reply_to_message().is_none());
    let user = api.user("Bert");
    let forum = api.forum("Work", &[&user]);
    let topic = user.opens_topic(forum, "Bills").topic.unwrap();
    let to = |topic| bot.send_message(ChatId(forum), "x").message_thread_id(ThreadId(MessageId(topic))).into_future();
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
    }
    api.let_pass(Duration::from_secs(2));
    assert!(matches!(say(group).await, Err(RequestError::RetryAfter(wait)) if wait.seconds() > 10));
    say(anna).await.unwrap();
    api.limit(Limits { overall_per_s: Some(2), ..Limits::default() });
    say(anna).await.unwrap();
    say(group).await.unwrap();
    let (head, body) = raw_call(&api, "sendMessage", &json!({"chat_id": anna, "text": "x"}).to_string());
    assert!(head.contains(" 429 ") && head.contains("retry-after: 1"), "{head}");
    assert!(body.contains(r#""parameters":{"retry_after":1}"#), "{body}");
}

#[tokio::test]
async fn commands() {
    let (api, bot) = start();
    bot.set_my_commands([BotCommand::new("new", "a new session")]).await.unwrap();
    assert_eq!(bot.get_my_commands().await.unwrap()[0].command, "new");
    assert_eq!(api.commands()[0]["description"], "a new session");
    assert_eq!(words(bot.set_my_commands([BotCommand::new("New", "x")]).await), "Bad Request: BOT_COMMAND_INVALID");
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
    assert!(raw_call(&api, "sendChatAction", &body).1.contains("Bad Request: wrong parameter action in request"));
    bot.delete_webhook().drop_pending_updates(true).await.unwrap();
    assert!(bot.get_updates().await.unwrap().is_empty());
}
