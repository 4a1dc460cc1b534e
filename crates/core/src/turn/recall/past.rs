//! Whether a message asks about the past, so that what has been superseded may be found for it. A
//! rule of listed words and nothing cleverer: who reads it knows what it does.

use std::ops::Range;

use jiff::civil::Date;

/// Words that make a message a question about the past, in small letters. A phrase counts where
/// its words stand side by side.
const WORDS: [&str; 16] = [
    "used to",
    "formerly",
    "previously",
    "in the past",
    "back then",
    "at that time",
    "at the time",
    "years ago",
    "no longer",
    "early on",
    "früher",
    "damals",
    "ehemals",
    "vormals",
    "seinerzeit",
    "nicht mehr",
];

/// What stands before a day as of which the memory is asked.
const AS_OF: [&str; 3] = ["as of", "stand", "per"];

/// Which time a message asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Past {
    /// The present: nothing that has been superseded is given.
    No,
    /// What was, beside what is.
    Words,
    /// What was so on this day, as it is written: `2024-05-01`.
    AsOf(String),
}

/// A word of a message in small letters, and where it stands there.
struct Word {
    small: String,
    place: Range<usize>,
}

impl Past {
    /// The time that a message asks about, and the message without the words that say so: they are
    /// about the question, and no note is wanted that holds them.
    pub(super) fn asked(message: &str) -> (Self, String) {
        let words = words(message);
        for (at, word) in words.iter().enumerate() {
            let before = words.get(..at).unwrap_or_default();
            let is_day = word.small.len() == 10 && word.small.parse::<Date>().is_ok();
            let length = AS_OF.iter().find_map(|phrase| ends_with(before, phrase));
            if let Some(length) = length.filter(|_| is_day) {
                let mark = at - length..at + 1;
                let rest = without(message, &words, std::slice::from_ref(&mark));
                return (Self::AsOf(word.small.clone()), rest);
            }
        }
        let ends = 0..=words.len();
        let marks: Vec<Range<usize>> = ends
            .filter_map(|end| {
                let before = words.get(..end).unwrap_or_default();
                let length = WORDS.iter().find_map(|phrase| ends_with(before, phrase))?;
                Some(end - length..end)
            })
            .collect();
        let past = if marks.is_empty() { Self::No } else { Self::Words };
        (past, without(message, &words, &marks))
    }
}

fn words(message: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for (at, c) in message.char_indices().filter(|(_, c)| c.is_alphanumeric() || *c == '-') {
        let end = at + c.len_utf8();
        match words.last_mut().filter(|word| word.place.end == at) {
            Some(word) => {
                word.place.end = end;
                word.small.extend(c.to_lowercase());
            }
            None => words.push(Word { small: c.to_lowercase().collect(), place: at..end }),
        }
    }
    words
}

/// How many words of the phrase there are, if they end with it.
fn ends_with(words: &[Word], phrase: &str) -> Option<usize> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let last = words.len().checked_sub(phrase.len()).and_then(|from| words.get(from..))?;
    last.iter().map(|word| word.small.as_str()).eq(phrase.iter().copied()).then_some(phrase.len())
}

/// The message without these words, from the first to the last of each range.
fn without(message: &str, words: &[Word], ranges: &[Range<usize>]) -> String {
    let (mut rest, mut from) = (String::new(), 0);
    for range in ranges {
        let Some([first, .., last] | [first @ last]) = words.get(range.clone()) else { continue };
        rest.push_str(message.get(from..first.place.start).unwrap_or_default());
        from = last.place.end;
    }
    rest.push_str(message.get(from..).unwrap_or_default());
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_words_and_a_day_behind_as_of_ask_about_the_past() {
        for (message, past) in [
            ("Where does Anna live?", Past::No),
            ("Where did Anna use to live?", Past::No),
            ("Where did Anna live? She used to be in Graz.", Past::Words),
            ("Wo hat Anna früher gewohnt?", Past::Words),
            ("Which car do we no longer have?", Past::Words),
            ("the unused tool", Past::No),
            ("Who was our landlord as of 2024-05-01?", Past::AsOf("2024-05-01".into())),
            ("Wer war Vermieter, Stand 2024-05-01?", Past::AsOf("2024-05-01".into())),
            // The day of an invoice is no question about that day.
            ("Pay the invoice of 2024-05-01.", Past::No),
            ("as of 2024-13-01", Past::No),
        ] {
            assert_eq!(Past::asked(message).0, past, "{message}");
        }
    }

    #[test]
    fn the_words_that_ask_about_the_past_are_not_looked_for() {
        for (message, rest) in [
            ("Where does Anna live?", "Where does Anna live?"),
            ("Where USED TO  Anna live?", "Where   Anna live?"),
            ("Who, as of 2024-05-01, was it?", "Who, , was it?"),
            ("Wo hat Änne früher gewohnt, und damals Bob?", "Wo hat Änne  gewohnt, und  Bob?"),
            ("İ used to", "İ "),
        ] {
            assert_eq!(Past::asked(message).1, rest, "{message}");
        }
    }
}
