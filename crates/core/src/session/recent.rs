//! The windows of the sessions that were at work last, so that a conversation that goes on is not
//! read and parsed again at every turn. Owns how many are kept. Must not know what is in them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::SessionId;
use crate::turn::Log;

/// A window is at most `limits.window_tokens` long, some hundred KiB, and most are much shorter.
const LOGS_MAX: usize = 8;

/// Newest last.
#[derive(Default)]
pub(super) struct Recent {
    /// The newest last. A run takes its own out and puts it back when it lets go.
    logs: Mutex<VecDeque<Log>>,
}

impl Recent {
    /// The window of a session, if its log still ends with `last_seq`. Logs only grow, and only
    /// their holder lets them grow; so whoever holds the lock and finds the same end has the same
    /// log.
    pub(super) fn take(&self, session: &SessionId, last_seq: u64) -> Option<Log> {
        let mut logs = self.logs();
        let at = logs.iter().position(|log| log.session() == session)?;
        logs.remove(at).filter(|log| log.next_seq() == last_seq + 1)
    }

    /// For a holder whose log is on the disk to its end.
    pub(super) fn keep(&self, log: Log) {
        let mut logs = self.logs();
        logs.push_back(log);
        if logs.len() > LOGS_MAX {
            logs.pop_front();
        }
    }

    /// For a process that ends now.
    pub(super) fn leave(&self) {
        std::mem::forget(std::mem::take(&mut *self.logs()));
    }

    fn logs(&self) -> MutexGuard<'_, VecDeque<Log>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: usize) -> SessionId {
        SessionId::new(format!("s{number}")).unwrap()
    }

    #[test]
    fn a_log_is_given_once_and_only_if_it_has_not_grown() {
        let recent = Recent::default();
        recent.keep(Log::new(session(1), Vec::new(), 4));
        assert!(recent.take(&session(2), 4).is_none());
        assert_eq!(recent.take(&session(1), 4).map(|log| log.next_seq()), Some(5));
        assert!(recent.take(&session(1), 4).is_none(), "whoever has it brings it back");
        recent.keep(Log::new(session(1), Vec::new(), 4));
        assert!(recent.take(&session(1), 5).is_none(), "somebody else has written to it");
    }

    #[test]
    fn the_oldest_goes_first() {
        let recent = Recent::default();
        (0..=LOGS_MAX).for_each(|number| recent.keep(Log::new(session(number), Vec::new(), 0)));
        assert!(recent.take(&session(0), 0).is_none());
        assert!((1..=LOGS_MAX).all(|number| recent.take(&session(number), 0).is_some()));
    }
}
