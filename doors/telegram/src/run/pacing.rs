//! One request to a chat at Telegram's pace: pauses that it asks for are kept, and a group that has
//! moved is followed. Must not know what is sent.

use super::context::GatewayContext;
use super::moves;
use crate::api::fault::ApiFault;
use crate::api::pace::Urgency;
use crate::api::place::Place;
use crate::doors::patience::{patiently, sparingly};
use crate::{Part, Sent};
use claw_telegram_render::markdown::plain;

/// Tries until it is sent, or will never be, at the pace that Telegram allows: what may pass is
/// waited out.
pub(super) async fn until_sent<T, F: Future<Output = Result<T, ApiFault>>>(
    ctx: &GatewayContext,
    place: &Place,
    urgency: Urgency,
    send: impl Fn() -> F,
) -> Result<T, ApiFault> {
    sparingly(|| in_turn(ctx, place, urgency, &send)).await
}

/// The same for the change of a message, which can be made twice.
pub(super) async fn until_changed<F: Future<Output = Result<(), ApiFault>>>(
    ctx: &GatewayContext,
    place: &Place,
    urgency: Urgency,
    change: impl Fn() -> F,
) -> Result<(), ApiFault> {
    patiently(|| in_turn(ctx, place, urgency, &change)).await
}

/// Without waiting out what may pass.
pub(super) async fn in_turn<T, F: Future<Output = Result<T, ApiFault>>>(
    ctx: &GatewayContext,
    place: &Place,
    urgency: Urgency,
    send: impl Fn() -> F,
) -> Result<T, ApiFault> {
    loop {
        let turn = ctx.pace.turn(place, urgency).await;
        let sent = send().await;
        drop(turn);
        match sent {
            Err(ApiFault::Wait(pause)) => ctx.pace.pause(place, pause),
            Err(ApiFault::Moved(now)) if ctx.api.chat_now(place.chat) != now => {
                moves::note(ctx, place.chat, now).await;
            }
            done => return done,
        }
    }
}

/// Formatted, or as it is where Telegram does not take the formatting: the answer has to arrive.
pub(super) async fn send(
    ctx: &GatewayContext,
    place: &Place,
    part: &Part,
) -> Result<Sent, ApiFault> {
    match ctx.api.send(place, part, &[]).await {
        Err(ApiFault::Formatting(why)) => {
            tracing::warn!(why, "Telegram refused a formatting; the text goes without");
            let mut last = Err(ApiFault::Formatting(why));
            let mut parts = plain(&part.text);
            if let Some(end) = parts.last_mut() {
                end.buttons.clone_from(&part.buttons);
            }
            for part in parts {
                last = ctx.api.send(place, &part, &[]).await;
            }
            last
        }
        sent => sent,
    }
}
