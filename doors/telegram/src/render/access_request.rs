//! Somebody at the door who may not talk, and what the owner is shown of them; also what an update
//! says of the bot's own place in a chat. Owns the words and the buttons; must not know who is let
//! in, or how often the owner is told.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clean::cleaned;
use super::owner_question::{Shown, button};
use super::rich::{Part, Rich, Style};
use super::split::{MESSAGE_UNITS_MAX, parts};
use crate::api::callback::{Button, Callback};
use crate::domain::{OwnerAnswer, escape};
use crate::doors::clock::Clock;

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

    /// The message for the owner, with the answers as long as it asks.
    pub fn message(&self, shown: Shown<'_>, clock: &Clock) -> (Part, Vec<Vec<Button>>) {
        let keyboard = if shown == Shown::Asked { self.keyboard() } else { Vec::new() };
        (self.part(shown, clock), keyboard)
    }

    fn part(&self, shown: Shown<'_>, clock: &Clock) -> Part {
        let mut rich = Rich::default();
        let (head, tail) = match shown {
            Shown::Asked => (self.head(), Some(self.what_it_means())),
            Shown::Answered { answer: OwnerAnswer::LetIn, by, at_ms } => {
                (format!("Let in by {by} at {}", clock.at(at_ms)), None)
            }
            Shown::Answered { by, at_ms, .. } => {
                (format!("Ignored by {by} at {}", clock.at(at_ms)), None)
            }
            Shown::Stale => ("Nothing to answer here any more".to_owned(), None),
        };
        rich.push(&head, Style::BOLD);
        rich.push("\n\nName: ", Style::PLAIN);
        rich.push(&escape::visible(&self.name), Style::BOLD);
        rich.push(&format!("\nUser id: {}", self.user), Style::PLAIN);
        if let Some(username) = &self.username {
            rich.push(
                &format!("\nCalls themselves: @{} (unproven)", escape::visible(username)),
                Style::PLAIN,
            );
        }
        if let Some(title) = &self.group {
            rich.push("\nGroup: ", Style::PLAIN);
            rich.push(&escape::visible(title), Style::BOLD);
        }
        rich.push(&format!("\nChat id: {}", self.chat), Style::PLAIN);
        if let Some(tail) = tail {
            rich.push(&format!("\n\n{tail}"), Style::PLAIN);
        }
        // Names have at most 64 characters each and titles 128 (Bot API), which fit however they
        // are escaped.
        parts(&cleaned(rich), MESSAGE_UNITS_MAX).into_iter().next().unwrap_or_default()
    }

    /// The owner's answers.
    fn keyboard(&self) -> Vec<Vec<Button>> {
        let label = if self.group.is_some() { "Let this group in" } else { "Let them in" };
        let row = [
            button(label, Callback::Pair(self.chat)),
            button("Ignore", Callback::Ignore(self.chat)),
        ];
        vec![row.into_iter().flatten().collect()]
    }

    fn head(&self) -> String {
        match (&self.group, self.added) {
            (None, _) => "An unknown user wrote to claw",
            (Some(_), true) => "Somebody added claw to a group",
            (Some(_), false) => "Somebody wrote to claw in a group that may not",
        }
        .to_owned()
    }

    fn what_it_means(&self) -> String {
        let who = if self.group.is_some() { "the members of this group" } else { "they" };
        format!(
            "They got no answer. Names and @names can be taken by anybody; the numbers are \
             Telegram's. If you let them in, {who} may talk to claw, at your cost, and you alone \
             decide what it does."
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::utf16_len;

    fn update(kind: &str, content: Value) -> String {
        json!({"update_id": 1, kind: content}).to_string()
    }

    fn mallory() -> Value {
        json!({"id": 66, "is_bot": false, "first_name": "Mal\u{202e}lory", "username": "anna_real"})
    }

    #[test]
    fn the_name_of_an_unknown_user_is_shown_and_not_believed() {
        let content = json!({"message_id": 5, "from": mallory(), "chat": {"id": 66, "type": "private"}, "text": "hi"});
        let request = read(&update("message", content)).unwrap();
        let text = request.part(Shown::Asked, &Clock::system()).text;
        for shown in ["Mal\\u{202e}lory", "User id: 66", "@anna_real (unproven)", "Chat id: 66"] {
            assert!(text.contains(shown), "{shown} is not in {text}");
        }
        assert_eq!(
            request.keyboard()[0].iter().map(|b| b.data.as_str()).collect::<Vec<_>>(),
            ["p:66", "i:66"]
        );
        assert_eq!(
            serde_json::from_str::<AccessRequest>(&serde_json::to_string(&request).unwrap())
                .unwrap(),
            request
        );
    }

    #[test]
    fn a_group_is_named_by_its_chat() {
        let chat = json!({"id": -100_123, "type": "supergroup", "title": "Rent"});
        let member = |status: &str| json!({"user": {"id": 77}, "status": status});
        let content = json!({"from": mallory(), "chat": chat, "old_chat_member": member("left"), "new_chat_member": member("member")});
        let request = read(&update("my_chat_member", content.clone())).unwrap();
        assert!(
            request.added
                && request.title() == "Rent"
                && request.keyboard()[0][0].data == "p:-100123"
        );
        assert_eq!(
            standing(&update("my_chat_member", content)),
            Some((-100_123, Standing::Welcome))
        );
        let out = json!({"from": mallory(), "chat": {"id": 66, "type": "private"}, "new_chat_member": member("kicked")});
        assert_eq!(standing(&update("my_chat_member", out)), Some((66, Standing::Out)));
        assert_eq!(standing(&update("message", json!({}))), None);
    }

    #[test]
    fn the_longest_names_fit_into_a_message() {
        let name = "\u{e0041}".repeat(64);
        let request = AccessRequest {
            user: i64::MIN,
            name: format!("{name} {name}"),
            username: Some("x".repeat(32)),
            chat: i64::MIN,
            group: Some("\u{202e}".repeat(128)),
            added: false,
        };
        let part = request.part(Shown::Asked, &Clock::system());
        assert!(
            part.text.contains("you alone decide") && utf16_len(&part.text) <= MESSAGE_UNITS_MAX
        );
    }
}
