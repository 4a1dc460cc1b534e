//! The message that shows a question: sending it, and making it say what became of the question.
//! Must not know when, or what a tap does.

use super::context::GatewayContext;
use super::pacing::{self, until_sent};
use crate::api::fault::ApiFault;
use crate::api::pace::Urgency;
use crate::api::place::Place;
use crate::domain::Question;
use crate::doors::door::{Closed, QuestionMessage};
use crate::mail::PostedQuestion;
use crate::{Part, Sent};
use claw_telegram_render::question::{self, QuestionText};

fn whole(sent: Sent) -> QuestionMessage {
    QuestionMessage { message: sent.message, at_s: sent.at_s, file: false }
}

fn as_file(sent: Sent) -> QuestionMessage {
    QuestionMessage { file: true, ..whole(sent) }
}

/// Sends a question. Returns its message, and whether that is a file: where Telegram refuses the
/// formatting, the question goes whole as a file and is never cut.
pub(super) async fn send(
    ctx: &GatewayContext,
    place: &Place,
    question: &Question,
) -> Result<QuestionMessage, ApiFault> {
    let (keyboard, clock) = (question::keyboard(question), ctx.clock());
    let sent = match question::question(question, &clock) {
        QuestionText::Whole(part) => ctx.api.send(place, &part, &keyboard).await.map(whole),
        QuestionText::Long { summary, document, file_name } => {
            let file = (file_name.as_str(), document);
            ctx.api.send_file(place, file, &summary, &keyboard).await.map(as_file)
        }
    };
    match sent {
        Err(ApiFault::Formatting(why)) => {
            tracing::warn!(why, "Telegram refused the formatting of a question; it goes as a file");
            let (caption, document, file_name) = question::attached_question(question, &clock);
            let file = (file_name.as_str(), document);
            ctx.api.send_file(place, file, &caption, &keyboard).await.map(as_file)
        }
        sent => sent,
    }
}

/// Sends all of a question without buttons: the message that asks keeps them.
pub(super) async fn send_whole(
    ctx: &GatewayContext,
    place: &Place,
    question: &Question,
) -> Result<(), ApiFault> {
    let text = question::whole_question(question, &ctx.clock());
    let send = || async {
        match &text {
            QuestionText::Whole(part) => pacing::send(ctx, place, part).await,
            QuestionText::Long { summary, document, file_name } => {
                let file = (file_name.as_str(), document.clone());
                ctx.api.send_file(place, file, summary, &[]).await
            }
        }
    };
    until_sent(ctx, place, Urgency::Answer, send).await?;
    Ok(())
}

/// Shows what of a list is answered, with the buttons for the rest.
pub(super) async fn show_answered(
    ctx: &GatewayContext,
    place: &Place,
    posted: &PostedQuestion,
    question: &Question,
) -> Result<(), ApiFault> {
    let keyboard = question::keyboard(question);
    let text = question::question(question, &ctx.clock());
    let change = async |part: &Part| match &text {
        QuestionText::Whole(_) if !posted.file => {
            ctx.api.edit(place, posted.message, part, &keyboard).await
        }
        _ => ctx.api.edit_caption(place, posted.message, part, &keyboard).await,
    };
    let part = match &text {
        QuestionText::Whole(part) | QuestionText::Long { summary: part, .. } => part,
    };
    match change(part).await {
        Err(ApiFault::Formatting(_)) => change(&part.plain()).await,
        done => done,
    }
}

/// Before a message's form was on record, the length of its question told it.
fn is_file(posted: &PostedQuestion, question: &Question) -> bool {
    posted.file || question::is_long(question)
}

/// What the message becomes, without buttons.
pub(super) fn closed(
    ctx: &GatewayContext,
    place: &Place,
    posted: &PostedQuestion,
    question: &Question,
    how: &Closed,
) -> Part {
    let how = match how.clone() {
        Closed::Answered { answer, by, at_ms, end } => {
            Closed::Answered { answer, by: ctx.known_as(place, &by), at_ms, end }
        }
        other => other,
    };
    question::answered(question, &how, is_file(posted, question), &ctx.clock())
}

/// Changes the message, without formatting where Telegram does not take that.
pub(super) async fn edit(
    ctx: &GatewayContext,
    place: &Place,
    posted: &PostedQuestion,
    question: &Question,
    part: &Part,
) -> Result<(), ApiFault> {
    let change = async |part: &Part| {
        if is_file(posted, question) {
            ctx.api.edit_caption(place, posted.message, part, &[]).await
        } else {
            ctx.api.edit(place, posted.message, part, &[]).await
        }
    };
    match change(part).await {
        Err(ApiFault::Formatting(_)) => change(&part.plain()).await,
        done => done,
    }
}
