//! Messages of kinds that claw can do nothing with: what they are called, and where they came from.
//! Read from the raw update, because a kind that is new fails the typed one. Must not know who may
//! write, or what is answered.

use serde_json::Value;

use super::Me;
use super::incoming::mentions;
use super::place::Place;

/// What people send that is neither words nor a file (Bot API, "Message"), and how it is called.
/// What is not here is a notice of the service, which needs no answer.
const KINDS: &[(&str, &str)] = &[
    ("dice", "a dice"),
    ("game", "a game"),
    ("invoice", "an invoice"),
    ("giveaway", "a giveaway"),
    ("gift", "a gift"),
    ("passport_data", "passport data"),
    ("paid_media", "paid media"),
    ("story", "a story"),
    ("checklist", "a checklist"),
    // Words with something that nobody here knows. All others are read before this.
    ("rich_message", ANY),
    ("text", ANY),
    ("caption", ANY),
];
const ANY: &str = "a message of this kind";
const IN_WORDS: &str = "Please say it in words.";

/// Who writes in the name of a group or of a channel has no name by which claw could know them
/// (Bot API, "Message", `sender_chat`).
const OF_NOBODY: (&str, &str) = (
    "a message without a name (of an anonymous administrator, or of a channel)",
    "Please write it under your own name.",
);

/// A message that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    pub place: Place,
    pub private: bool,
    /// It replies to the bot, or names it.
    pub to_bot: bool,
    /// With its article.
    pub what: &'static str,
    /// What to do instead, as a sentence.
    pub instead: &'static str,
}

/// `None` if an update holds no such message of somebody who could be a person.
pub fn read(update: &str, me: &Me) -> Option<Unusable> {
    let update: Value = serde_json::from_str(update).ok()?;
    let message = update.get("message")?;
    let is_of_nobody = message.get("sender_chat").is_some();
    let (what, instead) = match message.pointer("/from/is_bot").and_then(Value::as_bool) {
        Some(true) if is_of_nobody => OF_NOBODY,
        Some(false) => {
            let (_, what) = KINDS.iter().find(|(field, _)| message.get(field).is_some())?;
            (*what, IN_WORDS)
        }
        _ => return None,
    };
    let in_topic = message.get("is_topic_message").and_then(Value::as_bool) == Some(true);
    let thread = message.get("message_thread_id").and_then(Value::as_i64).filter(|_| in_topic);
    let replies =
        message.pointer("/reply_to_message/from/id").and_then(Value::as_i64) == Some(me.id);
    let words = message.get("text").or(message.get("caption")).and_then(Value::as_str);
    let to_bot = replies
        || words.is_some_and(|words| mentions(words, &me.username))
        || (is_of_nobody && words.is_some_and(is_a_command));
    Some(Unusable {
        place: Place { bot: me.id, chat: message.pointer("/chat/id")?.as_i64()?, thread },
        private: message.pointer("/chat/type").and_then(Value::as_str) == Some("private"),
        to_bot,
        what,
        instead,
    })
}

/// Whether a text is a command that names no bot, so that every bot of the group is meant.
fn is_a_command(text: &str) -> bool {
    let word = text.split_whitespace().next().and_then(|word| word.strip_prefix('/'));
    word.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_dice_is_named_and_a_notice_of_the_service_is_not() {
        let me = Me { id: 77, username: "clawbot".into() };
        let update = |more: Value| {
            let mut message = json!({"message_id": 5, "date": 1, "from": {"id": 7, "is_bot": false, "first_name": "A"},
                "chat": {"id": 7, "type": "private", "first_name": "A"}});
            message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"update_id": 1, "message": message}).to_string()
        };
        let dice = read(&update(json!({"dice": {"emoji": "🎲", "value": 4}})), &me).unwrap();
        assert_eq!((dice.what, dice.private, dice.place.chat), ("a dice", true, 7));
        let words = read(&update(json!({"text": "hi @clawbot"})), &me).unwrap();
        assert_eq!((words.what, words.to_bot), ("a message of this kind", true));
        assert!(!read(&update(json!({"caption": "hi"})), &me).unwrap().to_bot);
        for none in [json!({"new_chat_title": "x"}), json!({"pinned_message": {"text": "hi"}})] {
            assert_eq!(read(&update(none), &me), None);
        }
        assert_eq!(read("{", &me), None);
    }

    #[test]
    fn who_has_no_name_is_told_so_and_another_bot_is_not() {
        let me = Me { id: 77, username: "clawbot".into() };
        let group = json!({"id": -5, "type": "supergroup", "title": "g"});
        let update = |text: &str, more: Value| {
            let mut message = json!({"message_id": 5, "date": 1, "text": text, "chat": group,
                "from": {"id": 1_087_968_824, "is_bot": true, "first_name": "Group"}});
            message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            read(&json!({"update_id": 1, "message": message}).to_string(), &me)
        };
        let anonymous = || json!({"sender_chat": group});
        for (text, to_bot) in [
            ("@clawbot list", true),
            ("/stop@clawbot", true),
            ("/stop now", true),
            ("/stop@other", false),
            ("/etc/passwd", false),
            ("hi", false),
        ] {
            let found = update(text, anonymous()).unwrap();
            assert_eq!((found.what, found.to_bot), (OF_NOBODY.0, to_bot), "{text}");
        }
        assert_eq!(update("@clawbot list", json!({})), None);
    }
}
