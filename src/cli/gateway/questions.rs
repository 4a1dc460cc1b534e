//! The messages that show questions: asking, asking again after a restart, and keeping each in step with its question. Must not
//! know how a question is drawn, or what a tap does.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::house::House;
use super::postman::until_sent;
use super::{notify, sessions};
use crate::app::telegram_principal;
use crate::domain::{Address, ApprovalId, Outcome, Question, escape};
use crate::gateway::telegram::Part;
use crate::gateway::telegram::fault::Fault;
use crate::gateway::telegram::pace::Urgency;
use crate::gateway::telegram::place::{DOOR, Place};
use crate::gateway::telegram::question::{self, CallEnd, Closed, QuestionText};
use crate::mail::PostedRow;
use crate::store::{ApprovalRow, CallRow, StoreError};

/// Messages are looked over this often without a bell.
const LOOK: Duration = Duration::from_secs(30);
/// After a fault of the store.
const RETRY: Duration = Duration::from_secs(5);

/// Sends a question. Returns its message, and whether that is a file: where Telegram refuses the formatting, the question goes
/// whole as a file and is never cut.
pub(super) async fn send(house: &House, place: &Place, question: &Question) -> Result<(i64, bool), Fault> {
    let (keyboard, clock) = (question::keyboard(question), house.clock());
    let sent = match question::question(question, &clock) {
        QuestionText::Whole(part) => house.api.send(place, &part, &keyboard).await.map(|message| (message, false)),
        QuestionText::Long { summary, document, file_name } => {
            let file = (file_name.as_str(), document);
            house.api.send_file(place, file, &summary, &keyboard).await.map(|message| (message, true))
        }
    };
    match sent {
        Err(Fault::Formatting(why)) => {
            tracing::warn!(why, "Telegram refused the formatting of a question; it goes as a file");
            let (caption, document, file_name) = question::attached_question(question, &clock);
            let file = (file_name.as_str(), document);
            house.api.send_file(place, file, &caption, &keyboard).await.map(|message| (message, true))
        }
        sent => sent,
    }
}

/// What a guest reads instead of a question that only somebody else may answer.
pub(super) fn asked_elsewhere(question: &Question) -> String {
    let call = escape::visible(&format!("{} {}", question.server, question.tool)).replace('`', "'");
    format!("This needs the owner's yes: `{call}`. The owner has been asked.")
}

/// What has to be done in a chat.
enum Job {
    /// Telegram drops a tap after 150 seconds, so what was tapped while claw was away is lost: the old message says so, and a
    /// new one has buttons.
    AskAgain(PostedRow),
    /// A question that no owner sees where it was asked.
    AskHere(Box<ApprovalRow>),
    /// The message shows what became of the question; `state` is what it then is.
    Show(PostedRow, Closed, &'static str),
}

/// Asks what is still open again, once; then keeps every message in step with its question. Each chat by itself, so that one
/// that has to be waited for holds up no other.
pub(super) async fn keep(house: Arc<House>) {
    let mut again: Option<HashSet<(Address, i64)>> = None;
    let given_up: Arc<Mutex<HashSet<ApprovalId>>> = Arc::default();
    let busy: Arc<Mutex<HashSet<Address>>> = Arc::default();
    let mut ear = house.ear();
    loop {
        match jobs(&house, &mut again, &given_up) {
            Ok(chats) => {
                for (address, jobs) in chats {
                    if busy.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone()) {
                        forget(&mut again, &jobs);
                        tokio::spawn(in_chat(house.clone(), busy.clone(), given_up.clone(), address, jobs));
                    }
                }
            }
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "the questions on the screen could not be looked over");
            }
        }
        ear.listen(LOOK).await;
    }
}

/// What there is to do now, by chat. The first look finds what an earlier process has asked.
fn jobs(
    house: &House,
    again: &mut Option<HashSet<(Address, i64)>>,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> anyhow::Result<BTreeMap<Address, Vec<Job>>> {
    let all = again.as_ref().is_none_or(|again| !again.is_empty());
    let posted = if all { house.app.mail.posted()? } else { house.app.mail.posted_and_closed()? };
    let again = again.get_or_insert_with(|| {
        posted
            .iter()
            .filter(|posted| matches!(posted.state.as_str(), "open" | "stale"))
            .map(|posted| (posted.address.clone(), posted.message))
            .collect()
    });
    let mut chats: BTreeMap<Address, Vec<Job>> = BTreeMap::new();
    for posted in posted {
        let Some(row) = known(house, &posted)? else { continue };
        let address = posted.address.clone();
        if let Some(job) = job(house, posted, &row, again)? {
            chats.entry(address).or_default().push(job);
        }
    }
    if let Some(place) = house.notify_place().filter(|place| !house.is_blocked(place.chat)) {
        let address = place.address();
        for id in house.app.mail.unseen_at(&address)? {
            let given_up = given_up.lock().unwrap_or_else(PoisonError::into_inner).contains(&id);
            let row = house.app.store.read(|tx| tx.approval(&id))?;
            if let Some(row) = row.filter(|row| !given_up && no_owner_sees(house, row)) {
                chats.entry(address.clone()).or_default().push(Job::AskHere(Box::new(row)));
            }
        }
    }
    Ok(chats)
}

fn job(
    house: &House,
    posted: PostedRow,
    row: &ApprovalRow,
    again: &HashSet<(Address, i64)>,
) -> Result<Option<Job>, StoreError> {
    if row.state == "waiting" {
        let old = again.contains(&(posted.address.clone(), posted.message));
        return Ok(old.then_some(Job::AskAgain(posted)));
    }
    let call = house.app.store.read(|tx| tx.call(&row.call))?;
    let (how, ended) = closed(row, call.as_ref());
    let state = match posted.state.as_str() {
        "why" => "why closed",
        _ if ended => "closed",
        _ => "answered",
    };
    Ok((posted.state != state).then_some(Job::Show(posted, how, state)))
}

/// What is being asked again is not asked once more.
fn forget(again: &mut Option<HashSet<(Address, i64)>>, jobs: &[Job]) {
    for job in jobs {
        if let (Job::AskAgain(posted), Some(again)) = (job, again.as_mut()) {
            again.remove(&(posted.address.clone(), posted.message));
        }
    }
}

/// The question of a message of this bot, in a chat that lets it write.
fn known(house: &House, posted: &PostedRow) -> Result<Option<ApprovalRow>, StoreError> {
    let mine = |place: &Place| place.bot == house.me.id && !house.is_blocked(place.chat);
    if !Place::of(&posted.address).is_some_and(|place| mine(&place)) {
        return Ok(None);
    }
    house.app.store.read(|tx| tx.approval(&posted.approval))
}

/// Whether a question is to be put to the chat for what needs a human: nobody who may decide reads the chat in which it was
/// asked, and an owner at Telegram may answer it.
fn no_owner_sees(house: &House, row: &ApprovalRow) -> bool {
    let session = &row.question.session;
    let unseen = match sessions::place_of(house, session) {
        Some(place) => house.is_guests_own(&place),
        None => house.telegram.console_questions && !session.as_str().starts_with(&format!("{DOOR}.")),
    };
    unseen
        && row
            .approvers
            .split(',')
            .any(|who| house.telegram.owners.iter().any(|owner| telegram_principal(*owner) == who))
}

async fn in_chat(
    house: Arc<House>,
    busy: Arc<Mutex<HashSet<Address>>>,
    given_up: Arc<Mutex<HashSet<ApprovalId>>>,
    address: Address,
    jobs: Vec<Job>,
) {
    if let Some(place) = Place::of(&address) {
        for job in jobs {
            if let Err(error) = carry_out(&house, &place, &job, &given_up).await {
                tracing::error!(error = format!("{error:#}"), "a question could not be shown as it is");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    house.ring();
}

async fn carry_out(
    house: &House,
    place: &Place,
    job: &Job,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> Result<(), StoreError> {
    let mail = &house.app.mail;
    match job {
        Job::AskAgain(posted) => {
            let Some(row) = known(house, posted)?.filter(|row| row.state == "waiting") else { return Ok(()) };
            if posted.state == "stale" || ask(house, place, &row, Some(posted), given_up).await? {
                edit(house, place, posted, &Closed::AskedAgain).await?;
                mail.set_posted(&posted.address, posted.message, "closed").await?;
            }
        }
        Job::AskHere(row) => {
            ask(house, place, row, None, given_up).await?;
        }
        Job::Show(posted, how, state) => {
            if posted.state != "why" {
                edit(house, place, posted, how).await?;
            }
            mail.set_posted(&posted.address, posted.message, state).await?;
        }
    }
    Ok(())
}

/// Sends a question and notes in which message, and that an older one is stale from now on. False if it could not be sent.
async fn ask(
    house: &House,
    place: &Place,
    row: &ApprovalRow,
    old: Option<&PostedRow>,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> Result<bool, StoreError> {
    let question = as_read_in(house, place, &row.question);
    match until_sent(house, place, Urgency::Answer, || send(house, place, &question)).await {
        Ok((message, file)) => {
            let (approval, address) = (row.id.clone(), place.address());
            let new = PostedRow { approval, address, message, state: "open".into(), file };
            match old {
                Some(old) => house.app.mail.asked_again(old.clone(), new).await?,
                None => house.app.mail.add_posted(new).await?,
            }
            return Ok(true);
        }
        Err(Fault::Forbidden(why)) => notify::blocked(house, place, &why).await?,
        Err(fault) => tracing::error!(%fault, "a question could not be asked; `claw approvals` lists it"),
    }
    given_up.lock().unwrap_or_else(PoisonError::into_inner).insert(row.id.clone());
    Ok(false)
}

/// A message that went out just before claw was killed is on nobody's record, and its buttons look as if they worked. Now that a
/// tap has told its number, it says where the question is, or what became of it.
pub(super) async fn put_right(house: &House, place: &Place, message: i64, row: &ApprovalRow) -> Result<(), StoreError> {
    if sessions::place_of(house, &row.question.session).as_ref() != Some(place) {
        return Ok(());
    }
    let (approval, address) = (row.id.clone(), place.address());
    let posted = PostedRow { approval, address, message, state: "open".into(), file: false };
    if row.state != "waiting" {
        // A question that is over is brought in step like any other.
        return house.app.mail.add_posted(posted).await;
    }
    let newer = |other: &PostedRow| other.approval == row.id && other.state == "open";
    if !house.app.mail.posted()?.iter().any(newer) {
        // It has been sent this moment, and is about to be on record.
        return Ok(());
    }
    house.app.mail.add_posted(PostedRow { state: "stale".into(), ..posted.clone() }).await?;
    edit(house, place, &posted, &Closed::AskedAgain).await?;
    house.app.mail.set_posted(&posted.address, message, "closed").await
}

/// The question as a chat shows it: with the name of its session where that is not the chat's own.
fn as_read_in(house: &House, place: &Place, question: &Question) -> Question {
    match sessions::place_of(house, &question.session) {
        Some(own) if own == *place => question.clone(),
        _ => question::from_elsewhere(question),
    }
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

/// Shows what became of a question, without buttons. A message that cannot be changed any more stays as it is.
async fn edit(house: &House, place: &Place, posted: &PostedRow, how: &Closed) -> Result<(), StoreError> {
    let Some(row) = known(house, posted)? else { return Ok(()) };
    let question = as_read_in(house, place, &row.question);
    // Before a message's form was on record, its length told it.
    let file = posted.file || question::is_long(&question);
    let how = match how.clone() {
        Closed::Answered { answer, by, at_ms, end } => {
            Closed::Answered { answer, by: house.known_as(place, &by), at_ms, end }
        }
        other => other,
    };
    let part = question::answered(&question, &how, file, &house.clock());
    let plain = Part { text: part.text.clone(), entities: Vec::new() };
    let change = async |part: &Part| {
        if file {
            house.api.edit_caption(place, posted.message, part, &[]).await
        } else {
            house.api.edit(place, posted.message, part, &[]).await
        }
    };
    let edited = until_sent(house, place, Urgency::Message, || async {
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
