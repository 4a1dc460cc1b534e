//! Retries around any model. Owns how often, how long to wait, and that nothing is shown twice.
//! Must not know wires.

use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument as _;

use super::{Delta, DeltaSink, Model, ModelError, Reply, Replying, Request};

/// How a failed round-trip is tried again.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Tries altogether, the first one included.
    pub tries_max: u32,
    /// The ceiling of the first wait; it doubles with every try (full jitter: a random part of it
    /// is waited).
    pub backoff_first: Duration,
    pub backoff_max: Duration,
    /// The longest wait asked for by a provider that is granted; a longer one is told to the person
    /// at once.
    pub retry_after_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries_max: 5,
            backoff_first: Duration::from_millis(500),
            backoff_max: Duration::from_secs(20),
            retry_after_max: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// For a model that has another one behind it: one more try, and no long wait.
    pub fn with_another_behind() -> Self {
        Self { tries_max: 2, retry_after_max: Duration::from_secs(3), ..Self::default() }
    }
}

/// A model that is asked again when it fails in a way that may pass.
pub struct Retry {
    /// Belongs to this alone.
    inner: Arc<dyn Model>,
    /// Set when the model is picked. It does not change.
    policy: RetryPolicy,
}

impl Retry {
    pub fn new(inner: Arc<dyn Model>) -> Self {
        Self::with_policy(inner, RetryPolicy::default())
    }

    pub fn with_policy(inner: Arc<dyn Model>, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }

    async fn run(
        &self,
        request: &Request,
        deltas: &mut DeltaSink<'_>,
    ) -> Result<Reply, ModelError> {
        let mut tries = 1;
        loop {
            let mut shown = false;
            let mut watch = |delta: Delta| {
                shown = !matches!(delta, Delta::Restarted { .. });
                deltas(delta);
            };
            let error = match self.inner.reply(request, &mut watch).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if shown {
                // Also before giving up: half a reply must not stay on the screen as if it were
                // one.
                deltas(Delta::Restarted { why: error.to_string() });
            }
            let Some(wait) = self.wait_before_next(&error, tries) else {
                return Err(error);
            };
            tracing::info!(tries, wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX), %error, "asking again");
            tokio::time::sleep(wait).await;
            tries += 1;
        }
    }

    /// `None` means that the error is final.
    fn wait_before_next(&self, error: &ModelError, tries: u32) -> Option<Duration> {
        if tries >= self.policy.tries_max {
            return None;
        }
        match error {
            ModelError::Transient { retry_after, .. }
            | ModelError::RateLimited { retry_after, .. } => match retry_after {
                Some(asked) => (*asked <= self.policy.retry_after_max).then_some(*asked),
                None => Some(self.backoff(tries)),
            },
            ModelError::Permanent { .. }
            | ModelError::KeyRefused { .. }
            | ModelError::Malformed { .. }
            | ModelError::ContextTooLong { .. } => None,
        }
    }

    fn backoff(&self, tries: u32) -> Duration {
        let doublings = (tries - 1).min(16);
        let ceiling =
            self.policy.backoff_first.saturating_mul(1 << doublings).min(self.policy.backoff_max);
        // Without a random source the whole ceiling is waited, which is merely less polite.
        let share = getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX));
        ceiling.mul_f64(share)
    }
}

impl Model for Retry {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn model(&self) -> &str {
        self.inner.model()
    }

    fn reply<'a>(&'a self, request: &'a Request, deltas: &'a mut DeltaSink<'_>) -> Replying<'a> {
        Box::pin(async move {
            // Inside of the request's own, which is entered by now: a chain asks more than one
            // model for it.
            let name = request.model.as_deref().unwrap_or_else(|| self.inner.model());
            let span = tracing::error_span!("model", provider = %self.inner.provider(), %name);
            self.run(request, deltas).instrument(span).await
        })
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
