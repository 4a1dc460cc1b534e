//! Whether a conversation has something to look at: another commit, or a question whose time is
//! over. Must not know what is shown.

use std::time::Duration;

use crate::clock::Clock;
use crate::domain::UnixMillis;
use crate::mail::{Mail, time_until};

/// What a conversation has seen. It goes with it: the next one looks at everything.
#[derive(Debug, Default)]
pub struct NewsSeen {
    /// Of the store, at the last look.
    version: Option<i64>,
    /// When the first of what was asked expires; `None` once that has passed.
    next_expiry_ms: Option<UnixMillis>,
}

impl NewsSeen {
    /// A question is open until then.
    pub fn is_open_until(&mut self, expires_ms: UnixMillis) {
        let next = self.next_expiry_ms.map_or(expires_ms, |at| at.min(expires_ms));
        self.next_expiry_ms = Some(next);
    }

    /// How long it is until the time of the next question is over.
    pub fn next_expiry(&self) -> Duration {
        self.next_expiry_ms.map_or(Duration::MAX, time_until)
    }

    /// Whether there is something to look at.
    pub fn is_news(&mut self, mail: &Mail) -> bool {
        if self.next_expiry_ms.is_some_and(|at| at <= Clock::system().now_ms) {
            self.next_expiry_ms = None;
            return true;
        }
        match mail.version() {
            Ok(version) => self.version.replace(version) != Some(version),
            Err(error) => {
                tracing::warn!(%error, "the store cannot be looked at");
                false
            }
        }
    }
}
