//! How what users write gets to the bot: as an update, if it may see it. Owns the privacy mode.
//! Must not know calls.

use super::chat::ChatKind;
use super::found_entities::found;
use super::json;
use super::message::Message;
use super::people::User;
use super::saying::Said;
use super::updates::UpdateId;
use super::world::World;

impl User {
    /// Changes the text or caption of an earlier message of this user.
    #[track_caller]
    pub fn edits(&self, said: &Said, text: &str) -> Option<UpdateId> {
        self.shared.change(|world| {
            let now = world.now_s();
            let message = world.message_mut(said.chat, said.message).unwrap();
            assert_eq!(message.from, self.id, "only one's own messages can be edited");
            (message.text, message.entities) = (text.to_owned(), found(text, &[]));
            message.versions.push(text.to_owned());
            message.edit_date = Some(now);
            message.edits += 1;
            let message = world.message(said.chat, said.message).unwrap();
            let (content, seen) = (json::message(world, message), sees(world, message));
            if seen { world.push_update("edited_message", content) } else { None }
        })
    }
}

/// Puts a user's message into its chat, and tells the bot.
pub fn deliver(world: &mut World, message: Message) -> Said {
    let chat = message.chat;
    let id = world.add_message(message);
    let message =
        world.message(chat, id).unwrap_or_else(|| panic!("there is no chat {chat} to write to"));
    let (content, seen) = (json::message(world, message), sees(world, message));
    let update = if seen { world.push_update("message", content) } else { None };
    Said { chat, message: id, update }
}

/// Whether the bot gets to see this message of a user:
/// <https://core.telegram.org/bots/features#privacy-mode>.
fn sees(world: &World, message: &Message) -> bool {
    let Some(chat) = world.chat(message.chat) else { return false };
    if chat.check_member().is_err() {
        return false;
    }
    if chat.kind == ChatKind::Private || !world.privacy_mode {
        return true;
    }
    let to_bot =
        message.reply_to.and_then(|id| world.message(message.chat, id)).is_some_and(|to| to.by_bot);
    let name = format!("@{}", world.bot.username);
    let command = message.text.starts_with('/');
    let for_other =
        command && message.text.split_whitespace().next().is_some_and(|word| word.contains('@'));
    to_bot || message.text.contains(&name) || (command && !for_other)
}
