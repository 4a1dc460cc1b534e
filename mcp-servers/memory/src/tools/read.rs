//! `read`: one note as a whole.

use rusqlite::Connection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, begins, on_notes};
use crate::copies;
use crate::edges::{self, Edge};
use crate::error::{Result, ToolError};
use crate::find;
use crate::index::{Entry, row_at};
use crate::memory::Memory;
use crate::note::time;
use crate::recall::successor;

pub fn tool() -> ToolDef {
    About {
        name: "read",
        title: "Read a note",
        description: "Gives one note as a whole, with what it links to, which notes link to it, and conflict copies of its file. \
                      Takes the id that recall and list show, the path of a file, or the subject.",
        effect: Effect::ReadOnly,
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the note, the path of its file, or its subject.
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    /// What it links to, the first 64.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Linked>,
    /// The notes that link to it, the newest 64.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<Linked>,
    /// Other notes of the subject that was asked for: choose one by its id. At most 7.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    same_name: Vec<Namesake>,
    /// Other files with the same id: what a sync tool has put beside it. They are not searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflict_copies: Vec<String>,
}

/// A note of the same name.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Namesake {
    id: String,
    /// How long ago it was said.
    age: String,
    /// Its text in one line, or the beginning of that.
    begins: String,
}

impl Namesake {
    fn new(entry: &Entry) -> Self {
        let age = time::age(entry.dated, time::now());
        Self { id: entry.id.clone(), age, begins: begins(&entry.note.body) }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Linked {
    /// The subject of the note, or what the link names if that is no note.
    subject: String,
    /// How the two are related, if the link says so.
    #[serde(skip_serializing_if = "String::is_empty")]
    relation: String,
    /// The note, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

impl Linked {
    fn all(edges: Vec<Edge>) -> Vec<Self> {
        let linked =
            |edge: Edge| Self { subject: edge.subject, relation: edge.relation, id: edge.id };
        edges.into_iter().map(linked).collect()
    }

    /// `works at: Acme [m2]`
    fn line(&self) -> String {
        let relation = if self.relation.is_empty() { "" } else { ": " };
        let id = self.id.as_ref().map(|id| format!(" [{id}]")).unwrap_or_default();
        format!("{}{relation}{}{id}", self.relation, self.subject)
    }
}

/// A note by its id, its path or its name, with the others of that name.
fn asked_for(db: &Connection, asked: &str) -> Result<(Entry, Vec<Entry>)> {
    let missing = match find::note(db, asked) {
        Ok(entry) => return Ok((entry, Vec::new())),
        Err(ToolError::NoNote { id, where_it_is }) => (id, where_it_is),
        Err(error) => return Err(error),
    };
    let (id, where_it_is) = missing;
    let mut named = find::current_of_name(db, &id)?.into_iter();
    if let Some(newest) = named.next() {
        return Ok((newest, named.collect()));
    }
    match find::named(db, &id)? {
        Some(named) => Ok((find::note(db, &named.id)?, Vec::new())),
        None => Err(ToolError::NoNote { id, where_it_is }),
    }
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let db = &memory.index.db;
    let (entry, namesakes) = asked_for(db, &input.id)?;
    let row = row_at(db, &entry.path)?;
    let about = Shown::new(
        &memory.whose,
        &entry,
        successor(db, &entry)?.map(|successor| successor.id),
        false,
    );
    let output = Output {
        links: Linked::all(edges::from(db, row)?),
        linked_from: Linked::all(edges::to(db, row)?),
        same_name: namesakes.iter().map(Namesake::new).collect(),
        conflict_copies: copies::of(db, &entry)?,
        aliases: entry.note.aliases.clone(),
        text: entry.note.body.clone(),
        about,
    };
    let mut text = format!("{}\n\n{}\n", output.about.line(), output.text);
    for (what, links) in [("links to", &output.links), ("linked from", &output.linked_from)] {
        if !links.is_empty() {
            let lines: Vec<String> = links.iter().map(Linked::line).collect();
            text.push_str(&format!("\n[{what}: {}]", lines.join("; ")));
        }
    }
    for one in &output.same_name {
        let Namesake { id, age, begins } = one;
        text.push_str(&format!("\n[another note of that name, {age}: [{id}] {begins}]"));
    }
    if !output.conflict_copies.is_empty() {
        text.push_str(&format!(
            "\n[conflict copies, which somebody has to merge by hand: {}]",
            output.conflict_copies.join(", ")
        ));
    }
    Ok(Reply { text, structured: output })
}
