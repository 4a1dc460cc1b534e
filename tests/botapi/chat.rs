//! Chats: private ones, groups, supergroups and forums with their topics. Owns their shape and
//! standing. Must not know calls.

use std::collections::BTreeMap;

use super::message::{Media, MediaKind, Message, MessageId};
use super::refusal::Refusal;

pub type ChatId = i64;

/// Where something is said: a chat, and in a forum a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub chat: ChatId,
    pub topic: Option<MessageId>,
}

impl From<ChatId> for Place {
    fn from(chat: ChatId) -> Self {
        Self { chat, topic: None }
    }
}

impl From<Place> for ChatId {
    fn from(place: Place) -> Self {
        place.chat
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatKind {
    Private,
    Group,
    Supergroup,
    Forum,
}

/// Whether the bot may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Welcome,
    /// By the user of a private chat.
    Blocked,
    /// Out of a group.
    Kicked,
}

pub struct Chat {
    pub id: ChatId,
    pub kind: ChatKind,
    pub title: String,
    pub members: Vec<i64>,
    pub standing: Standing,
    /// Of a group: whether the bot hears of reactions there.
    pub bot_is_admin: bool,
    /// Of a group: its members, and a bot that is no administrator, may send no files there.
    pub forbids_files: bool,
    pub topics: BTreeMap<MessageId, String>,
    pub messages: BTreeMap<MessageId, Message>,
    /// What `sendChatAction` said.
    pub actions: Vec<String>,
    /// For kinds that number their messages by themselves.
    pub last_id: MessageId,
    /// The supergroup that it has become.
    pub moved_to: Option<ChatId>,
}

impl Chat {
    pub fn new(id: ChatId, kind: ChatKind, title: &str, members: Vec<i64>) -> Self {
        Self {
            id,
            kind,
            title: title.to_owned(),
            members,
            standing: Standing::Welcome,
            bot_is_admin: false,
            forbids_files: false,
            topics: BTreeMap::new(),
            messages: BTreeMap::new(),
            actions: Vec::new(),
            last_id: 0,
            moved_to: None,
        }
    }

    pub fn is_group(&self) -> bool {
        self.kind != ChatKind::Private
    }

    /// Supergroups count their messages by themselves; for all other chats the bot has one count.
    pub fn counts_itself(&self) -> bool {
        matches!(self.kind, ChatKind::Supergroup | ChatKind::Forum)
    }

    /// Known at once to the real server, before it looks at anything else.
    pub fn check_member(&self) -> Result<(), Refusal> {
        if let Some(to) = self.moved_to {
            return Err(Refusal::moved(to));
        }
        if self.standing != Standing::Kicked {
            return Ok(());
        }
        let kind = if self.counts_itself() { "supergroup" } else { "group" };
        Err(Refusal::forbidden(&format!("bot was kicked from the {kind} chat")))
    }

    /// What the members of a group may not send is refused (Bot API, "ChatPermissions").
    pub fn check_rights(&self, media: Option<&Media>) -> Result<(), Refusal> {
        let Some(media) = media.filter(|_| self.forbids_files && !self.bot_is_admin) else {
            return Ok(());
        };
        let what = match media.kind {
            MediaKind::Photo => "photos",
            MediaKind::Voice => "voice notes",
            // The bot sends no others.
            _ => "documents",
        };
        Err(Refusal::bad(&format!("not enough rights to send {what} to the chat")))
    }

    /// Known only when the message is on its way.
    pub fn check_blocked(&self) -> Result<(), Refusal> {
        if self.standing != Standing::Blocked {
            return Ok(());
        }
        Err(Refusal::forbidden("bot was blocked by the user"))
    }
}
