//! How many requests of a client are taken in a minute. Must not know what is requested.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::ClientName;

const WINDOW: Duration = Duration::from_secs(60);

/// When each client was taken in last. Shared by all ways on which a client comes.
#[derive(Default)]
pub struct Rate {
    taken: Mutex<HashMap<ClientName, VecDeque<Instant>>>,
}

impl Rate {
    /// Takes one more request of a client, or says how long it has to wait.
    pub fn take(&self, client: &ClientName, minute_max: u32) -> Result<(), Duration> {
        let now = Instant::now();
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let times = taken.entry(client.clone()).or_default();
        while times.front().is_some_and(|at| now - *at >= WINDOW) {
            times.pop_front();
        }
        match times.front() {
            Some(first) if times.len() >= minute_max as usize => Err(WINDOW - (now - *first)),
            _ => {
                times.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_held_at_the_limit_and_other_clients_are_not() {
        let rate = Rate::default();
        let [one, other] = ["one", "other"].map(|name| ClientName::new(name).unwrap());
        assert!((0..3).all(|_| rate.take(&one, 3).is_ok()));
        tokio::time::advance(Duration::from_secs(20)).await;
        assert_eq!(rate.take(&one, 3), Err(Duration::from_secs(40)));
        assert!(rate.take(&other, 3).is_ok());
        tokio::time::advance(Duration::from_secs(40)).await;
        assert!((0..3).all(|_| rate.take(&one, 3).is_ok()));
        assert!(rate.take(&one, 3).is_err());
    }
}
