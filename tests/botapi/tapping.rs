//! Taps on buttons and their answers. Owns which taps are open. Must not know what a button means.

use serde_json::{Value, json};

use super::chat::ChatId;
use super::json;
use super::message::{Message, MessageId};
use super::params::Params;
use super::people::User;
use super::refusal::Refusal;
use super::updates::{TAP_LIFE, UpdateId};
use super::world::World;

/// A tap that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    pub query: String,
    pub message: MessageId,
    pub data: String,
    pub update: Option<UpdateId>,
}

/// A tap as the server keeps it.
#[derive(Clone, Debug)]
pub struct Tapped {
    pub at_ms: u64,
    /// What the bot answered; the user's client shows it.
    pub answer: Option<(String, bool)>,
}

const ANSWER_CHARS_MAX: usize = 200;

#[track_caller]
pub fn tap(user: &User, chat: ChatId, on: Option<MessageId>, button: &str) -> Tap {
    let found = {
        let world = user.shared.world();
        let seen = |message: &&Message| !message.deleted && on.is_none_or(|id| id == message.id);
        let messages: Vec<_> = world.messages(chat).filter(seen).collect();
        let with = messages
            .iter()
            .rev()
            .find_map(|message| Some((message.id, message.button(button)?.data.clone()?)));
        with.ok_or_else(|| super::screen::screen(&world, chat, super::Look::default()))
    };
    let (message, data) =
        found.unwrap_or_else(|screen| panic!("there is no button `{button}` to tap:\n{screen}"));
    forge(user, chat, message, &data)
}

pub fn forge(user: &User, chat: ChatId, message: MessageId, data: &str) -> Tap {
    user.shared.change(|world| {
        let query = (4_382_000_000_000_000_000 + world.number()).to_string();
        world.taps.insert(query.clone(), Tapped { at_ms: world.now_ms(), answer: None });
        let mut content =
            json!({"id": query, "data": data, "chat_instance": (chat ^ 0x5ca1_ab1e).to_string()});
        content["from"] = world.people.get(&user.id).map_or(Value::Null, json::user);
        content["message"] = match world.message(chat, message).filter(|message| !message.deleted) {
            Some(message) => json::message(world, message),
            // Inaccessible: all that is known is where it was.
            None => {
                let place = world.chat(chat).map(|chat| json::chat(world, chat));
                json!({"chat": place, "message_id": message, "date": 0})
            }
        };
        let update = world.push_update("callback_query", content);
        Tap { query, message, data: data.to_owned(), update }
    })
}

/// `answerCallbackQuery`: once, and not too late.
pub fn answer(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    let now = world.now_ms();
    let text = params.text("text");
    let tapped = world.taps.get_mut(&params.text("callback_query_id"));
    let life_ms = u64::try_from(TAP_LIFE.as_millis()).unwrap();
    let open = tapped.filter(|tap| tap.answer.is_none() && now < tap.at_ms + life_ms);
    let late = "query is too old and response timeout expired or query ID is invalid";
    let open = open.ok_or_else(|| Refusal::bad(late))?;
    if text.chars().count() > ANSWER_CHARS_MAX {
        return Err(Refusal::bad("MESSAGE_TOO_LONG"));
    }
    open.answer = Some((text, params.flag("show_alert")));
    Ok(true.into())
}
