//! How a model can fail, by what can be done about it. Owns the sentences that a person reads. Must
//! not know wires.

use std::time::Duration;

/// A failed round-trip. Every text is one clear sentence for a person and holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Worth another try: a broken stream, a network error, an overloaded provider.
    #[error("{why}")]
    Transient {
        why: String,
        /// How long the provider asked to wait.
        retry_after: Option<Duration>,
    },
    /// The provider counts requests or tokens and has had enough for now.
    #[error("{provider} limits how often it may be asked")]
    RateLimited { provider: String, retry_after: Option<Duration> },
    /// No retry will help. The sentence names the setting or variable to fix, where there is one.
    #[error("{why}")]
    Permanent { why: String },
    /// The provider does not take the key. The sentence names the setting to fix.
    #[error("{why}")]
    KeyRefused { why: String },
    /// The reply is nothing that could be read without harm, however often it is asked for. The
    /// sentence says what it was.
    #[error("{why}")]
    Malformed { why: String },
    /// The request is longer than the model can read; a shorter history may pass.
    #[error("the request is longer than {model} can read: {detail}")]
    ContextTooLong { model: String, detail: String },
}

impl crate::domain::Blamed for ModelError {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::Broken
    }
}

impl ModelError {
    pub(crate) fn transient(why: impl Into<String>) -> Self {
        Self::Transient { why: why.into(), retry_after: None }
    }

    pub(crate) fn permanent(why: impl Into<String>) -> Self {
        Self::Permanent { why: why.into() }
    }

    /// What a person is told, `now` being the person's local time: for a rate limit it says when to
    /// try again.
    pub fn for_person(&self, now: jiff::Zoned) -> String {
        match self {
            Self::RateLimited { provider, retry_after: Some(wait) } => {
                let Some(then) = later(&now, *wait) else {
                    return format!(
                        "{provider} limits how often it may be asked. Try again later."
                    );
                };
                let format =
                    if then.date() == now.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
                format!(
                    "{provider} limits how often it may be asked. Try again at {}.",
                    then.strftime(format)
                )
            }
            Self::RateLimited { provider, retry_after: None } => {
                format!(
                    "{provider} limits how often it may be asked and did not say for how long. \
                     Try again in a minute."
                )
            }
            Self::Transient { why, .. } => sentence(&format!("The model could not answer: {why}")),
            Self::Permanent { .. }
            | Self::KeyRefused { .. }
            | Self::Malformed { .. }
            | Self::ContextTooLong { .. } => sentence(&self.to_string()),
        }
    }
}

/// `now` plus `wait`, rounded up to a whole second so that nobody comes back too early.
fn later(now: &jiff::Zoned, wait: Duration) -> Option<jiff::Zoned> {
    let seconds = wait
        .as_secs()
        .saturating_add(u64::from(wait.subsec_nanos() > 0 || now.subsec_nanosecond() > 0));
    let span = jiff::SignedDuration::from_secs(i64::try_from(seconds).ok()?);
    now.checked_add(span).ok()
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let mut out: String =
        chars.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    out.push_str(chars.as_str());
    if !out.ends_with(['.', '!', '?']) {
        out.push('.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> jiff::Zoned {
        text.parse().unwrap()
    }

    #[test]
    fn a_rate_limit_says_the_local_time() {
        let error = ModelError::RateLimited {
            provider: "claude".into(),
            retry_after: Some(Duration::from_secs(300)),
        };
        let text = error.for_person(at("2026-11-21T10:58:30+01:00[+01:00]"));
        assert_eq!(text, "claude limits how often it may be asked. Try again at 11:03:30.");
        let text = error.for_person(at("2026-11-21T23:58:30+01:00[+01:00]"));
        assert_eq!(
            text,
            "claude limits how often it may be asked. Try again at 2026-11-22 00:03:30."
        );
    }

    #[test]
    fn a_part_of_a_second_is_rounded_up() {
        let error = ModelError::RateLimited {
            provider: "x".into(),
            retry_after: Some(Duration::from_millis(1500)),
        };
        assert!(error.for_person(at("2026-11-21T10:00:00[UTC]")).ends_with("at 10:00:02."));
    }

    #[test]
    fn the_others_are_sentences() {
        let now = at("2026-11-21T10:00:00[UTC]");
        assert_eq!(ModelError::permanent("set `X`").for_person(now.clone()), "Set `X`.");
        assert_eq!(
            ModelError::transient("it broke").for_person(now.clone()),
            "The model could not answer: it broke."
        );
        let none = ModelError::RateLimited { provider: "x".into(), retry_after: None };
        assert!(none.for_person(now.clone()).contains("Try again in a minute"));
        let huge =
            ModelError::RateLimited { provider: "x".into(), retry_after: Some(Duration::MAX) };
        assert!(huge.for_person(now).contains("Try again later"));
    }
}
