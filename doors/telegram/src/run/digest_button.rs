//! The buttons below a daily digest, each of which takes a grant back. Must not know who may tap,
//! what a digest says, or how a grant is taken back.

use super::context::GatewayContext;
use super::pacing::until_changed;
use crate::api::callback::{Button, Callback};
use crate::api::fault::ApiFault;
use crate::api::incoming::Tapped;
use crate::api::pace::Urgency;
use crate::api::place::Place;
use crate::domain::{OutboundBody, telegram_principal};
use claw_telegram_render::markdown::render;

/// What is to be shown for a tap: the words for whoever tapped, and what the message says now.
pub(super) struct Shows {
    words: String,
    message: Option<(Place, i64, OutboundBody)>,
}

pub(super) fn buttons(digest: i64, grants: &[i64]) -> Vec<Button> {
    let button = |grant: &i64| {
        let data = Callback::TakeBack { digest, grant: *grant }.encode()?;
        Some(Button { label: format!("Take grant {grant} back"), data })
    };
    grants.iter().filter_map(button).collect()
}

/// Carries out an owner's tap. It needs no record of the message: an owner may take any grant back.
pub(super) async fn tap(
    ctx: &GatewayContext,
    tapped: &Tapped,
    (digest, grant): (i64, i64),
) -> anyhow::Result<Shows> {
    let by = telegram_principal(tapped.user);
    let taken = ctx.shared.context.chat_commands.take_back(digest, grant, &by).await?;
    let at = tapped.at.clone();
    let message = at.zip(taken.shown).map(|((place, message), body)| (place, message, body));
    Ok(Shows { words: taken.words, message })
}

/// Shows it, and gives back the words for whoever tapped.
pub(super) async fn show(ctx: &GatewayContext, shows: Shows) -> String {
    let Some((place, message, OutboundBody::Digest { number, text, grants })) = shows.message
    else {
        return shows.words;
    };
    // The buttons are below its last message.
    let Some(mut part) = render(&text).pop() else { return shows.words };
    part.buttons = buttons(number, &grants);
    let edit = || ctx.api.edit(&place, message, &part, &[]);
    match until_changed(ctx, &place, Urgency::Answer, edit).await {
        Ok(()) | Err(ApiFault::Unchanged) => {}
        Err(fault) => {
            tracing::warn!(%fault, "a digest could not be made to say that a grant is taken back")
        }
    }
    shows.words
}
