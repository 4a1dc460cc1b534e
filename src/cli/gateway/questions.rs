//! Questions with buttons: sending them, taps on them, and the messages that show them afterwards. Must not know how a
//! question is drawn, or what an answer does.

use std::sync::Arc;
use std::time::Duration;

use super::house::House;
use super::postman::until_sent;
use crate::app::telegram_principal;
use crate::domain::{Answer, ApprovalId, Origin, Outcome, Question};
use crate::gateway::clock::Clock;
use crate::gateway::telegram::Part;
use crate::gateway::telegram::callback::{Callback, Tap};
use crate::gateway::telegram::fault::Fault;
use crate::gateway::telegram::incoming::{Said, Tapped};
use crate::gateway::telegram::place::Place;
use crate::gateway::telegram::question::{self, CallEnd, Closed, QuestionText};
use crate::mail::PostedRow;
use crate::router::Visitor;
use crate::store::{ApprovalRow, CallRow, StoreError};

/// Messages are looked over this often without a bell.
const LOOK: Duration = Duration::from_secs(30);

/// Sends a question and returns its message.
pub(super) async fn send(house: &House, place: &Place, question: &Question) -> Result<i64, Fault> {
    let keyboard = question::keyboard(question);
    match question::question(question, &Clock::system()) {
        QuestionText::Whole(part) => house.api.send(place, &part, &keyboard).await,
        QuestionText::Long { summary, document, file_name } => {
            house.api.send_file(place, (&file_name, document), &summary, &keyboard).await
        }
    }
}

/// What a tap does, and the words for whoever tapped. Only an owner's tap counts, and only on a message that shows this very
/// question now.
pub(super) async fn tap(house: &House, tapped: &Tapped) -> anyhow::Result<String> {
    if !house.telegram.owners.contains(&tapped.user) {
        tracing::warn!(user = tapped.user, "somebody who is no owner tapped a button");
        return Ok("Only the owner can answer this.".to_owned());
    }
    let (Some(Callback::Question(id, tap)), Some((place, message))) = (Callback::parse(&tapped.data), &tapped.at)
    else {
        return Ok("This button does nothing any more.".to_owned());
    };
    let posted = house.app.mail.posted_at(&place.address(), *message)?;
    let shown = posted.as_ref().is_some_and(|posted| posted.approval == id && posted.state == "open");
    let Some(row) = house.app.store.read(|tx| tx.approval(&id))?.filter(|_| shown || posted.is_none()) else {
        return Ok("This button does nothing any more.".to_owned());
    };
    if !shown {
        put_right(house, place, *message, &row).await?;
        return Ok("This button does nothing any more.".to_owned());
    }
    if row.state != "waiting" {
        return Ok(closed_words(&row));
    }
    if let Some(keyboard) = question::menu(&row.question, &tap) {
        let opened = house.api.edit_keyboard(place, *message, &keyboard).await;
        // If it was closed or asked again at this very moment, the menu must not stay behind.
        let now = house.app.mail.posted_at(&place.address(), *message)?;
        if now.is_none_or(|posted| posted.state != "open") {
            house.api.edit_keyboard(place, *message, &[]).await.unwrap_or_else(|fault| {
                tracing::warn!(%fault, "a menu under a closed question could not be taken away");
            });
        }
        return Ok(opened.map_or_else(|fault| fault.to_string(), |()| String::new()));
    }
    let visitor = Visitor { from: place.address(), principal: telegram_principal(tapped.user), origin: Origin::Button };
    match tap {
        Tap::DenyWithWord => ask_for_word(house, place, &id).await,
        Tap::Choice(key) => match row.question.choices.iter().find(|choice| choice.key == key) {
            Some(choice) => decide(house, &visitor, &id, &choice.answer).await,
            None => Ok("This answer is not offered.".to_owned()),
        },
        Tap::MenuAlways | Tap::MenuNever | Tap::Back => Ok(String::new()),
    }
}

/// A message that went out just before claw was killed is on nobody's record, and its buttons look as if they worked. Now that
/// its number is known, it says where the question is, or what became of it.
async fn put_right(house: &House, place: &Place, message: i64, row: &ApprovalRow) -> anyhow::Result<()> {
    if row.question.session != place.session()? {
        return Ok(());
    }
    let mut posted = PostedRow { approval: row.id.clone(), address: place.address(), message, state: "open".into() };
    if row.state == "waiting" {
        let newer = |other: &PostedRow| other.approval == row.id && other.state == "open";
        if !house.app.mail.posted()?.iter().any(newer) {
            // It has been sent this moment, and is about to be on record.
            return Ok(());
        }
        edit(house, place, &posted, &row.question, &Closed::AskedAgain).await;
        posted.state = "closed".into();
    }
    // A question that is over is brought in step like any other.
    Ok(house.app.mail.add_posted(posted).await?)
}

/// Answers, and says how that went. Everything but an answer that does not count is an error.
pub(super) async fn decide(
    house: &House,
    visitor: &Visitor,
    id: &ApprovalId,
    answer: &Answer,
) -> anyhow::Result<String> {
    use crate::gate::DecideError;
    match house.app.router.answer(visitor, id, answer).await {
        Ok(_) => Ok(match answer {
            Answer::Allow { .. } => "Allowed.".to_owned(),
            Answer::Deny { .. } => "Denied.".to_owned(),
            Answer::Never => "Denied, and never again.".to_owned(),
        }),
        Err(DecideError::Store(error)) => Err(error.into()),
        Err(refused) => Ok(refused.to_string()),
    }
}

async fn ask_for_word(house: &House, place: &Place, id: &ApprovalId) -> anyhow::Result<String> {
    match house.api.ask_for_reply(place, "Denied once you have replied to this message with the reason.").await {
        Ok(message) => {
            let (approval, address) = (id.clone(), place.address());
            house.app.mail.add_posted(PostedRow { approval, address, message, state: "why".into() }).await?;
            Ok("Reply with the reason.".to_owned())
        }
        Err(fault) => Ok(fault.to_string()),
    }
}

/// The question that this message denies with a word: an owner's reply to the message that asked for it. Also when the
/// question is closed by now, because such a reply is never meant for the model.
pub(super) fn word_for(house: &House, said: &Said, visitor: &Visitor) -> Result<Option<ApprovalId>, StoreError> {
    let Some((replied, _)) = &said.reply else { return Ok(None) };
    if !house.telegram.owners.contains(&said.user) {
        return Ok(None);
    }
    let posted = house.app.mail.posted_at(&visitor.from, *replied)?;
    Ok(posted.filter(|posted| posted.state.starts_with("why")).map(|posted| posted.approval))
}

/// Asks what is still open again, once; then keeps every message in step with its question.
pub(super) async fn keep(house: Arc<House>) {
    if let Err(error) = ask_again(&house).await {
        tracing::error!(error = format!("{error:#}"), "the open questions could not be asked again");
    }
    let mut ear = house.ear();
    loop {
        if let Err(error) = keep_in_step(&house).await {
            tracing::error!(error = format!("{error:#}"), "the questions on the screen could not be looked over");
        }
        ear.listen(LOOK).await;
    }
}

/// Telegram drops a tap after 150 seconds, so what was tapped while claw was away is lost: the old message says so, and a new
/// one has buttons.
async fn ask_again(house: &House) -> anyhow::Result<()> {
    for posted in house.app.mail.posted()? {
        let Some((place, row)) = known(house, &posted)? else { continue };
        if row.state != "waiting" || !matches!(posted.state.as_str(), "open" | "stale") {
            continue;
        }
        if posted.state == "open" {
            let message = match until_sent(|| send(house, &place, &row.question)).await {
                Ok(message) => message,
                Err(fault) => {
                    tracing::error!(%fault, "a question could not be asked again; `claw approvals` lists it");
                    continue;
                }
            };
            house.app.mail.asked_again(posted.clone(), message).await?;
        }
        edit(house, &place, &posted, &row.question, &Closed::AskedAgain).await;
        house.app.mail.set_posted(&posted.address, posted.message, "closed").await?;
    }
    Ok(())
}

async fn keep_in_step(house: &House) -> anyhow::Result<()> {
    for posted in house.app.mail.posted()? {
        let Some((place, row)) = known(house, &posted)? else { continue };
        if row.state == "waiting" {
            continue;
        }
        let call = house.app.store.read(|tx| tx.call(&row.call))?;
        let (how, ended) = closed(&row, call.as_ref());
        let state = if ended { "closed" } else { "answered" };
        if posted.state == state {
            continue;
        }
        if posted.state != "why" {
            edit(house, &place, &posted, &row.question, &how).await;
        }
        let state = if posted.state == "why" { "why closed" } else { state };
        house.app.mail.set_posted(&posted.address, posted.message, state).await?;
    }
    Ok(())
}

/// The place and the question of a message of this bot.
fn known(house: &House, posted: &PostedRow) -> anyhow::Result<Option<(Place, ApprovalRow)>> {
    let Some(place) = Place::of(&posted.address).filter(|place| place.bot == house.me.id) else { return Ok(None) };
    let row = house.app.store.read(|tx| tx.approval(&posted.approval))?;
    Ok(row.map(|row| (place, row)))
}

/// How a question was closed, and whether nothing more will come of it.
fn closed(row: &ApprovalRow, call: Option<&CallRow>) -> (Closed, bool) {
    let at_ms = row.decided_ms.unwrap_or_default();
    match (row.state.as_str(), &row.answer) {
        ("expired", _) => (Closed::Expired { at_ms }, true),
        (_, Some(answer)) => {
            let end = call.and_then(|call| match call.outcome.as_ref()? {
                Outcome::Ended { output } if output.is_error => Some(CallEnd::Failed),
                Outcome::Ended { .. } => Some(CallEnd::Ok),
                Outcome::Denied { .. } => Some(CallEnd::Denied),
                Outcome::Unknown { .. } => Some(CallEnd::Unknown),
                Outcome::Parked { .. } => None,
            });
            let by = row.decided_by.clone().unwrap_or_default();
            (Closed::Answered { answer: answer.clone(), by, at_ms, end }, end.is_some())
        }
        _ => (Closed::Superseded { at_ms }, true),
    }
}

fn closed_words(row: &ApprovalRow) -> String {
    match (row.state.as_str(), &row.decided_by) {
        ("expired", _) => "This question has expired.".to_owned(),
        ("approved" | "denied", Some(by)) => format!("This was already {} by {by}.", row.state),
        _ => "This question is closed.".to_owned(),
    }
}

/// Shows what became of a question, without buttons. A message that cannot be changed any more stays as it is.
async fn edit(house: &House, place: &Place, posted: &PostedRow, question: &Question, how: &Closed) {
    let clock = Clock::system();
    let part: Part = question::answered(question, how, &clock);
    let long = matches!(question::question(question, &clock), QuestionText::Long { .. });
    let edited = until_sent(|| async {
        if long {
            house.api.edit_caption(place, posted.message, &part, &[]).await
        } else {
            house.api.edit(place, posted.message, &part, &[]).await
        }
    });
    if let Err(fault) = edited.await {
        tracing::warn!(%fault, "a question could not be changed on the screen");
    }
}
