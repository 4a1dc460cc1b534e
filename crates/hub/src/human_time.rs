//! The time in which a call waits for a person, which no limit of the call counts. Must not know
//! who waits, or for what.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Shared by all who limit one call. Lives as long as the call.
#[derive(Clone, Debug)]
pub struct HumanTime {
    waited: Arc<Mutex<Waited>>,
    /// Goes up with each wait that begins or ends.
    changes: Arc<watch::Sender<u64>>,
}

#[derive(Debug, Default)]
struct Waited {
    before: Duration,
    since: Option<Instant>,
}

/// A wait that is under way. It ends when this is dropped.
#[derive(Debug)]
pub struct HumanWait(HumanTime);

impl Default for HumanTime {
    fn default() -> Self {
        Self { waited: Arc::default(), changes: Arc::new(watch::Sender::new(0)) }
    }
}

impl HumanTime {
    /// A person is waited for from now on. One at a time.
    pub fn begin(&self) -> HumanWait {
        self.lock().since = Some(Instant::now());
        self.changes.send_modify(|changes| *changes += 1);
        HumanWait(self.clone())
    }

    /// Sleeps until a moment, and as much longer as a person was waited for meanwhile.
    pub async fn sleep_until(&self, deadline: Instant) {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            let (before, is_waiting) = {
                let waited = self.lock();
                (waited.before, waited.since.is_some())
            };
            tokio::select! {
                biased;
                // The sender lives as long as `self`.
                _ = changes.changed() => {}
                () = sleep_until(deadline + before), if !is_waiting => return,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waited> {
        self.waited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HumanWait {
    fn drop(&mut self) {
        {
            let mut waited = self.0.lock();
            let since = waited.since.take();
            waited.before += since.map_or(Duration::ZERO, |since| since.elapsed());
        }
        self.0.changes.send_modify(|changes| *changes += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_a_person_takes_is_not_counted() {
        let (time, began) = (HumanTime::default(), Instant::now());
        let (limited, second) = (time.clone(), Duration::from_secs(1));
        let limit = tokio::spawn(async move {
            limited.sleep_until(began + second).await;
            began.elapsed()
        });
        tokio::time::sleep(second / 2).await;
        let wait = time.begin();
        tokio::time::sleep(60 * second).await;
        assert!(!limit.is_finished());
        drop(wait);
        assert_eq!(limit.await.unwrap().as_secs(), 61);
    }
}
