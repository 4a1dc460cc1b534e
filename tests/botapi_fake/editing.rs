//! Edits and deletions.

use std::time::Duration;

use teloxide_core::prelude::*;
use teloxide_core::types::{MessageEntity, MessageId};
use teloxide_core::{ApiError, RequestError};

use super::{keyboard, start, words};

#[tokio::test]
async fn an_unchanged_edit_is_refused() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    anna.starts();
    let chat = ChatId(anna.id);
    let sent = bot.send_message(chat, "one").reply_markup(keyboard(&["Yes"])).await.unwrap();
    let edit = |text: &str| bot.edit_message_text(chat, sent.id, text);
    let same = edit(" one ").reply_markup(keyboard(&["Yes"])).await;
    assert!(matches!(same, Err(RequestError::Api(ApiError::MessageNotModified))), "{same:?}");
    let edited = edit("one")
        .entities([MessageEntity::bold(0, 3)])
        .reply_markup(keyboard(&["Yes"]))
        .await
        .unwrap();
    assert!(edited.edit_date().is_some(), "other entities are a change");
    let bare = edit("two").await.unwrap();
    assert!(bare.reply_markup().is_none(), "buttons that are not named are gone");
    let markup = bot.edit_message_reply_markup(chat, sent.id).await;
    assert!(matches!(markup, Err(RequestError::Api(ApiError::MessageNotModified))), "{markup:?}");
    bot.edit_message_reply_markup(chat, sent.id).reply_markup(keyboard(&["No"])).await.unwrap();
    let now = api.message(anna.id, sent.id.0);
    assert_eq!((now.text.as_str(), now.edits), ("two", 3));
    assert_eq!(now.versions, ["one", "one", "two"]);
    assert_eq!(now.labels(), [["No"]]);
    assert_eq!(api.sent(anna.id).len(), 1);
}

#[tokio::test]
async fn what_cannot_be_edited() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let said = anna.starts();
    let chat = ChatId(anna.id);
    let edit = |id: i32, text: &str| bot.edit_message_text(chat, MessageId(id), text).into_future();
    assert!(matches!(
        edit(999, "x").await,
        Err(RequestError::Api(ApiError::MessageToEditNotFound))
    ));
    assert!(matches!(
        edit(said.message, "x").await,
        Err(RequestError::Api(ApiError::MessageCantBeEdited))
    ));
    let sent = bot.send_message(chat, "one").await.unwrap();
    assert!(matches!(
        edit(sent.id.0, "").await,
        Err(RequestError::Api(ApiError::MessageTextIsEmpty))
    ));
    let input = teloxide_core::types::InputFile::memory("x").file_name("x.txt");
    let file = bot.send_document(chat, input).await.unwrap();
    assert_eq!(
        words(edit(file.id.0, "x").await),
        "Bad Request: there is no text in the message to edit"
    );
    bot.edit_message_caption(chat, file.id).caption("a caption").await.unwrap();
    bot.delete_message(chat, sent.id).await.unwrap();
    assert!(matches!(
        edit(sent.id.0, "x").await,
        Err(RequestError::Api(ApiError::MessageToEditNotFound))
    ));
    anna.blocks();
    assert!(matches!(edit(file.id.0, "x").await, Err(RequestError::Api(_))));
}

#[tokio::test]
async fn deletions() {
    let (api, bot) = start();
    let (anna, bert) = (api.user("Anna"), api.user("Bert"));
    let group = api.supergroup("Village", &[&anna, &bert]);
    let (private, foreign) = (anna.starts(), bert.says(group, "mine"));
    bot.delete_message(ChatId(anna.id), MessageId(private.message)).await.unwrap();
    let delete = |chat, id| bot.delete_message(ChatId(chat), MessageId(id)).into_future();
    let again = delete(anna.id, private.message).await;
    assert!(
        matches!(again, Err(RequestError::Api(ApiError::MessageToDeleteNotFound))),
        "{again:?}"
    );
    let cannot = "Bad Request: message can't be deleted for everyone";
    assert_eq!(words(delete(group, foreign.message).await), cannot);
    let old = bot.send_message(ChatId(group), "old").await.unwrap();
    api.let_pass(Duration::from_secs(49 * 60 * 60));
    assert_eq!(words(delete(group, old.id.0).await), cannot);
    assert!(api.message(anna.id, private.message).deleted);
}
