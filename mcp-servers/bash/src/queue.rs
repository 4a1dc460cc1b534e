//! The places of commands that run at the same time, and the queue for one: a command waits for its
//! place instead of being refused, and its own time begins when it has it. Must not know what runs.

use std::sync::Arc;

use claw_kit::counted::counted_with;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Commands that wait; what comes then is refused.
const WAITING_MAX: usize = 1000;

#[derive(Clone)]
pub struct Queue {
    places: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    places_max: usize,
}

/// The turn of a command that has come.
pub enum Turn {
    Now(OwnedSemaphorePermit),
    Later(Waiting),
    /// In words for the model.
    Refused(String),
}

/// A command that waits. Dropping it leaves the queue.
pub struct Waiting {
    places: Arc<Semaphore>,
    _waits: OwnedSemaphorePermit,
    /// For the person, one sentence.
    pub words: String,
}

impl Queue {
    pub fn new(places_max: usize) -> Self {
        let (places, waiting) =
            (Arc::new(Semaphore::new(places_max)), Arc::new(Semaphore::new(WAITING_MAX)));
        Self { places, waiting, places_max }
    }

    pub fn enter(&self) -> Turn {
        // The semaphore is fair: who waits already goes first, and then there is no place left to
        // try for.
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return Turn::Now(place);
        }
        let before = WAITING_MAX - self.waiting.available_permits();
        match self.waiting.clone().try_acquire_owned() {
            Ok(waits) => {
                let wait = if before == 1 { "waits" } else { "wait" };
                let words = format!(
                    "Waiting: {} and {before} {wait} before this one.\n",
                    self.commands_run()
                );
                Turn::Later(Waiting { places: self.places.clone(), _waits: waits, words })
            }
            Err(_) => Turn::Refused(format!(
                "{} and {WAITING_MAX} wait already; ask again when some have ended. Nothing was run.",
                self.commands_run()
            )),
        }
    }

    fn commands_run(&self) -> String {
        counted_with(self.places_max, "command", "runs", "run")
    }
}

impl Waiting {
    /// `None` if there will be no place any more.
    pub async fn place(self) -> Option<OwnedSemaphorePermit> {
        self.places.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_runs_a_thousand_wait_and_one_more_is_refused() {
        let queue = Queue::new(1);
        let Turn::Now(first) = queue.enter() else { panic!("there is a place") };
        let mut waiting = Vec::new();
        for before in 0..WAITING_MAX {
            let Turn::Later(waits) = queue.enter() else { panic!("{before} wait") };
            let wait = if before == 1 { "waits" } else { "wait" };
            assert_eq!(
                waits.words,
                format!("Waiting: 1 command runs and {before} {wait} before this one.\n")
            );
            waiting.push(waits);
        }
        let Turn::Refused(why) = queue.enter() else { panic!("the queue is full") };
        assert!(why.contains("1000 wait already") && why.contains("Nothing was run"), "{why}");
        drop(first);
        let next = waiting.remove(0);
        assert!(next.place().await.is_some());
        assert!(matches!(queue.enter(), Turn::Now(_)), "the place was given back");
    }
}
