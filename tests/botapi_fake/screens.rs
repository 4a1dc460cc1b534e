//! What is seen and what is kept.

use teloxide_core::prelude::*;
use teloxide_core::types::{InputFile, MessageEntity, MessageEntityKind, ReplyParameters};

use super::botapi::Look;
use super::{keyboard, start};

#[tokio::test]
async fn a_screen_is_text() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let said = anna.says(anna.private(), "pay the rent");
    let chat = ChatId(anna.id);
    let text = "🦀 bold code\nsecond & link\nfn x()\n";
    let entities = [
        MessageEntity::bold(3, 4),
        MessageEntity::code(8, 4),
        MessageEntity::text_link("https://a.example/".parse().unwrap(), 22, 4),
        MessageEntity::pre(Some("rust".into()), 27, 6),
    ];
    let sent = bot
        .send_message(chat, text)
        .entities(entities)
        .reply_markup(keyboard(&["Allow once", "10 min"]));
    let sent = sent
        .reply_parameters(ReplyParameters::new(teloxide_core::types::MessageId(said.message)))
        .await
        .unwrap();
    bot.send_document(chat, InputFile::memory("twelve bytes").file_name("report.pdf"))
        .caption("all of it")
        .await
        .unwrap();
    let gone = bot.send_message(chat, "a mistake").await.unwrap();
    bot.delete_message(chat, gone.id).await.unwrap();
    let quote =
        [MessageEntity::new(MessageEntityKind::Blockquote, 0, 7), MessageEntity::italic(4, 3)];
    bot.send_message(chat, "one\ntwo\nthree").entities(quote).await.unwrap();
    let expected = "\
Anna: pay the rent
claw: ↪ Anna: pay the rent
    🦀 **bold** `code`
    second & [link](https://a.example/)
    ```rust
    fn x()
    ```
    [ Allow once ] [ 10 min ]
claw: 📎 report.pdf (12 bytes)
    all of it
claw (deleted): a mistake
claw: > one
    > _two_
    three";
    assert_eq!(api.screen(anna.id), expected);
    bot.edit_message_text(chat, sent.id, "paid").await.unwrap();
    let look = Look { ids: true, edits: true, without_deleted: true };
    let screen = api.screen_with(anna.id, look);
    assert!(screen.contains(&format!("#{} claw (edited 1×): ↪ Anna", sent.id.0)), "{screen}");
    assert!(!screen.contains("a mistake"), "{screen}");
}

#[tokio::test]
async fn topics_files_and_forwards_are_drawn() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let forum = api.forum("Work", &[&anna]);
    anna.says(forum, "in general");
    let topic = anna.opens_topic(forum, "Bills");
    anna.writes(topic).photo(b"\xff\xd8\xff").text("this one").send();
    anna.writes(topic).voice(b"OggS").forwarded_from("Bert").send();
    bot.send_message(ChatId(forum), "heard").await.unwrap();
    let expected = "\
Anna: in general
── Bills ──
Anna: (forum_topic_created)
Anna: 📷 (3 bytes)
    this one
Anna: (forwarded from Bert)
    🎤 (4 bytes)
── General ──
claw: heard";
    assert_eq!(api.screen(forum), expected);
}

#[tokio::test]
async fn calls_are_kept_in_order_with_parameters_and_outcome() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    anna.starts();
    bot.get_me().await.unwrap();
    bot.send_message(ChatId(anna.id), "one").await.unwrap();
    assert!(bot.send_message(ChatId(anna.id), "").await.is_err());
    bot.get_updates().await.unwrap();
    let calls = api.calls();
    let methods: Vec<_> = calls.iter().map(|call| call.method.as_str()).collect();
    assert_eq!(methods, ["GetMe", "SendMessage", "SendMessage", "GetUpdates"]);
    assert!(calls.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert_eq!((calls[1].chat, &calls[1].params["text"]), (Some(anna.id), &"one".into()));
    assert_eq!(calls[2].refusal(), Some("Bad Request: message text is empty"));
    assert!(format!("{:?}", calls[3].outcome).contains("700000001"), "{:?}", calls[3].outcome);
    assert_eq!(api.wait_for_text(anna.id, "on").text, "one");
    api.wait_for_calls("getupdates", 1);
    api.keep_calls(false);
    bot.get_me().await.unwrap();
    assert_eq!(api.calls().len(), 4);
}
