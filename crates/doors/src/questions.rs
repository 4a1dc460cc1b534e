//! The messages that show questions: which to ask, to ask again after a restart, and to keep in
//! step with their question. Must not know how a message is sent or changed, or what a tap does.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::ChatDoor;
use super::asking::{ask, known, show, show_answered};
use super::door::{CallStatus, Closed};
use super::sessions::{place_of_question, prefix};
use super::staged_questions;
use crate::domain::{Address, ApprovalId, ApprovalState, CallList, Outcome, PostedState, Staged};
use crate::mail::{AnsweredCall, AskedQuestion, MailError, PostedQuestion};

/// Messages are looked over this often without a wake-up.
const LOOK: Duration = Duration::from_secs(30);
/// After a fault of the store.
const RETRY: Duration = Duration::from_secs(5);

/// What has to be done in a chat.
enum Job {
    /// What was answered while claw was away may be lost (Telegram drops a tap after 150 seconds):
    /// the old message says where the question is, and a new one has buttons. A tap that is still
    /// there counts, and comes first.
    AskAgain(PostedQuestion),
    /// A question that no owner sees where it was asked.
    AskHere(Box<AskedQuestion>),
    /// The message of a list that is open shows what of it is answered.
    ShowAnswered(PostedQuestion, Box<AskedQuestion>),
    /// The message shows what became of the question; `state` is what it then is.
    Show(PostedQuestion, Closed, PostedState),
}

/// What the messages of open lists show of their answers, as far as this process has changed them.
type ShownLists = HashMap<(Address, i64), Vec<ApprovalState>>;

/// Asks what is still open again, once; then keeps every message in step with its question. Each
/// chat by itself, so that one that has to be waited for holds up no other.
pub async fn keep<D: ChatDoor>(door: Arc<D>) {
    // What an earlier process has asked: before anything is asked in this one.
    let mut again = door.shared().mail().posted().map(|posted| asked_before(&posted)).ok();
    let given_up: Arc<Mutex<HashSet<ApprovalId>>> = Arc::default();
    let busy: Arc<Mutex<HashSet<Address>>> = Arc::default();
    let mut shown = ShownLists::new();
    let mut wake_ups = door.shared().wake_ups();
    loop {
        if let Some(again) = &mut again {
            again.extend(door.shared().take_outdated());
        }
        match jobs(&*door, &mut again, &mut shown, &given_up) {
            Ok(chats) => {
                for (address, jobs) in chats {
                    if busy.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone()) {
                        forget(&mut again, &jobs);
                        note_shown(&mut shown, &jobs);
                        claw_kit::task::spawn(in_chat(
                            door.clone(),
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
fn jobs<D: ChatDoor>(
    door: &D,
    again: &mut Option<HashSet<(Address, i64)>>,
    shown: &mut ShownLists,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> anyhow::Result<BTreeMap<Address, Vec<Job>>> {
    let all = again.as_ref().is_none_or(|again| !again.is_empty());
    let posted = if all {
        door.shared().mail().posted()?
    } else {
        door.shared().mail().posted_and_closed()?
    };
    let again = again.get_or_insert_with(|| asked_before(&posted));
    let mut chats: BTreeMap<Address, Vec<Job>> = BTreeMap::new();
    let mut on_the_way = HashSet::new();
    if !again.is_empty() && door.shared().has_caught_up() {
        let asked: Vec<ApprovalId> = posted.iter().map(|one| one.approval.clone()).collect();
        on_the_way = door.answers_on_the_way(&asked)?;
    }
    for posted in posted {
        let Some(row) = known(door, &posted)? else { continue };
        // What was answered while claw was away is handled before anything is asked once more.
        let waits = row.state == ApprovalState::Waiting
            && posted.state == PostedState::Open
            && (!door.shared().has_caught_up() || on_the_way.contains(&row.id));
        let address = posted.address.clone();
        if !waits && let Some(job) = job(door, posted, &row, again)? {
            chats.entry(address).or_default().push(job);
        }
    }
    for (posted, row) in answered_lists(door, shown)? {
        let address = posted.address.clone();
        chats.entry(address).or_default().push(Job::ShowAnswered(posted, Box::new(row)));
    }
    if let Some(address) = door.owners_place().filter(|address| door.writes_to(address)) {
        let mut unseen = Vec::new();
        for id in door.shared().mail().unseen_at(&address)? {
            let given_up = given_up.lock().unwrap_or_else(PoisonError::into_inner).contains(&id);
            let row = door.shared().mail().asked_question(&id)?;
            unseen.extend(row.filter(|row| !given_up && no_owner_sees(door, row)));
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

/// The messages of open lists that do not show yet what of them is answered.
fn answered_lists<D: ChatDoor>(
    door: &D,
    shown: &mut ShownLists,
) -> anyhow::Result<Vec<(PostedQuestion, AskedQuestion)>> {
    let posted = door.shared().mail().posted_lists()?;
    shown.retain(|message, _| posted.iter().any(|one| at(one) == *message));
    let mut answered = Vec::new();
    for posted in posted {
        let Some(row) = known(door, &posted)? else { continue };
        let states = row.question.list.as_ref().map(CallList::states).unwrap_or_default();
        if row.state == ApprovalState::Waiting && shown.get(&at(&posted)) != Some(&states) {
            answered.push((posted, row));
        }
    }
    Ok(answered)
}

fn note_shown(shown: &mut ShownLists, jobs: &[Job]) {
    for job in jobs {
        if let Job::ShowAnswered(posted, row) = job
            && let Some(list) = &row.question.list
        {
            shown.insert(at(posted), list.states());
        }
    }
}

fn at(posted: &PostedQuestion) -> (Address, i64) {
    (posted.address.clone(), posted.message)
}

fn asked_before(posted: &[PostedQuestion]) -> HashSet<(Address, i64)> {
    let live = posted.iter().filter(|posted| posted.state.is_live());
    live.map(|posted| (posted.address.clone(), posted.message)).collect()
}

fn job<D: ChatDoor>(
    door: &D,
    posted: PostedQuestion,
    row: &AskedQuestion,
    again: &mut HashSet<(Address, i64)>,
) -> Result<Option<Job>, MailError> {
    if row.state == ApprovalState::Waiting {
        let message = (posted.address.clone(), posted.message);
        // Buttons that need no question ask nobody anything: they stay where they are, and work.
        if matches!(row.question.staged, Some(Staged::Buttons { .. }))
            && posted.state == PostedState::Open
        {
            again.remove(&message);
        }
        return Ok(again.contains(&message).then_some(Job::AskAgain(posted)));
    }
    let call = door.shared().mail().calls_of(row)?.pop();
    let (how, ended) = closed(row, call.as_ref());
    // What becomes of each item is told in its own message, and of each call by its result.
    let ended = ended
        || matches!(row.question.staged, Some(Staged::All { .. }))
        || row.question.list.is_some();
    let state = match posted.state {
        PostedState::AsksReason => PostedState::ReasonClosed,
        _ if ended => PostedState::Closed,
        _ => PostedState::Answered,
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
pub fn is_asked_in<D: ChatDoor>(door: &D, to: &Address, row: &AskedQuestion) -> bool {
    let own = place_of_question(door, &row.question);
    if own.as_ref() == Some(to) {
        return door.has_an_owner(to);
    }
    door.owners_place().as_ref() == Some(to) && no_owner_sees(door, row)
}

/// Whether a question is to be put to the chat for what needs a human: nobody who may decide reads
/// the chat in which it was asked, and an owner at this door may answer it.
fn no_owner_sees<D: ChatDoor>(door: &D, row: &AskedQuestion) -> bool {
    let of_another_instance = || {
        let session = row.question.session.as_ref();
        session.is_some_and(|session| session.as_str().starts_with(&prefix::<D>()))
    };
    let unseen = match place_of_question(door, &row.question) {
        Some(place) => !door.has_an_owner(&place),
        None => door.asks_for_others(row) && !of_another_instance(),
    };
    unseen && row.approvers.iter().any(|who| door.is_owner(who))
}

async fn in_chat<D: ChatDoor>(
    door: Arc<D>,
    busy: Arc<Mutex<HashSet<Address>>>,
    given_up: Arc<Mutex<HashSet<ApprovalId>>>,
    address: Address,
    jobs: Vec<Job>,
) {
    for job in jobs {
        if let Err(error) = carry_out(&*door, &address, &job, &given_up).await {
            tracing::error!(error = format!("{error:#}"), "a question could not be shown as it is");
            tokio::time::sleep(RETRY).await;
        }
    }
    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    door.shared().wake();
}

async fn carry_out<D: ChatDoor>(
    door: &D,
    to: &Address,
    job: &Job,
    given_up: &Mutex<HashSet<ApprovalId>>,
) -> Result<(), MailError> {
    match job {
        Job::AskAgain(posted) => {
            let Some(row) = known(door, posted)?.filter(|row| row.state == ApprovalState::Waiting)
            else {
                return Ok(());
            };
            if posted.state == PostedState::Stale
                || ask(door, to, &row, Some(posted), given_up).await?
            {
                show(door, posted, &Closed::AskedAgain, PostedState::Closed).await?;
            }
        }
        Job::AskHere(row) => {
            ask(door, to, row, None, given_up).await?;
        }
        Job::ShowAnswered(posted, row) => show_answered(door, posted, row).await,
        Job::Show(posted, how, state) => show(door, posted, how, *state).await?,
    }
    Ok(())
}

/// How a question was closed, and whether nothing more will come of it.
pub fn closed(row: &AskedQuestion, call: Option<&AnsweredCall>) -> (Closed, bool) {
    let at_ms = row.decided_ms.unwrap_or_default();
    match (row.state, &row.answer) {
        (ApprovalState::Expired, _) => (Closed::Expired { at_ms }, true),
        (_, Some(answer)) => {
            let end = call.and_then(|call| match call.outcome.as_ref()? {
                Outcome::Ended { output } if output.is_error => Some(CallStatus::Failed),
                Outcome::Ended { .. } => Some(CallStatus::Ok),
                Outcome::Denied { .. } => Some(CallStatus::Denied),
                Outcome::Unknown { .. } => Some(CallStatus::Unknown),
                Outcome::Parked { .. } | Outcome::Left => None,
            });
            let by = row.decided_by.clone().unwrap_or_default();
            (Closed::Answered { answer: answer.clone(), by, at_ms, end }, end.is_some())
        }
        _ => (Closed::Superseded { at_ms, why: row.decided_by.clone().unwrap_or_default() }, true),
    }
}
