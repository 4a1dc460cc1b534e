//! `read`: one note as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, on_notes};
use crate::error::Result;
use crate::find;
use crate::memory::Memory;
use crate::recall::successor;

pub fn tool() -> ToolDef {
    About {
        name: "read",
        title: "Read a note",
        description: "Gives one note as a whole, with what it links to, which notes link to it, and conflict copies of its file. \
                      Takes the id that recall and list show, or the path of a file.",
        effect: Effect::ReadOnly,
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the note, or the path of its file.
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    /// What it links to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Linked>,
    /// Ids of the notes that link to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked_from: Vec<String>,
    /// Other files with the same id: what a sync tool has put beside it. They are not searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflict_copies: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Linked {
    /// As it is written.
    target: String,
    /// How the two are related, if the note says so.
    #[serde(skip_serializing_if = "String::is_empty")]
    relation: String,
    /// The note of that name, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let db = &memory.index.db;
    let entry = find::note(db, &input.id)?;
    let mut links = Vec::new();
    for link in &entry.note.links {
        let id = find::named(db, &link.target)?;
        links.push(Linked { target: link.target.clone(), relation: link.relation.clone(), id });
    }
    let about = Shown::new(&entry, successor(db, &entry)?.map(|successor| successor.id), false);
    let output = Output {
        links,
        linked_from: find::linking_to(db, &entry)?,
        conflict_copies: find::copies(db, &entry)?,
        aliases: entry.note.aliases.clone(),
        text: entry.note.body.clone(),
        about,
    };
    let mut text = format!("{}\n\n{}\n", output.about.line(), output.text);
    if !output.linked_from.is_empty() {
        text.push_str(&format!("\n[linked from: {}]", output.linked_from.join(", ")));
    }
    if !output.conflict_copies.is_empty() {
        text.push_str(&format!(
            "\n[conflict copies, which somebody has to merge by hand: {}]",
            output.conflict_copies.join(", ")
        ));
    }
    Ok(Reply { text, structured: output })
}
