//! An update without what claw makes no use of: formatting, buttons, previews, and what Telegram
//! says of a message elsewhere that it replies to. A part of these that is newer than the types of
//! `teloxide-core` fails the typed read of the whole message. Must not know what a message says.

use serde_json::Value;

/// What is left out of a message, beside all fields that end in [`FORMATTING`] (Bot API,
/// "Message"). `forward_origin` is not among them: that somebody else wrote it must not get lost.
const NOT_USED: &[&str] = &["quote", "external_reply", "reply_markup", "link_preview_options"];
/// "entities", "caption_entities", "question_entities" …
const FORMATTING: &str = "entities";

/// The message of an update that may be one of a person.
pub(super) fn message(update: &Value) -> Option<&Value> {
    ["message", "edited_message"].iter().find_map(|kind| update.get(kind))
}

/// `None` if the update has no message, or nothing is left out of it.
pub(super) fn copy(update: &Value) -> Option<Value> {
    message(update)?;
    let mut copy = update.clone();
    leave_out(&mut copy);
    (copy != *update).then_some(copy)
}

/// Also out of what is within it: the message that it replies to, a poll.
fn leave_out(of: &mut Value) {
    match of {
        Value::Object(fields) => {
            fields.retain(|name, _| !NOT_USED.contains(&&**name) && !name.ends_with(FORMATTING));
            fields.values_mut().for_each(leave_out);
        }
        Value::Array(all) => all.iter_mut().for_each(leave_out),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_used_stays_and_what_is_not_goes_at_any_depth() {
        let bare = json!({"message": {"message_id": 5, "text": "hi", "forward_origin": {"type": "new"},
            "reply_to_message": {"message_id": 3, "caption": "x", "photo": [{"file_id": "a"}]}}});
        let mut full = bare.clone();
        full["message"]["entities"] = json!([{"type": "new", "offset": 0, "length": 2}]);
        full["message"]["quote"] = json!({"text": "x", "position": 0});
        full["message"]["external_reply"] = json!({"origin": {"type": "user"}});
        full["message"]["reply_markup"] = json!({"inline_keyboard": []});
        full["message"]["reply_to_message"]["caption_entities"] = json!([]);
        assert_eq!(copy(&full), Some(bare.clone()));
        assert_eq!(copy(&bare), None);
        assert_eq!(copy(&json!({"callback_query": {"message": {"entities": []}}})), None);
    }
}
