//! What a bot asks and sets about itself and about chats. Owns those methods. Must not know
//! messages.

use serde_json::{Value, json};

use super::chat::ChatKind;
use super::json;
use super::params::Params;
use super::refusal::Refusal;
use super::world::World;

/// Scope, as canonical JSON, and language.
pub type CommandsKey = (String, String);

const COMMANDS_MAX: usize = 100;

/// The key of commands without scope and language.
pub fn everywhere() -> CommandsKey {
    (json!({"type": "default"}).to_string(), String::new())
}

pub fn get_me(world: &World) -> Value {
    let mut me = json::user(&world.bot);
    me["can_join_groups"] = true.into();
    me["can_read_all_group_messages"] = (!world.privacy_mode).into();
    me["supports_inline_queries"] = false.into();
    me["can_connect_to_business"] = false.into();
    me["has_main_web_app"] = false.into();
    me
}

pub fn get_chat(world: &World, params: &Params) -> Result<Value, Refusal> {
    let chat = world.reachable(&params.text("chat_id"))?;
    let mut full = json::chat(world, chat);
    full["accent_color_id"] = 0.into();
    full["max_reaction_count"] = 11.into();
    full["accepted_gift_types"] = json!({
        "unlimited_gifts": true, "limited_gifts": true, "unique_gifts": true, "premium_subscription": true,
        "gifts_from_channels": true,
    });
    if chat.kind != ChatKind::Private {
        full["permissions"] = json!({"can_send_messages": true});
    }
    Ok(full)
}

fn key(params: &Params) -> Result<CommandsKey, Refusal> {
    let scope = params
        .structure("scope")
        .map_err(|()| Refusal::bad("can't parse BotCommandScope JSON object"))?;
    let scope = scope.map_or_else(|| everywhere().0, |scope| scope.to_string());
    Ok((scope, params.text("language_code")))
}

pub fn set_commands(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    let bad = || Refusal::bad("can't parse commands JSON object");
    let commands = params.structure("commands").map_err(|()| bad())?.unwrap_or_else(|| json!([]));
    let list =
        commands.as_array().ok_or_else(|| Refusal::bad("expected an Array of BotCommand"))?;
    if list.len() > COMMANDS_MAX {
        return Err(Refusal::bad("BOT_COMMANDS_TOO_MUCH"));
    }
    for command in list {
        let part = |name: &str| command.get(name).and_then(Value::as_str).ok_or_else(bad);
        let (name, description) = (part("command")?.trim_start_matches('/'), part("description")?);
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !(1..=32).contains(&name.len()) || !name.chars().all(fits) {
            return Err(Refusal::bad("BOT_COMMAND_INVALID"));
        }
        if !(1..=256).contains(&description.chars().count()) {
            return Err(Refusal::bad("BOT_COMMAND_DESCRIPTION_INVALID"));
        }
    }
    world.commands.insert(key(params)?, commands);
    Ok(true.into())
}

pub fn get_commands(world: &World, params: &Params) -> Result<Value, Refusal> {
    Ok(world.commands.get(&key(params)?).cloned().unwrap_or_else(|| json!([])))
}

pub fn delete_commands(world: &mut World, params: &Params) -> Result<Value, Refusal> {
    world.commands.remove(&key(params)?);
    Ok(true.into())
}

/// What waits can be dropped with it.
pub fn delete_webhook(world: &mut World, params: &Params) -> Value {
    world.webhook.clear();
    if params.flag("drop_pending_updates") {
        world.updates.drop_all();
    }
    true.into()
}

pub fn webhook_info(world: &World) -> Value {
    json!({"url": world.webhook, "has_custom_certificate": false, "pending_update_count": world.updates.len()})
}
