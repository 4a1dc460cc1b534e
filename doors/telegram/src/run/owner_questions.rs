//! What an owner is asked beside the calls: each question is put to an owner once, frozen, and one
//! tap answers it. Must not know how a question is drawn, or what an answer does.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::context::GatewayContext;
use super::pacing::{until_changed, until_sent};
use super::{notify, pairing};
use crate::Part;
use crate::api::callback::Button;
use crate::api::fault::ApiFault;
use crate::api::incoming::Tapped;
use crate::api::pace::Urgency;
use crate::api::place::Place;
use crate::domain::{OwnerAnswer, OwnerQuestion, OwnerQuestionState, Trust, telegram_principal};
use crate::router::{PinAnswer, TrustAnswer};
use claw_telegram_render::owner_question::{QuestionView, message};

/// Questions are looked for this often without a wake-up.
const LOOK: Duration = Duration::from_secs(60);
/// How soon a question that could not be shown is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(600);

/// An owner's answer, as a question may be answered. It counts once, and only under the message on
/// record.
pub(super) async fn tap(
    ctx: &GatewayContext,
    tapped: &Tapped,
    id: &str,
    answer: OwnerAnswer,
) -> anyhow::Result<&'static str> {
    let here = |row: &OwnerQuestion| {
        tapped.at.as_ref().is_some_and(|(place, message)| {
            row.message == *message && row.address == place.address()
        })
    };
    let row = ctx.mail.owner_question(id)?.filter(here);
    let Some(row) = row.filter(|row| row.about.kind().offers(answer)) else {
        return Ok("This button does nothing any more.");
    };
    let by = telegram_principal(tapped.user);
    let told = match answer {
        OwnerAnswer::LetIn => pairing::let_in(ctx, &row, &by).await?,
        OwnerAnswer::Ignore => pairing::ignore(ctx, &row, &by).await?,
        OwnerAnswer::Trust(level) => trust(ctx, id, level, &by).await?,
        OwnerAnswer::Accept => change(ctx, id, true, &by).await?,
        OwnerAnswer::KeepWithheld => change(ctx, id, false, &by).await?,
    };
    ctx.shared.wake();
    Ok(told)
}

async fn trust(
    ctx: &GatewayContext,
    id: &str,
    level: Trust,
    by: &str,
) -> anyhow::Result<&'static str> {
    Ok(match ctx.router.answer_about_trust(id, level, by).await? {
        TrustAnswer::Set(level) => level.says(),
        TrustAnswer::FileSays(_) => "claw.toml says how far it is trusted, under tools.trust.",
        TrustAnswer::Over => "This was already answered, or the server is started otherwise now.",
    })
}

async fn change(
    ctx: &GatewayContext,
    id: &str,
    accept: bool,
    by: &str,
) -> anyhow::Result<&'static str> {
    Ok(match ctx.router.answer_about_pins(id, accept, by).await? {
        PinAnswer::Accepted => "Accepted.",
        PinAnswer::Kept => "Kept withheld.",
        PinAnswer::Over => "This was already answered, or has changed again.",
    })
}

/// Keeps the owner's screen in step with what the store says of these questions.
pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    let mut wake_ups = ctx.shared.wake_ups();
    let mut failed: HashMap<String, Instant> = HashMap::new();
    loop {
        failed.retain(|_, at| at.elapsed() < TRY_AGAIN);
        match ctx.mail.owner_questions_to_show(ctx.me.id) {
            Ok(mut rows) => {
                rows.retain(|row| !failed.contains_key(&row.id));
                for row in rows {
                    if let Err(error) = show(&ctx, &row).await {
                        tracing::error!(
                            kind = row.about.kind().as_str(),
                            error = format!("{error:#}"),
                            "a question could not be shown to the owner"
                        );
                        failed.insert(row.id, Instant::now());
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the owner's questions cannot be read"),
        }
        wake_ups.wait(LOOK).await;
    }
}

async fn show(ctx: &GatewayContext, row: &OwnerQuestion) -> anyhow::Result<()> {
    if row.state == OwnerQuestionState::New {
        return ask(ctx, row).await;
    }
    if let Some(place) = Place::of(&row.address) {
        let by = ctx.known_as(&place, &row.decided_by);
        let (part, keyboard) = drawn(ctx, row, QuestionView::of(row, &by))?;
        let edit = || ctx.api.edit(&place, row.message, &part, &keyboard);
        if let Err(fault) = until_changed(ctx, &place, Urgency::Message, edit).await {
            tracing::warn!(%fault, "an owner's question could not be changed");
        }
    }
    Ok(ctx.mail.close_owner_question(&row.id).await?)
}

fn drawn(
    ctx: &GatewayContext,
    row: &OwnerQuestion,
    shown: QuestionView<'_>,
) -> anyhow::Result<(Part, Vec<Vec<Button>>)> {
    let says = ctx.router.cleared_text(&row.shown);
    Ok(message(row, &says, shown, (&ctx.clock(), &ctx.shared.context.claw()))?)
}

async fn ask(ctx: &GatewayContext, row: &OwnerQuestion) -> anyhow::Result<()> {
    let Some(place) = ctx.notify_place().filter(|place| !ctx.is_blocked(place.chat)) else {
        return Ok(());
    };
    let (part, keyboard) = drawn(ctx, row, QuestionView::Asked)?;
    let send = || ctx.api.send(&place, &part, &keyboard);
    match until_sent(ctx, &place, Urgency::Message, send).await {
        Ok(sent) => {
            ctx.mail.owner_question_told(&row.id, place.address(), sent.message).await?;
        }
        Err(ApiFault::Forbidden(why)) => notify::blocked(ctx, &place, &why).await?,
        Err(fault) => return Err(fault.into()),
    }
    Ok(())
}
