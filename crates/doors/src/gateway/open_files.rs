//! How many files this process may have open: a turn in hand has a lock, a connection to the model
//! (three with both ends of the relay's) and one to Telegram, and what a login or a service gives
//! (1,024) is used up by 200 of them. Must not know who opens what.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for three thousand turns at the same time.
const FILES_MAX: u64 = 16_384;

/// Raises the soft limit, as far as the system allows. What it is good for comes much later, so a
/// refusal is only logged.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let Some(wanted) = raised(limit.current, limit.maximum) else { return };
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit }) {
        tracing::warn!(%error, "the limit of open files could not be raised; many chats at the \
            same time may have to wait");
    }
}

/// The new soft limit, if it is higher. `None` is no limit.
fn raised(soft: Option<u64>, hard: Option<u64>) -> Option<u64> {
    let wanted = hard.map_or(FILES_MAX, |hard| hard.min(FILES_MAX));
    soft.is_some_and(|soft| soft < wanted).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_as_far_as_the_system_allows_and_never_lowered() {
        assert_eq!(raised(Some(1_024), Some(1_048_576)), Some(FILES_MAX));
        assert_eq!(raised(Some(1_024), Some(4_096)), Some(4_096));
        assert_eq!(raised(Some(1_024), None), Some(FILES_MAX));
        assert_eq!(raised(Some(1_024), Some(1_024)), None);
        assert_eq!(raised(Some(100_000), Some(100_000)), None);
        assert_eq!(raised(None, None), None);
    }
}
