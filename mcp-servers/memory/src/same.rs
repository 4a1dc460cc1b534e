//! Whether two texts say the same, or one says all that the other says. Owns when a note may take
//! the place of another without a loss; must not know notes. It looks at words in their order, so
//! it is sure where it says so, and says `Differs` in every doubt.

use crate::index::words::lower;

/// What a new text is to an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The new one says nothing that the old one does not say.
    Known,
    /// The new one says all of the old one in the same words, and more.
    Adds,
    /// Anything else: another fact, or the opposite.
    Differs,
}

/// Words that carry nothing by themselves.
const EMPTY: &[&str] = &["a", "an", "the"];

/// Words that can turn around what stands beside them. A text that has one more of them than the
/// other is no addition to it.
const TURNING: &[&str] = &[
    "no", "not", "never", "t", "n", "cannot", "neither", "nor", "without", "except", "but", "only",
    "longer", "anymore", "former", "formerly", "ex", "used", "until", "till", "instead", "stopped",
    "ended", "left", "wrong", "false", "untrue", "if", "unless", "almost", "nicht", "kein",
    "keine", "keinen", "keiner", "nie", "niemals", "ohne", "ne", "pas", "jamais", "sans", "nunca",
    "sin", "nem", "não", "non", "mai", "senza", "niet", "geen", "nooit",
];

/// What `new` is to `old`.
pub fn relation(old: &str, new: &str) -> Relation {
    let (old, new) = (words(old), words(new));
    if new.is_empty() || holds(&old, &new) {
        return Relation::Known;
    }
    if !old.is_empty() && holds(&new, &old) { Relation::Adds } else { Relation::Differs }
}

/// Whether two texts have the same words.
pub fn is_same(one: &str, other: &str) -> bool {
    words(one) == words(other)
}

/// Whether `more` has all words of `less`, one after the other, and no word besides that could turn
/// them around.
fn holds(more: &[String], less: &[String]) -> bool {
    let turning =
        |words: &[String]| words.iter().filter(|word| TURNING.contains(&word.as_str())).count();
    more.windows(less.len()).any(|run| run == less) && turning(more) == turning(less)
}

fn words(text: &str) -> Vec<String> {
    lower(text)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !EMPTY.contains(word))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Relation::{Adds, Differs, Known};

    #[test]
    fn what_says_all_of_it_and_more_adds_and_what_says_less_is_known() {
        for (old, new, is) in [
            ("Anna lives in Graz.", "anna lives in  Graz", Known),
            ("Anna lives in Graz, near the park.", "Lives in Graz.", Known),
            ("Lives in Graz.", "Lives in Graz since May 2024.", Adds),
            ("Likes tea.", "Likes the tea and cake.", Adds),
            ("茶が好き", "茶が好き", Known),
            ("Trinkt Kaffee im Caf\u{e9}.", "Trinkt Kaffee im Cafe\u{301}.", Known),
        ] {
            assert_eq!(relation(old, new), is, "{old} / {new}");
        }
    }

    #[test]
    fn in_every_doubt_they_differ() {
        for (old, new) in [
            ("Lives in Graz.", "Lives in Wien."),
            ("Eats meat.", "Does not eat meat."),
            ("Lives in Graz.", "No longer lives in Graz."),
            ("Lives in Graz until 2024.", "Lives in Graz."),
            ("Anna lent Ben 20 euros.", "Ben lent Anna 20 euros."),
            ("The code is 4711.", "The code is 4712."),
            ("Anna lives in Graz.", "Anna's brother lives in Graz."),
            ("It doesn't work.", "It does work."),
            ("Works at Acme.", "Used to be: works at Acme."),
        ] {
            assert_eq!(relation(old, new), Differs, "{old} / {new}");
        }
    }
}
