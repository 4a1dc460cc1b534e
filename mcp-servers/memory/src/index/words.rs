//! Text as FTS5 may have it. Owns which words of a question are looked for, and how scripts that do
//! not separate words are cut; nothing that anybody wrote reaches `MATCH` in another way.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

/// Different words of one question that are looked for.
pub const QUERY_WORDS_MAX: usize = 64;

const WORD_BYTES_MAX: usize = 128;

/// English words that stand in nearly every sentence. Those of other languages weigh little
/// anyway, because a word counts for less the more notes hold it.
const STOP_WORDS: &[&str] = &[
    "a", "about", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "hers",
    "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "me", "my", "no",
    "not", "of", "on", "or", "our", "s", "she", "should", "so", "some", "t", "than", "that", "the",
    "their", "them", "then", "there", "they", "this", "to", "us", "was", "we", "were", "what",
    "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "would", "you",
    "your", "d", "ll", "m", "re", "ve",
];

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The words, each once, in their order.
    pub words: Vec<String>,
    /// Words beyond [`QUERY_WORDS_MAX`].
    pub left_out: usize,
}

impl Query {
    /// Words of a text without stop words, unless there are no others.
    pub fn of(text: &str) -> Self {
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        pieces(text, |piece| {
            let found = match piece {
                Piece::Word(word) => vec![shortened(&word.to_lowercase())],
                Piece::Run(run) => {
                    let run: Vec<char> = run.chars().collect();
                    if run.len() == 1 { vec![run.iter().collect()] } else { pairs(&run) }
                }
            };
            all.extend(found.into_iter().filter(|word| seen.insert(word.clone())));
        });
        let telling: Vec<String> =
            all.iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).cloned().collect();
        let mut words = if telling.is_empty() { all } else { telling };
        let left_out = words.len().saturating_sub(QUERY_WORDS_MAX);
        words.truncate(QUERY_WORDS_MAX);
        Self { words, left_out }
    }

    /// For `MATCH`: every word quoted, joined by OR. `None` if there is no word.
    pub fn expression(&self) -> Option<String> {
        any_of(&self.words)
    }
}

/// For `MATCH`: every word quoted, joined by OR. `None` if there is no word.
pub fn any_of(words: &[String]) -> Option<String> {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

/// The words contain no quote and no NUL, because these separate words. It is doubled all the same.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}

fn shortened(word: &str) -> String {
    let mut end = word.len().min(WORD_BYTES_MAX);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    word.get(..end).unwrap_or_default().to_owned()
}

/// What stands for a text of scripts that do not separate words: its characters, and its
/// characters two by two, in which words of two characters are found, too.
pub fn grams(text: &str) -> String {
    let mut out = String::new();
    pieces(text, |piece| {
        if let Piece::Run(run) = piece {
            let run: Vec<char> = run.chars().collect();
            for gram in run.iter().map(char::to_string).chain(pairs(&run)) {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(&gram);
            }
        }
    });
    out
}

fn pairs(run: &[char]) -> Vec<String> {
    run.windows(2).map(|pair| pair.iter().collect()).collect()
}

/// A text in small letters, in which a letter with its mark is one character wherever there is one
/// (NFC): some systems write names as letter and mark.
pub fn lower(text: &str) -> String {
    let lower = text.to_lowercase();
    if lower.is_ascii() { lower } else { lower.nfc().collect() }
}

/// The same with its letters as they are written.
pub fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// A name as it is compared: in small letters, with single spaces.
pub fn folded(name: &str) -> String {
    let lower = lower(name);
    let mut folded = String::with_capacity(lower.len());
    for word in lower.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Whether two characters side by side belong to one word.
pub fn joins(one: char, other: char) -> bool {
    class_of(one) == Class::Letter && class_of(other) == Class::Letter
}

enum Piece<'a> {
    /// Of a script that separates words.
    Word(&'a str),
    /// Of one that does not.
    Run(&'a str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    Letter,
    Unseparated,
}

fn pieces<'a>(text: &'a str, mut take: impl FnMut(Piece<'a>)) {
    let mut from = 0;
    let mut class = Class::Gap;
    let ends =
        text.char_indices().map(|(at, c)| (at, class_of(c))).chain([(text.len(), Class::Gap)]);
    for (at, next) in ends {
        if next != class {
            let piece = text.get(from..at).unwrap_or_default();
            match class {
                Class::Gap => {}
                Class::Letter => take(Piece::Word(piece)),
                Class::Unseparated => take(Piece::Run(piece)),
            }
            (from, class) = (at, next);
        }
    }
}

fn class_of(c: char) -> Class {
    match c {
        _ if c.is_ascii() => {
            if c.is_ascii_alphanumeric() {
                Class::Letter
            } else {
                Class::Gap
            }
        }
        // Thai, Lao, Burmese, Khmer, Japanese, Chinese.
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Class::Unseparated,
        // Punctuation, symbols and arrows; of all that remains, marks belong to their letters.
        '\u{80}'..='\u{a9}'
        | '\u{ab}'..='\u{b4}'
        | '\u{b6}'..='\u{b9}'
        | '\u{bb}'..='\u{bf}'
        | '\u{2000}'..='\u{206f}'
        | '\u{20a0}'..='\u{20cf}'
        | '\u{2190}'..='\u{2bff}'
        | '\u{2e00}'..='\u{2e7f}'
        | '\u{3000}'..='\u{303f}'
        | '\u{30fb}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff01}'..='\u{ff0f}'
        | '\u{1f000}'..='\u{1faff}' => Class::Gap,
        _ if c.is_whitespace() || c.is_control() => Class::Gap,
        _ => Class::Letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        Query::of(text).words
    }

    #[test]
    fn a_question_becomes_its_telling_words() {
        assert_eq!(
            words("When did Anna's sister move to Graz?"),
            ["anna", "sister", "move", "graz"]
        );
        assert_eq!(words("to be or not to be"), ["to", "be", "or", "not"]);
        assert_eq!(words("\"NEAR(a b)\" AND col:* -x ^y"), ["near", "b", "col", "x", "y"]);
        assert_eq!(words("a\0b \"\" 😀 ---"), ["b"]);
        assert_eq!(Query::of("😀 \0").expression(), None);
        assert_eq!(Query::of("Über-mut").expression().unwrap(), "\"über\" OR \"mut\"");
    }

    #[test]
    fn scripts_without_gaps_are_cut_into_pairs_and_indic_vowels_stay() {
        assert_eq!(words("北京大学 open"), ["北京", "京大", "大学", "open"]);
        assert_eq!(words("茶"), ["茶"]);
        assert_eq!(words("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
        assert_eq!(grams("tea 北京 x"), "北 京 北京");
    }

    #[test]
    fn a_question_of_any_length_has_a_bound_that_is_said() {
        let long: String = (0..100).map(|n| format!("w{n} ")).collect();
        let query = Query::of(&long);
        assert_eq!((query.words.len(), query.left_out), (QUERY_WORDS_MAX, 100 - QUERY_WORDS_MAX));
        assert!(words(&"é".repeat(1000))[0].len() <= WORD_BYTES_MAX);
    }
}
