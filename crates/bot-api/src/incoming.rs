//! What an update says (Bot API, "Update"), as far as claw is concerned. Pure; must not know who
//! may say it.

use serde_json::Value;
use teloxide_core::types::{
    Chat, MaybeInaccessibleMessage, MediaKind, Message, MessageKind, MessageReactionUpdated,
    ReactionType, Update, UpdateKind, User,
};

use super::Me;
use super::attached::{self, TelegramFile};
use super::bare;
use super::place::Place;

/// Reactions have no colour of skin (Bot API, "ReactionTypeEmoji").
const THUMB_UP: &str = "\u{1f44d}";
const THUMB_DOWN: &str = "\u{1f44e}";

/// A message, a tap, a reaction, or nothing that concerns claw.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    Message(Box<ChatMessage>),
    Tap(Tapped),
    Reaction(Reacted),
    /// In one word, for the record.
    Nothing(&'static str),
}

/// A message that somebody wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatMessage {
    /// Its number in the chat: what is written later has a greater one.
    pub id: i64,
    pub place: Place,
    pub private: bool,
    pub user: i64,
    pub name: String,
    pub text: String,
    /// It is a new version of an earlier message.
    pub edited: bool,
    /// Somebody else wrote it.
    pub forwarded: bool,
    /// The message that it replies to.
    pub reply: Option<Replied>,
    /// It replies to a message in another chat or topic; of that one, what Telegram quotes, which
    /// may be nothing (Bot API, "ExternalReplyInfo").
    pub elsewhere: Option<String>,
    /// In a group: it names the bot or replies to it.
    pub addressed: bool,
    /// When it was written, in seconds since 1970.
    pub at_s: i64,
    /// The files that it holds; one, or those of an album.
    pub files: Vec<TelegramFile>,
    /// What else it holds, in words.
    pub words: Option<String>,
    /// Of a part of an album: the same for all of them (Bot API, "Message", `media_group_id`).
    pub album: Option<String>,
}

/// A message that was replied to.
#[derive(Clone, Debug, PartialEq)]
pub struct Replied {
    pub id: i64,
    pub by: Author,
    /// All of it, or the part that whoever replies has marked.
    pub text: String,
    pub is_marked: bool,
    pub file: Option<TelegramFile>,
    pub words: Option<String>,
}

/// Who wrote a message that was replied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// Whoever replies to it.
    Writer,
    /// This bot.
    Bot,
    /// Anybody else, also where somebody has only passed it on.
    Another,
}

impl Replied {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.file.is_none() && self.words.is_none()
    }
}

impl ChatMessage {
    /// Takes in the next part of the same album.
    pub fn join(&mut self, part: ChatMessage) {
        if !self.text.is_empty() && !part.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&part.text);
        self.files.extend(part.files);
        self.addressed |= part.addressed;
    }
}

/// A tap on a button.
#[derive(Clone, Debug, PartialEq)]
pub struct Tapped {
    pub query: String,
    pub user: i64,
    pub name: String,
    pub data: String,
    /// Where the button was; Telegram leaves it out for very old messages.
    pub at: Option<(Place, i64)>,
}

/// A thumb that somebody has put on a message under their own name. In which topic the message is,
/// Telegram does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reacted {
    pub user: i64,
    pub chat: i64,
    pub message: i64,
    pub nod: Nod,
}

/// Which thumb it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nod {
    Yes,
    No,
}

/// Reads one update. What is of a kind that nobody knows, or not as it should be, is nothing. A
/// message that the typed read does not know is read without what claw makes no use of.
pub fn read(update: &str, me: &Me) -> Incoming {
    let mut incoming = read_typed(update, me);
    let Ok(update) = serde_json::from_str::<Value>(update) else { return incoming };
    let Some(message) = bare::message(&update) else { return incoming };
    let read_bare = || bare::copy(&update).map(|copy| read_typed(&copy.to_string(), me));
    if let Incoming::Nothing("service" | "unknown" | "unreadable") = incoming
        && let Some(bare) = read_bare()
    {
        incoming = bare;
    }
    if let Incoming::Message(msg) = &mut incoming {
        if msg.reply.as_ref().is_some_and(Replied::is_empty)
            && let Some(Incoming::Message(bare)) = read_bare()
        {
            msg.reply = bare.reply;
        }
        add_quote(msg, message);
    }
    incoming
}

/// What Telegram quotes of the message that is replied to (Bot API, "TextQuote").
fn add_quote(msg: &mut ChatMessage, message: &Value) {
    let quoted = message.pointer("/quote/text").and_then(Value::as_str);
    let quoted = quoted.filter(|text| !text.trim().is_empty());
    if message.get("external_reply").is_some() {
        msg.elsewhere = Some(quoted.unwrap_or_default().to_owned());
        return;
    }
    let is_marked = message.pointer("/quote/is_manual") == Some(&Value::Bool(true));
    if let (Some(reply), Some(text), true) = (&mut msg.reply, quoted, is_marked) {
        (reply.text, reply.is_marked) = (text.to_owned(), true);
    }
}

/// From text, because `teloxide-core` does not read messages out of a `serde_json::Value`.
fn read_typed(update: &str, me: &Me) -> Incoming {
    let Ok(update) = serde_json::from_str::<Update>(update) else {
        return Incoming::Nothing("unreadable");
    };
    match update.kind {
        UpdateKind::Message(message) => chat_message(&message, false, me),
        UpdateKind::EditedMessage(message) => chat_message(&message, true, me),
        UpdateKind::CallbackQuery(query) => {
            let at = query.message.as_ref().map(|message| match message {
                MaybeInaccessibleMessage::Regular(message) => {
                    (place(message, me), i64::from(message.id.0))
                }
                MaybeInaccessibleMessage::Inaccessible(gone) => (
                    Place { bot: me.id, chat: gone.chat.id.0, thread: None },
                    i64::from(gone.message_id.0),
                ),
            });
            Incoming::Tap(Tapped {
                query: query.id.0.clone(),
                user: query.from.id.0 as i64,
                name: name(&query.from),
                data: query.data.unwrap_or_default(),
                at,
            })
        }
        UpdateKind::MessageReaction(reaction) => reacted(&reaction),
        UpdateKind::Error(_) => Incoming::Nothing("unknown"),
        _ => Incoming::Nothing("other"),
    }
}

/// A thumb that is new. One that was there before says nothing again, one that was taken away
/// nothing at all, and both together are no answer.
fn reacted(reaction: &MessageReactionUpdated) -> Incoming {
    let has = |all: &[ReactionType], emoji: &str| {
        all.iter().any(|one| matches!(one, ReactionType::Emoji { emoji: it } if it == emoji))
    };
    let is_there = |emoji: &str| has(&reaction.new_reaction, emoji);
    let is_new = |emoji: &str| is_there(emoji) && !has(&reaction.old_reaction, emoji);
    let nod = match (is_there(THUMB_UP), is_there(THUMB_DOWN)) {
        (true, false) if is_new(THUMB_UP) => Nod::Yes,
        (false, true) if is_new(THUMB_DOWN) => Nod::No,
        _ => return Incoming::Nothing("reaction"),
    };
    // An anonymous one has a chat, and nobody who could be asked.
    let Some(user) = reaction.user().filter(|user| !user.is_bot) else {
        return Incoming::Nothing("reaction of nobody");
    };
    Incoming::Reaction(Reacted {
        user: user.id.0 as i64,
        chat: reaction.chat.id.0,
        message: i64::from(reaction.message_id.0),
        nod,
    })
}

/// The group that has become a supergroup, and the number that it has now (Bot API, "Message",
/// `migrate_to_chat_id`). Only Telegram itself sends that.
pub fn migration(update: &str) -> Option<(i64, i64)> {
    let update: Value = serde_json::from_str(update).ok()?;
    let message = update.get("message")?;
    let number = |name: &str| message.get(name).and_then(Value::as_i64);
    let chat = message.pointer("/chat/id").and_then(Value::as_i64)?;
    match (number("migrate_to_chat_id"), number("migrate_from_chat_id")) {
        (Some(now), _) => Some((chat, now)),
        (None, Some(before)) => Some((before, chat)),
        (None, None) => None,
    }
}

fn chat_message(message: &Message, edited: bool, me: &Me) -> Incoming {
    let Some(from) = message.from.as_ref().filter(|from| !from.is_bot) else {
        return Incoming::Nothing("no person");
    };
    let MessageKind::Common(common) = &message.kind else { return Incoming::Nothing("service") };
    if edited && matches!(common.media_kind, MediaKind::Location(_)) {
        return Incoming::Nothing("live location");
    }
    let text = message.text().or(message.caption()).unwrap_or_default().to_owned();
    let (file, words) = (attached::file(message), attached::words(message));
    if text.is_empty() && file.is_none() && words.is_none() {
        return Incoming::Nothing("empty");
    }
    let replied = message.reply_to_message();
    let reply = replied.map(|to| Replied {
        id: i64::from(to.id.0),
        by: author(to, from, me),
        text: to.text().or(to.caption()).unwrap_or_default().to_owned(),
        is_marked: false,
        file: attached::file(to),
        words: attached::words(to),
    });
    let to_me = reply.as_ref().is_some_and(|to| to.by == Author::Bot);
    Incoming::Message(Box::new(ChatMessage {
        id: i64::from(message.id.0),
        place: place(message, me),
        private: matches!(
            &message.chat,
            Chat { kind: teloxide_core::types::ChatKind::Private(_), .. }
        ),
        user: from.id.0 as i64,
        name: name(from),
        addressed: to_me || mentions(&text, &me.username),
        text,
        edited,
        forwarded: message.forward_origin().is_some(),
        reply,
        elsewhere: None,
        at_s: message.date.timestamp(),
        files: file.into_iter().collect(),
        words,
        album: message.media_group_id().map(|album| album.0.clone()),
    }))
}

fn author(to: &Message, replier: &User, me: &Me) -> Author {
    match &to.from {
        Some(from) if from.id.0 as i64 == me.id => Author::Bot,
        Some(from) if from.id == replier.id && to.forward_origin().is_none() => Author::Writer,
        _ => Author::Another,
    }
}

fn place(message: &Message, me: &Me) -> Place {
    // In a group without topics a thread id only says which message a chain of replies began with.
    let thread =
        message.thread_id.filter(|_| message.is_topic_message).map(|thread| i64::from(thread.0.0));
    Place { bot: me.id, chat: message.chat.id.0, thread }
}

fn name(user: &User) -> String {
    match &user.last_name {
        Some(last) => format!("{} {last}", user.first_name),
        None => user.first_name.clone(),
    }
}

/// Whether a text names the bot: `@name`, not as a part of a longer name. Letter case does not
/// count.
pub(super) fn mentions(text: &str, username: &str) -> bool {
    let (text, wanted) = (text.to_lowercase(), format!("@{}", username.to_lowercase()));
    !username.is_empty()
        && text.match_indices(&wanted).any(|(at, found)| {
            let next = text[at + found.len()..].chars().next();
            !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
}

#[cfg(test)]
mod tests;
