//! The bot changes what it has sent. Owns those rules. Must not know HTTP.

use serde_json::Value;

use super::chat::ChatKind;
use super::keyboard::{self, Keyboard};
use super::message::{Message, MessageId};
use super::params::Params;
use super::refusal::Refusal;
use super::sending::sent;
use super::text::{self, Formatted, TEXT_UTF16_MAX};
use super::world::World;

const SAME: &str = "message is not modified: specified new message content and reply markup are exactly the same as a \
                    current content and reply markup of the message";
/// How long a message can be deleted.
const DELETABLE_S: i64 = 48 * 60 * 60;

pub fn text(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    let formatted = text::of_message(params)?;
    let buttons = keyboard::read(params)?;
    let message = own(world, params)?;
    if message.media.is_some() {
        return Err(Refusal::bad("there is no text in the message to edit"));
    }
    if text::utf16(&formatted.text) > TEXT_UTF16_MAX {
        return Err(Refusal::bad("MESSAGE_TOO_LONG"));
    }
    change(world, params, Some(formatted), buttons)
}

pub fn caption(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    let formatted = text::of_caption(params)?;
    let buttons = keyboard::read(params)?;
    if own(world, params)?.media.is_none() {
        return Err(Refusal::bad("there is no caption in the message to edit"));
    }
    change(world, params, Some(formatted), buttons)
}

pub fn markup(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    let buttons = keyboard::read(params)?;
    own(world, params)?;
    change(world, params, None, buttons)
}

/// Buttons that an edit does not name are gone afterwards, as on the real server.
fn change(
    world: &mut World,
    params: &Params,
    content: Option<Formatted>,
    buttons: Keyboard,
) -> Result<Value, Refusal> {
    let message = own(world, params)?;
    let (chat, id) = (message.chat, message.id);
    let same = content
        .as_ref()
        .is_none_or(|new| new.text == message.text && new.entities == message.entities);
    let same = same && buttons == message.buttons;
    let place = world.reachable(&params.text("chat_id"))?;
    place.check_blocked()?;
    keyboard::check(&buttons)?;
    if same {
        return Err(Refusal::bad(SAME));
    }
    let (is_group, now, now_s) = (place.is_group(), world.now_ms(), world.now_s());
    if is_group {
        // In groups edits count as messages, in private chats they have a limit of their own that
        // is hard to reach.
        world.gauge.count(chat, is_group, now)?;
    }
    if let Some(message) = world.message_mut(chat, id) {
        if let Some(new) = content {
            (message.text, message.entities) = (new.text, new.entities);
            message.versions.push(message.text.clone());
            // Changed buttons alone do not show as an edit.
            message.edit_date = Some(now_s);
        }
        message.buttons = buttons;
        message.edits += 1;
    }
    Ok(sent(world, (chat, id)))
}

pub fn delete(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    let chat_id = params.text("chat_id");
    if chat_id.is_empty() {
        return Err(Refusal::bad("chat identifier is not specified"));
    }
    if params.number("message_id").unwrap_or(0) <= 0 {
        return Err(Refusal::bad("message identifier is not specified"));
    }
    let now = world.now_s();
    let message = find(world, params, "message to delete not found")?;
    let (chat, id) = (message.chat, message.id);
    let foreign =
        !message.by_bot && world.chat(chat).is_some_and(|chat| chat.kind != ChatKind::Private);
    if foreign || now - message.date > DELETABLE_S {
        return Err(Refusal::bad("message can't be deleted for everyone"));
    }
    if let Some(message) = world.message_mut(chat, id) {
        message.deleted = true;
    }
    Ok(true.into())
}

/// The message of a call that changes it, which has to be the bot's.
fn own<'w>(world: &'w World, params: &Params) -> Result<&'w Message, Refusal> {
    let message = find(world, params, "message to edit not found")?;
    if message.by_bot { Ok(message) } else { Err(Refusal::bad("message can't be edited")) }
}

fn find<'w>(world: &'w World, params: &Params, missing: &str) -> Result<&'w Message, Refusal> {
    let chat = world.reachable(&params.text("chat_id"))?;
    let id = params.number("message_id").and_then(|id| MessageId::try_from(id).ok()).unwrap_or(0);
    let found = chat.messages.get(&id).filter(|message| !message.deleted);
    found.ok_or_else(|| Refusal::bad(missing))
}
