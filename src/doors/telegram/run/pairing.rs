//! Access requests: who asks is put to the owner once, and one tap lets them in or leaves them
//! alone. Must not know how a request is drawn, or what an allowed user may do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::context::GatewayContext;
use super::notify;
use super::pacing::until_sent;
use crate::config::Pairing;
use crate::domain::{Outbound, OutboundBody, telegram_principal};
use crate::doors::telegram::api::fault::ApiFault;
use crate::doors::telegram::api::incoming::Tapped;
use crate::doors::telegram::api::pace::Urgency;
use crate::doors::telegram::api::place::Place;
use crate::doors::telegram::render::access_request::{self, AccessRequest, RequestShown};
use crate::mail::{self, ACCESS_REQUESTS_DAY_MAX, AccessRequestState, AllowedUser, MailError};

/// Access requests are looked for this often without a wake-up.
const LOOK: Duration = Duration::from_secs(60);
/// How soon an owner who could not be told is told again.
const TRY_AGAIN: Duration = Duration::from_secs(600);

/// Is done with the update of somebody who may not talk. They get silence: an answer would tell
/// that somebody is here.
pub(super) async fn access_requested(
    ctx: &GatewayContext,
    update: i64,
    body: &str,
) -> Result<(), MailError> {
    let bot = ctx.me.id;
    let request = access_request::read(body);
    if let Some(AccessRequest { chat, user, .. }) = request
        && ctx.is_news(user)
    {
        tracing::warn!(
            chat,
            user,
            "an unknown user wrote; CLAW_ALLOWED_CHATS lets a chat in by its id"
        );
    }
    let too_many = format!(
        "More than {ACCESS_REQUESTS_DAY_MAX} unknown users have written to claw within a day. The \
         others are not announced; the log names them."
    );
    let wanted = ctx.telegram.pairing == Pairing::Ask;
    let (Some(request), Some(too_many)) =
        (request.filter(|_| wanted), notify::notice(ctx, too_many))
    else {
        return ctx.mail.finish_update(bot, update, "stranger").await.map(drop);
    };
    let body = serde_json::to_string(&request)?;
    ctx.mail.request_access((bot, update), request.chat, body, too_many).await.map(drop)
}

/// An owner's answer. It counts once, and only under the message on record.
pub(super) async fn tap(
    ctx: &GatewayContext,
    tapped: &Tapped,
    chat: i64,
    let_in: bool,
) -> anyhow::Result<&'static str> {
    let row = ctx.mail.access_request(ctx.me.id, chat)?;
    let here = |row: &mail::AccessRequest| {
        tapped.at.as_ref().is_some_and(|(place, message)| {
            row.message == *message && row.address == place.address()
        })
    };
    let Some(row) = row.filter(here) else { return Ok("This button does nothing any more.") };
    let by = telegram_principal(tapped.user);
    let done = if let_in {
        let place = Place { bot: ctx.me.id, chat, thread: None };
        let text =
            "You may talk to claw now. What changes something is decided by its owner.".to_owned();
        let welcome = Outbound {
            session: place.session()?,
            to: place.address(),
            body: OutboundBody::Notice { text },
        };
        let name = serde_json::from_str::<AccessRequest>(&row.body)?.title();
        ctx.mail.let_in(ctx.me.id, AllowedUser { chat, name }, &by, welcome).await?
    } else {
        ctx.mail.ignore_access_request(ctx.me.id, chat, &by).await?
    };
    Ok(match (done, let_in) {
        (false, _) => "This was already answered.",
        (true, true) => "Let in.",
        (true, false) => "Ignored. You are not asked again.",
    })
}

/// Keeps the owner's screen in step with what the store says of access requests.
pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    let mut wake_ups = ctx.shared.wake_ups();
    let mut failed: HashMap<i64, Instant> = HashMap::new();
    loop {
        failed.retain(|_, at| at.elapsed() < TRY_AGAIN);
        match ctx.mail.access_requests_to_show(ctx.me.id) {
            Ok(rows) => {
                for row in rows {
                    if !failed.contains_key(&row.chat)
                        && let Err(error) = show(&ctx, &row).await
                    {
                        tracing::error!(
                            error = format!("{error:#}"),
                            "an access request could not be shown to the owner"
                        );
                        failed.insert(row.chat, Instant::now());
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the access requests cannot be read"),
        }
        wake_ups.wait(LOOK).await;
    }
}

async fn show(ctx: &GatewayContext, row: &mail::AccessRequest) -> anyhow::Result<()> {
    let (request, clock, bot) =
        (serde_json::from_str::<AccessRequest>(&row.body)?, ctx.clock(), ctx.me.id);
    if row.state == AccessRequestState::New {
        let Some(place) = ctx.notify_place().filter(|place| !ctx.is_blocked(place.chat)) else {
            return Ok(());
        };
        let (part, keyboard) = (request.part(RequestShown::Asked, &clock), request.keyboard());
        let sent =
            until_sent(ctx, &place, Urgency::Message, || ctx.api.send(&place, &part, &keyboard))
                .await;
        match sent {
            Ok(sent) => {
                ctx.mail.access_request_told(bot, row.chat, place.address(), sent.message).await?
            }
            Err(ApiFault::Forbidden(why)) => notify::blocked(ctx, &place, &why).await?,
            Err(fault) => return Err(fault.into()),
        }
        return Ok(());
    }
    if let Some(place) = Place::of(&row.address) {
        let (by, at_ms) = (ctx.known_as(&place, &row.decided_by), row.decided_ms);
        let by = by.as_str();
        let shown = if row.state == AccessRequestState::LetIn {
            RequestShown::LetIn { by, at_ms }
        } else {
            RequestShown::Ignored { by, at_ms }
        };
        let part = request.part(shown, &clock);
        let edit = || ctx.api.edit(&place, row.message, &part, &[]);
        if let Err(fault) = until_sent(ctx, &place, Urgency::Message, edit).await {
            tracing::warn!(%fault, "a message about an access request could not be changed");
        }
    }
    Ok(ctx.mail.access_request_shown(bot, row.chat).await?)
}
