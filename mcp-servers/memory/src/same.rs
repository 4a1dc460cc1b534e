//! Whether two texts say the same, or one says all that the other says. Owns when a note may take
//! the place of another without a loss; must not know notes. It looks at words in their order, so
//! it is sure where it says so, and says `Differs` in every doubt.

use crate::index::words::{composed, lower};

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

/// Words that carry nothing by themselves. `a` is none of them: it is a letter, too (`Vitamin A`).
const EMPTY: &[&str] = &["an", "the"];

/// What ends a part of a sentence. A question mark is missing: it is a doubt.
const ENDS: &[char] = &['.', ',', ';', ':', '!', '…'];

/// They are one sign: a dash, a hyphen or a minus.
const DASHES: &[char] = &['-', '\u{2010}', '\u{2011}', '–', '—', '\u{2212}'];

/// How an item of a list begins, if not with a dash.
const BULLETS: &[char] = &['*', '+', '•'];

/// What encloses words without saying anything.
const PAIRS: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('*', '*'),
    ('_', '_'),
    ('(', ')'),
    ('[', ']'),
    ('“', '”'),
    ('‘', '’'),
    ('„', '“'),
    ('«', '»'),
    ('»', '«'),
];
/// So far behind its begin the end of such a pair is looked for.
const ENCLOSED_CHARS_MAX: usize = 400;

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
    let (said, says) = (words(old), words(new));
    if said.is_empty() || says.is_empty() {
        return if is_same(old, new) { Relation::Known } else { Relation::Differs };
    }
    match (holds(&said, &says), holds(&says, &said)) {
        (true, _) => Relation::Known,
        (false, true) => Relation::Adds,
        (false, false) => Relation::Differs,
    }
}

/// Whether two texts have the same words.
pub fn is_same(one: &str, other: &str) -> bool {
    let found = words(one);
    found == words(other) && (!found.is_empty() || lower(one).trim() == lower(other).trim())
}

/// Whether `more` has all words of `less`, one after the other, and no word or sign besides that
/// could turn them around.
fn holds(more: &[String], less: &[String]) -> bool {
    let turns = |word: &&String| {
        word.split('-').any(|part| TURNING.contains(&part)) || !word.contains(char::is_alphanumeric)
    };
    let turning = |words: &[String]| words.iter().filter(turns).count();
    more.windows(less.len()).any(|run| run == less) && turning(more) == turning(less)
}

/// The words of a text with the signs that stand at them, because a sign can be all that tells two
/// facts apart: `C` and `C++`, `5` and `-5`, `$100` and `€100`. Left out is only what certainly
/// says nothing: the marks of a sentence, quotes and brackets around words, apostrophes in them,
/// and how letters are written. In a word with a figure that says something: it may be a password.
/// So does a hyphen: `Mon-Fri` is more than `Mon, Fri`.
fn words(text: &str) -> Vec<String> {
    let one_dash = |c| if DASHES.contains(&c) { '-' } else { c };
    let chars: Vec<char> = composed(text).chars().map(one_dash).collect();
    let encloses = enclosing(&chars);
    let says =
        |at: usize, c: char| !c.is_whitespace() && !encloses[at] && !is_mark(&chars, at, &encloses);
    let (mut words, mut word) = (Vec::new(), String::new());
    for (at, c) in chars.iter().enumerate() {
        if says(at, *c) {
            word.push(*c);
        } else {
            words.push(std::mem::take(&mut word));
        }
    }
    words.push(word);
    for word in words.iter_mut().filter(|word| !word.contains(char::is_numeric)) {
        *word = lower(word);
    }
    words.retain(|word| !word.is_empty() && !EMPTY.contains(&word.as_str()));
    words
}

/// Which of the characters enclose words. A pair around figures alone may be a part of a code.
fn enclosing(chars: &[char]) -> Vec<bool> {
    let mut found = vec![false; chars.len()];
    for at in 0..chars.len() {
        let end = PAIRS.iter().find(|(begin, _)| chars[at] == *begin).map(|(_, end)| *end);
        let begins = !before(chars, at).is_some_and(char::is_alphanumeric)
            && after(chars, at).is_some_and(|c| !c.is_whitespace());
        let Some(end) = end.filter(|_| begins && !found[at]) else { continue };
        let ends = |to: &usize| {
            chars[*to] == end
                && !found[*to]
                && before(chars, *to).is_some_and(|c| !c.is_whitespace())
                && !after(chars, *to).is_some_and(char::is_alphanumeric)
        };
        let Some(to) = (at + 1..chars.len().min(at + ENCLOSED_CHARS_MAX)).find(ends) else {
            continue;
        };
        if chars[at..to].iter().any(|c| c.is_alphabetic()) {
            (found[at], found[to]) = (true, true);
        }
    }
    found
}

/// Whether the character is a mark of a sentence or of a list, or an apostrophe in a word.
fn is_mark(chars: &[char], at: usize, encloses: &[bool]) -> bool {
    let (before, after) = (before(chars, at), after(chars, at));
    let is_apart = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
    match chars[at] {
        '\'' | '’' => is_letter(before) && is_letter(after),
        '-' if is_apart(before) => is_apart(after),
        c if BULLETS.contains(&c) => before.is_none_or(|c| c == '\n') && is_apart(after),
        c if ENDS.contains(&c) => {
            let goes_on = after.is_some_and(|c| !c.is_whitespace() && !ENDS.contains(&c));
            !is_apart(before) && (!goes_on || encloses[at + 1])
        }
        _ => false,
    }
}

fn before(chars: &[char], at: usize) -> Option<char> {
    chars.get(at.checked_sub(1)?).copied()
}

fn after(chars: &[char], at: usize) -> Option<char> {
    chars.get(at + 1).copied()
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
            ("- Likes “green tea” (hot)", "Likes green tea, hot!", Known),
            ("**Works at** `Acme`...", "works at Acme", Known),
            ("A well-known baker – in Graz", "a Well\u{2011}known baker in Graz.", Known),
            ("Met in May 2024 at ACME", "met in may 2024 at Acme.", Known),
            ("C++", "Writes C++.", Adds),
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
            ("A well-known baker", "a well known baker"),
            ("Smokes.", "Smokes: non-smoker."),
            ("Works at Acme.", "Used to be: works at Acme."),
            ("Likes tea.", "Likes tea?"),
            ("", "Likes tea."),
        ] {
            assert_eq!(relation(old, new), Differs, "{old} / {new}");
        }
    }

    /// Each of the two is a fact of its own, and takes the place of none.
    #[test]
    fn a_sign_or_a_single_letter_tells_two_facts_apart() {
        for (one, other) in [
            ("B", "A"),
            ("B", "B-"),
            ("-5 degrees", "5 degrees"),
            ("\u{2212}5", "5"),
            ("$100", "€100"),
            ("100", "100%"),
            ("temperature > 30", "temperature < 30"),
            ("temperature > 30", "temperature 30"),
            ("C", "C++"),
            ("Writes C.", "Writes C#."),
            ("D", "A"),
            ("#1234*", "*1234#"),
            ("*1234*", "1234"),
            ("★", "★★★★★"),
            ("★", "★ ★"),
            ("1.500", "1,500"),
            ("1.5", "15"),
            ("2²", "22"),
            ("1/2", "12"),
            (":)", ":("),
            ("open Mon-Fri", "open Mon, Fri"),
            ("open Mon–Fri", "open Mon Fri"),
            ("password: hunter2", "password: Hunter2"),
            ("?", "!"),
            ("x@example.com", "x.example.com"),
        ] {
            for (old, new) in [(one, other), (other, one)] {
                assert_eq!(relation(old, new), Differs, "{old} / {new}");
                assert!(!is_same(old, new), "{old} / {new}");
            }
            assert_eq!(relation(one, one), Known, "{one}");
        }
    }

    #[test]
    fn a_long_text_of_open_brackets_is_read_at_once() {
        let text = "(a".repeat(50_000);
        assert_eq!(words(&text).len(), 1);
    }
}
