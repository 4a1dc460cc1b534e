//! Access requests: who asks for the first time is noted for the owner, who lets them in or leaves
//! them alone. Must not know how a request is shown, or what an allowed user may do.

use super::context::GatewayContext;
use super::notify;
use crate::api::access_request::{self, AccessRequest};
use crate::api::place::Place;
use crate::api::settings::Pairing;
use crate::domain::{Outbound, OutboundBody, OwnerQuestion};
use crate::mail::{ACCESS_REQUESTS_DAY_MAX, AllowedUser, MailError};

const ANSWERED: &str = "This was already answered.";

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
        let configured = &ctx.telegram.allowed_source;
        if chat > 0 {
            tracing::warn!(
                chat,
                user,
                "an unknown user wrote; {configured} would make them an \
                owner, who decides"
            );
        } else {
            tracing::warn!(chat, user, "an unknown user wrote; {configured} lets a group in");
        }
    }
    let too_many = format!(
        "More than {ACCESS_REQUESTS_DAY_MAX} unknown users have written to claw within a day. The \
         others are not announced; the log names them."
    );
    let wanted = ctx.telegram.pairing == Pairing::Ask;
    let (Some(request), Some(too_many)) =
        (request.filter(|_| wanted), notify::notice(ctx, too_many))
    else {
        return ctx.mail.finish_update(bot, update, "unknown user").await.map(drop);
    };
    let body = serde_json::to_string(&request)?;
    ctx.mail.request_access((bot, update), request.chat, body, too_many).await.map(drop)
}

/// Lets whoever asked in, and says so there.
pub(super) async fn let_in(
    ctx: &GatewayContext,
    asked: &OwnerQuestion,
    by: &str,
) -> anyhow::Result<&'static str> {
    let request: AccessRequest = serde_json::from_str(&asked.shown)?;
    let (chat, name) = (request.chat, request.title());
    let place = Place { bot: ctx.me.id, chat, thread: None };
    let text = "You may talk to claw now. What changes something is decided by its owner.";
    let welcome = Outbound {
        session: place.session()?,
        to: place.address(),
        body: OutboundBody::Notice { text: text.to_owned() },
    };
    let done = ctx.mail.let_in(ctx.me.id, AllowedUser { chat, name }, by, welcome).await?;
    Ok(if done { "Let in." } else { ANSWERED })
}

/// Leaves whoever asked without an answer.
pub(super) async fn ignore(
    ctx: &GatewayContext,
    asked: &OwnerQuestion,
    by: &str,
) -> anyhow::Result<&'static str> {
    let AccessRequest { chat, .. } = serde_json::from_str(&asked.shown)?;
    let done = ctx.mail.ignore_access_request(ctx.me.id, chat, by).await?;
    Ok(if done {
        "Ignored. You are not asked again, unless you say so by /guests."
    } else {
        ANSWERED
    })
}
