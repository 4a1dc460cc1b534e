//! 👍 and 👎 on the message of a question: yes, once, or no. Owns whose reaction counts, and on which
//! message; must not know what an answer does.

use super::context::GatewayContext;
use crate::api::incoming::{Nod, Reacted};
use crate::api::place::Place;
use crate::domain::{
    Answer, ApprovalState, Origin, Outbound, OutboundBody, PostedState, Scope, Term,
    telegram_principal,
};
use crate::mail::{AskedQuestion, MailError, PostedQuestion};
use crate::router::Visitor;

const NOT_YOURS: &str = "Only an owner's 👍 or 👎 answers a question.";
const OLDER: &str = "That is an older copy of a question, so your reaction answers nothing. React to \
                     the newest one, or tap its buttons; `/approvals` shows it once more.";
const NEEDS_A_TAP: &str = "A reaction answers no list of actions: tap a button.";

/// Carries out a reaction. One on a message that does not ask, or asks no more, is nobody's answer.
/// The decision and the end of the update are one transaction, so it counts once, across kills.
pub(super) async fn reacted(
    ctx: &GatewayContext,
    reacted: &Reacted,
    update: i64,
) -> Result<(), MailError> {
    let key = (ctx.me.id, update);
    let found = question_of(ctx, reacted)?.and_then(|(posted, row)| {
        let session = Place::of(&posted.address)?.session().ok()?;
        Some((posted, row, session))
    });
    let Some((posted, row, session)) = found else {
        return ctx.mail.finish_update(key.0, key.1, "reaction").await.map(drop);
    };
    let why_not = match posted.state {
        _ if !ctx.is_owner(reacted.user) => Some(NOT_YOURS),
        PostedState::Open | PostedState::Stale if row.question.staged.is_some() => {
            Some(NEEDS_A_TAP)
        }
        // As a tap on it, a message that is about to say that a newer one asks has shown the same.
        PostedState::Open | PostedState::Stale => None,
        _ => Some(OLDER),
    };
    let to = posted.address.clone();
    if let Some(why) = why_not {
        if !ctx.reaction_is_news(&posted, why) {
            return ctx.mail.finish_update(key.0, key.1, "reaction").await.map(drop);
        }
        let body = OutboundBody::Notice { text: why.to_owned() };
        let told = Outbound { session, to, body };
        return ctx.mail.answer_update(key.0, key.1, "reaction", told).await.map(drop);
    }
    let answer = match reacted.nod {
        Nod::Yes => Answer::Allow { term: Term::Once, scope: Scope::Exact },
        Nod::No => Answer::Deny { word: None },
    };
    let visitor =
        Visitor { from: to, principal: telegram_principal(reacted.user), origin: Origin::Button };
    // The message itself says what was answered.
    ctx.router.answer_of_update(&visitor, &row.id, &answer, key, (session, None)).await
}

/// The open question whose message has the reaction.
fn question_of(
    ctx: &GatewayContext,
    reacted: &Reacted,
) -> Result<Option<(PostedQuestion, AskedQuestion)>, MailError> {
    let chat = Place { bot: ctx.me.id, chat: reacted.chat, thread: None }.address();
    // Topics of a group count their messages together, and a reaction does not say which it is.
    let Some(posted) = ctx.mail.posted_in_chat(&chat, reacted.message)? else { return Ok(None) };
    if posted.state.is_about_a_reason() {
        return Ok(None);
    }
    let row = ctx.mail.asked_question(&posted.approval)?;
    let open = row.filter(|row| row.state == ApprovalState::Waiting);
    Ok(open.map(|row| (posted, row)))
}

/// The message of a question that a reaction which waits to be handled is on.
pub(super) fn posted_of(
    ctx: &GatewayContext,
    reacted: &Reacted,
) -> Result<Option<PostedQuestion>, MailError> {
    Ok(question_of(ctx, reacted)?.map(|(posted, _)| posted))
}
