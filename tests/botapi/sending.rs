//! The bot sends: texts, files, "typing". Owns the order of checks, which is the real server's.
//! Must not know HTTP.

use axum::body::Bytes;
use serde_json::Value;

use super::chat::{Chat, ChatId, ChatKind};
use super::json;
use super::keyboard;
use super::message::{Media, MediaKind, MessageId};
use super::params::{Params, Upload};
use super::refusal::Refusal;
use super::text::{self, Formatted, TEXT_UTF16_MAX};
use super::world::World;

const UPLOAD_BYTES_MAX: usize = 50 << 20;
const PHOTO_BYTES_MAX: usize = 10 << 20;
const ACTIONS: [&str; 14] = [
    "cancel",
    "typing",
    "record_video",
    "upload_video",
    "record_audio",
    "record_voice",
    "upload_audio",
    "upload_voice",
    "upload_photo",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
];

pub fn message(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    let formatted = text::of_message(params)?;
    post(world, params, formatted, None)
}

pub fn document(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    file(world, params, MediaKind::Document)
}

pub fn photo(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    file(world, params, MediaKind::Photo)
}

pub fn voice(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    file(world, params, MediaKind::Voice)
}

pub fn action(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    let action = params.text("action");
    if !ACTIONS.contains(&action.as_str()) {
        return Err(Refusal::bad("wrong parameter action in request"));
    }
    let chat = world.reachable(&params.text("chat_id"))?;
    chat.check_blocked()?;
    let id = chat.id;
    if let Some(chat) = world.chat_mut(id) {
        chat.actions.push(action);
    }
    Ok(true.into())
}

fn file(world: &mut World, params: &Params, kind: MediaKind) -> Result<Value, Refusal> {
    let (name, folder) = match kind {
        MediaKind::Photo => ("photo", kind.folder()),
        MediaKind::Voice => ("voice", kind.folder()),
        // The bot sends no others.
        _ => ("document", MediaKind::Document.folder()),
    };
    let caption = text::of_caption(params)?;
    let given = params.text(name);
    let upload = params
        .upload(name)
        .or_else(|| given.strip_prefix("attach://").and_then(|part| params.upload(part)));
    let Some(upload) = upload else {
        if given.is_empty() {
            return Err(Refusal::bad(&format!("there is no {name} in the request")));
        }
        let known = world.known_media(&given).filter(|media| media.kind == kind);
        let media =
            known.ok_or_else(|| Refusal::bad("wrong file identifier/HTTP URL specified"))?;
        return post(world, params, caption, Some(media));
    };
    check_upload(upload, kind)?;
    let (bytes, size) = (upload.bytes.clone(), upload.bytes.len() as u64);
    let (file_name, mime) = (upload.name.clone(), upload.mime.clone());
    // Stored before the chat is checked, which nobody can see: the id is in no answer then.
    let file_id = world.files.add(folder, &file_name, bytes, size);
    post(world, params, caption, Some(Media { kind, file_id, name: file_name, mime, bytes: size }))
}

fn check_upload(upload: &Upload, kind: MediaKind) -> Result<(), Refusal> {
    let bytes: &Bytes = &upload.bytes;
    if bytes.is_empty() {
        return Err(Refusal::bad("file must be non-empty"));
    }
    if bytes.len() > UPLOAD_BYTES_MAX {
        return Err(Refusal::new(413, "Request Entity Too Large"));
    }
    if kind != MediaKind::Photo {
        return Ok(());
    }
    if bytes.len() > PHOTO_BYTES_MAX {
        return Err(Refusal::bad("file is too big for a photo"));
    }
    let pictures: [&[u8]; 4] = [b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF"];
    if pictures.iter().any(|magic| bytes.starts_with(magic)) {
        Ok(())
    } else {
        Err(Refusal::bad("IMAGE_PROCESS_FAILED"))
    }
}

/// What all that is sent has in common.
fn post(
    world: &mut World,
    params: &Params,
    content: Formatted,
    media: Option<Media>,
) -> Result<Value, Refusal> {
    let reply = reply(params)?;
    let buttons = keyboard::read(params)?;
    let chat = world.reachable(&params.text("chat_id"))?;
    let topic = topic(chat, params)?;
    let reply_to = replied(chat, reply)?;
    if text::utf16(&content.text) > TEXT_UTF16_MAX {
        return Err(Refusal::bad("message is too long"));
    }
    // From here on it is the servers behind the Bot API that refuse.
    chat.check_blocked()?;
    chat.check_rights(media.as_ref())?;
    keyboard::check(&buttons)?;
    let (id, is_group, now) = (chat.id, chat.is_group(), world.now_ms());
    world.gauge.count(id, is_group, now)?;
    let mut message = world.blank(id, topic, world.bot.id);
    (message.text, message.entities) = (content.text, content.entities);
    (message.buttons, message.media, message.reply_to) = (buttons, media, reply_to);
    let id = (id, world.add_message(message));
    Ok(sent(world, id))
}

pub fn sent(world: &World, (chat, id): (ChatId, MessageId)) -> Value {
    world.message(chat, id).map_or(Value::Null, |message| json::message(world, message))
}

/// The message to reply to, and whether it may be missing.
fn reply(params: &Params) -> Result<Option<(i64, bool)>, Refusal> {
    let given = params.structure("reply_parameters");
    let Some(given) =
        given.map_err(|()| Refusal::bad("can't parse reply parameters JSON object"))?
    else {
        let lenient = params.flag("allow_sending_without_reply");
        return Ok(params.number("reply_to_message_id").map(|id| (id, lenient)));
    };
    let id = given.get("message_id").and_then(Value::as_i64);
    let id = id.ok_or_else(|| Refusal::bad("can't find field \"message_id\""))?;
    Ok(Some((id, given.get("allow_sending_without_reply") == Some(&Value::Bool(true)))))
}

fn replied(chat: &Chat, reply: Option<(i64, bool)>) -> Result<Option<MessageId>, Refusal> {
    let Some((id, lenient)) = reply.filter(|(id, _)| *id > 0) else { return Ok(None) };
    let id = MessageId::try_from(id).unwrap_or(MessageId::MAX);
    match chat.messages.get(&id) {
        Some(message) if !message.deleted => Ok(Some(id)),
        _ if lenient => Ok(None),
        _ => Err(Refusal::bad("message to be replied not found")),
    }
}

fn topic(chat: &Chat, params: &Params) -> Result<Option<MessageId>, Refusal> {
    let Some(id) = params.number("message_thread_id").filter(|id| *id > 0) else { return Ok(None) };
    let id = MessageId::try_from(id).unwrap_or(MessageId::MAX);
    match chat.kind {
        ChatKind::Forum if chat.topics.contains_key(&id) => Ok(Some(id)),
        // A thread of replies, which is no place of its own.
        ChatKind::Supergroup if chat.messages.contains_key(&id) => Ok(None),
        _ => Err(Refusal::bad("message thread not found")),
    }
}
