//! One hit of the memory server, read from its structured result, with why it came. Must not know
//! what is done with it.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::RecalledNote;

/// The shortest word that says why a note came, in characters.
const WORD_CHARS_MIN: usize = 3;
/// Words of one language come in forms: so much of a word has to be the same.
const SAME_CHARS_MIN: usize = 4;
/// The most words that are named.
const WORDS_NAMED_MAX: usize = 6;

/// A note that was found, and what is told of it.
#[derive(Clone, Debug)]
pub(super) struct FoundNote {
    pub note: RecalledNote,
    pub kind: String,
    pub text: String,
    pub is_part: bool,
    pub is_to_come: bool,
    pub valid_from: Option<String>,
    pub supersedes: Option<String>,
}

/// What `recall` of our memory server says of a hit. What else it says is not needed here.
#[derive(Deserialize)]
struct Hit {
    id: String,
    version: String,
    kind: String,
    subject: String,
    date: String,
    age: String,
    text: String,
    #[serde(default)]
    is_part: bool,
    #[serde(default)]
    is_to_come: bool,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    source: Source,
    #[serde(default)]
    valid_from: Option<String>,
    #[serde(default)]
    supersedes: Option<String>,
    #[serde(default)]
    superseded_by: Option<String>,
    /// Whose it is, where agents share a folder.
    #[serde(default)]
    of: Option<String>,
    /// What else than its words has brought it: a name in the message that leads to it, its
    /// meaning, or a note that was said beside it.
    #[serde(default)]
    why: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    who: Option<String>,
    session: Option<String>,
    turn: Option<u64>,
    file: Option<String>,
}

impl FoundNote {
    /// # Errors
    /// Half a sentence that says what cannot be read.
    pub(super) fn read(hit: &Value, words: &str) -> Result<Self, String> {
        let hit = Hit::deserialize(hit)
            .map_err(|error| format!("a hit of its answer cannot be read ({error})"))?;
        let why = hit.why.clone().unwrap_or_else(|| why(&hit, words));
        let note = RecalledNote {
            id: hit.id,
            version: hit.version,
            subject: hit.subject,
            source: hit.source.words(),
            date: hit.date,
            age: hit.age,
            superseded_by: hit.superseded_by,
            of: hit.of,
            why,
        };
        Ok(Self {
            note,
            kind: hit.kind,
            text: hit.text,
            is_part: hit.is_part,
            is_to_come: hit.is_to_come,
            valid_from: hit.valid_from,
            supersedes: hit.supersedes,
        })
    }
}

impl Source {
    fn words(&self) -> String {
        let who = self.who.iter().cloned();
        let place = match (&self.session, self.turn) {
            (Some(session), Some(turn)) => Some(format!("session {session} turn {turn}")),
            (Some(session), None) => Some(format!("session {session}")),
            (None, _) => None,
        };
        let file = self.file.iter().map(|file| format!("file {file}"));
        who.chain(place).chain(file).collect::<Vec<_>>().join(", ")
    }
}

/// The words of the message that the note holds, in whichever form. Of a note that is a part, or is
/// known by other names, not all words are here to be seen.
fn why(hit: &Hit, words: &str) -> String {
    let of_note = lower_words(&format!("{} {} {}", hit.subject, hit.tags.join(" "), hit.text));
    let mut shared: Vec<String> = Vec::new();
    for word in lower_words(words) {
        if !shared.contains(&word) && of_note.iter().any(|other| is_form_of(&word, other)) {
            shared.push(word);
        }
    }
    shared.truncate(WORDS_NAMED_MAX);
    match shared.len() {
        0 => "the memory found it with the words of the message".to_owned(),
        _ => format!("it holds {}", shared.join(", ")),
    }
}

fn lower_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let long = words.filter(|word| word.chars().count() >= WORD_CHARS_MIN);
    long.map(str::to_lowercase).collect()
}

fn is_form_of(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let shorter = one.chars().count().min(other.chars().count());
    same >= SAME_CHARS_MIN && same + 1 >= shorter
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hit_says_which_words_of_the_message_it_holds() {
        let hit = json!({
            "id": "a", "version": "v", "kind": "person", "subject": "Anna", "date": "2026-11-01",
            "age": "3 weeks ago", "text": "Sails on Lake Neusiedl.", "path": "anna.md",
            "source": {"who": "owner", "session": "main", "turn": 12},
        });
        let read = |words| FoundNote::read(&hit, words).unwrap().note;
        assert_eq!(read("When did Anna go sailing?").why, "it holds anna, sailing");
        // What is not seen here is not made up.
        assert_eq!(read("And then?").why, "the memory found it with the words of the message");
        let mut near = hit.clone();
        near["why"] = "it is near in meaning".into();
        let near = FoundNote::read(&near, "When did Anna go sailing?").unwrap().note;
        assert_eq!(near.why, "it is near in meaning");
        assert_eq!(read("x").source, "owner, session main turn 12");
        let wrong = FoundNote::read(&json!({"id": 1}), "x").unwrap_err();
        assert!(wrong.starts_with("a hit of its answer cannot be read"), "{wrong}");
    }
}
