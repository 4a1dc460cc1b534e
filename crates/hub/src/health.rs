//! How a server has been doing: its state for a human, and how long it is left alone after
//! failures. Must not know how a server is started.

use std::sync::Weak;
use std::time::Duration;

use claw_domain::HeldLevels;
use tokio::time::Instant;

use super::connection::Connection;
use super::rpc::era::Era;
use super::settings::ServerState;

/// A server that lived this long did not fail at its start.
const STABLE_AFTER: Duration = Duration::from_secs(60);
const BACKOFF_MAX: Duration = Duration::from_secs(60);

pub(super) struct Health {
    pub(super) phase: Phase,
    /// Remembered from one life to the next.
    pub(super) era: Option<Era>,
    /// What the box of our bash server holds, as the newest connection has told it.
    pub(super) held: Option<HeldLevels>,
    /// The last start got no answer to its first words, so the next one has others.
    pub(super) doubts_opening: bool,
    /// Failures in a row.
    failures: u32,
    not_before: Option<Instant>,
    /// A failure was reported, and nothing good has come since.
    is_reported: bool,
}

pub(super) enum Phase {
    Idle,
    Starting,
    Up { connection: Weak<Connection>, pid: Option<u32> },
    Failed { reason: String, at: Instant },
}

/// A server that is left alone for a while.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Backoff {
    pub(super) failures: u32,
    pub(super) retry_in: Duration,
    pub(super) reason: String,
}

impl Health {
    pub(super) fn new(era: Option<Era>) -> Self {
        Self {
            phase: Phase::Idle,
            era,
            held: None,
            doubts_opening: false,
            failures: 0,
            not_before: None,
            is_reported: false,
        }
    }

    /// An answered call: whatever was wrong before is over.
    pub(super) fn note_success(&mut self) {
        self.failures = 0;
        self.is_reported = false;
    }

    /// Whether a failure is to be reported: a server that fails again and again is news once.
    pub(super) fn is_news(&mut self) -> bool {
        !std::mem::replace(&mut self.is_reported, true)
    }

    /// The first failure may be tried again at once; after that 1 s, 2 s, 4 s, … up to a minute.
    pub(super) fn note_failure(&mut self, reason: &str) {
        self.failures = self.failures.saturating_add(1);
        let doublings = self.failures.saturating_sub(2).min(6);
        let wait =
            if self.failures < 2 { Duration::ZERO } else { Duration::from_secs(1 << doublings) };
        let now = Instant::now();
        self.not_before = Some(now + wait.min(BACKOFF_MAX));
        self.phase = Phase::Failed { reason: reason.to_owned(), at: now };
    }

    pub(super) fn note_death(&mut self, reason: &str, lived: Duration) {
        if lived >= STABLE_AFTER {
            self.note_success();
        }
        self.note_failure(reason);
    }

    /// `Some` while it is too early to try again.
    pub(super) fn backoff(&self) -> Option<Backoff> {
        let Phase::Failed { reason, .. } = &self.phase else { return None };
        let retry_in = self.not_before?.saturating_duration_since(Instant::now());
        (!retry_in.is_zero()).then(|| Backoff {
            failures: self.failures,
            retry_in,
            reason: reason.clone(),
        })
    }

    pub(super) fn state(&self) -> ServerState {
        match &self.phase {
            Phase::Idle => ServerState::Idle,
            Phase::Starting => ServerState::Starting,
            Phase::Failed { reason, at } => ServerState::Failed {
                reason: reason.clone(),
                since: at.elapsed(),
                retry_in: self.backoff().map_or(Duration::ZERO, |backoff| backoff.retry_in),
            },
            Phase::Up { connection, pid } => match connection.upgrade() {
                Some(up) => ServerState::Up {
                    era: up.era,
                    protocol: up.protocol.clone(),
                    pid: *pid,
                    tool_count: up.tool_count(),
                },
                None => ServerState::Idle,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_pause_doubles_up_to_a_minute_and_ends_with_success() {
        let mut health = Health::new(None);
        let mut pauses = Vec::new();
        for _ in 0..10 {
            health.note_failure("x");
            pauses.push(health.backoff().map_or(0, |backoff| backoff.retry_in.as_secs()));
        }
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(health.backoff(), None);
        health.note_death("x", Duration::from_secs(59));
        assert_eq!(health.backoff().unwrap().failures, 11);
        health.note_death("x", Duration::from_secs(60));
        assert_eq!(health.backoff(), None, "it had been well for a while");
        health.note_failure("x");
        health.note_success();
        health.note_failure("x");
        assert_eq!(health.backoff(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_news_once_and_says_when_the_next_try_is() {
        let mut health = Health::new(None);
        for news in [true, false, false] {
            health.note_failure("x");
            assert_eq!(health.is_news(), news);
        }
        let retry_in = |health: &Health| match health.state() {
            ServerState::Failed { retry_in, .. } => retry_in.as_millis(),
            other => panic!("{other:?}"),
        };
        assert_eq!(retry_in(&health), 2000);
        tokio::time::advance(Duration::from_millis(1500)).await;
        assert_eq!(retry_in(&health), 500);
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(retry_in(&health), 0);
        health.note_success();
        health.note_failure("x");
        assert!(health.is_news(), "it had been well");
    }
}
