//! A note as tools show it. Owns the shared fields and the line for a model; must not know why a
//! note is shown.

use schemars::JsonSchema;
use serde::Serialize;

use super::is_false;
use crate::index::Entry;
use crate::note::{Kind, Source, time};
use crate::whose::Whose;

/// What every tool says of a note.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct About {
    /// For read, update and the other tools.
    pub id: String,
    pub kind: Kind,
    pub subject: String,
    /// The file, relative to the folder of the notes.
    pub path: String,
    /// The day on which it was last said to be so.
    pub date: String,
    /// How long ago that is.
    pub age: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub source: Source,
    /// The other agent whose note it is, where agents share a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// From when on it is so, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// It is not so yet.
    #[serde(skip_serializing_if = "is_false")]
    pub is_to_come: bool,
    /// The id of the note that is right instead of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The id of the note that this one is right instead of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// What it is now; update takes it, so that no other change is lost.
    pub version: String,
    /// What could not be understood in the file. It has to be mended by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl About {
    pub fn new(
        whose: &Whose,
        entry: &Entry,
        superseded_by: Option<String>,
        is_to_come: bool,
    ) -> Self {
        let note = &entry.note;
        Self {
            id: entry.id.clone(),
            kind: note.kind,
            subject: note.subject.clone(),
            path: entry.path.clone(),
            date: time::day(entry.dated),
            age: time::age(entry.dated, time::now()),
            tags: note.tags.clone(),
            source: note.source.clone(),
            of: whose.other(&note.source),
            valid_from: note.valid_from.map(time::day),
            is_to_come,
            superseded_by,
            supersedes: note.supersedes.clone(),
            version: entry.version(),
            fault: note.fault.clone(),
        }
    }

    /// One line: what it is, when and by whom it was said.
    pub fn line(&self) -> String {
        let mut line = format!(
            "[{}] {}: {}, {} ({})",
            self.id,
            self.kind.as_str(),
            self.subject,
            self.date,
            self.age
        );
        let Source { who, session, turn, file, agent: _ } = &self.source;
        for (what, value) in [("from", who), ("session", session), ("file", file)] {
            if let Some(value) = value {
                line.push_str(&format!(", {what} {value}"));
            }
        }
        if let Some(turn) = turn {
            line.push_str(&format!(" turn {turn}"));
        }
        if let Some(of) = &self.of {
            line.push_str(&format!(", from agent {of}"));
        }
        if !self.tags.is_empty() {
            line.push_str(&format!(", #{}", self.tags.join(" #")));
        }
        if let Some(from) = &self.valid_from {
            line.push_str(&format!(
                ", so {} {from}",
                if self.is_to_come { "only from" } else { "since" }
            ));
        }
        if let Some(by) = &self.superseded_by {
            line.push_str(&format!(", NO LONGER SO: superseded by [{by}]"));
        }
        if let Some(fault) = &self.fault {
            line.push_str(&format!(", the file has to be mended by hand: {fault}"));
        }
        line
    }
}
