//! How many tokens a model takes at once, as far as that is known by its name. Owns the table. Must
//! not know what is done about it.

/// How names begin, and the tokens that the provider states, in November 2026. The first that fits
/// counts. A name that is not here has no known window: `[model] window_tokens` says it.
const KNOWN: &[(&str, u64)] = &[
    ("claude", 200_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4", 8_192),
    ("gpt-5", 272_000),
    ("gpt-oss", 131_072),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gemini", 1_048_576),
    ("deepseek", 128_000),
    ("grok-4.5", 500_000),
    ("grok-4", 256_000),
    ("mistral-large", 128_000),
];

/// The window of a model, in tokens.
pub(super) fn known(model: &str) -> Option<u64> {
    // Some services put the maker before the name.
    let name = model.rsplit('/').next().unwrap_or(model);
    KNOWN.iter().find(|(begins, _)| name.starts_with(begins)).map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_known_by_the_name_and_never_guessed() {
        assert_eq!(known("claude-sonnet-5"), Some(200_000));
        assert_eq!(known("openai/gpt-oss-120b"), Some(131_072));
        assert_eq!(known("gpt-4.1-mini"), Some(1_047_576));
        assert_eq!((known("qwen3:8b"), known("my-model")), (None, None));
    }
}
