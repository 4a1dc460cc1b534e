//! Which models a conversation may choose: those that were configured, and what the first one's
//! provider lists. Must not know conversations.

use std::time::Duration;

use crate::model::genai::{Target, list};

/// How long a provider has for its list. Without one every name is taken, and the reply will say
/// what is wrong with it.
const LIST_ANSWERS_IN: Duration = Duration::from_secs(5);
/// How many names a refusal gives.
const NEAREST_MAX: usize = 3;

/// The models that can be named.
#[derive(Clone, Default)]
pub struct Choosable {
    /// Where the first one is; `None` for the demo.
    pub target: Option<Target>,
    /// The names of those that are configured.
    pub configured: Vec<String>,
}

impl Choosable {
    /// The names nearest to one that nobody offers. `None` if it is offered, or nobody says what
    /// is.
    pub async fn not_offered(&self, name: &str) -> Option<Vec<String>> {
        if self.configured.iter().any(|known| known == name) {
            return None;
        }
        let listed = tokio::time::timeout(LIST_ANSWERS_IN, list(self.target.as_ref()?)).await;
        let names = listed.ok()?.ok()??;
        not_among(name, &names)
    }
}

fn not_among(name: &str, names: &[String]) -> Option<Vec<String>> {
    // `claude-x` stands for `claude-x-20260101`, `llama` for `llama:latest`.
    let stands_for = |known: &String| {
        known == name
            || known.strip_prefix(name).is_some_and(|rest| rest.starts_with(['-', ':', '@', '.']))
    };
    if names.is_empty() || names.iter().any(stands_for) {
        return None;
    }
    let mut nearest: Vec<_> =
        names.iter().map(|known| (strsim::jaro_winkler(name, known), known)).collect();
    nearest.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Some(nearest.into_iter().take(NEAREST_MAX).map(|(_, known)| known.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::not_among;

    #[test]
    fn a_name_that_nobody_lists_is_answered_with_the_nearest() {
        let names = ["claude-opus-4-20260101", "claude-haiku-4", "gemma:2b"].map(str::to_owned);
        for known in ["claude-haiku-4", "claude-opus-4", "gemma"] {
            assert_eq!(not_among(known, &names), None, "{known}");
        }
        assert_eq!(not_among("claude-haiky-4", &names).unwrap()[0], "claude-haiku-4");
        assert_eq!(not_among("nosuch", &[]), None, "a list of nothing says nothing");
    }
}
