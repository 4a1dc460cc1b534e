//! Names that look like others: letters of other scripts, and blanks at an end (Unicode Technical
//! Standard 39). Pure; must not know where a name is shown.

use unicode_security::MixedScript as _;
use unicode_security::confusable_detection::skeleton;

/// What is odd about the look of a name, as the rest of a sentence about it. `None` for ordinary
/// names.
pub fn note(name: &str) -> Option<String> {
    if name.trim() != name {
        return Some(format!("the name `{name}` has a blank at an end"));
    }
    if name.is_ascii() {
        return None;
    }
    let plain: String = skeleton(name).collect();
    if plain.is_ascii() {
        return Some(format!("the name `{name}` has letters that only look like `{plain}`"));
    }
    (!name.is_single_script())
        .then(|| format!("the name `{name}` mixes letters of several scripts"))
}

/// One of `others` that looks like `name` and is not.
pub fn twin<'o>(name: &str, others: impl IntoIterator<Item = &'o str>) -> Option<&'o str> {
    let looks = |name: &str| skeleton(name.trim()).collect::<String>();
    let own = looks(name);
    others.into_iter().find(|other| *other != name && looks(other) == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_other_scripts_and_blanks_are_noted() {
        for (name, said) in [
            ("r\u{435}ad_fil\u{435}", "only look like `read_file`"),
            ("\u{441}\u{430}\u{440}", "only look like `cap`"),
            ("send ", "a blank at an end"),
            ("\u{a0}send", "a blank at an end"),
            ("\u{43f}\u{440}\u{438}\u{432}et", "several scripts"),
        ] {
            assert!(note(name).is_some_and(|note| note.contains(said)), "{name}: {:?}", note(name));
        }
        for name in ["read_file", "résumé", "ファイル検索", "読む", "привет", ""] {
            assert_eq!(note(name), None, "{name}");
        }
    }

    #[test]
    fn a_twin_is_found_also_among_plain_letters() {
        assert_eq!(twin("read_fi1e", ["write", "read_file"]), Some("read_file"));
        assert_eq!(twin("read_file ", ["read_file"]), Some("read_file"));
        assert_eq!(twin("read_file", ["read_file", "write_file"]), None);
    }
}
