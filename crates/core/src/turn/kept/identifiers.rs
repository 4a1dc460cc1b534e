//! Names, numbers, dates, paths and the like in a text, by their form, with the words
//! that stand before them. Owns which of them are kept when not all can be. Must not know
//! where a text is from.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

/// Words before an identifier that say what it is, in bytes.
const BEFORE_BYTES: usize = 44;
const IDENTIFIER_BYTES_MAX: usize = 160;
/// What a person has said counts as if it had been said so often.
const OWNER_USES: u32 = 3;
/// More uses than this say nothing more.
const USES_MAX: u32 = 6;
/// Different identifiers of one compaction that are looked at.
const FOUND_MAX: usize = 20_000;

/// In order: addresses, mail, in backticks, paths, file names, dates, times, what is made of
/// letters and digits, versions and numbers, a name inside of a sentence, names of more than one
/// word. `None` cannot be: a test compiles it.
static IDENTIFIER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let kinds = [
        r#"https?://[^\s<>"'`)\]]+[\w/]"#,
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        r"`[^`\n]{2,80}`",
        r"(?:~|\.{1,2})?/[\w@+-][\w.@+/-]*\w|\b[\w.-]+/[\w./-]*\w",
        r"\b[\w-]{2,}\.[a-z][a-z0-9]{1,4}\b",
        r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?\b|\b\d{1,2}\.\d{1,2}\.\d{2,4}\b",
        r"\b\d{1,2}:\d{2}\b",
        r"\b(?:[A-Za-z]+[-_#]?\d[\w-]*|\d+[-_]?[A-Za-z][\w-]*)\b",
        r"\bv?\d+(?:[.,:]\d+)*(?: ?(?:%|€|\$|EUR|USD|CHF|GBP|[KMGT]i?B|kg|km|m|ms|s|h)\b)?",
        r"[\p{Ll}\d,;:] (?P<name>\p{Lu}[\p{L}'’]{2,}(?:[ -]\p{Lu}[\p{L}'’]+)*)(?:[^\w-]|$)",
        r"\b\p{Lu}[\p{L}'’-]+(?: (?:van |von |de |der )?\p{Lu}[\p{L}'’]+)+",
    ];
    Regex::new(&kinds.join("|")).ok()
});

/// What was found of a conversation, from its beginning on.
#[derive(Debug, Default)]
pub(super) struct Identifiers {
    found: HashMap<String, Found>,
    /// How many looks there were: what was found later is newer.
    looks: u32,
}

#[derive(Debug)]
struct Found {
    line: String,
    uses: u32,
    newest: u32,
    /// When it was found first, or its place among those that were kept before.
    place: usize,
    /// The line has the owner's own words.
    owners: bool,
}

impl Identifiers {
    /// A line that was kept before.
    pub(super) fn keep(&mut self, line: &str) {
        let Some(pattern) = IDENTIFIER.as_ref() else { return };
        // It ends with what it is about.
        let found = pattern.captures_iter(line).last();
        let found = found.and_then(|found| found.name("name").or(found.get(0)));
        let id = found.map_or(line, |found| found.as_str().trim());
        // Words before it are the owner's.
        let owners = id != line && id.len() > 3;
        let uses = if owners { OWNER_USES } else { 1 };
        self.add(id.to_owned(), line.to_owned(), uses, owners);
    }

    /// Takes what is in a text. Of the owner's the words before it are kept, too.
    pub(super) fn look(&mut self, text: &str, owner: bool) {
        let Some(pattern) = IDENTIFIER.as_ref() else { return };
        self.looks += 1;
        for line in text.lines() {
            for found in pattern.captures_iter(line) {
                let Some(found) = found.name("name").or(found.get(0)) else { continue };
                let id = found.as_str().trim();
                if id.len() < 2 || id.len() > IDENTIFIER_BYTES_MAX {
                    continue;
                }
                let before = line.get(..found.start()).unwrap_or_default();
                let words = if owner { words_before(before) } else { "" };
                // A small number names little by itself.
                let is_small = id.len() < 4 && id.bytes().all(|byte| byte.is_ascii_digit());
                let uses = if owner && !is_small { OWNER_USES } else { 1 };
                self.add(id.to_owned(), format!("{words}{id}"), uses, owner);
            }
        }
    }

    fn add(&mut self, id: String, line: String, uses: u32, owners: bool) {
        let (newest, place) = (self.looks, self.found.len());
        let key = id.to_lowercase();
        match self.found.get_mut(&key) {
            Some(known) => {
                (known.uses, known.newest) = (known.uses.saturating_add(uses), newest);
                // What the owner said of it is not replaced by what others did.
                if owners || !known.owners {
                    (known.line, known.owners) = (line, owners);
                }
            }
            None if place >= FOUND_MAX => {}
            None => {
                self.found.insert(key, Found { line, uses, newest, place, owners });
            }
        }
    }

    /// The newest and most used, within so many bytes.
    pub(super) fn best(self, bytes_max: usize) -> Vec<String> {
        let looks = self.looks.max(1);
        // What the owner has said once is worth more than what is new and was said by others.
        let score = |found: &Found| {
            u64::from(found.uses.min(USES_MAX)) * 4_000 / u64::from(USES_MAX)
                + u64::from(found.newest) * 1_000 / u64::from(looks)
        };
        let mut all: Vec<Found> = self.found.into_values().collect();
        all.sort_by(|one, other| {
            score(other).cmp(&score(one)).then_with(|| one.place.cmp(&other.place))
        });
        let mut bytes = 0;
        let fits = |found: &Found| {
            bytes += found.line.len();
            bytes <= bytes_max
        };
        all.into_iter().take_while(fits).map(|found| found.line).collect()
    }
}

/// The end of what stands before an identifier, from the beginning of a word on.
fn words_before(before: &str) -> &str {
    let from = before.ceil_char_boundary(before.len().saturating_sub(BEFORE_BYTES));
    let words = before.get(from..).unwrap_or_default();
    if from == 0 {
        return words.trim_start();
    }
    words.split_once(char::is_whitespace).map_or("", |(_, whole)| whole)
}
