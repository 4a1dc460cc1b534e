//! A note: what a Markdown file with front matter means. Owns the fields and how lenient they are
//! read; must not know where files lie, or the index.

pub mod front;
pub mod links;
pub mod time;
pub mod write;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use links::Link;

/// What a note is about: something that is so, what somebody likes, what was learned, how something
/// is done, somebody, or an undertaking. A file that names none is a fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Kind {
    #[default]
    Fact,
    Preference,
    Lesson,
    Procedure,
    Person,
    Project,
}

impl Kind {
    pub const ALL: [Self; 6] =
        [Self::Fact, Self::Preference, Self::Lesson, Self::Procedure, Self::Person, Self::Project];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Lesson => "lesson",
            Self::Procedure => "procedure",
            Self::Person => "person",
            Self::Project => "project",
        }
    }

    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Every kind by its name.
pub fn kind_names() -> [&'static str; 6] {
    Kind::ALL.map(Kind::as_str)
}

/// Who said it, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Source {
    /// Who said it: a person, `owner`, or a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The session in which it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<i64>,
    /// The file that it was read in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The agent that wrote it, where several share a folder. The server says it, and nobody else.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A note as its file says it. Times are seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// `None` in a file that a person wrote without one; its path is its id then.
    pub id: Option<String>,
    pub kind: Kind,
    pub subject: String,
    pub body: String,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    pub source: Source,
    pub created: Option<i64>,
    pub updated: Option<i64>,
    pub valid_from: Option<i64>,
    pub superseded_by: Option<String>,
    pub supersedes: Option<String>,
    pub links: Vec<Link>,
    /// What in the file could not be understood, in one sentence. Such a note is found by its
    /// words, and no tool writes to it.
    pub fault: Option<String>,
}

/// Tags of a note that are kept, and names for it; more are a fault.
const LIST_ITEMS_MAX: usize = 256;

impl Note {
    /// Reads a file. `stem` is its name without `.md`, the subject if it has no other.
    pub fn parse(text: &str, stem: &str) -> Self {
        let front = front::split(text);
        let mut note = Self { subject: stem.to_owned(), ..Self::default() };
        let fields = match front::fields(front.yaml) {
            Ok(fields) => fields,
            Err(fault) => {
                note.fault = Some(fault);
                note.body = text.trim().to_owned();
                note.links = links::find(&note.body);
                return note;
            }
        };
        let mut reader = Reader { fields, faults: Vec::new() };
        note.id = reader.text("id").filter(|id| is_id(id));
        if let Some(kind) = reader.text("kind") {
            match Kind::of(&kind) {
                Some(kind) => note.kind = kind,
                None => reader.faults.push(format!("there is no kind `{kind}`")),
            }
        }
        if let Some(subject) = reader.text("subject").or_else(|| reader.text("title")) {
            note.subject = subject;
        }
        note.tags = reader.list("tags");
        note.aliases = reader.list("aliases");
        note.source = Source {
            who: reader.text("source"),
            session: reader.text("source_session"),
            turn: reader.whole("source_turn"),
            file: reader.text("source_file"),
            agent: reader.text("source_agent"),
        };
        note.created = reader.time("created").or_else(|| reader.time("date"));
        note.updated = reader.time("updated");
        note.valid_from = reader.time("valid_from");
        note.superseded_by = reader.text("superseded_by");
        note.supersedes = reader.text("supersedes");
        note.body = front.body.trim().to_owned();
        note.links = links::find(&note.body);
        if !reader.faults.is_empty() {
            note.fault = Some(format!("in its front matter: {}", reader.faults.join("; ")));
        }
        note
    }
}

/// Whether a text can be the id of a note: short, one line, and nothing that a path or
/// a link needs.
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

struct Reader {
    fields: BTreeMap<String, Value>,
    faults: Vec<String>,
}

impl Reader {
    fn text(&mut self, key: &str) -> Option<String> {
        match self.fields.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(one_line(text)).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            _ => {
                self.faults.push(format!("`{key}` is not a text"));
                None
            }
        }
    }

    fn whole(&mut self, key: &str) -> Option<i64> {
        let text = self.text(key)?;
        let number = text.parse().ok();
        if number.is_none() {
            self.faults.push(format!("`{key}` is not a number"));
        }
        number
    }

    fn time(&mut self, key: &str) -> Option<i64> {
        let text = self.text(key)?;
        let time = time::parse(&text);
        if time.is_none() {
            self.faults.push(format!("`{key}` is not a date such as 2026-11-23"));
        }
        time
    }

    /// A list, or a text with commas. A tag may be written with its `#`.
    fn list(&mut self, key: &str) -> Vec<String> {
        let mut items: Vec<String> = match self.fields.get(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => text.split(',').map(one_line).collect(),
            Some(Value::Array(items)) => items
                .iter()
                .filter_map(|item| match item {
                    Value::String(text) => Some(one_line(text)),
                    Value::Number(number) => Some(number.to_string()),
                    Value::Bool(value) => Some(value.to_string()),
                    _ => None,
                })
                .collect(),
            Some(_) => {
                self.faults.push(format!("`{key}` is not a list"));
                Vec::new()
            }
        };
        for item in &mut items {
            *item = item.trim_start_matches('#').to_owned();
        }
        items.retain(|item| !item.is_empty());
        let mut seen = std::collections::BTreeSet::new();
        items.retain(|item| seen.insert(item.clone()));
        if items.len() > LIST_ITEMS_MAX {
            self.faults.push(format!("`{key}` has more than {LIST_ITEMS_MAX} entries"));
            items.truncate(LIST_ITEMS_MAX);
        }
        items
    }
}

/// A text in one line, without what cannot be seen.
pub fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "---\nid: m7k2\nkind: person\nsubject: \"Anna: my sister\"\ntags: [family, '#friends']\n\
        aliases: Annie\nsource: owner\nsource_session: main\nsource_turn: 12\ncreated: 2026-11-23\n\
        valid_from: 2026-01-01T00:00:00Z\nsupersedes: old1\ncssclasses: [wide]\n---\n\nLives in [[Graz]].\n";

    #[test]
    fn a_whole_note_is_read_and_what_is_not_ours_is_passed_over() {
        let note = Note::parse(WHOLE, "anna");
        assert_eq!(note.fault, None);
        assert_eq!(note.id.as_deref(), Some("m7k2"));
        assert_eq!((note.kind, note.subject.as_str()), (Kind::Person, "Anna: my sister"));
        assert_eq!(note.tags, ["family", "friends"]);
        assert_eq!(note.aliases, ["Annie"]);
        assert_eq!((note.source.who.as_deref(), note.source.turn), (Some("owner"), Some(12)));
        assert_eq!(note.created, Some(1_795_392_000));
        assert_eq!(note.valid_from, Some(1_767_225_600));
        assert_eq!(note.supersedes.as_deref(), Some("old1"));
        assert_eq!(note.body, "Lives in [[Graz]].");
        assert_eq!(note.links.len(), 1);
    }

    #[test]
    fn a_file_of_a_person_needs_no_front_matter() {
        let note = Note::parse("# Tomatoes\n\nWater them.\n", "tomatoes");
        assert_eq!((note.fault, note.id, note.kind), (None, None, Kind::Fact));
        assert_eq!(note.subject, "tomatoes");
        assert!(note.body.contains("Water them."));
        assert_eq!(Note::parse("", "empty").body, "");
        assert_eq!(Note::parse("---\n---\n", "empty").fault, None);
    }

    #[test]
    fn what_does_not_parse_is_kept_as_text_with_a_sentence() {
        let broken = "---\nsubject: [unclosed\nid: m1\n---\nThe boiler is blue.\n";
        let note = Note::parse(broken, "boiler");
        assert!(note.fault.is_some());
        assert!(note.body.contains("The boiler is blue.") && note.body.contains("unclosed"));
        let odd =
            Note::parse("---\nid: m1\nkind: recipe\nvalid_from: soon\ntags: {a: 1}\n---\nx", "odd");
        let fault = odd.fault.unwrap();
        for part in ["recipe", "valid_from", "tags"] {
            assert!(fault.contains(part), "{fault}");
        }
        assert_eq!(odd.id.as_deref(), Some("m1"));
    }

    #[test]
    fn yaml_that_grows_or_nests_without_end_is_refused_and_not_followed() {
        let mut bomb = "---\na: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (name, last) in ('b'..='z').zip('a'..='y') {
            bomb += &format!(
                "{name}: &{name} [*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last}]\n"
            );
        }
        assert!(Note::parse(&(bomb + "---\nbody"), "bomb").fault.is_some());
        let deep = format!("---\na: {}\n---\nbody", "[".repeat(100_000));
        assert!(Note::parse(&deep, "deep").fault.is_some());
    }
}
