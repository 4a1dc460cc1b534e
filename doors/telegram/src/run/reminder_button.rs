//! The buttons below a reminder: done, in 10 minutes, tomorrow. Must not know who may tap, what an
//! answer orders, or that it counts once.

use super::context::GatewayContext;
use super::pacing::until_changed;
use crate::api::callback::{Button, Callback};
use crate::api::fault::ApiFault;
use crate::api::incoming::Tapped;
use crate::api::pace::Urgency;
use crate::api::place::Place;
use crate::domain::{Origin, ReminderAnswer, telegram_principal};
use crate::router::Visitor;
use claw_telegram_render::markdown::render;

const NOTHING: &str = "This button does nothing any more.";

/// What is to be shown for a tap: the words for whoever tapped, and what the message says now.
pub(super) struct Shows {
    words: String,
    message: Option<(Place, i64, String)>,
}

pub(super) fn buttons(firing: &str) -> Vec<Button> {
    let button = |(answer, label): (ReminderAnswer, &str)| {
        let data = Callback::Reminder(answer, firing.to_owned()).encode()?;
        Some(Button { label: label.to_owned(), data })
    };
    let all = [
        (ReminderAnswer::Done, "Done"),
        (ReminderAnswer::InTenMinutes, "In 10 minutes"),
        (ReminderAnswer::Tomorrow, "Tomorrow"),
    ];
    all.into_iter().filter_map(button).collect()
}

/// Carries out an owner's tap. It needs no record of the message: the store knows which
/// reminder was answered.
pub(super) async fn tap(
    ctx: &GatewayContext,
    tapped: &Tapped,
    (answer, firing): (ReminderAnswer, &str),
) -> anyhow::Result<Shows> {
    let Some((place, message)) = tapped.at.clone() else {
        return Ok(Shows { words: NOTHING.to_owned(), message: None });
    };
    let visitor = Visitor {
        from: place.address(),
        principal: telegram_principal(tapped.user),
        origin: Origin::Button,
    };
    let context = &ctx.shared.context;
    let told = context
        .chat_commands
        .answer_reminder(&visitor, &place.session()?, firing, answer, &context.zone)
        .await?;
    ctx.shared.wake();
    let message = told.shown.map(|text| (place, message, text));
    Ok(Shows { words: told.words, message })
}

/// Shows it, and gives back the words for whoever tapped.
pub(super) async fn show(ctx: &GatewayContext, shows: Shows) -> String {
    let Some((place, message, text)) = shows.message else { return shows.words };
    // The buttons are below its last message.
    let Some(part) = render(&text).pop() else { return shows.words };
    let edit = || ctx.api.edit(&place, message, &part, &[]);
    match until_changed(ctx, &place, Urgency::Answer, edit).await {
        Ok(()) | Err(ApiFault::Unchanged) => {}
        Err(fault) => {
            tracing::warn!(%fault, "a reminder could not be made to say that it was answered");
        }
    }
    shows.words
}
