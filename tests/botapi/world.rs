//! Everything there is: people, chats, queue, files, time. Owns the nouns' places and their
//! numbers. Must not know HTTP.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::account::CommandsKey;
use super::calls::Calls;
use super::chat::{Chat, ChatId, ChatKind};
use super::faults::Faults;
use super::files::Files;
use super::limits::Gauge;
use super::message::{Media, Message, MessageId};
use super::refusal::Refusal;
use super::tapping::Tapped;
use super::updates::{UpdateId, Updates};

/// A person or a bot.
#[derive(Clone, Debug)]
pub struct Profile {
    pub id: i64,
    pub first_name: String,
    pub username: String,
    pub is_bot: bool,
}

pub struct World {
    pub token: String,
    pub bot: Profile,
    pub privacy_mode: bool,
    pub people: BTreeMap<i64, Profile>,
    chats: HashMap<ChatId, Chat>,
    /// The order in which chats came to be.
    order: Vec<ChatId>,
    /// Of all chats that do not count by themselves.
    last_message: MessageId,
    last_number: i64,
    pub updates: Updates,
    pub taps: HashMap<String, Tapped>,
    /// What each user has put on a message.
    pub reactions: HashMap<(ChatId, MessageId, i64), Vec<String>>,
    pub files: Files,
    pub calls: Calls,
    pub faults: Faults,
    pub gauge: Gauge,
    pub commands: BTreeMap<CommandsKey, Value>,
    /// Where updates are sent instead of being handed out; empty if nowhere.
    pub webhook: String,
    /// How many connections are open.
    pub connections: usize,
    began: Instant,
    began_unix_ms: u64,
    skipped: Duration,
}

impl World {
    pub fn of_bot(number: i64) -> Self {
        let suffix = if number == 0 { String::new() } else { format!("_{number}") };
        let bot = Profile {
            id: 4_711_000_001 + number,
            first_name: "claw".to_owned(),
            username: format!("claw_test_bot{suffix}"),
            is_bot: true,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            token: format!("{}:AAH-of-the-stand-in-for-Telegram-x1", bot.id),
            bot,
            privacy_mode: false,
            people: BTreeMap::new(),
            chats: HashMap::new(),
            order: Vec::new(),
            last_message: 0,
            last_number: 1_000,
            updates: Updates::new(),
            taps: HashMap::new(),
            reactions: HashMap::new(),
            files: Files::default(),
            calls: Calls::new(),
            faults: Faults::default(),
            gauge: Gauge::default(),
            commands: BTreeMap::new(),
            webhook: String::new(),
            connections: 0,
            began: Instant::now(),
            began_unix_ms: u64::try_from(now.as_millis()).unwrap_or(0),
            skipped: Duration::ZERO,
        }
    }

    /// Milliseconds since 1970, with what was skipped.
    pub fn now_ms(&self) -> u64 {
        let since = self.began.elapsed() + self.skipped;
        self.began_unix_ms + u64::try_from(since.as_millis()).unwrap_or(0)
    }

    /// Seconds since 1970, as in dates of messages.
    pub fn now_s(&self) -> i64 {
        i64::try_from(self.now_ms() / 1000).unwrap_or(0)
    }

    pub fn let_pass(&mut self, time: Duration) {
        self.skipped += time;
        let now = self.now_ms();
        self.updates.expire(now);
    }

    /// A number that nothing has yet.
    pub fn number(&mut self) -> i64 {
        self.last_number += 1;
        self.last_number
    }

    pub fn add_chat(&mut self, chat: Chat) {
        self.order.push(chat.id);
        self.chats.insert(chat.id, chat);
    }

    /// A chat that nobody can reach any more.
    pub fn remove_chat(&mut self, id: ChatId) {
        self.chats.remove(&id);
        self.order.retain(|chat| *chat != id);
    }

    pub fn chat(&self, id: ChatId) -> Option<&Chat> {
        self.chats.get(&id)
    }

    pub fn chat_mut(&mut self, id: ChatId) -> Option<&mut Chat> {
        self.chats.get_mut(&id)
    }

    pub fn chats(&self) -> impl Iterator<Item = &Chat> {
        self.order.iter().filter_map(|id| self.chats.get(id))
    }

    /// A private chat comes to be when its user first does something in it.
    pub fn open_private(&mut self, user: i64) {
        if !self.chats.contains_key(&user) {
            let name =
                self.people.get(&user).map_or_else(String::new, |person| person.first_name.clone());
            self.add_chat(Chat::new(user, ChatKind::Private, &name, vec![user]));
        }
    }

    /// All messages of a chat, deleted ones too, in order.
    pub fn messages(&self, chat: ChatId) -> impl Iterator<Item = &Message> {
        self.chats.get(&chat).into_iter().flat_map(|chat| chat.messages.values())
    }

    pub fn message(&self, chat: ChatId, id: MessageId) -> Option<&Message> {
        self.chats.get(&chat).and_then(|chat| chat.messages.get(&id))
    }

    pub fn message_mut(&mut self, chat: ChatId, id: MessageId) -> Option<&mut Message> {
        self.chats.get_mut(&chat).and_then(|chat| chat.messages.get_mut(&id))
    }

    /// A file that is in some message, by its id.
    pub fn known_media(&self, file_id: &str) -> Option<Media> {
        let mut held = self
            .chats
            .values()
            .flat_map(|chat| chat.messages.values())
            .filter_map(|one| one.media.as_ref());
        held.find(|media| media.file_id == file_id).cloned()
    }

    /// A message without anything in it, not yet in its chat.
    pub fn blank(&self, chat: ChatId, topic: Option<MessageId>, from: i64) -> Message {
        Message {
            id: 0,
            chat,
            topic,
            from,
            in_name_of: None,
            by_bot: from == self.bot.id,
            date: self.now_s(),
            edit_date: None,
            text: String::new(),
            entities: Vec::new(),
            buttons: Vec::new(),
            media: None,
            album: None,
            reply_to: None,
            forwarded_from: None,
            service: None,
            deleted: false,
            edits: 0,
            versions: Vec::new(),
        }
    }

    /// Puts a message into its chat under a new number.
    pub fn add_message(&mut self, mut message: Message) -> MessageId {
        let last_of_all = &mut self.last_message;
        let Some(chat) = self.chats.get_mut(&message.chat) else { return 0 };
        let last = if chat.counts_itself() { &mut chat.last_id } else { last_of_all };
        *last += 1;
        message.id = *last;
        message.versions.push(message.text.clone());
        chat.messages.insert(message.id, message);
        *last
    }

    pub fn push_update(&mut self, kind: &str, content: Value) -> Option<UpdateId> {
        let now = self.now_ms();
        self.updates.push(kind, content, now)
    }

    /// The chat of a call, in which the bot may be.
    pub fn reachable(&self, id: &str) -> Result<&Chat, Refusal> {
        if id.is_empty() {
            return Err(Refusal::bad("chat_id is empty"));
        }
        let chat = id.parse().ok().and_then(|id: ChatId| self.chats.get(&id));
        let chat = chat.ok_or_else(|| Refusal::bad("chat not found"))?;
        chat.check_member()?;
        Ok(chat)
    }
}
