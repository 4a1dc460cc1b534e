//! Somebody who may not talk to the bot, as an update names them; also what an update says of the
//! bot's own place in a chat. Must not know what the owner is shown of it, or who is let in.

use claw_domain::escape;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who wrote, or added the bot, and where (Bot API, "User" and "Chat"). All names are as they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessRequest {
    pub user: i64,
    pub name: String,
    /// Without the `@`. Anybody can take any free one, so it proves nothing.
    pub username: Option<String>,
    pub chat: i64,
    /// The title of a group; `None` in a private chat.
    pub group: Option<String>,
    /// The bot was added to the group; nobody has written.
    pub added: bool,
}

/// What became of the bot's place in a chat (Bot API, "ChatMemberUpdated", as `my_chat_member`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may write there (again).
    Welcome,
    /// It was blocked, or thrown out.
    Out,
}

/// Who an update is from. `None` if it has no sender that is a person, or no chat.
pub fn read(update: &str) -> Option<AccessRequest> {
    let update: Value = serde_json::from_str(update).ok()?;
    let added = update.get("my_chat_member").is_some();
    let kinds = ["message", "edited_message", "my_chat_member"];
    let content = kinds.iter().find_map(|kind| update.get(kind))?;
    let (from, chat) = (content.get("from")?, content.get("chat")?);
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let names = [text(from, "first_name"), text(from, "last_name")];
    let private = text(chat, "type")? == "private";
    Some(AccessRequest {
        user: from.get("id")?.as_i64()?,
        name: names.into_iter().flatten().collect::<Vec<_>>().join(" "),
        username: text(from, "username"),
        chat: chat.get("id")?.as_i64()?,
        group: (!private).then(|| text(chat, "title").unwrap_or_default()),
        added,
    })
}

/// The bot's new place in a chat, if the update is about that.
pub fn standing(update: &str) -> Option<(i64, Standing)> {
    let update: Value = serde_json::from_str(update).ok()?;
    let content = update.get("my_chat_member")?;
    let standing = match content.pointer("/new_chat_member/status")?.as_str()? {
        "member" | "administrator" | "creator" => Standing::Welcome,
        "left" | "kicked" => Standing::Out,
        // "restricted" may or may not be allowed to write; trying will tell.
        _ => return None,
    };
    Some((content.pointer("/chat/id")?.as_i64()?, standing))
}

impl AccessRequest {
    /// Who is let in, for a list.
    pub fn title(&self) -> String {
        escape::visible(self.group.as_ref().unwrap_or(&self.name))
    }
}
