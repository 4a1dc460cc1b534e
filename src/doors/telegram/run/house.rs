//! What the tasks of the gateway share: the house, the bot, the bell. Must not know what any of
//! them does.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::files::Files;
use super::hands::Hands;
use super::notify;
use super::said::Chats;
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
/// A stranger is mentioned in the log once in this time.
const STRANGER_EVERY: Duration = Duration::from_secs(3600);
/// A person is told in words that the store cannot be written once in this time.
const STORE_FAILED_EVERY: Duration = Duration::from_secs(3600);
/// So many strangers are told apart; more share a line.
const STRANGERS_MAX: usize = 1000;

pub(super) struct House {
    /// All that the door knows of the house.
    pub(super) context: Context,
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
    /// Rung whenever something was committed; every task looks for what is its own.
    bell: watch::Sender<u64>,
    running: Mutex<HashSet<SessionId>>,
    /// The sessions whose last run has ended at an open question.
    parked: Mutex<HashSet<SessionId>>,
    /// Messages whose question stands in a newer one now; `questions` makes them say so.
    outdated: Mutex<Vec<(Address, i64)>>,
    /// Whether everything that had come in before this start is on the disk, as far as Telegram can
    /// be asked.
    caught_up: AtomicBool,
    ended: Notify,
    /// When each stranger was last mentioned in the log.
    strangers: Mutex<HashMap<i64, Instant>>,
    /// The chats that do not let the bot write; the store has them, too.
    blocked: Mutex<HashSet<i64>>,
    /// What has been said where.
    pub(super) chats: Chats,
    /// Who changes messages that show questions.
    pub(super) hands: Hands,
    /// When the store last could not be written, as far as a person was told.
    store_failed: Mutex<Option<Instant>>,
    /// The day of which it was told that its tokens are nearly used up.
    tokens_told: Mutex<String>,
}

impl House {
    pub(super) fn new(
        context: Context,
        telegram: Telegram,
        (api, me): (Api, Me),
        files: Files,
        fleet: Arc<Fleet>,
    ) -> Self {
        let (closing, bell) = (CancellationToken::new(), watch::Sender::new(0));
        let (running, ended) = (Mutex::default(), Notify::new());
        let pace = Pace::new(telegram.pace);
        let (strangers, blocked, store_failed) =
            (Mutex::default(), Mutex::default(), Mutex::default());
        Self {
            mail: context.mail.clone(),
            router: context.router.clone(),
            context,
            telegram,
            api,
            me,
            pace,
            files,
            fleet,
            closing,
            bell,
            running,
            parked: Mutex::default(),
            outdated: Mutex::default(),
            caught_up: AtomicBool::new(false),
            ended,
            strangers,
            blocked,
            store_failed,
            chats: Chats::default(),
            hands: Hands::default(),
            tokens_told: Mutex::default(),
        }
    }

    /// Where what needs a human goes; `None` if there is no owner.
    pub(super) fn notify_place(&self) -> Option<Place> {
        self.telegram.notify_chat.map(|chat| Place { bot: self.me.id, chat, thread: None })
    }

    /// The time, as the owner reads it.
    pub(super) fn clock(&self) -> Clock {
        Clock { zone: self.context.zone.clone(), ..Clock::system() }
    }

    /// Who somebody is to the readers of a chat.
    pub(super) fn known_as(&self, place: &Place, principal: &str) -> String {
        if place.chat > 0 && principal == telegram_principal(place.chat) {
            return "you".to_owned();
        }
        if principal == self.context.owner {
            "you, at the console".to_owned()
        } else {
            principal.to_owned()
        }
    }

    pub(super) fn is_owner(&self, user: i64) -> bool {
        self.telegram.owners.contains(&user)
    }

    /// Whether nobody who may decide reads this chat: a guest's private one.
    pub(super) fn is_guests_own(&self, place: &Place) -> bool {
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

    pub(super) fn ring(&self) {
        self.bell.send_modify(|rung| *rung += 1);
    }

    /// An ear of its own for a task: a ring between two looks is not missed.
    pub(super) fn ear(&self) -> Ear {
        Ear { bell: self.bell.subscribe() }
    }

    /// Whether the session was free, and is now marked as running.
    pub(super) fn begin(&self, session: &SessionId) -> bool {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone())
    }

    pub(super) fn end(&self, session: &SessionId) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
        self.ended.notify_waiters();
        self.ring();
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
            self.ring();
        }
    }

    /// Whether a stranger is worth a line in the log: none can fill it.
    pub(super) fn is_news(&self, user: i64) -> bool {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.retain(|_, seen| seen.elapsed() < STRANGER_EVERY);
        strangers.len() < STRANGERS_MAX && strangers.insert(user, Instant::now()).is_none()
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

impl Door for House {
    fn agent(&self) -> &str {
        &self.context.agent
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

/// Rings for what other processes commit. One look for all ears, until the gateway ends.
pub(super) async fn watch(house: Arc<House>) {
    let mut seen = None;
    loop {
        match house.mail.version() {
            Ok(version) if seen.replace(version) != Some(version) => house.ring(),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the store cannot be looked at"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Hears the bell.
pub(super) struct Ear {
    bell: watch::Receiver<u64>,
}

impl Ear {
    /// Waits for the bell, which rings for a commit of anybody, but no longer than `longest`.
    pub(super) async fn listen(&mut self, longest: Duration) {
        // The house holds the other end, so this cannot fail.
        let _rung = tokio::time::timeout(longest, self.bell.changed()).await;
    }
}
