//! What the tasks of the gateway share: the house, the bot, the bell. Must not know what any of them does.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::config::Telegram;
use crate::desk::Desk;
use crate::domain::SessionId;
use crate::gateway::telegram::api::{Api, Me};
use crate::session::Worker;

/// How often the store is looked at for what other processes did.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A stranger is mentioned in the log once in this time.
const STRANGER_EVERY: Duration = Duration::from_secs(3600);
/// So many strangers are told apart; more share a line.
const STRANGERS_MAX: usize = 1000;

pub(super) struct House {
    pub(super) app: Arc<App>,
    pub(super) telegram: Telegram,
    pub(super) api: Api,
    pub(super) me: Me,
    pub(super) worker: Arc<Worker>,
    pub(super) desk: Desk,
    /// No new work.
    pub(super) closing: CancellationToken,
    /// Rung whenever something was committed; every task looks for what is its own.
    bell: watch::Sender<u64>,
    running: Mutex<HashSet<SessionId>>,
    ended: Notify,
    /// When each stranger was last mentioned in the log.
    strangers: Mutex<HashMap<i64, Instant>>,
}

impl House {
    pub(super) fn new(app: Arc<App>, telegram: Telegram, api: Api, me: Me, worker: Arc<Worker>, desk: Desk) -> Self {
        let (closing, bell) = (CancellationToken::new(), watch::Sender::new(0));
        let (running, ended) = (Mutex::default(), Notify::new());
        Self { app, telegram, api, me, worker, desk, closing, bell, running, ended, strangers: Mutex::default() }
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

/// Rings for what other processes commit. One look for all ears, until the gateway ends.
pub(super) async fn watch(house: Arc<House>) {
    let mut seen = None;
    loop {
        match house.app.mail.version() {
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
