//! Which words of a text are looked for. Must not know tools.

use std::collections::BTreeSet;

/// Different words of one request that are looked for.
const WORDS_MAX: usize = 64;
/// The longest word, in bytes.
const WORD_BYTES_MAX: usize = 64;

/// English words that stand in requests of all kinds and tell nothing about the tool. Those of
/// other languages weigh little anyway, because a word counts for less the more tools have it.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "anything",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "don",
    "down",
    "each",
    "few",
    "for",
    "from",
    "further",
    "get",
    "give",
    "had",
    "has",
    "have",
    "having",
    "he",
    "hello",
    "help",
    "her",
    "here",
    "hers",
    "hey",
    "hi",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "interested",
    "into",
    "is",
    "it",
    "its",
    "just",
    "kindly",
    "know",
    "let",
    "like",
    "ll",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "need",
    "needs",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "ok",
    "okay",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "out",
    "over",
    "own",
    "please",
    "re",
    "same",
    "she",
    "should",
    "so",
    "some",
    "something",
    "such",
    "sure",
    "tell",
    "than",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "three",
    "through",
    "to",
    "too",
    "two",
    "under",
    "until",
    "us",
    "used",
    "using",
    "ve",
    "very",
    "want",
    "wants",
    "was",
    "way",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "won",
    "would",
    "yes",
    "yet",
    "you",
    "your",
];

/// The words of a text in their order, in small letters; `camelCase` and `snake_case` are taken
/// apart.
pub fn of_text(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if !c.is_alphanumeric() {
            take(&mut word, &mut words);
            before = None;
            continue;
        }
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        if before.is_some_and(|before| is_border(before, c, next_is_small)) {
            take(&mut word, &mut words);
        }
        word.extend(c.to_lowercase());
        before = Some(c);
    }
    take(&mut word, &mut words);
    words
}

/// The words of a request by which tools are found, each once. Without stop words, numbers and
/// single letters, unless there are no others. A number that names a server stays.
pub fn telling(text: &str, names_server: impl Fn(&str) -> bool) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut words = of_text(text);
    words.retain(|word| seen.insert(word.clone()));
    let tells = |word: &&String| {
        let is_number = word.chars().all(char::is_numeric);
        let is_letter = word.len() == 1 && !is_number;
        let is_amount = is_number && !names_server(word);
        !is_letter && !is_amount && !STOP_WORDS.contains(&word.as_str())
    };
    let telling: Vec<String> = words.iter().filter(tells).cloned().collect();
    let mut words = if telling.is_empty() { words } else { telling };
    words.truncate(WORDS_MAX);
    words
}

/// Names of tools that a text may hold as they are: what is written in one piece, like
/// `get_weather`, `math.sum` or `createIssue`, or the whole text.
pub fn names_in(text: &str) -> Vec<String> {
    let whole = text.trim();
    let pieces = whole.split(|c: char| c.is_whitespace() || "`'\"“”‘’(){}<>[],;".contains(c));
    let pieces = pieces.map(|piece| piece.trim_matches(|c: char| ".:!?".contains(c)));
    let names = pieces.filter(|piece| of_text(piece).len() > 1);
    let mut names: Vec<String> = names.chain([whole]).map(str::to_lowercase).collect();
    names.retain(|name| !name.is_empty());
    names.truncate(WORDS_MAX);
    names
}

/// Words with a hyphen, written as one: `to-do` is what a tool calls `todo`.
pub fn joined(text: &str) -> Vec<String> {
    let pieces = text.split_whitespace();
    let pieces = pieces.map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()));
    let has_hyphen = |piece: &&str| {
        let parts = || piece.split('-');
        parts().count() > 1
            && parts().all(|part| !part.is_empty() && part.chars().all(char::is_alphabetic))
    };
    let mut joined: Vec<String> =
        pieces.filter(has_hyphen).map(|piece| piece.replace('-', "").to_lowercase()).collect();
    joined.retain(|word| word.len() <= WORD_BYTES_MAX);
    joined.truncate(WORDS_MAX);
    joined
}

/// Whether a word ends between two characters: `aB`, `HTTPServer`, `a1`.
fn is_border(before: char, c: char, next_is_small: bool) -> bool {
    let hump = c.is_uppercase() && (before.is_lowercase() || before.is_numeric());
    let acronym_ends = before.is_uppercase() && c.is_uppercase() && next_is_small;
    hump || acronym_ends || (before.is_alphabetic() && c.is_ascii_digit())
}

fn take(word: &mut String, words: &mut Vec<String>) {
    if !word.is_empty() {
        let mut end = word.len().min(WORD_BYTES_MAX);
        while !word.is_char_boundary(end) {
            end -= 1;
        }
        word.truncate(end);
        words.push(std::mem::take(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(of_text("createPullRequest"), ["create", "pull", "request"]);
        assert_eq!(of_text("get_HTTPServer.log2"), ["get", "http", "server", "log", "2"]);
        assert_eq!(of_text("ms365__list-mail"), ["ms", "365", "list", "mail"]);
        assert_eq!(of_text(" \"';--"), [""; 0]);
    }

    #[test]
    fn what_tells_nothing_is_left_out_unless_there_is_nothing_else() {
        let telling = |text| telling(text, |number| number == "17");
        assert_eq!(telling("Could you please send 3 mails, send them now?"), ["send", "mails"]);
        assert_eq!(telling("send 17 mails by server 17"), ["send", "17", "mails", "server"]);
        assert_eq!(telling("what is it"), ["what", "is", "it"]);
    }

    #[test]
    fn words_with_a_hyphen_are_joined_and_numbers_are_not() {
        assert_eq!(joined("My To-Do list, (e-mail) at 2024-05-01 - and x-"), ["todo", "email"]);
    }

    #[test]
    fn names_in_a_text_are_found_as_they_stand() {
        let names = names_in("Call `math.sum` or getWeather.");
        assert_eq!(names, ["math.sum", "getweather", "call `math.sum` or getweather."]);
        assert_eq!(names_in("search"), ["search"]);
    }
}
