//! Who and what there is beside the bot: users, private chats, groups, forums and their topics.
//! Owns making them and what a user does to a chat as a whole. Must not know messages of the bot.

use std::sync::Arc;

use serde_json::{Value, json};

use super::chat::{Chat, ChatId, ChatKind, Place, Standing};
use super::json;
use super::saying::{Said, Saying};
use super::tapping::Tap;
use super::updates::UpdateId;
use super::world::{Profile, World};
use super::{BotApi, MessageId, Shared};

/// Somebody who can write and tap.
#[derive(Clone)]
pub struct User {
    pub id: i64,
    pub name: String,
    pub username: String,
    pub(super) shared: Arc<Shared>,
}

impl BotApi {
    /// A new user. The private chat with the bot comes to be with the first message in it.
    pub fn user(&self, name: &str) -> User {
        let profile = self.shared.change(|world| {
            let id = 5_000_000_000 + world.number();
            let username = format!(
                "{}_{}",
                name.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_"),
                id % 10_000
            );
            let profile = Profile { id, first_name: name.to_owned(), username, is_bot: false };
            world.people.insert(id, profile.clone());
            profile
        });
        User {
            id: profile.id,
            name: profile.first_name,
            username: profile.username,
            shared: self.shared.clone(),
        }
    }

    /// A small group, with the bot in it.
    pub fn group(&self, title: &str, members: &[&User]) -> ChatId {
        self.place(ChatKind::Group, title, members)
    }

    /// A supergroup, with the bot in it: it counts its messages by itself, and replies make
    /// threads.
    pub fn supergroup(&self, title: &str, members: &[&User]) -> ChatId {
        self.place(ChatKind::Supergroup, title, members)
    }

    /// A supergroup with topics, with the bot in it.
    pub fn forum(&self, title: &str, members: &[&User]) -> ChatId {
        self.place(ChatKind::Forum, title, members)
    }

    fn place(&self, kind: ChatKind, title: &str, members: &[&User]) -> ChatId {
        let members = members.iter().map(|user| user.id).collect();
        self.shared.change(|world| {
            let number = world.number();
            let id = if kind == ChatKind::Group { -number } else { -1_000_000_000_000 - number };
            world.add_chat(Chat::new(id, kind, title, members));
            id
        })
    }

    /// A topic of a forum is deleted, of which the bot hears nothing.
    pub fn deletes_topic(&self, topic: Place) {
        self.shared.change(|world| {
            let topics = world.chat_mut(topic.chat).map(|chat| &mut chat.topics);
            topics.zip(topic.topic).map(|(topics, id)| topics.remove(&id));
        });
    }

    /// A chat is gone for everybody, of which the bot hears nothing.
    pub fn deletes_chat(&self, chat: ChatId) {
        self.shared.change(|world| world.remove_chat(chat));
    }

    /// A group becomes a supergroup: it has another number, and its messages cannot be changed any
    /// more.
    pub fn upgrades(&self, group: ChatId, by: &User) -> ChatId {
        self.shared.change(|world| {
            let now = -1_000_000_000_000 - world.number();
            let (title, members) =
                world.chat(group).map(|chat| (chat.title.clone(), chat.members.clone())).unwrap();
            world.add_chat(Chat::new(now, ChatKind::Supergroup, &title, members));
            for (chat, field, other) in
                [(group, "migrate_to_chat_id", now), (now, "migrate_from_chat_id", group)]
            {
                let mut message = world.blank(chat, None, by.id);
                message.service = Some((field.to_owned(), json!(other)));
                let id = world.add_message(message);
                let content = world.message(chat, id).map(|message| json::message(world, message));
                world.push_update("message", content.unwrap_or(Value::Null));
            }
            if let Some(chat) = world.chat_mut(group) {
                chat.moved_to = Some(now);
            }
            now
        })
    }

    /// The bot is thrown out of a group, and hears of it.
    pub fn kick(&self, group: ChatId, by: &User) -> Option<UpdateId> {
        by.stands(group, Standing::Kicked)
    }

    /// A group's administrators allow no files there any more.
    pub fn forbid_files(&self, group: ChatId) {
        self.shared.change(|world| {
            if let Some(chat) = world.chat_mut(group) {
                chat.forbids_files = true;
            }
        });
    }

    /// The bot is let in again.
    pub fn readmit(&self, group: ChatId, by: &User) -> Option<UpdateId> {
        by.stands(group, Standing::Welcome)
    }
}

impl User {
    /// The private chat with the bot, which has the user's own id.
    pub fn private(&self) -> ChatId {
        self.id
    }

    /// `/start` in the private chat.
    pub fn starts(&self) -> Said {
        self.says(self.private(), "/start")
    }

    /// A plain message.
    pub fn says(&self, place: impl Into<Place>, text: &str) -> Said {
        self.writes(place).text(text).send()
    }

    /// A message with more to it; see [`Saying`].
    pub fn writes(&self, place: impl Into<Place>) -> Saying {
        Saying::new(self.clone(), place.into())
    }

    /// Taps the newest button that is to be seen in the chat with this label or this data.
    #[track_caller]
    pub fn taps(&self, chat: impl Into<ChatId>, button: &str) -> Tap {
        super::tapping::tap(self, chat.into(), None, button)
    }

    /// Taps a button of a certain message.
    #[track_caller]
    pub fn taps_on(&self, chat: impl Into<ChatId>, message: MessageId, button: &str) -> Tap {
        super::tapping::tap(self, chat.into(), Some(message), button)
    }

    /// A tap with data that no button needs to carry, on a message that may be old or deleted: what
    /// a modified client sends.
    pub fn forges_tap(&self, chat: impl Into<ChatId>, message: MessageId, data: &str) -> Tap {
        super::tapping::forge(self, chat.into(), message, data)
    }

    /// Opens a topic of a forum, of which the bot hears.
    pub fn opens_topic(&self, forum: ChatId, name: &str) -> Place {
        let from = self.id;
        let topic = self.shared.change(|world| {
            let mut message = world.blank(forum, None, from);
            message.service = Some((
                "forum_topic_created".into(),
                json!({"name": name, "icon_color": 7_322_096}),
            ));
            let id = world.add_message(message);
            if let Some(chat) = world.chat_mut(forum) {
                chat.topics.insert(id, name.to_owned());
            }
            if let Some(message) = world.message_mut(forum, id) {
                message.topic = Some(id);
            }
            let content = world.message(forum, id).map(|message| json::message(world, message));
            world.push_update("message", content.unwrap_or(Value::Null));
            id
        });
        Place { chat: forum, topic: Some(topic) }
    }

    /// Blocks the bot, which hears of it.
    pub fn blocks(&self) -> Option<UpdateId> {
        self.stands(self.id, Standing::Blocked)
    }

    pub fn unblocks(&self) -> Option<UpdateId> {
        self.stands(self.id, Standing::Welcome)
    }

    fn stands(&self, chat: ChatId, standing: Standing) -> Option<UpdateId> {
        let from = self.id;
        self.shared.change(|world| {
            if chat == from {
                world.open_private(chat);
            }
            let place = world.chat_mut(chat)?;
            let before = std::mem::replace(&mut place.standing, standing);
            let content = membership(world, chat, from, before, standing)?;
            world.push_update("my_chat_member", content)
        })
    }
}

fn membership(
    world: &World,
    chat: ChatId,
    from: i64,
    before: Standing,
    now: Standing,
) -> Option<Value> {
    let member = |standing| match standing {
        Standing::Welcome => json!({"user": json::user(&world.bot), "status": "member"}),
        _ => json!({"user": json::user(&world.bot), "status": "kicked", "until_date": 0}),
    };
    Some(json!({
        "chat": json::chat(world, world.chat(chat)?),
        "from": json::user(world.people.get(&from)?),
        "date": world.now_s(),
        "old_chat_member": member(before),
        "new_chat_member": member(now),
    }))
}
