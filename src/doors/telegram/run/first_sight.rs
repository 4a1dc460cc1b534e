//! Servers that claw has not seen before: what each says about itself is put to an owner once, and
//! one tap says how far it is trusted. Must not know how the question is drawn, or what an answer
//! does.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::context::GatewayContext;
use super::notify;
use super::pacing::until_sent;
use crate::domain::{Trust, TrustState, telegram_principal};
use crate::doors::telegram::api::fault::ApiFault;
use crate::doors::telegram::api::incoming::Tapped;
use crate::doors::telegram::api::pace::Urgency;
use crate::doors::telegram::api::place::Place;
use crate::doors::telegram::render::new_server::{NewServer, TrustShown};
use crate::mail::TrustQuestion;
use crate::router::TrustAnswer;

/// Questions are looked for this often without a wake-up.
const LOOK: Duration = Duration::from_secs(60);
/// How soon a question that could not be shown is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(600);

/// An owner's answer. It counts once, and only under the message on record.
pub(super) async fn tap(
    ctx: &GatewayContext,
    tapped: &Tapped,
    id: &str,
    level: Trust,
) -> anyhow::Result<&'static str> {
    let row = ctx.mail.trust_question(id)?;
    let here = |row: &TrustQuestion| {
        tapped.at.as_ref().is_some_and(|(place, message)| {
            row.message == *message && row.address == place.address()
        })
    };
    if !row.is_some_and(|row| here(&row)) {
        return Ok("This button does nothing any more.");
    }
    let answered =
        ctx.router.answer_about_trust(id, level, &telegram_principal(tapped.user)).await?;
    ctx.shared.wake();
    Ok(match answered {
        TrustAnswer::Set(level) => level.says(),
        TrustAnswer::FileSays(_) => "claw.toml says how far it is trusted, under tools.trust.",
        TrustAnswer::Over => "This was already answered, or the server is started otherwise now.",
    })
}

/// Keeps the owner's screen in step with what the store says of new servers.
pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    let mut wake_ups = ctx.shared.wake_ups();
    let mut failed: HashMap<String, Instant> = HashMap::new();
    loop {
        failed.retain(|_, at| at.elapsed() < TRY_AGAIN);
        match ctx.mail.trust_questions_to_show() {
            Ok(rows) => {
                for row in
                    rows.into_iter().filter(|row| !failed.contains_key(&row.id)).collect::<Vec<_>>()
                {
                    if let Err(error) = show(&ctx, &row).await {
                        tracing::error!(
                            error = format!("{error:#}"),
                            "a question about a new server could not be shown"
                        );
                        failed.insert(row.id, Instant::now());
                    }
                }
            }
            Err(error) => {
                tracing::error!(%error, "the questions about new servers cannot be read")
            }
        }
        wake_ups.wait(LOOK).await;
    }
}

async fn show(ctx: &GatewayContext, row: &TrustQuestion) -> anyhow::Result<()> {
    let shown = ctx.router.cleared_text(&row.shown);
    let server =
        NewServer { id: &row.id, server: &row.server, says: &shown, first_seen_ms: row.at_ms };
    let clock = ctx.clock();
    if row.state == TrustState::New {
        let Some(place) = ctx.notify_place().filter(|place| !ctx.is_blocked(place.chat)) else {
            return Ok(());
        };
        let (part, keyboard) = server.message(TrustShown::Asked, &clock);
        let sent =
            until_sent(ctx, &place, Urgency::Message, || ctx.api.send(&place, &part, &keyboard))
                .await;
        match sent {
            Ok(sent) => {
                ctx.mail.trust_question_told(&row.id, place.address(), sent.message).await?;
            }
            Err(ApiFault::Forbidden(why)) => notify::blocked(ctx, &place, &why).await?,
            Err(fault) => return Err(fault.into()),
        }
        return Ok(());
    }
    if let Some(place) = Place::of(&row.address) {
        let (by, at_ms) = (ctx.known_as(&place, &row.decided_by), row.decided_ms);
        let by = by.as_str();
        let shown = match (row.state, row.level) {
            (TrustState::Decided, Some(level)) => TrustShown::Decided { level, by, at_ms },
            _ => TrustShown::Stale,
        };
        let (part, keyboard) = server.message(shown, &clock);
        let edit = || ctx.api.edit(&place, row.message, &part, &keyboard);
        if let Err(fault) = until_sent(ctx, &place, Urgency::Message, edit).await {
            tracing::warn!(%fault, "a message about a new server could not be changed");
        }
    }
    Ok(ctx.mail.close_trust_question(&row.id).await?)
}
