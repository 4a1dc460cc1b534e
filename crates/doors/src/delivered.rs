//! How far the outbox has got in each chat, so that a draft never overtakes the words that it was
//! to become. Must not know what is said.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{Address, SessionId};

/// Every chat that was written to.
#[derive(Debug)]
pub struct Chats<T> {
    /// By conversation; none goes before the door ends.
    chats: Mutex<HashMap<Address, Arc<tokio::sync::Mutex<Delivered<T>>>>>,
}

impl<T> Default for Chats<T> {
    fn default() -> Self {
        Self { chats: Mutex::default() }
    }
}

impl<T> Chats<T> {
    /// What has been said in a chat; locked by whoever writes there.
    pub fn at(&self, address: &Address) -> Arc<tokio::sync::Mutex<Delivered<T>>> {
        self.chats
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(address.clone())
            .or_default()
            .clone()
    }
}

/// The newest words of the outbox in one chat. Held while something is sent there that must not
/// overtake it.
#[derive(Debug)]
pub struct Delivered<T> {
    /// The last turn and step of a session that the outbox has begun to write.
    through: Option<(SessionId, u64, u32)>,
    /// What each draft of the words that come next shows.
    shown: HashMap<i64, T>,
}

impl<T> Default for Delivered<T> {
    fn default() -> Self {
        Self { through: None, shown: HashMap::new() }
    }
}

impl<T> Delivered<T> {
    /// Notes that the words of a step are being sent, or without a step all that is left of a turn.
    pub fn begin(&mut self, session: &SessionId, turn_seq: u64, step: Option<u32>) {
        self.through = Some((session.clone(), turn_seq, step.unwrap_or(u32::MAX)));
    }

    /// Notes what a draft shows now.
    pub fn shows(&mut self, message: i64, part: T) {
        self.shown.insert(message, part);
    }

    /// What the drafts show, for whoever makes them final.
    pub fn take_shown(&mut self) -> HashMap<i64, T> {
        std::mem::take(&mut self.shown)
    }

    /// Whether the words of this step are the outbox's by now.
    pub fn reaches(&self, session: &SessionId, turn_seq: u64, step: u32) -> bool {
        self.through.as_ref().is_some_and(|(delivered, turn, last)| {
            delivered == session && (*turn, *last) >= (turn_seq, step)
        })
    }
}
