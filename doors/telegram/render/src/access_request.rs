//! What the owner is shown of somebody who may not talk. Owns the words and the buttons; must not
//! know who is let in, or how often the owner is told.

use super::clean::cleaned;
use super::owner_question::{QuestionView, button};
use super::rich::{Part, Rich, Style};
use super::split::{MESSAGE_UNITS_MAX, parts};
use crate::api::access_request::AccessRequest;
use crate::api::callback::{Button, Callback};
use crate::domain::{OwnerAnswer, escape};
use crate::doors::clock::Clock;

/// The message for the owner, with the answers as long as it asks.
pub fn message(
    request: &AccessRequest,
    shown: QuestionView<'_>,
    clock: &Clock,
) -> (Part, Vec<Vec<Button>>) {
    let keyboard = if shown == QuestionView::Asked { keyboard(request) } else { Vec::new() };
    (part(request, shown, clock), keyboard)
}

fn part(request: &AccessRequest, shown: QuestionView<'_>, clock: &Clock) -> Part {
    let mut rich = Rich::default();
    let (head, tail) = match shown {
        QuestionView::Asked => (head(request), Some(what_it_means(request))),
        QuestionView::Answered { answer: OwnerAnswer::LetIn, by, at_ms } => {
            (format!("Let in by {by} at {}", clock.at(at_ms)), None)
        }
        QuestionView::Answered { by, at_ms, .. } => {
            (format!("Ignored by {by} at {}", clock.at(at_ms)), None)
        }
        QuestionView::Stale => ("Nothing to answer here any more".to_owned(), None),
    };
    rich.push(&head, Style::BOLD);
    rich.push("\n\nName: ", Style::PLAIN);
    rich.push(&escape::visible(&request.name), Style::BOLD);
    rich.push(&format!("\nUser id: {}", request.user), Style::PLAIN);
    if let Some(username) = &request.username {
        rich.push(
            &format!("\nCalls themselves: @{} (unproven)", escape::visible(username)),
            Style::PLAIN,
        );
    }
    if let Some(title) = &request.group {
        rich.push("\nGroup: ", Style::PLAIN);
        rich.push(&escape::visible(title), Style::BOLD);
    }
    rich.push(&format!("\nChat id: {}", request.chat), Style::PLAIN);
    if let Some(tail) = tail {
        rich.push(&format!("\n\n{tail}"), Style::PLAIN);
    }
    // Names have at most 64 characters each and titles 128 (Bot API), which fit however they
    // are escaped.
    parts(&cleaned(rich), MESSAGE_UNITS_MAX).into_iter().next().unwrap_or_default()
}

/// The owner's answers.
fn keyboard(request: &AccessRequest) -> Vec<Vec<Button>> {
    let label = if request.group.is_some() { "Let this group in" } else { "Let them in" };
    let row = [
        button(label, Callback::Pair(request.chat)),
        button("Ignore", Callback::Ignore(request.chat)),
    ];
    vec![row.into_iter().flatten().collect()]
}

fn head(request: &AccessRequest) -> String {
    match (&request.group, request.added) {
        (None, _) => "An unknown user wrote to claw",
        (Some(_), true) => "Somebody added claw to a group",
        (Some(_), false) => "Somebody wrote to claw in a group that may not",
    }
    .to_owned()
}

fn what_it_means(request: &AccessRequest) -> String {
    let who = if request.group.is_some() { "the members of this group" } else { "they" };
    format!(
        "They got no answer. Names and @names can be taken by anybody; the numbers are \
         Telegram's. If you let them in, {who} may talk to claw, at your cost, and you alone \
         decide what it does."
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::access_request::{Standing, read, standing};
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
        let text = part(&request, QuestionView::Asked, &Clock::system()).text;
        for shown in ["Mal\\u{202e}lory", "User id: 66", "@anna_real (unproven)", "Chat id: 66"] {
            assert!(text.contains(shown), "{shown} is not in {text}");
        }
        assert_eq!(
            keyboard(&request)[0].iter().map(|b| b.data.as_str()).collect::<Vec<_>>(),
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
                && keyboard(&request)[0][0].data == "p:-100123"
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
        let part = part(&request, QuestionView::Asked, &Clock::system());
        assert!(
            part.text.contains("you alone decide") && utf16_len(&part.text) <= MESSAGE_UNITS_MAX
        );
    }
}
