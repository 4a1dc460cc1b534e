//! Files in both directions.

use teloxide_core::net::Download as _;
use teloxide_core::prelude::*;
use teloxide_core::types::{FileId, InputFile, MessageEntity};

use super::botapi::MediaKind;
use super::{keyboard, with_user, words};

#[tokio::test]
async fn what_a_user_sends_can_be_downloaded_up_to_20_mb() {
    let (api, bot, anna) = with_user();
    let said = anna.writes(anna.private()).document("bill.pdf", b"%PDF of the bill").send();
    let id = api.message(said.chat, said.message).media.unwrap().file_id;
    let file = bot.get_file(FileId(id)).await.unwrap();
    assert!(file.path.starts_with("documents/") && file.path.ends_with(".pdf"), "{}", file.path);
    let mut bytes = Vec::new();
    bot.download_file(&file.path, &mut bytes).await.unwrap();
    assert_eq!(bytes, b"%PDF of the bill");
    assert_eq!(api.calls_of("download").len(), 1);
    let large = anna.writes(anna.private()).document_of_size("film.mp4", (20 << 20) + 1).send();
    let id = api.message(large.chat, large.message).media.unwrap().file_id;
    assert_eq!(words(bot.get_file(FileId(id)).await), "Bad Request: file is too big");
    assert_eq!(words(bot.get_file(FileId("none".into())).await), "Bad Request: invalid file_id");
    assert!(bot.download_file("documents/none", &mut bytes).await.is_err());
}

#[tokio::test]
async fn the_bot_sends_documents_and_photos() {
    let (api, bot, anna) = with_user();
    let chat = ChatId(anna.id);
    // Larger than the default limit of the server's library.
    let large = vec![7; 3 << 20];
    let input = InputFile::memory(large.clone()).file_name("report.bin");
    let caption = bot
        .send_document(chat, input)
        .caption("see page 3")
        .caption_entities([MessageEntity::bold(4, 4)]);
    let sent = caption.reply_markup(keyboard(&["Yes"])).await.unwrap();
    assert_eq!(sent.document().unwrap().file.size, 3 << 20);
    let kept = api.message(anna.id, sent.id.0);
    let media = kept.media.clone().unwrap();
    assert_eq!((media.kind, media.name.as_str()), (MediaKind::Document, "report.bin"));
    assert_eq!(api.file(&media.file_id), large);
    assert_eq!(kept.labels(), [["Yes"]]);
    let call = &api.calls_of("sendDocument")[0];
    assert_eq!(call.uploads.iter().map(|upload| upload.1).collect::<Vec<_>>(), [3 << 20]);
    assert_eq!(call.params["caption_entities"][0]["type"], "bold", "the record is opened JSON");
    bot.send_document(chat, InputFile::file_id(FileId(media.file_id))).await.unwrap();
    bot.send_photo(chat, InputFile::memory(&b"\x89PNG\r\n"[..])).await.unwrap();
    bot.send_voice(chat, InputFile::memory(&b"OggS"[..])).await.unwrap();
}

#[tokio::test]
async fn files_that_are_refused() {
    let (api, bot, anna) = with_user();
    let chat = ChatId(anna.id);
    let file = || InputFile::memory("x").file_name("x.txt");
    let caption =
        |length: usize| bot.send_document(chat, file()).caption("c".repeat(length)).into_future();
    caption(1024).await.unwrap();
    assert_eq!(words(caption(1025).await), "Bad Request: message caption is too long");
    assert_eq!(words(bot.send_photo(chat, file()).await), "Bad Request: IMAGE_PROCESS_FAILED");
    let empty = bot.send_document(chat, InputFile::memory("").file_name("x.txt")).await;
    assert_eq!(words(empty), "Bad Request: file must be non-empty");
    let unknown = bot.send_document(chat, InputFile::file_id(FileId("none".into()))).await;
    assert_eq!(words(unknown), "Bad Request: wrong file identifier/HTTP URL specified");
    let huge = InputFile::memory(vec![0; (50 << 20) + 1]).file_name("huge.bin");
    assert_eq!(words(bot.send_document(chat, huge).await), "Request Entity Too Large");
    assert_eq!(api.sent(anna.id).len(), 1);
}

#[tokio::test]
async fn a_group_may_forbid_files() {
    let (api, bot, anna) = with_user();
    let group = api.supergroup("Rent", &[&anna]);
    let document = || {
        let file = InputFile::memory("x").file_name("x.txt");
        bot.send_document(ChatId(group), file).into_future()
    };
    document().await.unwrap();
    api.forbid_files(group);
    let refused = "Bad Request: not enough rights to send documents to the chat";
    assert_eq!(words(document().await), refused);
    let photo = bot.send_photo(ChatId(group), InputFile::memory(&b"\x89PNG\r\n"[..])).await;
    assert_eq!(words(photo), "Bad Request: not enough rights to send photos to the chat");
    bot.send_message(ChatId(group), "words go").await.unwrap();
    assert_eq!(api.sent(group).len(), 2);
}
