//! `claw memory`: what is remembered, by its owner's own hands. One file a command; here is what
//! they share. It works on the files while servers run on them.

mod add;
mod check;
mod edit;
mod graph;
mod import;
mod list;
mod outline;
mod row;
mod shared;
mod show;
mod trash;

use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::{Value, json};

use super::args::MemoryAction;
use super::fail::UserError;
use super::server;
use crate::app::App;
use crate::whose::claw;

pub(super) use check::{Health, look};
pub(super) use claw_mcp_memory::kind_names;

/// How a home that has no memory gets it.
pub(super) const HOW_TO_ADD: &str = "add `\"memory\": {\"command\": \"claw\", \"args\": [\"server\", \"memory\"]}` to the servers of mcp.json";

pub async fn run(
    app: &App,
    action: Option<MemoryAction>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let notes = open(app)?;
    match action {
        None => list::run(&claw(app), &notes, list::Wanted::default(), as_json).await,
        Some(MemoryAction::List { words, kind, tag, proposals, trash }) => {
            let wanted = list::Wanted { words: words.join(" "), kind, tag, proposals, trash };
            list::run(&claw(app), &notes, wanted, as_json).await
        }
        Some(MemoryAction::Show { id }) => show::run(&notes, &id, as_json).await,
        Some(MemoryAction::Add { text, always, subject, kind, tags }) => {
            let wanted = add::Wanted { text: text.join(" "), always, subject, kind, tags };
            add::run(app, &notes, wanted, as_json).await
        }
        Some(MemoryAction::Edit { id }) => edit::run(&notes, &id, &app.config).await,
        Some(MemoryAction::Forget { id }) => trash::forget(&claw(app), &notes, &id, as_json).await,
        Some(MemoryAction::Restore { id }) => trash::restore(&notes, &id, as_json).await,
        Some(MemoryAction::Check) => check::run(app, &notes, as_json),
        Some(MemoryAction::Graph { name }) => graph::run(&notes, name.as_deref(), as_json),
        Some(MemoryAction::Import { file, yes }) => import::run(&notes, &file, yes, as_json).await,
    }
}

/// The notes of this agent, by the same arguments as its server.
fn open(app: &App) -> anyhow::Result<Notes> {
    let Some(launch) = &app.memory() else {
        return Err(UserError::because(format!(
            "mcp.json has no memory server, so there is nothing that remembers; {HOW_TO_ADD}"
        )));
    };
    let args = server::memory_args(launch)?;
    Notes::open(&args).map_err(mistake)
}

/// What a tool refuses is about what was typed, or about the files.
fn mistake(why: String) -> anyhow::Error {
    UserError::because(why.trim_end_matches('.').to_owned())
}

/// Does what a tool does, in the owner's name.
async fn tool(
    notes: &Notes,
    name: &str,
    mut arguments: Value,
) -> anyhow::Result<claw_mcp_memory::LibraryResult> {
    if let Value::Object(map) = &mut arguments {
        map.retain(|_, value| !value.is_null());
    }
    notes.run(name, arguments).await.map_err(mistake)
}

/// A name leads to its note, and to none where several have it.
fn names_one(notes: &Notes, id: &str) -> anyhow::Result<()> {
    // What is no note's name is refused by what is done with it.
    let nodes = notes.graph(Some(id)).unwrap_or_default();
    let ids: Vec<&str> = nodes.iter().filter_map(|node| node.id.as_deref()).collect();
    match ids.len() {
        0 | 1 => Ok(()),
        count => Err(UserError::because(format!(
            "{count} notes are named `{id}`; give the id of one: {}",
            ids.join(", ")
        ))),
    }
}

fn said<'a>(note: &'a Value, key: &str) -> &'a str {
    note.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// `, from agent work`, where a note is another agent's.
fn of_agent(note: &Value) -> String {
    match said(note, "of") {
        "" => String::new(),
        agent => format!(", from agent {agent}"),
    }
}

/// The source of what an owner writes.
fn owner() -> Value {
    json!({ "who": "owner" })
}
