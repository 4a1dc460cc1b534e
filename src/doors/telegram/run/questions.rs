//! The messages that show questions: which to ask, to ask again after a restart, and to keep in
//! step with their question. Must not know how a message is sent or changed, or what a tap does.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::asking::{ask, known, show};
use super::context::GatewayContext;
use super::sessions;
use crate::domain::{Address, ApprovalId, ApprovalState, Outcome, Staged, telegram_principal};
use crate::doors::staged_questions;
use crate::doors::telegram::api::place::{DOOR, Place};
use crate::doors::telegram::render::question::{CallEnd, Closed};
use crate::mail::{ApprovalRow, CallRow, MailError, PostedRow};

/// Messages are looked over this often without a wake-up.
const LOOK: Duration = Duration::from_secs(30);
/// After a fault of the store.
const RETRY: Duration = Duration::from_secs(5);

/// What has to be done in a chat.
enum Job {
    /// Telegram drops a tap after 150 seconds, so what was tapped while claw was away may be lost:
    /// the old message says where the question is, and a new one has buttons. A tap that is still
    /// there counts, and comes first.
    AskAgain(PostedRow),
    /// A question that no owner sees where it was asked.
    AskHere(Box<ApprovalRow>),
    /// The message shows what became of the question; `state` is what it then is.
    Show(PostedRow, Closed, &'static str),
}

/// Asks what is still open again, once; then keeps every message in step with its question. Each
/// chat by itself, so that one that has to be waited for holds up no other.
pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    // What an earlier process has asked: before anything is asked in this one.
    let mut again = ctx.mail.posted().map(|posted| asked_before(&posted)).ok();
    let given_up: Arc<Mutex<HashSet<ApprovalId>>> = Arc::default();
    let busy: Arc<Mutex<HashSet<Address>>> = Arc::default();
    let mut wake_ups = ctx.wake_ups();
    loop {
        if let Some(again) = &mut again {
            again.extend(ctx.take_outdated());
        }
        match jobs(&ctx, &mut again, &given_up) {
            Ok(chats) => {
                for (address, jobs) in chats {
                    if busy.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone()) {
                        forget(&mut again, &jobs);
                        tokio::spawn(in_chat(
                            ctx.clone(),
                            busy.clone(),
                            given_up.clone(),
                            address,
                            jobs,
                        ));
                    }
                }
            }
            Err(error) => {
                tracing::error!(
                    error = format!("{error:#}"),
                    "the questions on the screen could not be looked over"
                );
            }
        }
        wake_ups.wait(LOOK).await;
    }
}

/// What there is to do now, by chat. The first look finds what an earlier process has asked.
fn jobs(
    ctx: &GatewayContext,
    again: &mut Option<HashSet<(Address, i64)>>,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> anyhow::Result<BTreeMap<Address, Vec<Job>>> {
    let all = again.as_ref().is_none_or(|again| !again.is_empty());
    let posted = if all { ctx.mail.posted()? } else { ctx.mail.posted_and_closed()? };
    let again = again.get_or_insert_with(|| asked_before(&posted));
    let taps = if again.is_empty() { Vec::new() } else { ctx.mail.kept_updates(ctx.me.id, 0)? };
    let is_tapped =
        |row: &ApprovalRow| taps.iter().any(|kept| kept.body.contains(&format!("\"q:{}:", row.id)));
    let mut chats: BTreeMap<Address, Vec<Job>> = BTreeMap::new();
    for posted in posted {
        let Some(row) = known(ctx, &posted)? else { continue };
        let address = posted.address.clone();
        // What was tapped while claw was away is handled before anything is asked once more.
        let waits = row.state == ApprovalState::Waiting
            && posted.state == "open"
            && (!ctx.has_caught_up() || is_tapped(&row));
        if waits {
            continue;
        }
        if let Some(job) = job(ctx, posted, &row, again)? {
            chats.entry(address).or_default().push(job);
        }
    }
    if let Some(place) = ctx.notify_place().filter(|place| !ctx.is_blocked(place.chat)) {
        let address = place.address();
        let mut unseen = Vec::new();
        for id in ctx.mail.unseen_at(&address)? {
            let given_up = given_up.lock().unwrap_or_else(PoisonError::into_inner).contains(&id);
            let row = ctx.mail.asked_question(&id)?;
            unseen.extend(row.filter(|row| !given_up && no_owner_sees(ctx, row)));
        }
        // What was staged together was asked in the same millisecond, and is read in its own order.
        unseen.sort_by_key(|row| {
            let staged = row.question.staged.as_ref()?;
            Some((row.question.session.clone(), staged_questions::place(staged)))
        });
        for row in unseen {
            chats.entry(address.clone()).or_default().push(Job::AskHere(Box::new(row)));
        }
    }
    Ok(chats)
}

fn asked_before(posted: &[PostedRow]) -> HashSet<(Address, i64)> {
    let live = posted.iter().filter(|posted| matches!(posted.state.as_str(), "open" | "stale"));
    live.map(|posted| (posted.address.clone(), posted.message)).collect()
}

fn job(
    ctx: &GatewayContext,
    posted: PostedRow,
    row: &ApprovalRow,
    again: &mut HashSet<(Address, i64)>,
) -> Result<Option<Job>, MailError> {
    if row.state == ApprovalState::Waiting {
        let message = (posted.address.clone(), posted.message);
        // Buttons that need no question ask nobody anything: they stay where they are, and work.
        if matches!(row.question.staged, Some(Staged::Buttons { .. })) && posted.state == "open" {
            again.remove(&message);
        }
        return Ok(again.contains(&message).then_some(Job::AskAgain(posted)));
    }
    let call = ctx.mail.calls_of(row)?.pop();
    let (how, ended) = closed(row, call.as_ref());
    // What becomes of each item is told in its own message.
    let ended = ended || matches!(row.question.staged, Some(Staged::All { .. }));
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

/// Whether this is where a question is asked: in its own conversation, or where an owner reads what
/// nobody else may answer.
pub(super) fn is_asked_in(ctx: &GatewayContext, place: &Place, row: &ApprovalRow) -> bool {
    let own = sessions::place_of_question(ctx, &row.question);
    if own.as_ref() == Some(place) {
        return !ctx.is_without_owner(place);
    }
    ctx.notify_place().as_ref() == Some(place) && no_owner_sees(ctx, row)
}

/// Whether a question is to be put to the chat for what needs a human: nobody who may decide reads
/// the chat in which it was asked, and an owner at Telegram may answer it.
fn no_owner_sees(ctx: &GatewayContext, row: &ApprovalRow) -> bool {
    let of_another_bot = || {
        let session = row.question.session.as_ref();
        session.is_some_and(|session| session.as_str().starts_with(&format!("{DOOR}.")))
    };
    let unseen = match sessions::place_of_question(ctx, &row.question) {
        Some(place) => ctx.is_without_owner(&place),
        None => ctx.telegram.console_questions && !of_another_bot(),
    };
    unseen
        && row
            .approvers
            .iter()
            .any(|who| ctx.telegram.owners.iter().any(|owner| telegram_principal(*owner) == who))
}

async fn in_chat(
    ctx: Arc<GatewayContext>,
    busy: Arc<Mutex<HashSet<Address>>>,
    given_up: Arc<Mutex<HashSet<ApprovalId>>>,
    address: Address,
    jobs: Vec<Job>,
) {
    if let Some(place) = Place::of(&address) {
        for job in jobs {
            if let Err(error) = carry_out(&ctx, &place, &job, &given_up).await {
                tracing::error!(
                    error = format!("{error:#}"),
                    "a question could not be shown as it is"
                );
                tokio::time::sleep(RETRY).await;
            }
        }
    }
    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    ctx.wake();
}

async fn carry_out(
    ctx: &GatewayContext,
    place: &Place,
    job: &Job,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> Result<(), MailError> {
    match job {
        Job::AskAgain(posted) => {
            let Some(row) = known(ctx, posted)?.filter(|row| row.state == ApprovalState::Waiting)
            else {
                return Ok(());
            };
            if posted.state == "stale" || ask(ctx, place, &row, Some(posted), given_up).await? {
                show(ctx, place, posted, &Closed::AskedAgain, "closed").await?;
            }
        }
        Job::AskHere(row) => {
            ask(ctx, place, row, None, given_up).await?;
        }
        Job::Show(posted, how, state) => show(ctx, place, posted, how, state).await?,
    }
    Ok(())
}

/// How a question was closed, and whether nothing more will come of it.
fn closed(row: &ApprovalRow, call: Option<&CallRow>) -> (Closed, bool) {
    let at_ms = row.decided_ms.unwrap_or_default();
    match (row.state, &row.answer) {
        (ApprovalState::Expired, _) => (Closed::Expired { at_ms }, true),
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
        _ => (Closed::Superseded { at_ms, why: row.decided_by.clone().unwrap_or_default() }, true),
    }
}
