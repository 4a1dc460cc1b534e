//! What is refused, in Telegram's words.

use serde_json::json;
use teloxide_core::prelude::*;
use teloxide_core::types::{
    InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, MessageEntityKind as Kind, ParseMode,
};
use teloxide_core::{ApiError, RequestError};

use super::{raw, raw_call, start, with_anna, words};

async fn refused(text: &str) -> String {
    let (_api, bot, anna) = with_anna();
    words(bot.send_message(anna, text).await)
}

async fn formatted(
    text: &str,
    entities: Vec<MessageEntity>,
) -> Result<(String, Vec<MessageEntity>), String> {
    let (_api, bot, anna) = with_anna();
    match bot.send_message(anna, text).entities(entities).await {
        Ok(sent) => {
            Ok((sent.text().unwrap().to_owned(), sent.entities().unwrap_or_default().to_vec()))
        }
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
    assert_eq!(
        formatted("ab   ", bold(1, 4)).await.unwrap(),
        ("ab".into(), bold(1, 1)),
        "cut with the end"
    );
    assert_eq!(
        formatted("   ab", bold(1, 4)).await.unwrap(),
        ("  ab".into(), bold(0, 4)),
        "kept up to the entity"
    );
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
        (vec![bold(5, 2)], "begins in a middle of a UTF-16 symbol at byte offset 8"),
        (
            vec![bold(0, 5)],
            "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 8",
        ),
        (
            twice(bold(0, 3), italic(2, 2)),
            "can't parse entities: bold at 0 and italic at 2 overlap in part",
        ),
        (twice(code(0, 4), bold(1, 2)), "can't be nested"),
        (twice(bold(0, 4), code(1, 2)), "can't be nested"),
        (twice(entity(Kind::Blockquote, 0, 4), entity(Kind::Blockquote, 1, 2)), "can't be nested"),
    ] {
        let refused = formatted("abcd🦀efgh", entities.clone()).await.unwrap_err();
        assert!(
            refused.starts_with("Bad Request: ") && refused.contains(words),
            "{entities:?}: {refused}"
        );
    }
    let good = twice(bold(0, 4), italic(1, 2));
    assert_eq!(formatted("abcd🦀efgh", good.clone()).await.unwrap().1, good);
    let quoted = twice(entity(Kind::Blockquote, 0, 10), code(1, 2));
    assert_eq!(formatted("abcd🦀efgh", quoted.clone()).await.unwrap().1, quoted);
    let (api, bot, anna) = with_anna();
    let overlap = bot.send_message(anna, "abc").entities(twice(bold(0, 2), italic(1, 2))).await;
    assert!(
        matches!(overlap, Err(RequestError::Api(ApiError::CantParseEntities(_)))),
        "{overlap:?}"
    );
    let parsed = bot.send_message(anna, "<b>x</b>").parse_mode(ParseMode::Html).await;
    assert!(matches!(parsed, Err(RequestError::Api(ApiError::CantParseEntities(_)))), "{parsed:?}");
    let body = json!({"chat_id": anna, "text": "x", "entities": [{"type": "sparkling", "offset": 0, "length": 1}]});
    assert!(
        raw_call(&api, "sendMessage", &body.to_string()).1.contains("Unsupported type specified")
    );
    assert_eq!(
        api.calls_of("sendMessage").iter().filter(|call| call.refusal().is_some()).count(),
        3
    );
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
    let body =
        json!({"chat_id": anna, "text": "x", "reply_markup": {"inline_keyboard": [{"text": "x"}]}});
    assert!(
        raw_call(&api, "sendMessage", &body.to_string()).1.contains("must be an Array of Arrays")
    );
    assert_eq!(api.sent(anna.0).len(), 1);
}
