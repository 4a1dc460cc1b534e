//! One message that shows a question: sending it, changing it, putting right what nobody has noted.
//! Must not know when, or what a tap does.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::context::GatewayContext;
use super::delivery::until_sent;
use super::questions::is_asked_in;
use super::{notify, sessions};
use crate::domain::{ApprovalId, ApprovalState, Question, Staged, escape};
use crate::doors::telegram::api::fault::Fault;
use crate::doors::telegram::api::pace::Urgency;
use crate::doors::telegram::api::place::Place;
use crate::doors::telegram::render::question::{self, Closed, QuestionText};
use crate::doors::telegram::{Part, Sent};
use crate::mail::{ApprovalRow, MailError, PostedRow};

/// The message that a question went out in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) sent: Sent,
    pub(super) file: bool,
}

impl Asked {
    /// As it goes on record.
    pub(super) fn posted(&self, approval: &ApprovalId, place: &Place) -> PostedRow {
        PostedRow {
            approval: approval.clone(),
            address: place.address(),
            message: self.sent.message,
            state: "open".into(),
            file: self.file,
            sent_s: self.sent.at_s,
        }
    }
}

/// Sends a question. Returns its message, and whether that is a file: where Telegram refuses the
/// formatting, the question goes whole as a file and is never cut.
pub(super) async fn send(
    ctx: &GatewayContext,
    place: &Place,
    question: &Question,
) -> Result<Asked, Fault> {
    let (whole, as_file) = (|sent| Asked { sent, file: false }, |sent| Asked { sent, file: true });
    let (keyboard, clock) = (question::keyboard(question), ctx.clock());
    let sent = match question::question(question, &clock) {
        QuestionText::Whole(part) => ctx.api.send(place, &part, &keyboard).await.map(whole),
        QuestionText::Long { summary, document, file_name } => {
            let file = (file_name.as_str(), document);
            ctx.api.send_file(place, file, &summary, &keyboard).await.map(as_file)
        }
    };
    match sent {
        Err(Fault::Formatting(why)) => {
            tracing::warn!(why, "Telegram refused the formatting of a question; it goes as a file");
            let (caption, document, file_name) = question::attached_question(question, &clock);
            let file = (file_name.as_str(), document);
            ctx.api.send_file(place, file, &caption, &keyboard).await.map(as_file)
        }
        sent => sent,
    }
}

/// What an allowed user reads instead of a question that only somebody else may answer. Of all staged items
/// at once there is nothing to say beside each of them.
pub(super) fn asked_elsewhere(question: &Question) -> Option<String> {
    let call = escape::visible(&format!("{}/{}", question.server, question.tool)).replace('`', "'");
    match &question.staged {
        Some(Staged::All { .. }) => None,
        Some(Staged::Buttons { .. }) => Some(format!("`{call}` has buttons. The owner has them.")),
        Some(Staged::Item { .. }) | None => {
            Some(format!("This needs the owner's yes: `{call}`. The owner has been asked."))
        }
    }
}

/// The question of a message of this bot, in a chat that lets it write.
pub(super) fn known(
    ctx: &GatewayContext,
    posted: &PostedRow,
) -> Result<Option<ApprovalRow>, MailError> {
    let mine = |place: &Place| place.bot == ctx.me.id && !ctx.is_blocked(place.chat);
    if !Place::of(&posted.address).is_some_and(|place| mine(&place)) {
        return Ok(None);
    }
    ctx.mail.asked_question(&posted.approval)
}

/// Sends a question and notes in which message, and that an older one is stale from now on. False
/// if it could not be sent.
pub(super) async fn ask(
    ctx: &GatewayContext,
    place: &Place,
    row: &ApprovalRow,
    old: Option<&PostedRow>,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> Result<bool, MailError> {
    let question = as_read_in(ctx, place, &row.question);
    match until_sent(ctx, place, Urgency::Answer, || send(ctx, place, &question)).await {
        Ok(asked) => {
            let new = asked.posted(&row.id, place);
            match old {
                Some(old) => ctx.mail.asked_again(old.clone(), new).await?,
                None => ctx.mail.add_posted(new).await?,
            }
            return Ok(true);
        }
        Err(Fault::Forbidden(why)) => notify::blocked(ctx, place, &why).await?,
        Err(fault) => {
            tracing::error!(%fault, "a question could not be asked; `claw approvals` lists it")
        }
    }
    given_up.lock().unwrap_or_else(PoisonError::into_inner).insert(row.id.clone());
    Ok(false)
}

/// A question whose message had come to Telegram when the connection or claw was cut is on nobody's
/// record. The tap names both, so the message goes on record, unless another one is there that
/// shows the question, or it has no place there.
pub(super) async fn adopt(
    ctx: &GatewayContext,
    place: &Place,
    message: i64,
    row: &ApprovalRow,
) -> Result<Option<PostedRow>, MailError> {
    let mail = &ctx.mail;
    if row.state != ApprovalState::Waiting
        || !is_asked_in(ctx, place, row)
        || !mail.posted_of(&row.id)?.is_empty()
    {
        return Ok(None);
    }
    let (approval, address, file) =
        (row.id.clone(), place.address(), question::is_long(&row.question));
    let posted = PostedRow { approval, address, message, state: "open".into(), file, sent_s: 0 };
    mail.arrived(posted.clone()).await?;
    Ok(Some(posted))
}

/// A message that went out just before claw was killed is on nobody's record, and its buttons look
/// as if they worked. Now that a tap has told its number, it says where the question is, or what
/// became of it.
pub(super) async fn put_right(
    ctx: &GatewayContext,
    place: &Place,
    message: i64,
    row: &ApprovalRow,
) -> Result<(), MailError> {
    if sessions::place_of_question(ctx, &row.question).as_ref() != Some(place) {
        return Ok(());
    }
    let (approval, address) = (row.id.clone(), place.address());
    let posted =
        PostedRow { approval, address, message, state: "open".into(), file: false, sent_s: 0 };
    if row.state != ApprovalState::Waiting {
        // A question that is over is brought in step like any other.
        return ctx.mail.add_posted(posted).await;
    }
    let newer = |other: &PostedRow| other.approval == row.id && other.state == "open";
    if !ctx.mail.posted()?.iter().any(newer) {
        // It has been sent this moment, and is about to be on record.
        return Ok(());
    }
    ctx.mail.add_posted(PostedRow { state: "stale".into(), ..posted.clone() }).await?;
    show(ctx, place, &posted, &Closed::AskedAgain, "closed").await
}

/// Shows what became of a question, and notes that the message shows it.
pub(super) async fn show(
    ctx: &GatewayContext,
    place: &Place,
    posted: &PostedRow,
    how: &Closed,
    state: &'static str,
) -> Result<(), MailError> {
    let _mine = ctx.chat_locks.lock(&posted.address).await;
    // What asked for a reason stays as it is, and so does what is in a chat that moved.
    if posted.state != "why" && posted.message > 0 {
        edit(ctx, place, posted, how).await?;
    }
    ctx.mail.set_posted(&posted.address, posted.message, state).await
}

/// The question as a chat shows it: with the name of its session where that is not the chat's own.
fn as_read_in(ctx: &GatewayContext, place: &Place, question: &Question) -> Question {
    match sessions::place_of_question(ctx, question) {
        Some(own) if own == *place => question.clone(),
        _ => question::from_elsewhere(question),
    }
}

/// Changes a message to what became of its question, without buttons. A message that cannot be
/// changed any more stays as it is.
async fn edit(
    ctx: &GatewayContext,
    place: &Place,
    posted: &PostedRow,
    how: &Closed,
) -> Result<(), MailError> {
    let Some(row) = known(ctx, posted)? else { return Ok(()) };
    let question = as_read_in(ctx, place, &row.question);
    // Before a message's form was on record, its length told it.
    let file = posted.file || question::is_long(&question);
    let how = match how.clone() {
        Closed::Answered { answer, by, at_ms, end } => {
            Closed::Answered { answer, by: ctx.known_as(place, &by), at_ms, end }
        }
        other => other,
    };
    let part = question::answered(&question, &how, file, &ctx.clock());
    let plain = part.plain();
    let change = async |part: &Part| {
        if file {
            ctx.api.edit_caption(place, posted.message, part, &[]).await
        } else {
            ctx.api.edit(place, posted.message, part, &[]).await
        }
    };
    let edited = until_sent(ctx, place, Urgency::Message, || async {
        match change(&part).await {
            Err(Fault::Formatting(_)) => change(&plain).await,
            done => done,
        }
    });
    if let Err(fault) = edited.await {
        tracing::warn!(%fault, "a question could not be changed on the screen");
    }
    Ok(())
}
