//! Keeps every session of the door going, and those of other doors whose process has gone. Must not
//! know what a turn does.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ChatDoor;
use super::clock::Clock;
use crate::domain::{
    Address, ApprovalId, Outbound, OutboundBody, Question, SessionId, is_heartbeat_session, unseen,
};
use crate::door_context::WorkerHere;
use crate::mail::MailError;
use crate::session::Ran;

/// How long another door's own process has for what waits in its session, in milliseconds.
const OTHERS_FIRST_MS: i64 = 3_000;
/// How often questions are looked at whose time may be over.
const LOOK: Duration = Duration::from_secs(2);
/// A session whose question is over is tried again after this time.
const TRY_AGAIN: Duration = Duration::from_secs(60);
/// A chat hears once in this time that its session cannot go on, in milliseconds.
const TOLD_EVERY_MS: i64 = 3_600_000;
/// After a turn that failed in claw itself, and before a folder is looked for again.
const AFTER_FAULT: Duration = Duration::from_secs(5);

pub async fn keep<D: ChatDoor>(door: Arc<D>) {
    let mut wake_ups = door.shared().wake_ups();
    // What an earlier process left in the middle.
    let open = door.shared().mail().sessions_with_open_turn();
    let open = open.unwrap_or_else(|error| {
        tracing::error!(%error, "the interrupted turns cannot be read");
        Vec::new()
    });
    let is_own = |session: &SessionId| {
        session.as_str().starts_with(&door.sees_to_first()) || is_heartbeat_session(session)
    };
    for session in open.into_iter().filter(is_own) {
        launch(&door, session);
    }
    let mut tried = HashMap::new();
    let mut looked: Option<Instant> = None;
    while !door.shared().closing.is_cancelled() {
        // What time brings is looked for now and then, not at every wake-up.
        let all = looked.is_none_or(|at| at.elapsed() >= LOOK);
        if all {
            looked = Some(Instant::now());
        }
        match waiting(&*door, &mut tried, all) {
            Ok(sessions) => sessions.into_iter().for_each(|session| launch(&door, session)),
            Err(error) => tracing::error!(%error, "the sessions cannot be read"),
        }
        wake_ups.wait(LOOK).await;
    }
}

/// What the names of a door's sessions begin with.
pub(super) fn prefix<D: ChatDoor>() -> String {
    format!("{}.", D::NAME)
}

/// The sessions with something to take in, and those with a question whose time is over. Each of
/// the latter is tried now and then, because a question that its session does not know any more
/// would otherwise keep it busy forever.
fn waiting<D: ChatDoor>(
    door: &D,
    tried: &mut HashMap<ApprovalId, Instant>,
    all: bool,
) -> Result<Vec<SessionId>, MailError> {
    let (mail, now_ms) = (door.shared().mail(), Clock::system().now_ms);
    let mut sessions = mail.sessions_with_work(&door.sees_to_first(), now_ms - OTHERS_FIRST_MS)?;
    let mut kept = Vec::new();
    for session in sessions {
        // Messages wait behind an open question. What ends that is an answer, an order, or time;
        // after an answer elsewhere another process may have ended the turn.
        let waits = door.shared().is_parked(&session)
            && mail.only_messages_queued(&session)?
            && mail.turn_open(&session)?;
        if !waits {
            kept.push(session);
        }
    }
    sessions = kept;
    if !all {
        return Ok(sessions);
    }
    tried.retain(|_, at| at.elapsed() < TRY_AGAIN);
    for row in mail.overdue_questions()? {
        if tried.insert(row.id.clone(), Instant::now()).is_none() {
            sessions.extend(row.question.session);
        }
    }
    Ok(sessions)
}

fn launch<D: ChatDoor>(door: &Arc<D>, session: SessionId) {
    if door.shared().begin(&session) {
        claw_kit::task::spawn(run(door.clone(), session));
    }
}

/// Marks a session as free, however its run ends.
struct Running<D: ChatDoor> {
    door: Arc<D>,
    session: SessionId,
}

impl<D: ChatDoor> Drop for Running<D> {
    fn drop(&mut self) {
        self.door.shared().end(&self.session);
    }
}

async fn run<D: ChatDoor>(door: Arc<D>, session: SessionId) {
    let _running = Running { door: door.clone(), session: session.clone() };
    let place = door.place_of(&session);
    let live = place.as_ref().map_or_else(unseen, |place| door.glimpses(&session, place));
    let found = match &place {
        Some(_) => (door.shared().context.worker_of)(session.clone()).await,
        // What other doors' processes have left stays theirs where they work elsewhere.
        None => Ok(WorkerHere { worker: door.shared().context.worker.clone(), folder: None }),
    };
    let here = match found {
        Ok(here) => here,
        Err(why) => return waits(&*door, &session, place, why).await,
    };
    let settled = {
        let run = here.worker.run(&session, &live);
        let working = async {
            if let Some(place) = &place {
                door.working(place).await;
            }
            // What shows the work may end; the work goes on.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            settled = run => settled,
            () = working => return,
        }
    };
    door.shared().set_parked(&session, matches!(settled, Ok(Ran::Parked)));
    if let Err(error) = settled {
        // What was committed is still there; the next look tries again.
        tracing::error!(%session, error = format!("{error:#}"), "a turn failed");
        tokio::time::sleep(AFTER_FAULT).await;
    }
}

/// A session that cannot go on in its folder. What waits there is kept; its chat is told why, not
/// too often.
async fn waits<D: ChatDoor>(door: &D, session: &SessionId, place: Option<Address>, why: String) {
    tracing::warn!(%session, why, "a session cannot go on");
    if let Some(to) = place {
        let kind = format!("folder.{session}");
        let body = OutboundBody::Notice { text: why };
        let notice = Outbound { session: session.clone(), to, body };
        if let Err(error) = door.shared().mail().notify(&kind, TOLD_EVERY_MS, notice).await {
            tracing::error!(%error, "that a session waits could not be told");
        }
    }
    tokio::time::sleep(AFTER_FAULT).await;
}

/// Where the session of a question has its conversation, if it has one at this door.
pub(super) fn place_of_question<D: ChatDoor>(door: &D, question: &Question) -> Option<Address> {
    question.session.as_ref().and_then(|session| door.place_of(session))
}
