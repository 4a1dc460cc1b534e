//! How people, chats and messages look in answers and updates. Owns the field names of
//! <https://core.telegram.org/bots/api#available-types>. Must not know calls.

use serde_json::{Map, Value, json};

use super::chat::{Chat, ChatKind};
use super::files::unique_id;
use super::keyboard;
use super::message::{InNameOf, Media, MediaKind, Message};
use super::world::{Profile, World};

pub fn user(profile: &Profile) -> Value {
    let mut user =
        json!({"id": profile.id, "is_bot": profile.is_bot, "first_name": profile.first_name});
    user["username"] = profile.username.clone().into();
    if !profile.is_bot {
        user["language_code"] = "en".into();
    }
    user
}

pub fn chat(world: &World, chat: &Chat) -> Value {
    let mut json = json!({"id": chat.id});
    match chat.kind {
        ChatKind::Private => {
            json["type"] = "private".into();
            json["first_name"] = chat.title.clone().into();
            if let Some(person) = world.people.get(&chat.id) {
                json["username"] = person.username.clone().into();
            }
        }
        ChatKind::Group => {
            json["type"] = "group".into();
            json["title"] = chat.title.clone().into();
            json["all_members_are_administrators"] = true.into();
        }
        ChatKind::Supergroup | ChatKind::Forum => {
            json["type"] = "supergroup".into();
            json["title"] = chat.title.clone().into();
        }
    }
    if chat.kind == ChatKind::Forum {
        json["is_forum"] = true.into();
    }
    json
}

/// A message as it is now, with the one it replies to.
pub fn message(world: &World, message: &Message) -> Value {
    let mut json = alone(world, message);
    // In a topic, what replies to nothing replies to the topic's beginning.
    let to = message.reply_to.or(message.topic).and_then(|id| world.message(message.chat, id));
    if let Some(to) = to.filter(|to| !to.deleted && to.id != message.id) {
        json.insert("reply_to_message".into(), Value::Object(alone(world, to)));
    }
    Value::Object(json)
}

fn alone(world: &World, message: &Message) -> Map<String, Value> {
    let mut json = Map::new();
    let mut put = |name: &str, value: Value| json.insert(name.to_owned(), value);
    put("message_id", message.id.into());
    put("date", message.date.into());
    let place = world.chat(message.chat);
    let profile = if message.by_bot { Some(&world.bot) } else { world.people.get(&message.from) };
    match message.in_name_of {
        Some(whom) => {
            let (from, chat) = nameless(whom, place.map(|place| chat(world, place)));
            put("from", from);
            put("sender_chat", chat);
        }
        None => {
            if let Some(profile) = profile {
                put("from", user(profile));
            }
        }
    }
    if let Some(place) = place {
        put("chat", chat(world, place));
    }
    if let Some(topic) = message.topic {
        put("message_thread_id", topic.into());
        put("is_topic_message", true.into());
    } else if let Some(reply_to) =
        message.reply_to.filter(|_| place.is_some_and(Chat::counts_itself))
    {
        // Replies in a supergroup are a thread, too, though there is no topic.
        put("message_thread_id", reply_to.into());
    }
    if let Some(edited) = message.edit_date {
        put("edit_date", edited.into());
    }
    if let Some(album) = &message.album {
        put("media_group_id", album.clone().into());
    }
    if let Some(name) = &message.forwarded_from {
        put(
            "forward_origin",
            json!({"type": "hidden_user", "date": message.date, "sender_user_name": name}),
        );
        put("forward_sender_name", name.clone().into());
        put("forward_date", message.date.into());
    }
    if let Some((kind, content)) = &message.service {
        put(kind, content.clone());
    }
    if !message.buttons.is_empty() {
        put("reply_markup", keyboard::json(&message.buttons));
    }
    let (text, entities) = if message.media.is_some() {
        ("caption", "caption_entities")
    } else {
        ("text", "entities")
    };
    if !message.text.is_empty() {
        put(text, message.text.clone().into());
    }
    if !message.entities.is_empty() {
        put(entities, message.entities.iter().map(super::entity::Entity::json).collect());
    }
    if let Some(held) = &message.media {
        let (kind, content) = media(held);
        if kind == "animation" {
            // "For backward compatibility" (Bot API, "Message", `animation`).
            put("document", content.clone());
        }
        put(kind, content);
    }
    json
}

/// The bot that stands in `from`, "for backward compatibility", and the chat that stands for the
/// writer (Bot API, "Message", `from` and `sender_chat`).
fn nameless(whom: InNameOf, group: Option<Value>) -> (Value, Value) {
    let bot = |id, first_name: &str, username: &str| {
        user(&Profile {
            id,
            first_name: first_name.into(),
            username: username.into(),
            is_bot: true,
        })
    };
    match whom {
        InNameOf::Group => {
            (bot(1_087_968_824, "Group", "GroupAnonymousBot"), group.unwrap_or_default())
        }
        InNameOf::Channel => (
            bot(136_817_688, "Channel", "Channel_Bot"),
            json!({"id": -1_009_000_000_001_i64, "type": "channel", "title": "News"}),
        ),
    }
}

fn media(media: &Media) -> (&'static str, Value) {
    let mut file = json!({"file_id": media.file_id, "file_unique_id": unique_id(&media.file_id)});
    file["file_size"] = media.bytes.into();
    match media.kind {
        MediaKind::Document => {
            file["file_name"] = media.name.clone().into();
            file["mime_type"] = media.mime.clone().into();
            ("document", file)
        }
        MediaKind::Voice => {
            file["mime_type"] = media.mime.clone().into();
            file["duration"] = 3.into();
            ("voice", file)
        }
        MediaKind::Audio => {
            file["file_name"] = media.name.clone().into();
            file["mime_type"] = media.mime.clone().into();
            file["duration"] = 61.into();
            ("audio", file)
        }
        MediaKind::VideoNote => {
            (file["length"], file["duration"]) = (240.into(), 5.into());
            ("video_note", file)
        }
        MediaKind::Video | MediaKind::Animation => {
            file["file_name"] = media.name.clone().into();
            file["mime_type"] = media.mime.clone().into();
            (file["width"], file["height"], file["duration"]) = (640.into(), 360.into(), 7.into());
            (if media.kind == MediaKind::Video { "video" } else { "animation" }, file)
        }
        MediaKind::Photo => {
            let mut small = file.clone();
            (small["width"], small["height"]) = (90.into(), 60.into());
            (file["width"], file["height"]) = (1280.into(), 853.into());
            // Sizes are files of their own; the smaller one here is the same bytes.
            ("photo", json!([small, file]))
        }
    }
}
