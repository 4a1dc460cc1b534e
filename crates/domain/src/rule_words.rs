//! What decided about a call, as its owner reads it. Rows, JSON and `policy.toml` have short names
//! for it (`class.mutating`), which are for programs. Must not know what a rule says, or who asks.

use std::borrow::Cow;

use crate::trust::BELIEVED;

/// The short names that claw itself gives, and what they mean.
const WORDS: [(&str, &str); 22] = [
    ("class.safe", "claw's default for safe tools"),
    ("class.mutating", "claw's default for changes"),
    ("class.dangerous", "the class “dangerous”"),
    ("class.destructive-hint", "claw's default for tools that their server calls destructive"),
    ("class.private", "claw's default for what only the owner may know"),
    ("mode.command", "the mode that the command was given"),
    ("builtin.level-read", "claw's default for commands that only look"),
    ("builtin.unreadable-paths", "claw's check of the files that a call names"),
    ("builtin.unreadable-shell", "claw's check of the text of a command"),
    ("builtin.opening", "claw's check of what is open to commands"),
    ("builtin.variables", "claw's check of the variables of a command"),
    ("builtin.no-box", "claw's check of the box"),
    ("builtin.staged", "claw's check that what runs was confirmed"),
    ("builtin.panic", "the stop switch"),
    ("builtin.tool", "claw's list of tools"),
    ("builtin.schema", "claw's check of the arguments"),
    ("builtin.store", "a failure of claw's store"),
    ("builtin.takes-a-firing", "claw's own look at what is due"),
    ("builtin.reminder", "claw's default for reminders of your own"),
    ("builtin.named-by-the-owner", "a message of yours that names it"),
    ("builtin.list-of-resources", "claw's default for lists of what a server has"),
    (BELIEVED, "a hint of its server, which you chose to believe"),
];

/// The name of a rule in words, without its first article's capital: `grant 5`, `the rule
/// policy.toml:3`, `claw's default for safe tools`.
pub fn rule_words(rule: &str) -> Cow<'static, str> {
    if let Some((_, words)) = WORDS.iter().find(|(name, _)| *name == rule) {
        return Cow::Borrowed(words);
    }
    Cow::Owned(match rule.split_once('.') {
        Some(("grant", number)) => format!("grant {number}"),
        Some(("approval", id)) => format!("the answer to the question {id}"),
        Some(("builtin", name)) => format!("claw's fixed rule “{}”", name.replace('-', " ")),
        Some(("class", name)) => format!("the class “{name}”"),
        _ => format!("the rule {rule}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_short_name_of_claws_own_is_left_in_words() {
        for (rule, words) in [
            ("class.mutating", "claw's default for changes"),
            ("builtin.pipe-to-shell", "claw's fixed rule “pipe to shell”"),
            ("grant.5", "grant 5"),
            ("approval.k7", "the answer to the question k7"),
            ("policy.toml:3", "the rule policy.toml:3"),
            ("agents/b/policy.toml:3", "the rule agents/b/policy.toml:3"),
        ] {
            assert_eq!(rule_words(rule), words);
        }
        for (name, words) in WORDS {
            assert!(!words.contains(name) && words.contains(' '), "{words}");
        }
    }
}
