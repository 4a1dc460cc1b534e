//! Whether a message asks about the past, so that what has been superseded may be found for it. A
//! rule of listed words and nothing cleverer: who reads it knows what it does.

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

impl Past {
    pub(super) fn asked(message: &str) -> Self {
        let text = message.to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .filter(|word| !word.is_empty())
            .collect();
        for (at, word) in words.iter().enumerate() {
            let before = words.get(..at).unwrap_or_default();
            let is_day = word.len() == 10 && word.parse::<Date>().is_ok();
            if is_day && AS_OF.iter().any(|phrase| ends_with(before, phrase)) {
                return Self::AsOf((*word).to_owned());
            }
        }
        let asked = WORDS.iter().any(|phrase| {
            (0..=words.len()).any(|end| ends_with(words.get(..end).unwrap_or_default(), phrase))
        });
        if asked { Self::Words } else { Self::No }
    }
}

fn ends_with(words: &[&str], phrase: &str) -> bool {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    words.ends_with(&phrase)
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
            assert_eq!(Past::asked(message), past, "{message}");
        }
    }
}
