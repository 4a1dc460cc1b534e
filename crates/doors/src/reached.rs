//! How a person reaches the home of an agent at the command line: the first words of a command that
//! is printed, and words as a shell takes them. Must not know which command that is.

use super::clean::clean;
pub use crate::domain::claw;

/// A word as a shell takes it whole.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-,:".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", clean(&text.replace('\'', "'\\''"))),
    }
}

/// The same of a path, of which a shell reads `~/` outside of quotes alone.
pub fn quoted_path(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some("") | None if path == "~" || path == "~/" => path.to_owned(),
        Some(below) => format!("~/{}", quoted(below)),
        None => quoted(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_and_its_tilde_is_read() {
        let told = [
            ("~/letters", "~/letters"),
            ("~/My Docs", "~/'My Docs'"),
            ("/srv/it's", "'/srv/it'\\''s'"),
            ("~", "~"),
            ("~x/y", "'~x/y'"),
        ];
        for (path, shown) in told {
            assert_eq!(quoted_path(path), shown);
        }
        assert_eq!((claw("main"), claw("work")), ("claw".into(), "claw --agent work".into()));
    }
}
