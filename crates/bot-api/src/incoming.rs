//! What an update says (Bot API, "Update"), as far as claw is concerned. Pure; must not know who
//! may say it.

use teloxide_core::types::{
    Chat, MaybeInaccessibleMessage, Message, MessageKind, MessageReactionUpdated, ReactionType,
    Update, UpdateKind, User,
};

use super::Me;
use super::attached::{self, TelegramFile};
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
    pub text: String,
    pub file: Option<TelegramFile>,
    pub words: Option<String>,
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

/// Reads one update. What is of a kind that nobody knows, or not as it should be, is nothing. From
/// text, because `teloxide-core` does not read messages out of a `serde_json::Value`.
pub fn read(update: &str, me: &Me) -> Incoming {
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
    let update: serde_json::Value = serde_json::from_str(update).ok()?;
    let message = update.get("message")?;
    let number = |name: &str| message.get(name).and_then(serde_json::Value::as_i64);
    let chat = message.pointer("/chat/id").and_then(serde_json::Value::as_i64)?;
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
    let MessageKind::Common(_) = &message.kind else { return Incoming::Nothing("service") };
    let text = message.text().or(message.caption()).unwrap_or_default().to_owned();
    let (file, words) = (attached::file(message), attached::words(message));
    if text.is_empty() && file.is_none() && words.is_none() {
        return Incoming::Nothing("empty");
    }
    let replied = message.reply_to_message();
    let reply = replied.map(|to| Replied {
        id: i64::from(to.id.0),
        text: to.text().or(to.caption()).unwrap_or_default().to_owned(),
        file: attached::file(to),
        words: attached::words(to),
    });
    let to_me =
        replied.and_then(|to| to.from.as_ref()).is_some_and(|from| from.id.0 as i64 == me.id);
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
        at_s: message.date.timestamp(),
        files: file.into_iter().collect(),
        words,
        album: message.media_group_id().map(|album| album.0.clone()),
    }))
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
fn mentions(text: &str, username: &str) -> bool {
    let (text, wanted) = (text.to_lowercase(), format!("@{}", username.to_lowercase()));
    !username.is_empty()
        && text.match_indices(&wanted).any(|(at, found)| {
            let next = text[at + found.len()..].chars().next();
            !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn me() -> Me {
        Me { id: 77, username: "clawbot".into() }
    }

    fn message(more: Value) -> Value {
        let mut message = json!({
            "message_id": 5, "date": 1_700_000_000, "text": "hello",
            "from": {"id": 7, "is_bot": false, "first_name": "Ann", "last_name": "Lee"},
            "chat": {"id": 7, "type": "private", "first_name": "Ann"}
        });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"update_id": 1, "message": message})
    }

    fn said(update: &Value) -> ChatMessage {
        match read(&update.to_string(), &me()) {
            Incoming::Message(said) => *said,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_private_message_is_read() {
        let said = said(&message(json!({})));
        assert_eq!(
            (said.user, said.name.as_str(), said.text.as_str(), said.private),
            (7, "Ann Lee", "hello", true)
        );
        assert_eq!(said.place, Place { bot: 77, chat: 7, thread: None });
    }

    #[test]
    fn a_reply_brings_what_it_replies_to() {
        let to = json!({"message_id": 3, "date": 1, "text": "earlier", "chat": {"id": 7, "type": "private", "first_name": "A"},
                        "from": {"id": 77, "is_bot": true, "first_name": "claw", "username": "clawbot"}});
        let said = said(&message(json!({"reply_to_message": to})));
        assert_eq!(
            said.reply,
            Some(Replied { id: 3, text: "earlier".into(), file: None, words: None })
        );
        assert!(said.addressed, "a reply to the bot is for the bot");
    }

    #[test]
    fn a_group_message_is_for_the_bot_when_it_names_it() {
        let group = json!({"id": -5, "type": "supergroup", "title": "g"});
        for (text, addressed) in
            [("@ClawBot, hi", true), ("hi @clawbot", true), ("@clawbot2 hi", false), ("hi", false)]
        {
            assert_eq!(
                said(&message(json!({"chat": group, "text": text}))).addressed,
                addressed,
                "{text}"
            );
        }
        let topic = said(&message(
            json!({"chat": group, "message_thread_id": 9, "is_topic_message": true}),
        ));
        assert_eq!(topic.place.thread, Some(9));
        assert_eq!(
            said(&message(json!({"chat": group, "message_thread_id": 9}))).place.thread,
            None
        );
    }

    #[test]
    fn a_photo_is_its_largest_size_and_an_album_is_joined() {
        let size = |id: &str, width: u32| json!({"file_id": id, "file_unique_id": id, "file_size": 10, "width": width, "height": 10});
        let part = |caption: &str, id: &str| {
            let photo = json!([size("small", 90), size(id, 1280), size("middle", 320)]);
            let mut update =
                message(json!({"photo": photo, "caption": caption, "media_group_id": "9"}));
            update["message"].as_object_mut().unwrap().remove("text");
            said(&update)
        };
        let (mut first, second) = (part("two of them", "a"), part("", "b"));
        assert_eq!((first.files[0].id.as_str(), first.files[0].pixels), ("a", Some((1280, 10))));
        assert_eq!(first.album.as_deref(), Some("9"));
        first.join(second);
        assert_eq!((first.text.as_str(), first.files.len()), ("two of them", 2));
    }

    #[test]
    fn what_is_no_file_is_told_in_words() {
        let place = json!({"latitude": 52.5, "longitude": 13.4});
        for (more, words) in [
            (json!({"location": place}), "[location: latitude 52.5, longitude 13.4]"),
            (
                json!({"location": place, "venue": {"location": place, "title": "Cafe", "address": "Street 1"}}),
                "[place: Cafe, Street 1, latitude 52.5, longitude 13.4]",
            ),
            (json!({"contact": {"phone_number": "+49", "first_name": "Bo"}}), "[contact: Bo, +49]"),
        ] {
            let mut update = message(more);
            update["message"].as_object_mut().unwrap().remove("text");
            assert_eq!(said(&update).words.as_deref(), Some(words));
        }
    }

    #[test]
    fn a_thumb_counts_when_it_comes_and_under_a_name() {
        let emoji = |all: &[&str]| -> Vec<Value> {
            all.iter().map(|one| json!({"type": "emoji", "emoji": one})).collect()
        };
        let read_of = |old: &[&str], new: &[&str], actor: (&str, Value)| {
            let mut reaction = json!({
                "chat": {"id": -5, "type": "supergroup", "title": "g"}, "message_id": 9,
                "date": 1_700_000_000, "old_reaction": emoji(old), "new_reaction": emoji(new),
            });
            reaction[actor.0] = actor.1;
            read(&json!({"update_id": 1, "message_reaction": reaction}).to_string(), &me())
        };
        let ann = || ("user", json!({"id": 7, "is_bot": false, "first_name": "Ann"}));
        let thumb = |nod| Incoming::Reaction(Reacted { user: 7, chat: -5, message: 9, nod });
        assert_eq!(read_of(&[], &["👍"], ann()), thumb(Nod::Yes));
        assert_eq!(read_of(&["👍"], &["👎"], ann()), thumb(Nod::No));
        assert_eq!(read_of(&["👍", "👎"], &["👍"], ann()), Incoming::Nothing("reaction"));
        for (old, new) in
            [(&["👍"][..], &[][..]), (&["👍"], &["👍", "🔥"]), (&[], &["👍", "👎"]), (&[], &["👌"])]
        {
            assert_eq!(read_of(old, new, ann()), Incoming::Nothing("reaction"), "{old:?} {new:?}");
        }
        let group = ("actor_chat", json!({"id": -5, "type": "supergroup", "title": "g"}));
        assert_eq!(read_of(&[], &["👍"], group), Incoming::Nothing("reaction of nobody"));
    }

    #[test]
    fn what_nobody_knows_is_nothing() {
        assert_eq!(
            read(&json!({"update_id": 1, "telepathic_message": {}}).to_string(), &me()),
            Incoming::Nothing("unknown")
        );
        assert_eq!(
            read(&json!({"nothing": 1}).to_string(), &me()),
            Incoming::Nothing("unreadable")
        );
        assert_eq!(
            read(&json!({"update_id": 2, "message": {"text": 5}}).to_string(), &me()),
            Incoming::Nothing("unknown")
        );
    }
}
