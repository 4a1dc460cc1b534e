//! What the tasks of one door share: the door context, wake-ups, which sessions run, how far each
//! conversation is. Must not know what any of them does.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::ChatDoor;
use super::chat_lock::ChatLocks;
use super::delivered::Chats;
use crate::domain::{Address, ApprovalId, SessionId};
use crate::door_context::Context;
use crate::mail::{Mail, PostedQuestion};

/// How long calls in hand may go on after a request to stop; then they are cut.
pub const GRACE: Duration = Duration::from_secs(10);
/// How long the servers of calls that were cut have to end, and what is left to say has to be sent.
pub const LAST: Duration = Duration::from_secs(5);

/// Made when the door opens, and gone with its last task. `T` is one message of the door.
pub struct DoorState<T> {
    /// All that the door knows of claw.
    pub context: Context,
    /// No new work.
    pub closing: CancellationToken,
    /// What has been said where.
    pub chats: Chats<T>,
    /// Who changes messages that show questions.
    pub chat_locks: ChatLocks,
    /// Sent whenever something was committed; every task looks for what is its own.
    wake_up: watch::Sender<u64>,
    /// The sessions that this process runs now.
    running: Mutex<HashSet<SessionId>>,
    /// The sessions whose last run has ended at an open question.
    parked: Mutex<HashSet<SessionId>>,
    /// Messages whose question stands in a newer one now; `questions` makes them say so.
    outdated: Mutex<Vec<(Address, i64)>>,
    /// Questions that are on their way into a message whose number is not on record yet.
    asking: Mutex<HashSet<(Address, ApprovalId)>>,
    /// Whether everything that had come in before this start is on the disk, as far as the chat
    /// service can be asked.
    caught_up: AtomicBool,
    /// Notified when a run of a session has ended.
    ended: Notify,
}

/// A question that is on its way into a message. Whoever sends it may be stopped.
#[must_use]
pub struct Asking<'a> {
    asking: &'a Mutex<HashSet<(Address, ApprovalId)>>,
    question: (Address, ApprovalId),
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.question);
    }
}

impl<T> DoorState<T> {
    pub fn new(context: Context) -> Self {
        Self {
            context,
            closing: CancellationToken::new(),
            chats: Chats::default(),
            chat_locks: ChatLocks::default(),
            wake_up: watch::Sender::new(0),
            running: Mutex::default(),
            parked: Mutex::default(),
            outdated: Mutex::default(),
            asking: Mutex::default(),
            caught_up: AtomicBool::new(false),
            ended: Notify::new(),
        }
    }

    pub fn mail(&self) -> &Mail {
        &self.context.mail
    }

    pub fn wake(&self) {
        self.wake_up.send_modify(|count| *count += 1);
    }

    /// Wake-ups for one task: one that comes between two looks is not missed.
    pub fn wake_ups(&self) -> WakeUps {
        WakeUps { wake_up: self.wake_up.subscribe() }
    }

    /// Whether the session was free, and is now marked as running.
    pub fn begin(&self, session: &SessionId) -> bool {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone())
    }

    pub fn end(&self, session: &SessionId) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
        self.ended.notify_waiters();
        self.wake();
    }

    pub fn is_parked(&self, session: &SessionId) -> bool {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).contains(session)
    }

    pub fn set_parked(&self, session: &SessionId, is: bool) {
        let mut parked = self.parked.lock().unwrap_or_else(PoisonError::into_inner);
        if is {
            parked.insert(session.clone())
        } else {
            parked.remove(session)
        };
    }

    /// Notes messages that have to say where their question is now.
    pub fn outdated(&self, posted: &[PostedQuestion]) {
        let messages = posted.iter().map(|posted| (posted.address.clone(), posted.message));
        self.outdated.lock().unwrap_or_else(PoisonError::into_inner).extend(messages);
    }

    pub fn take_outdated(&self) -> Vec<(Address, i64)> {
        std::mem::take(&mut *self.outdated.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn is_asking(&self, to: &Address, id: &ApprovalId) -> bool {
        let asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.contains(&(to.clone(), id.clone()))
    }

    /// The question is on its way until what this gives is dropped.
    pub fn begin_asking(&self, to: &Address, id: &ApprovalId) -> Asking<'_> {
        let question = (to.clone(), id.clone());
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.insert(question.clone());
        Asking { asking: &self.asking, question }
    }

    pub fn has_caught_up(&self) -> bool {
        self.caught_up.load(Ordering::SeqCst)
    }

    pub fn catch_up(&self) {
        if !self.caught_up.swap(true, Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Takes nothing new, and lets what is in hand end: what the door's sessions run, and what is
    /// waited for beside it. What takes too long is cut. False if it goes on all the same, from its
    /// log, at the next start.
    pub async fn wind_down(&self, beside: impl Future<Output = ()>) -> bool {
        self.closing.cancel();
        let ending = self.context.worker.ending();
        ending.begin();
        let settled = async {
            self.settled().await;
            beside.await;
        };
        tokio::pin!(settled);
        if tokio::time::timeout(GRACE, &mut settled).await.is_ok() {
            return true;
        }
        tracing::warn!("calls are still running and are cut; nobody knows what they have done");
        ending.cut();
        let is_cut = tokio::time::timeout(LAST, &mut settled).await.is_ok();
        if !is_cut {
            tracing::error!(
                "turns are still running; they go on from their logs at the next start"
            );
        }
        is_cut
    }

    /// Waits until no session runs.
    pub async fn settled(&self) {
        loop {
            let ended = self.ended.notified();
            if self.running.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                return;
            }
            ended.await;
        }
    }
}

/// Wakes the tasks of a door for what other processes commit: one look for all of them, until the
/// door ends.
pub async fn watch_commits<D: ChatDoor>(door: Arc<D>) {
    let mut seen = None;
    let mut changes = door.shared().mail().changes();
    loop {
        match door.shared().mail().version() {
            Ok(version) if seen.replace(version) != Some(version) => door.shared().wake(),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the store cannot be looked at"),
        }
        changes.wait().await;
    }
}

/// Waits for wake-ups.
pub struct WakeUps {
    wake_up: watch::Receiver<u64>,
}

impl WakeUps {
    /// Waits for a wake-up, which every commit of anybody causes, but no longer than `longest`.
    pub async fn wait(&mut self, longest: Duration) {
        // The door holds the other end, so this cannot fail.
        let _woken = tokio::time::timeout(longest, self.wake_up.changed()).await;
    }
}
