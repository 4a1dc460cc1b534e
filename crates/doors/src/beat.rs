//! When what a turn shows is changed next: the first words soon, everything after that now and
//! then. Must not know what is shown, or whether its chat takes it.

use std::time::Duration;

use tokio::time::Instant;

/// The first words of a reply wait this long for company: a reader looks at an empty chat until
/// then.
const FIRST_WORDS: Duration = Duration::from_millis(200);

/// The times of one turn's changes.
#[derive(Debug)]
pub struct Beat {
    /// The least time between two changes.
    every: Duration,
    /// No change is made before.
    next: Instant,
    /// Something waits for `next`.
    waits: bool,
}

impl Beat {
    pub fn new(every: Duration) -> Self {
        Self { every, next: Instant::now(), waits: false }
    }

    /// When the next change is due.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Words, progress, or the end of a call came in.
    pub fn words(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.waits, true) {
            self.next = self.next.max(now + FIRST_WORDS.min(self.every));
        }
    }

    /// A call has begun. One that ends soon is never shown.
    pub fn call(&mut self, now: Instant) {
        self.waits = true;
        self.next = self.next.max(now + self.every);
    }

    /// A change was tried, and the next one has to wait for so long.
    pub fn shown(&mut self, now: Instant, pause: Duration) {
        self.waits = false;
        self.next = now + pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// When each change is made while a word comes every 50 ms.
    async fn of_a_slow_stream(every: Duration, words: usize) -> Vec<Duration> {
        let (began, mut beat, mut shown) = (Instant::now(), Beat::new(every), Vec::new());
        for _ in 0..words {
            beat.words(Instant::now());
            let word = Instant::now() + Duration::from_millis(50);
            while beat.next() <= word && beat.waits {
                tokio::time::sleep_until(beat.next()).await;
                shown.push(began.elapsed());
                beat.shown(Instant::now(), every);
            }
            tokio::time::sleep_until(word).await;
        }
        shown
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_words_come_after_200_ms_and_then_once_a_second() {
        let shown = of_a_slow_stream(SECOND, 80).await;
        assert_eq!(shown[0], FIRST_WORDS);
        assert!(shown.len() >= 4, "{shown:?}");
        for pair in shown.windows(2) {
            let gap = pair[1] - pair[0];
            assert!(gap >= SECOND && gap <= SECOND + FIRST_WORDS, "{shown:?}");
        }
        let group = of_a_slow_stream(SECOND * 3, 100).await;
        assert_eq!(group[0], FIRST_WORDS);
        assert!(group[1] - group[0] >= SECOND * 3, "{group:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_not_shown_before_a_second_whatever_was_said_before_it() {
        let (began, mut beat) = (Instant::now(), Beat::new(SECOND));
        beat.words(Instant::now());
        tokio::time::advance(Duration::from_millis(100)).await;
        beat.call(Instant::now());
        assert_eq!(beat.next() - began, Duration::from_millis(1_100));
        beat.words(Instant::now());
        assert_eq!(beat.next() - began, Duration::from_millis(1_100));
    }
}
