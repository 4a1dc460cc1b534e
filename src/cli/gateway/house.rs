//! What the tasks of the gateway share: the house, the bot, the bell. Must not know what any of them does.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::config::Telegram;
use crate::desk::Desk;
use crate::domain::{Address, SessionId};
use crate::gateway::telegram::api::{Api, Me};
use crate::session::Worker;

/// How often the store is looked at for what other processes did, and for what time has brought.
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
    chats: Mutex<HashMap<Address, Arc<tokio::sync::Mutex<Said>>>>,
}

/// How far the outbox has got in a chat. Held while something is sent there that must not overtake it.
#[derive(Debug, Default)]
pub(super) struct Said {
    through: Option<(SessionId, u64, u32)>,
}

impl Said {
    /// Notes that the words of a step are being sent, or without a step all that is left of a turn.
    pub(super) fn begin(&mut self, session: &SessionId, turn_seq: u64, step: Option<u32>) {
        self.through = Some((session.clone(), turn_seq, step.unwrap_or(u32::MAX)));
    }

    /// Whether the words of this step are the outbox's by now.
    pub(super) fn reaches(&self, session: &SessionId, turn_seq: u64, step: u32) -> bool {
        self.through.as_ref().is_some_and(|(said, turn, last)| said == session && (*turn, *last) >= (turn_seq, step))
    }
}

impl House {
    pub(super) fn new(app: Arc<App>, telegram: Telegram, api: Api, me: Me, worker: Arc<Worker>, desk: Desk) -> Self {
        let (closing, bell) = (CancellationToken::new(), watch::Sender::new(0));
        let (running, ended) = (Mutex::default(), Notify::new());
        Self {
            app,
            telegram,
            api,
            me,
            worker,
            desk,
            closing,
            bell,
            running,
            ended,
            strangers: Mutex::default(),
            chats: Mutex::default(),
        }
    }

    /// What has been said in a chat; locked by whoever writes there.
    pub(super) fn chat(&self, address: &Address) -> Arc<tokio::sync::Mutex<Said>> {
        self.chats.lock().unwrap_or_else(PoisonError::into_inner).entry(address.clone()).or_default().clone()
    }

    pub(super) fn ring(&self) {
        self.bell.send_modify(|rung| *rung += 1);
    }

    /// An ear of its own for a task: a ring between two looks is not missed.
    pub(super) fn ear(self: &Arc<Self>) -> Ear {
        Ear { house: self.clone(), bell: self.bell.subscribe(), seen: None }
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

/// Hears the bell, and what other processes commit.
pub(super) struct Ear {
    house: Arc<House>,
    bell: watch::Receiver<u64>,
    seen: Option<i64>,
}

impl Ear {
    /// Waits for the bell, or for a commit of anybody, but no longer than `longest`.
    pub(super) async fn listen(&mut self, longest: Duration) {
        let deadline = tokio::time::Instant::now() + longest;
        loop {
            tokio::select! {
                _ = self.bell.changed() => return,
                () = tokio::time::sleep_until(deadline) => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            match self.house.app.mail.version() {
                Ok(version) if self.seen.replace(version) != Some(version) => return,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "the store cannot be looked at"),
            }
        }
    }
}
