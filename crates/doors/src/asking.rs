//! One message that shows a question: sending it, changing it, putting right what nobody has noted.
//! Must not know when, or what a tap does.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::ChatDoor;
use super::call_list;
use super::door::{Closed, DoorFault, QuestionMessage};
use super::patience::{patiently, sparingly};
use super::questions::is_asked_in;
use super::sessions::place_of_question;
use crate::domain::{
    Address, ApprovalId, ApprovalState, CallOwner, Effect, PostedState, Question, Staged, escape,
};
use crate::mail::{AskedQuestion, MailError, PostedQuestion};

/// What an allowed user reads instead of a question that only somebody else may answer. Of all
/// staged items at once there is nothing to say beside each of them.
pub fn asked_elsewhere(question: &Question) -> Option<String> {
    let call = escape::visible(&format!("{}/{}", question.server, question.tool)).replace('`', "'");
    if question.list.is_some() {
        let things = call_list::about(question);
        return Some(format!("This needs the owner's yes: {things}. The owner has been asked."));
    }
    match &question.staged {
        Some(Staged::All { .. }) => None,
        Some(Staged::Buttons { .. }) => Some(format!("`{call}` has buttons. The owner has them.")),
        Some(Staged::Item { .. }) | None => {
            Some(format!("This needs the owner's yes: `{call}`. The owner has been asked."))
        }
    }
}

/// The question of a message, in a chat that this instance writes to.
pub fn known<D: ChatDoor>(
    door: &D,
    posted: &PostedQuestion,
) -> Result<Option<AskedQuestion>, MailError> {
    if !door.writes_to(&posted.address) {
        return Ok(None);
    }
    door.shared().mail().asked_question(&posted.approval)
}

/// Sends a question and notes in which message, and that an older one is stale from now on. False
/// if it could not be sent.
pub async fn ask<D: ChatDoor>(
    door: &D,
    to: &Address,
    row: &AskedQuestion,
    old: Option<&PostedQuestion>,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> Result<bool, MailError> {
    let _asking = door.shared().begin_asking(to, &row.id);
    let question = as_read_in(door, to, &row.question);
    match sparingly(|| door.ask(to, 0, &question)).await {
        Ok(asked) => {
            let new = asked.posted(&row.id, to);
            match old {
                Some(old) => door.shared().mail().asked_again(old.clone(), new).await?,
                None => door.shared().mail().add_posted(new).await?,
            }
            return Ok(true);
        }
        Err(DoorFault::Blocked(why)) => door.blocked(to, &why).await?,
        Err(fault) => {
            let claw = door.shared().context.claw();
            tracing::error!(%fault, "a question could not be asked; `{claw} approvals` lists it")
        }
    }
    given_up.lock().unwrap_or_else(PoisonError::into_inner).insert(row.id.clone());
    Ok(false)
}

/// A question whose message had arrived when the connection or claw was cut is on nobody's
/// record. The answer names both, so the message goes on record, unless another one is there that
/// shows the question, or it has no place there. While the question is asked again, the one that is
/// there may be the one in whose place this one was sent.
pub async fn adopt<D: ChatDoor>(
    door: &D,
    to: &Address,
    message: i64,
    file: bool,
    row: &AskedQuestion,
) -> Result<Option<PostedQuestion>, MailError> {
    let mail = door.shared().mail();
    if row.state != ApprovalState::Waiting || !is_asked_in(door, to, row) {
        return Ok(None);
    }
    // Looked at first: when it is over, the number is on record.
    let is_asking = door.shared().is_asking(to, &row.id);
    let shown = mail.posted_of(&row.id)?;
    let is_here = |other: &&PostedQuestion| other.address == *to && other.message == message;
    if let Some(noted) = shown.iter().find(is_here) {
        return Ok(Some(noted.clone()));
    }
    let is_older =
        |other: &PostedQuestion| is_asking && other.address == *to && other.message < message;
    if !shown.iter().all(is_older) {
        return Ok(None);
    }
    let posted = QuestionMessage { message, at_s: 0, file }.posted(&row.id, to);
    mail.arrived(posted.clone()).await?;
    Ok(Some(posted))
}

/// A message that went out just before claw was killed is on nobody's record, and its buttons look
/// as if they worked. Now that an answer has told its number, it says where the question is, or
/// what became of it.
pub async fn put_right<D: ChatDoor>(
    door: &D,
    to: &Address,
    message: i64,
    row: &AskedQuestion,
) -> Result<(), MailError> {
    if place_of_question(door, &row.question).as_ref() != Some(to) {
        return Ok(());
    }
    let posted = QuestionMessage { message, at_s: 0, file: false }.posted(&row.id, to);
    if row.state != ApprovalState::Waiting {
        // A question that is over is brought in step like any other.
        return door.shared().mail().add_posted(posted).await;
    }
    let newer =
        |other: &PostedQuestion| other.approval == row.id && other.state == PostedState::Open;
    if !door.shared().mail().posted()?.iter().any(newer) {
        // It has been sent this moment, and is about to be on record.
        return Ok(());
    }
    door.shared()
        .mail()
        .add_posted(PostedQuestion { state: PostedState::Stale, ..posted.clone() })
        .await?;
    show(door, &posted, &Closed::AskedAgain, PostedState::Closed).await
}

/// Shows what became of a question, and notes that the message shows it.
pub async fn show<D: ChatDoor>(
    door: &D,
    posted: &PostedQuestion,
    how: &Closed,
    state: PostedState,
) -> Result<(), MailError> {
    let shared = door.shared();
    let _mine = shared.chat_locks.lock(&posted.address).await;
    // What asked for a reason stays as it is, and so does what is in a chat that moved.
    if posted.state != PostedState::AsksReason
        && posted.message > 0
        && let Some(row) = known(door, posted)?
    {
        let question = as_read_in(door, &posted.address, &row.question);
        if let Err(fault) = patiently(|| door.close(posted, &question, how)).await {
            tracing::warn!(%fault, "a question could not be changed on the screen");
        }
    }
    shared.mail().set_posted(&posted.address, posted.message, state).await
}

/// Shows what of a list is answered, while the rest of it is open. What was closed or asked again
/// at this very moment is left to whoever does that.
pub async fn show_answered<D: ChatDoor>(door: &D, posted: &PostedQuestion, row: &AskedQuestion) {
    let _mine = door.shared().chat_locks.lock(&posted.address).await;
    match door.shared().mail().posted_at(&posted.address, posted.message) {
        Ok(Some(now)) if now.state == PostedState::Open => {}
        _ => return,
    }
    let question = as_read_in(door, &posted.address, &row.question);
    if let Err(fault) = patiently(|| door.show_answered(posted, &question)).await {
        tracing::warn!(%fault, "the answers to a list could not be shown in its message");
    }
}

/// The question as a chat shows it: with the name of its session where that is not the chat's own.
fn as_read_in<D: ChatDoor>(door: &D, to: &Address, question: &Question) -> Question {
    match place_of_question(door, question) {
        Some(own) if own == *to => question.clone(),
        _ => from_elsewhere(question),
    }
}

/// The question as another chat shows it, with the name of its session.
pub fn from_elsewhere(question: &Question) -> Question {
    let place = match question.call.owner() {
        CallOwner::Session(session) => format!("in the session `{session}`"),
        // The question names it.
        CallOwner::Client(_) if question.effect.as_ref().is_some_and(|it| it.for_client) => {
            return question.clone();
        }
        CallOwner::Client(client) => format!("for the client `{}`", escape::visible(client)),
        CallOwner::Claw => "for claw itself".to_owned(),
    };
    let effect = question.effect.clone().map(|effect| {
        let asker = match effect.asker {
            Some(asker) => format!("{asker}, {place}"),
            None => format!("{}{}", place[..1].to_uppercase(), &place[1..]),
        };
        Effect { asker: Some(asker), ..effect }
    });
    let why = format!("{place}, {}", question.why);
    Question { why, effect, ..question.clone() }
}
