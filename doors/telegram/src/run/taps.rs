//! Taps on buttons, and the words of an owner who denies with a reason. Owns who may answer and
//! which message counts; must not know how a question is drawn, or what an answer does.
//!
//! What a tap decides is decided at once, without the model and without Telegram. What has to be
//! shown for it, a menu, the words for whoever tapped, goes out beside it, so that a slow Telegram
//! holds up no other tap.

use std::sync::Arc;

use super::context::GatewayContext;
use super::pacing::until_sent;
use super::{
    digest_button, owner_questions, question_message, reminder_button, tap_notice, undo_button,
};
use crate::api::callback::{Button, Callback, Tap};
use crate::api::fault::ApiFault;
use crate::api::incoming::{ChatMessage, Tapped};
use crate::api::pace::Urgency;
use crate::api::place::Place;
use crate::domain::{
    Answer, ApprovalId, ApprovalState, Origin, OwnerAnswer, OwnerQuestionAbout, PostedState,
    Question, telegram_principal,
};
use crate::doors::asking;
use crate::doors::door::QuestionMessage;
use crate::doors::list_answers;
use crate::mail::{AskedQuestion, MailError, PostedQuestion};
use crate::router::{DecideError, Order, Visitor};
use claw_telegram_render::question;

/// How often the words for whoever tapped are tried to be said. Telegram forgets a tap after a
/// short while.
const SAY_TRIES: u32 = 3;

const NOTHING: &str = "This button does nothing any more.";

/// The reply to whoever tapped.
enum TapReply {
    Words(String),
    /// Other buttons under the same message.
    Menu(Place, i64, Vec<Vec<Button>>),
    /// That the button does nothing, and what the message should have said.
    PutRight(Place, i64, Box<AskedQuestion>),
    /// A message to reply to.
    AskForWord(Place, ApprovalId),
    /// All of a question, in a message of its own.
    Whole(Place, Box<Question>),
    /// What an undo would change, or has changed.
    Undo(undo_button::Shows),
    /// That a grant is taken back.
    Digest(digest_button::Shows),
    /// That a reminder was answered.
    Reminder(reminder_button::Shows),
}

/// Carries out a tap. Only an owner's counts, and only on a message that shows this very question,
/// or unknown user, now.
pub(super) async fn tap(
    ctx: &Arc<GatewayContext>,
    tapped: &Tapped,
    update: i64,
) -> anyhow::Result<()> {
    let reply = if ctx.is_owner(tapped.user) {
        match Callback::parse(&tapped.data) {
            Some(Callback::Question(id, tap)) => question_tap(ctx, tapped, &id, tap).await?,
            Some(Callback::Pair(chat)) => about_chat(ctx, tapped, chat, OwnerAnswer::LetIn).await?,
            Some(Callback::Ignore(chat)) => {
                about_chat(ctx, tapped, chat, OwnerAnswer::Ignore).await?
            }
            Some(Callback::Owner(answer, id)) => {
                TapReply::Words(owner_questions::tap(ctx, tapped, &id, answer).await?.to_owned())
            }
            Some(Callback::Stop(_)) => TapReply::Words(stop(ctx, tapped, update).await?.to_owned()),
            Some(
                callback @ (Callback::ShowUndo(_) | Callback::UndoFiles(..) | Callback::KeepFiles),
            ) => TapReply::Undo(undo_button::tap(ctx, tapped, &callback).await?),
            Some(Callback::TakeBack { digest, grant }) => {
                TapReply::Digest(digest_button::tap(ctx, tapped, (digest, grant)).await?)
            }
            Some(Callback::Reminder(answer, firing)) => {
                TapReply::Reminder(reminder_button::tap(ctx, tapped, (answer, &firing)).await?)
            }
            None => TapReply::Words(NOTHING.to_owned()),
        }
    } else {
        tracing::warn!(user = tapped.user, "somebody who is no owner tapped a button");
        TapReply::Words("Only the owner can answer this.".to_owned())
    };
    claw_kit::task::spawn(answer(ctx.clone(), tapped.query.clone(), reply, update));
    Ok(())
}

/// An answer about a chat that has asked this bot for access.
async fn about_chat(
    ctx: &GatewayContext,
    tapped: &Tapped,
    chat: i64,
    answer: OwnerAnswer,
) -> anyhow::Result<TapReply> {
    let id = OwnerQuestionAbout::access_id(ctx.me.id, chat);
    Ok(TapReply::Words(owner_questions::tap(ctx, tapped, &id, answer).await?.to_owned()))
}

/// The button of a running call stops its turn, on the message on record. The order and the end of
/// the update are one transaction.
async fn stop(ctx: &GatewayContext, tapped: &Tapped, update: i64) -> anyhow::Result<&'static str> {
    let Some((place, message)) = &tapped.at else { return Ok(NOTHING) };
    let Some(session) = ctx.mail.call_shown_at(&place.address(), *message)? else {
        return Ok("This has ended already.");
    };
    let visitor = Visitor {
        from: place.address(),
        principal: telegram_principal(tapped.user),
        origin: Origin::Button,
    };
    ctx.router.order_of_update(&visitor, &session, Order::Stop, (ctx.me.id, update)).await?;
    Ok("Stopping.")
}

async fn question_tap(
    ctx: &GatewayContext,
    tapped: &Tapped,
    id: &ApprovalId,
    tap: Tap,
) -> anyhow::Result<TapReply> {
    let words = |text: &str| Ok(TapReply::Words(text.to_owned()));
    let Some((place, message)) = tapped.at.clone() else { return words(NOTHING) };
    let posted = ctx.mail.posted_at(&place.address(), message)?;
    let row = ctx.mail.asked_question(id)?;
    let Some(row) = row else { return words(NOTHING) };
    let posted = match posted {
        Some(posted) => posted,
        None => match asking::adopt(
            ctx,
            &place.address(),
            message,
            question::is_long(&row.question),
            &row,
        )
        .await?
        {
            Some(adopted) => adopted,
            None => return Ok(TapReply::PutRight(place, message, Box::new(row))),
        },
    };
    if posted.approval != *id {
        return words(NOTHING);
    }
    if row.state != ApprovalState::Waiting {
        return words(&closed_words(ctx, &row)?);
    }
    // A message that is about to say that a newer one has the buttons has shown the same frozen
    // call: what was tapped there counts, and what would only change its buttons comes too late.
    let counts = match posted.state {
        PostedState::Open => true,
        PostedState::Stale => matches!(tap, Tap::Choice(_)),
        _ => false,
    };
    if !counts {
        return words(NOTHING);
    }
    if let Some(keyboard) = question::menu(&row.question, &tap) {
        return Ok(TapReply::Menu(place, message, keyboard));
    }
    let visitor = Visitor {
        from: place.address(),
        principal: telegram_principal(tapped.user),
        origin: Origin::Button,
    };
    match tap {
        // No model waits for a word about what was staged.
        Tap::DenyWithWord if row.question.staged.is_none() => {
            Ok(TapReply::AskForWord(place, id.clone()))
        }
        Tap::Whole => Ok(TapReply::Whole(place, Box::new(row.question))),
        Tap::Choice(key) => match row.question.choices.iter().find(|choice| choice.key == key) {
            Some(choice) => Ok(TapReply::Words(decide(ctx, &visitor, id, &choice.answer).await?)),
            None => words("This answer is not offered."),
        },
        Tap::MenuAlways | Tap::MenuNever | Tap::Back | Tap::Choose | Tap::DenyWithWord => {
            words("This answer is not offered.")
        }
    }
}

/// Answers, and says how that went. Everything but an answer that does not count is an error.
pub(super) async fn decide(
    ctx: &GatewayContext,
    visitor: &Visitor,
    id: &ApprovalId,
    answer: &Answer,
) -> anyhow::Result<String> {
    match ctx.router.answer(visitor, id, answer).await {
        Ok(row) => Ok(match &row.question.list {
            Some(list) => list_answers::in_words(answer, list),
            None => tap_notice::decided(answer, &row.question).to_owned(),
        }),
        Err(DecideError::Failed(error)) => Err(error.into()),
        Err(refused) => {
            // Two taps at once: the second one hears what a later one would.
            let row = ctx.mail.asked_question(id)?;
            match row
                .filter(|row| row.question.staged.is_some() && row.state != ApprovalState::Waiting)
            {
                Some(row) => Ok(closed_words(ctx, &row)?),
                None => Ok(refused.to_string()),
            }
        }
    }
}

fn closed_words(ctx: &GatewayContext, row: &AskedQuestion) -> Result<String, MailError> {
    let call = ctx.mail.calls_of(row)?.pop();
    Ok(tap_notice::closed(row, call.as_ref()))
}

/// Shows what a tap has brought, and is then done with its update: if the process ends before, the
/// tap is handled once more, finds what was decided, and is answered by the next one.
async fn answer(ctx: Arc<GatewayContext>, query: String, reply: TapReply, update: i64) {
    say(&ctx, &query, reply).await;
    if let Err(error) = ctx.mail.finish_update(ctx.me.id, update, "tap").await {
        // The next start handles it once more.
        tracing::error!(%error, "the end of a tap could not be noted");
    }
}

async fn say(ctx: &GatewayContext, query: &str, reply: TapReply) {
    let words = match reply {
        TapReply::Words(words) => words,
        TapReply::Menu(place, message, keyboard) => menu(ctx, &place, message, &keyboard).await,
        TapReply::PutRight(place, message, row) => {
            if let Err(error) = asking::put_right(ctx, &place.address(), message, &row).await {
                tracing::error!(%error, "a message that was on nobody's record could not be put right");
            }
            NOTHING.to_owned()
        }
        TapReply::Whole(place, question) => {
            match question_message::send_whole(ctx, &place, &question).await {
                Ok(()) => "All of it is in the message below.".to_owned(),
                Err(fault) => fault.to_string(),
            }
        }
        TapReply::Undo(shows) => undo_button::show(ctx, shows).await,
        TapReply::Digest(shows) => digest_button::show(ctx, shows).await,
        TapReply::Reminder(shows) => reminder_button::show(ctx, shows).await,
        TapReply::AskForWord(place, id) => match ask_for_word(ctx, &place, &id).await {
            Ok(()) => "Reply with the reason.".to_owned(),
            Err(error) => error.to_string(),
        },
    };
    for _ in 0..SAY_TRIES {
        match ctx.api.answer_tap(query, &words).await {
            Err(ApiFault::Wait(pause)) => tokio::time::sleep(pause).await,
            Err(fault @ ApiFault::Unreachable(_)) => {
                tracing::debug!(%fault, "a tap could not be answered")
            }
            Ok(()) | Err(_) => return,
        }
    }
}

/// Shows other buttons, unless the question was closed or asked again at this very moment: then
/// they would stay behind, and a kill must find nothing to take away.
async fn menu(
    ctx: &GatewayContext,
    place: &Place,
    message: i64,
    keyboard: &[Vec<Button>],
) -> String {
    let address = place.address();
    let _mine = ctx.shared.chat_locks.lock(&address).await;
    match ctx.mail.posted_at(&address, message) {
        Ok(Some(posted)) if posted.state == PostedState::Open => {}
        Ok(_) => return NOTHING.to_owned(),
        Err(error) => return error.to_string(),
    }
    let opened = ctx.api.edit_keyboard(place, message, keyboard).await;
    opened.map_or_else(|fault| fault.to_string(), |()| String::new())
}

async fn ask_for_word(
    ctx: &GatewayContext,
    place: &Place,
    approval: &ApprovalId,
) -> anyhow::Result<()> {
    const TEXT: &str = "Denied once you have replied to this message with the reason.";
    let ask = || ctx.api.ask_for_reply(place, TEXT);
    let sent = until_sent(ctx, place, Urgency::Answer, ask).await?;
    let asked = QuestionMessage { message: sent.message, at_s: sent.at_s, file: false };
    let posted = PostedQuestion {
        state: PostedState::AsksReason,
        ..asked.posted(approval, &place.address())
    };
    Ok(ctx.mail.add_posted(posted).await?)
}

/// The question that this message denies with a word: an owner's reply to the message that asked
/// for it.
pub(super) fn word_for(
    ctx: &GatewayContext,
    msg: &ChatMessage,
    visitor: &Visitor,
) -> Result<Option<ApprovalId>, MailError> {
    let Some(replied) = &msg.reply else { return Ok(None) };
    if !ctx.is_owner(msg.user) {
        return Ok(None);
    }
    let posted = ctx.mail.posted_at(&visitor.from, replied.id)?;
    Ok(posted.filter(|posted| posted.state.is_about_a_reason()).map(|posted| posted.approval))
}

/// Denies with a word, and says how that went. Handled again after a kill, it says the same.
pub(super) async fn deny(
    ctx: &GatewayContext,
    visitor: &Visitor,
    id: &ApprovalId,
    word: &str,
) -> anyhow::Result<String> {
    let answer = Answer::Deny { word: Some(word.to_owned()) };
    let row = ctx.mail.asked_question(id)?;
    let again = row.is_some_and(|row| {
        row.decided_by.as_ref() == Some(&visitor.principal)
            && matches!(row.answer, Some(Answer::Deny { word: Some(_) }))
    });
    if again { Ok("Denied.".to_owned()) } else { decide(ctx, visitor, id, &answer).await }
}
