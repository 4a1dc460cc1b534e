//! Reactions that users put on messages. Owns who hears of them: the bot in private chats, and in
//! groups if it is an administrator there. Must not know what a reaction means.

use serde_json::{Value, json};

use super::BotApi;
use super::chat::ChatId;
use super::json;
use super::message::MessageId;
use super::people::User;
use super::updates::UpdateId;

/// Some of what Telegram takes (Bot API, "ReactionTypeEmoji"). A thumb has no colour there.
const EMOJI: [&str; 6] = ["👍", "👎", "❤", "🔥", "🤔", "👌"];

impl BotApi {
    /// The bot becomes an administrator of a group, of which it hears nothing here.
    pub fn makes_admin(&self, group: ChatId) {
        self.shared.change(|world| world.chat_mut(group).unwrap().bot_is_admin = true);
    }
}

impl User {
    /// Has these reactions on a message from now on, and no others. `None` if the bot does not hear
    /// of it: the kind was not asked for, or it is no administrator of the group.
    #[track_caller]
    pub fn reacts(
        &self,
        chat: impl Into<ChatId>,
        message: MessageId,
        emoji: &[&str],
    ) -> Option<UpdateId> {
        react(self, chat.into(), message, emoji, false)
    }

    /// The same as an anonymous administrator: the update names the group and nobody.
    #[track_caller]
    pub fn reacts_anonymously(
        &self,
        group: ChatId,
        message: MessageId,
        emoji: &[&str],
    ) -> Option<UpdateId> {
        react(self, group, message, emoji, true)
    }
}

#[track_caller]
fn react(
    user: &User,
    chat: ChatId,
    message: MessageId,
    emoji: &[&str],
    anonymous: bool,
) -> Option<UpdateId> {
    assert!(emoji.iter().all(|one| EMOJI.contains(one)), "no reaction of Telegram's: {emoji:?}");
    user.shared.change(|world| {
        let there = world.message(chat, message).is_some_and(|message| !message.deleted);
        assert!(there, "there is no message {message} to react to");
        let now: Vec<String> = emoji.iter().map(|one| (*one).to_owned()).collect();
        // Whoever is anonymous reacts as the group, apart from what they do as themselves.
        let actor = if anonymous { chat } else { user.id };
        let before = world.reactions.insert((chat, message, actor), now.clone());
        let before = before.unwrap_or_default();
        let place = world.chat(chat)?;
        if before == now || (place.is_group() && !place.bot_is_admin) {
            return None;
        }
        let types = |all: &[String]| -> Vec<Value> {
            all.iter().map(|emoji| json!({"type": "emoji", "emoji": emoji})).collect()
        };
        let mut content = json!({
            "chat": json::chat(world, place), "message_id": message, "date": world.now_s(),
            "old_reaction": types(&before), "new_reaction": types(&now),
        });
        match anonymous {
            true => content["actor_chat"] = json::chat(world, place),
            false => content["user"] = json::user(world.people.get(&user.id)?),
        }
        world.push_update("message_reaction", content)
    })
}
