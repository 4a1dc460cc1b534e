//! What the tasks of the gateway share: the door context, the bot, the wake-ups. Must not know what any of
//! them does.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::chat_lock::ChatLocks;
use super::delivered::Chats;
use super::files::Files;
use super::notify;
use crate::config::Telegram;
use crate::domain::{Address, SessionId, telegram_principal};
use crate::doors::Door;
use crate::doors::clock::Clock;
use crate::doors::context::Context;
use crate::doors::gateway::fleet::Fleet;
use crate::doors::telegram::api::pace::Pace;
use crate::doors::telegram::api::place::Place;
use crate::doors::telegram::api::{Api, Me};
use crate::mail::{Mail, MailError, PostedRow};
use crate::router::Router;

/// How often the store is looked at for what other processes did.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// An unknown user is mentioned in the log once in this time.
const UNKNOWN_USER_EVERY: Duration = Duration::from_secs(3600);
/// A person is told in words that the store cannot be written once in this time.
const STORE_FAILED_EVERY: Duration = Duration::from_secs(3600);
/// So many unknown users are told apart; more share a line.
const UNKNOWN_USERS_MAX: usize = 1000;

pub(super) struct GatewayContext {
    /// All that the door knows of claw.
    pub(super) door: Context,
    pub(super) mail: Mail,
    pub(super) router: Router,
    pub(super) telegram: Telegram,
    pub(super) api: Api,
    pub(super) me: Me,
    /// Whose turn it is to be sent.
    pub(super) pace: Pace,
    pub(super) files: Files,
    /// The other agents.
    pub(super) fleet: Arc<Fleet>,
    /// No new work.
    pub(super) closing: CancellationToken,
    /// Sent whenever something was committed; every task looks for what is its own.
    wake_up: watch::Sender<u64>,
    running: Mutex<HashSet<SessionId>>,
    /// The sessions whose last run has ended at an open question.
    parked: Mutex<HashSet<SessionId>>,
    /// Messages whose question stands in a newer one now; `questions` makes them say so.
    outdated: Mutex<Vec<(Address, i64)>>,
    /// Whether everything that had come in before this start is on the disk, as far as Telegram can
    /// be asked.
    caught_up: AtomicBool,
    ended: Notify,
    /// When each unknown user was last mentioned in the log.
    unknown_users: Mutex<HashMap<i64, Instant>>,
    /// The chats that do not let the bot write; the store has them, too.
    blocked: Mutex<HashSet<i64>>,
    /// What has been said where.
    pub(super) chats: Chats,
    /// Who changes messages that show questions.
    pub(super) chat_locks: ChatLocks,
    /// When the store last could not be written, as far as a person was told.
    store_failed: Mutex<Option<Instant>>,
    /// The day of which it was told that its tokens are nearly used up.
    tokens_told: Mutex<String>,
}

impl GatewayContext {
    pub(super) fn new(
        context: Context,
        telegram: Telegram,
        (api, me): (Api, Me),
        files: Files,
        fleet: Arc<Fleet>,
    ) -> Self {
        let (closing, wake_up) = (CancellationToken::new(), watch::Sender::new(0));
        let (running, ended) = (Mutex::default(), Notify::new());
        let pace = Pace::new(telegram.pace);
        let (unknown_users, blocked, store_failed) =
            (Mutex::default(), Mutex::default(), Mutex::default());
        Self {
            mail: context.mail.clone(),
            router: context.router.clone(),
            door: context,
            telegram,
            api,
            me,
            pace,
            files,
            fleet,
            closing,
            wake_up,
            running,
            parked: Mutex::default(),
            outdated: Mutex::default(),
            caught_up: AtomicBool::new(false),
            ended,
            unknown_users,
            blocked,
            store_failed,
            chats: Chats::default(),
            chat_locks: ChatLocks::default(),
            tokens_told: Mutex::default(),
        }
    }

    /// Where what needs a human goes; `None` if there is no owner.
    pub(super) fn notify_place(&self) -> Option<Place> {
        self.telegram.notify_chat.map(|chat| Place { bot: self.me.id, chat, thread: None })
    }

    /// The time, as the owner reads it.
    pub(super) fn clock(&self) -> Clock {
        Clock { zone: self.door.zone.clone(), ..Clock::system() }
    }

    /// Who somebody is to the readers of a chat.
    pub(super) fn known_as(&self, place: &Place, principal: &str) -> String {
        if place.chat > 0 && principal == telegram_principal(place.chat) {
            return "you".to_owned();
        }
        if principal == self.door.owner {
            "you, at the console".to_owned()
        } else {
            principal.to_owned()
        }
    }

    pub(super) fn is_owner(&self, user: i64) -> bool {
        self.telegram.owners.contains(&user)
    }

    /// Whether nobody who may decide reads this chat: the private one of an allowed user.
    pub(super) fn is_without_owner(&self, place: &Place) -> bool {
        place.chat > 0 && !self.is_owner(place.chat)
    }

    pub(super) fn is_blocked(&self, chat: i64) -> bool {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner).contains(&chat)
    }

    /// False when it was so before.
    pub(super) fn set_blocked(&self, chat: i64, is: bool) -> bool {
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        if is { blocked.insert(chat) } else { blocked.remove(&chat) }
    }

    /// Whether it was not yet told of this day that its tokens are nearly used up; the store knows
    /// it, too.
    pub(super) fn tokens_are_news(&self, day: &str) -> bool {
        let mut told = self.tokens_told.lock().unwrap_or_else(PoisonError::into_inner);
        let news = *told != day;
        day.clone_into(&mut told);
        news
    }

    /// Whether a person should hear that the store cannot be written: once in a while.
    pub(super) fn store_failure_is_news(&self) -> bool {
        let mut failed = self.store_failed.lock().unwrap_or_else(PoisonError::into_inner);
        let news = failed.is_none_or(|at| at.elapsed() > STORE_FAILED_EVERY);
        if news {
            *failed = Some(Instant::now());
        }
        news
    }

    pub(super) fn wake(&self) {
        self.wake_up.send_modify(|count| *count += 1);
    }

    /// Wake-ups for one task: one that comes between two looks is not missed.
    pub(super) fn wake_ups(&self) -> WakeUps {
        WakeUps { wake_up: self.wake_up.subscribe() }
    }

    /// Whether the session was free, and is now marked as running.
    pub(super) fn begin(&self, session: &SessionId) -> bool {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone())
    }

    pub(super) fn end(&self, session: &SessionId) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
        self.ended.notify_waiters();
        self.wake();
    }

    pub(super) fn is_parked(&self, session: &SessionId) -> bool {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).contains(session)
    }

    pub(super) fn set_parked(&self, session: &SessionId, is: bool) {
        let mut parked = self.parked.lock().unwrap_or_else(PoisonError::into_inner);
        if is {
            parked.insert(session.clone())
        } else {
            parked.remove(session)
        };
    }

    /// Notes messages that have to say where their question is now.
    pub(super) fn outdated(&self, posted: &[PostedRow]) {
        let messages = posted.iter().map(|posted| (posted.address.clone(), posted.message));
        self.outdated.lock().unwrap_or_else(PoisonError::into_inner).extend(messages);
    }

    pub(super) fn take_outdated(&self) -> Vec<(Address, i64)> {
        std::mem::take(&mut *self.outdated.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn has_caught_up(&self) -> bool {
        self.caught_up.load(Ordering::SeqCst)
    }

    pub(super) fn catch_up(&self) {
        if !self.caught_up.swap(true, Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Whether an unknown user is worth a line in the log: none can fill it.
    pub(super) fn is_news(&self, user: i64) -> bool {
        let mut unknown_users = self.unknown_users.lock().unwrap_or_else(PoisonError::into_inner);
        unknown_users.retain(|_, seen| seen.elapsed() < UNKNOWN_USER_EVERY);
        unknown_users.len() < UNKNOWN_USERS_MAX
            && unknown_users.insert(user, Instant::now()).is_none()
    }

    /// Waits until no session runs.
    pub(super) async fn settled(&self) {
        loop {
            let ended = self.ended.notified();
            if self.running.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                return;
            }
            ended.await;
        }
    }
}

impl Door for GatewayContext {
    fn agent(&self) -> &str {
        &self.door.agent
    }

    fn name(&self) -> &str {
        &self.me.username
    }

    fn has_notify_place(&self) -> bool {
        self.notify_place().is_some()
    }

    fn has_owner(&self, user: i64) -> bool {
        self.is_owner(user)
    }

    fn answers(&self) -> Result<(), MailError> {
        self.mail.version().map(drop)
    }

    fn tell<'a>(&'a self, kind: &'a str, every_ms: i64, text: String) -> BoxFuture<'a, ()> {
        Box::pin(notify::tell(self, kind, every_ms, text))
    }
}

/// Wakes the tasks for what other processes commit: one look for all of them, until the gateway
/// ends.
pub(super) async fn watch(ctx: Arc<GatewayContext>) {
    let mut seen = None;
    loop {
        match ctx.mail.version() {
            Ok(version) if seen.replace(version) != Some(version) => ctx.wake(),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the store cannot be looked at"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Waits for wake-ups.
pub(super) struct WakeUps {
    wake_up: watch::Receiver<u64>,
}

impl WakeUps {
    /// Waits for a wake-up, which every commit of anybody causes, but no longer than `longest`.
    pub(super) async fn wait(&mut self, longest: Duration) {
        // The context holds the other end, so this cannot fail.
        let _woken = tokio::time::timeout(longest, self.wake_up.changed()).await;
    }
}
