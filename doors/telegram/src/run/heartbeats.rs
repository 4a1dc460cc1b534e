//! Where a bot tells what its heartbeats have to tell. Must not know when one fires, or how it is
//! sent.

use std::sync::Arc;

use super::context::GatewayContext;
use super::handling::may_talk;
use crate::api::place::Place;
use crate::heartbeats::{HeartbeatCallbacks, HeartbeatPlace};

/// Sees to the heartbeats of the agent until it is dropped.
pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    let (placing, waking) = (ctx.clone(), ctx.clone());
    let callbacks = HeartbeatCallbacks {
        place_of: Arc::new(move |chat| place_of(&placing, chat)),
        written: Arc::new(move || waking.shared.wake()),
    };
    ctx.shared.context.heartbeats.clone().keep(callbacks).await;
}

fn place_of(ctx: &GatewayContext, chat: Option<i64>) -> HeartbeatPlace {
    let owner = ctx.notify_place().filter(|place| !ctx.is_blocked(place.chat));
    let tell = owner.as_ref().map(Place::address);
    let nowhere = |why: String| HeartbeatPlace::Nowhere { why, tell: tell.clone() };
    let Some(chat) = chat else {
        let why = "the owner has no chat with the bot (`telegram.notify_chat`)";
        return tell.clone().map_or_else(|| nowhere(why.to_owned()), HeartbeatPlace::Here);
    };
    if !may_talk(ctx, chat).unwrap_or(false) {
        return nowhere(format!("its chat {chat} is not one of the bot's"));
    }
    if ctx.is_blocked(chat) {
        return nowhere(format!("its chat {chat} does not let the bot write"));
    }
    HeartbeatPlace::Here(Place { bot: ctx.me.id, chat, thread: None }.address())
}
