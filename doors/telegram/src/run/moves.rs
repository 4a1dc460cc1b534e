//! Groups that become supergroups: Telegram gives them another number, and here they stay what they
//! were. Owns what has to be done when one moves; must not know who may talk, or how a message is
//! sent.

use super::context::GatewayContext;
use crate::api::incoming::Incoming;
use crate::api::place::Place;
use crate::mail::PostedQuestion;

/// Notes that a chat goes on under another number. Its session, its grants and what it may do stay;
/// its questions are asked again, because no message of the old chat can be changed or tapped any
/// more.
pub(super) async fn note(ctx: &GatewayContext, chat: i64, now: i64) {
    if chat == now || ctx.api.chat_now(chat) == now {
        return;
    }
    ctx.api.chats_have_moved(vec![(chat, now)]);
    // A group that is none of these super ones has no topics.
    let address = Place { bot: ctx.me.id, chat, thread: None }.address();
    if let Err(error) = ctx.mail.chat_moved(address, ctx.me.id, chat, now).await {
        // The next request to the old chat brings it again.
        tracing::error!(%error, "that a group has moved could not be noted");
    }
    tracing::info!(chat, now, "a group has become a supergroup and goes on as it was");
    match ctx.mail.posted() {
        Ok(posted) => {
            let here = |row: &PostedQuestion| {
                Place::of(&row.address).is_some_and(|place| place.chat == chat)
            };
            ctx.shared.outdated(&posted.into_iter().filter(here).collect::<Vec<_>>());
            ctx.shared.wake();
        }
        Err(error) => {
            tracing::error!(%error, "the questions of a group that has moved cannot be read")
        }
    }
}

/// What came from a chat that has moved belongs to the chat that it was.
pub(super) fn at_its_chat(ctx: &GatewayContext, mut incoming: Incoming) -> Incoming {
    match &mut incoming {
        Incoming::Message(msg) => msg.place.chat = ctx.api.known_chat(msg.place.chat),
        Incoming::Tap(tapped) => {
            if let Some((place, _)) = &mut tapped.at {
                place.chat = ctx.api.known_chat(place.chat);
            }
        }
        Incoming::Reaction(reacted) => reacted.chat = ctx.api.known_chat(reacted.chat),
        Incoming::Nothing(_) => {}
    }
    incoming
}
