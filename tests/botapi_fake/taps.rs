//! Buttons that users tap, and what comes of it.

use std::time::Duration;

use teloxide_core::prelude::*;
use teloxide_core::types::{CallbackQuery, CallbackQueryId, MaybeInaccessibleMessage, UpdateKind};

use super::botapi::{BotApi, User};
use super::{keyboard, start, words};

const LATE: &str =
    "Bad Request: query is too old and response timeout expired or query ID is invalid";

async fn asked() -> (BotApi, Bot, User, i32) {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let said = anna.starts();
    let sent = bot
        .send_message(ChatId(anna.id), "May I?")
        .reply_markup(keyboard(&["Yes", "No"]))
        .await
        .unwrap();
    bot.get_updates().offset(said.update.unwrap() + 1).await.unwrap();
    (api, bot, anna, sent.id.0)
}

async fn query(bot: &Bot) -> CallbackQuery {
    let update = bot.get_updates().await.unwrap().pop().unwrap();
    if let UpdateKind::CallbackQuery(query) = update.kind { query } else { panic!("{update:?}") }
}

#[tokio::test]
async fn a_tap_is_a_callback_query_and_is_answered_once() {
    let (api, bot, anna, message) = asked().await;
    let tap = anna.taps(anna.private(), "Yes");
    let query = query(&bot).await;
    assert_eq!(
        (query.id.0.as_str(), query.data.as_deref()),
        (tap.query.as_str(), Some("data:Yes"))
    );
    assert_eq!((query.from.id.0 as i64, query.chat_instance.is_empty()), (anna.id, false));
    let shown = query.regular_message().unwrap();
    assert_eq!((shown.id.0, shown.text()), (message, Some("May I?")));
    assert_eq!(shown.reply_markup().unwrap().inline_keyboard[0].len(), 2);
    bot.answer_callback_query(query.id.clone()).text("done").show_alert(true).await.unwrap();
    assert_eq!(api.wait_answered(&tap), ("done".to_owned(), true));
    assert_eq!(words(bot.answer_callback_query(query.id).await), LATE);
    assert_eq!(words(bot.answer_callback_query(CallbackQueryId("1".into())).await), LATE);
}

#[tokio::test]
async fn an_old_tap_cannot_be_answered() {
    let (api, bot, anna, _) = asked().await;
    let tap = anna.taps(anna.private(), "data:No");
    assert!(tap.update.is_some());
    let long =
        bot.answer_callback_query(CallbackQueryId(tap.query.clone())).text("x".repeat(201)).await;
    assert_eq!(words(long), "Bad Request: MESSAGE_TOO_LONG");
    api.let_pass(Duration::from_secs(151));
    assert_eq!(words(bot.answer_callback_query(CallbackQueryId(tap.query)).await), LATE);
}

#[tokio::test]
async fn forged_taps_arrive_as_they_are() {
    let (api, bot, anna, message) = asked().await;
    let eve = api.user("Eve");
    eve.forges_tap(anna.private(), message, "data:of nobody");
    let foreign = query(&bot).await;
    assert_eq!(
        (foreign.from.id.0 as i64, foreign.data.as_deref()),
        (eve.id, Some("data:of nobody"))
    );
    bot.delete_message(ChatId(anna.id), teloxide_core::types::MessageId(message)).await.unwrap();
    anna.forges_tap(anna.private(), message, "data:Yes");
    let old = query(&bot).await;
    assert!(
        matches!(old.message, Some(MaybeInaccessibleMessage::Inaccessible(gone)) if gone.message_id.0 == message)
    );
}

#[tokio::test]
#[should_panic(expected = "there is no button `Maybe` to tap:")]
async fn what_is_not_on_the_screen_cannot_be_tapped() {
    let (_api, _bot, anna, _) = asked().await;
    anna.taps(anna.private(), "Maybe");
}
