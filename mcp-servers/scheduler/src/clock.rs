//! What time it is. Owns that everything in this crate asks one clock, so that tests can hold it,
//! and let it jump. Must not know what a time is used for.

use jiff::Timestamp;

#[cfg(test)]
use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(Clone, Debug)]
pub enum Clock {
    /// The system's clock, which may jump.
    System,
    /// A clock that stands until somebody moves it.
    #[cfg(test)]
    Held(Arc<AtomicI64>),
}

impl Clock {
    /// Seconds since 1970.
    pub fn now(&self) -> i64 {
        match self {
            Self::System => Timestamp::now().as_second(),
            #[cfg(test)]
            Self::Held(now) => now.load(Ordering::SeqCst),
        }
    }
}
