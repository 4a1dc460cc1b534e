//! The words of a command as one line that says exactly which words they are, and the first words
//! of claw's own. Must not know what a command does.

use crate::escape;

/// The agent that a home has without a word in `claw.toml`, and that is meant where none is named.
pub const MAIN_AGENT: &str = "main";

/// The first words of a command that acts on this agent, as claw prints it: ids, numbers and
/// folders of one agent are other things at another.
pub fn claw(agent: &str) -> String {
    if agent == MAIN_AGENT { "claw".to_owned() } else { format!("claw --agent {agent}") }
}

/// The line. A word that holds more than plain letters stands in quotes, so that two different
/// lists of words never look alike. What is invisible is spelled out.
pub fn command_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~$#?&{}[]".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return escape::visible(word);
    }
    format!("'{}'", escape::visible(word).replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_of_words_never_look_alike() {
        let shown = |words: &[&str]| command_line(words.iter().copied());
        assert_eq!(shown(&["npx", "-y", "@a/b@1.2"]), "npx -y @a/b@1.2");
        assert_eq!(shown(&["sh", "-c", "rm -rf x"]), "sh -c 'rm -rf x'");
        assert_ne!(shown(&["sh", "-c", "a b"]), shown(&["sh", "-c", "a", "b"]));
        assert_eq!(shown(&["x", "", "it's"]), r"x '' 'it'\''s'");
        assert_eq!(shown(&["a\u{202e}b\nc"]), r"'a\u{202e}b\nc'");
    }
}
