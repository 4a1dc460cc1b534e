//! Tools that have changed: what differs is put to an owner once, frozen, and one tap accepts it or
//! keeps it withheld. Must not know how the question is drawn, or what a pin is.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::context::GatewayContext;
use super::notify;
use super::pacing::until_sent;
use crate::domain::{PinState, telegram_principal};
use crate::doors::telegram::api::fault::ApiFault;
use crate::doors::telegram::api::incoming::Tapped;
use crate::doors::telegram::api::pace::Urgency;
use crate::doors::telegram::api::place::Place;
use crate::doors::telegram::render::pinned::{Changed, PinShown};
use crate::mail::PinQuestion;
use crate::router::PinAnswer;

/// Questions are looked for this often without a wake-up.
const LOOK: Duration = Duration::from_secs(60);
/// How soon a question that could not be shown is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(600);

/// An owner's answer. It counts once, and only under the message on record.
pub(super) async fn tap(
    ctx: &GatewayContext,
    tapped: &Tapped,
    id: &str,
    accept: bool,
) -> anyhow::Result<&'static str> {
    let row = ctx.mail.pin_question(id)?;
    let here = |row: &PinQuestion| {
        tapped.at.as_ref().is_some_and(|(place, message)| {
            row.message == *message && row.address == place.address()
        })
    };
    if !row.is_some_and(|row| here(&row)) {
        return Ok("This button does nothing any more.");
    }
    let answered =
        ctx.router.answer_about_pins(id, accept, &telegram_principal(tapped.user)).await?;
    ctx.shared.wake();
    Ok(match answered {
        PinAnswer::Accepted => "Accepted.",
        PinAnswer::Kept => "Kept withheld.",
        PinAnswer::Over => "This was already answered, or has changed again.",
    })
}

/// Keeps the owner's screen in step with what the store says of changed tools.
pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    let mut wake_ups = ctx.shared.wake_ups();
    let mut failed: HashMap<String, Instant> = HashMap::new();
    loop {
        failed.retain(|_, at| at.elapsed() < TRY_AGAIN);
        match ctx.mail.pin_questions_to_show() {
            Ok(rows) => {
                for row in
                    rows.into_iter().filter(|row| !failed.contains_key(&row.id)).collect::<Vec<_>>()
                {
                    if let Err(error) = show(&ctx, &row).await {
                        tracing::error!(
                            error = format!("{error:#}"),
                            "a question about changed tools could not be shown"
                        );
                        failed.insert(row.id, Instant::now());
                    }
                }
            }
            Err(error) => {
                tracing::error!(%error, "the questions about changed tools cannot be read")
            }
        }
        wake_ups.wait(LOOK).await;
    }
}

async fn show(ctx: &GatewayContext, row: &PinQuestion) -> anyhow::Result<()> {
    let shown = ctx.router.cleared_text(&row.shown);
    let count = row.tools;
    let changed = Changed { id: &row.id, server: &row.server, count, differences: &shown };
    let clock = ctx.clock();
    if row.state == PinState::New {
        let Some(place) = ctx.notify_place().filter(|place| !ctx.is_blocked(place.chat)) else {
            return Ok(());
        };
        let (part, keyboard) = changed.message(PinShown::Asked, &clock);
        let sent =
            until_sent(ctx, &place, Urgency::Message, || ctx.api.send(&place, &part, &keyboard))
                .await;
        match sent {
            Ok(sent) => {
                let at = place.address();
                ctx.mail.pin_question_told(&row.id, at, sent.message).await?;
            }
            Err(ApiFault::Forbidden(why)) => notify::blocked(ctx, &place, &why).await?,
            Err(fault) => return Err(fault.into()),
        }
        return Ok(());
    }
    if let Some(place) = Place::of(&row.address) {
        let (by, at_ms) = (ctx.known_as(&place, &row.decided_by), row.decided_ms);
        let by = by.as_str();
        let shown = match row.state {
            PinState::Accepted => PinShown::Accepted { by, at_ms },
            PinState::Kept => PinShown::Kept { by, at_ms },
            PinState::New | PinState::Told | PinState::Stale | PinState::Closed => PinShown::Stale,
        };
        let (part, keyboard) = changed.message(shown, &clock);
        let edit = || ctx.api.edit(&place, row.message, &part, &keyboard);
        if let Err(fault) = until_sent(ctx, &place, Urgency::Message, edit).await {
            tracing::warn!(%fault, "a message about changed tools could not be changed");
        }
    }
    Ok(ctx.mail.close_pin_question(&row.id).await?)
}
