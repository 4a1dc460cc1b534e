//! Trying again what may pass: how often, and for how long. Must not know what is tried.

use std::time::Duration;

use tokio::time::Instant;

use super::door::DoorFault;

/// How long something is tried before it is given up; then it is in the log.
const GIVE_UP_AFTER: Duration = Duration::from_secs(24 * 3600);

/// How long to wait before something is done once more that may have been done already: somebody
/// would see it twice. The last one is for all that follow.
const UNANSWERED: [Duration; 4] = [
    Duration::from_secs(5),
    Duration::from_secs(60),
    Duration::from_secs(600),
    Duration::from_secs(3600),
];

/// An error of which the next try may be free.
pub trait MayPass: std::fmt::Display {
    fn may_pass(&self) -> bool;

    /// Whether it may have been done all the same.
    fn may_be_done(&self) -> bool;
}

impl MayPass for DoorFault {
    fn may_pass(&self) -> bool {
        matches!(self, Self::MayPass(_) | Self::Unanswered(_))
    }

    fn may_be_done(&self) -> bool {
        matches!(self, Self::Unanswered(_))
    }
}

/// Tries until it is done, or will never be. For what may be done twice.
pub async fn patiently<T, E: MayPass, F: Future<Output = Result<T, E>>>(
    attempt: impl FnMut() -> F,
) -> Result<T, E> {
    again(attempt, |failures, fault| {
        tell(failures, fault);
        pause_after(failures)
    })
    .await
}

/// The same for what somebody sees twice if it is done twice: where that may be so, it is tried
/// seldom.
pub async fn sparingly<T, E: MayPass, F: Future<Output = Result<T, E>>>(
    attempt: impl FnMut() -> F,
) -> Result<T, E> {
    let mut unanswered = UNANSWERED.iter().copied();
    again(attempt, move |failures, fault| {
        if !fault.may_be_done() {
            tell(failures, fault);
            return pause_after(failures);
        }
        let pause = unanswered.next().unwrap_or(UNANSWERED[UNANSWERED.len() - 1]);
        tell_unanswered(pause, fault);
        pause
    })
    .await
}

async fn again<T, E: MayPass, F: Future<Output = Result<T, E>>>(
    mut attempt: impl FnMut() -> F,
    mut pause: impl FnMut(u32, &E) -> Duration,
) -> Result<T, E> {
    let began = Instant::now();
    let mut failures = 0;
    loop {
        match attempt().await {
            Err(fault) if fault.may_pass() && began.elapsed() < GIVE_UP_AFTER => {
                failures += 1;
                tokio::time::sleep(pause(failures, &fault)).await;
            }
            done => return done,
        }
    }
}

/// Of the first failure alone. Apart, so that it is compiled once.
fn tell(failures: u32, fault: &dyn std::fmt::Display) {
    if failures == 1 {
        tracing::warn!(%fault, "a message could not be sent; it is tried again, after a while \
            every 5 s");
    }
}

fn tell_unanswered(pause: Duration, fault: &dyn std::fmt::Display) {
    tracing::warn!(%fault, "nobody said whether a message has arrived; it is sent again in {} s, \
        and may come twice", pause.as_secs());
}

/// How long to wait after so many failures in a row, the first of which is 1: most pass at once,
/// and nobody should notice.
pub fn pause_after(failures: u32) -> Duration {
    Duration::from_millis(match failures {
        0 | 1 => 500,
        2 => 1_000,
        3 => 2_000,
        _ => 5_000,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_costs_half_a_second_and_many_five() {
        let pauses: Vec<u128> = (1..=6).map(|failures| pause_after(failures).as_millis()).collect();
        assert_eq!(pauses, [500, 1_000, 2_000, 5_000, 5_000, 5_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_pass_is_tried_for_a_day_and_a_refusal_once() {
        let mut tries = 0;
        let done = patiently(|| {
            tries += 1;
            let passed = tries > 3;
            async move { if passed { Ok(()) } else { Err(DoorFault::MayPass("no answer".into())) } }
        });
        assert_eq!(done.await, Ok(()));
        let began = Instant::now();
        let never = || async { Err::<(), _>(DoorFault::MayPass("no answer".into())) };
        assert!(patiently(never).await.is_err());
        assert!(began.elapsed() >= GIVE_UP_AFTER);
        let began = Instant::now();
        let refused = || async { Err::<(), _>(DoorFault::Refused("no".into())) };
        assert!(patiently(refused).await.is_err() && began.elapsed().is_zero());
    }

    /// How often it is done within a day, and within its first hour.
    async fn done(fault: DoorFault) -> (usize, usize) {
        let (began, mut at) = (Instant::now(), Vec::new());
        let unheard = || {
            at.push(began.elapsed());
            let fault = fault.clone();
            async move { Err::<(), _>(fault) }
        };
        assert!(sparingly(unheard).await.is_err());
        (at.len(), at.iter().filter(|at| at.as_secs() < 3600).count())
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_have_arrived_is_seldom_sent_again() {
        assert_eq!(done(DoorFault::Unanswered("no answer".into())).await, (28, 4));
        let (day, _) = done(DoorFault::MayPass("no way there".into())).await;
        assert!(day > 17_000, "{day}");
    }
}
