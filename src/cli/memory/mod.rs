//! `claw memory`: what is remembered, by its owner's own hands. One file a command; here is what they
//! share. It works on the files while servers run on them.

mod add;
mod check;
mod edit;
mod graph;
mod import;
mod list;
mod outline;
mod show;
mod trash;

use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::{Value, json};

use super::args::MemoryAction;
use super::fail::UserError;
use super::server;
use crate::app::App;

pub(super) use check::look;

/// How a home that has no memory gets it.
pub(super) const HOW_TO_ADD: &str = "add `\"memory\": {\"command\": \"claw\", \"args\": [\"server\", \"memory\"]}` to the servers of mcp.json";

pub async fn run(
    app: &App,
    action: Option<MemoryAction>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let notes = open(app)?;
    match action {
        None => list::run(&notes, list::Wanted::default(), as_json).await,
        Some(MemoryAction::List { words, kind, tag, proposals, trash }) => {
            let wanted = list::Wanted { words: words.join(" "), kind, tag, proposals, trash };
            list::run(&notes, wanted, as_json).await
        }
        Some(MemoryAction::Show { id }) => show::run(&notes, &id, as_json).await,
        Some(MemoryAction::Add { text, subject, kind, tags }) => {
            let wanted = add::Wanted { text: text.join(" "), subject, kind, tags };
            add::run(&notes, wanted, as_json).await
        }
        Some(MemoryAction::Edit { id }) => edit::run(&notes, &id, &app.config).await,
        Some(MemoryAction::Forget { id }) => trash::forget(&notes, &id, as_json).await,
        Some(MemoryAction::Restore { id }) => trash::restore(&notes, &id, as_json).await,
        Some(MemoryAction::Check) => check::run(&notes, as_json),
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
) -> anyhow::Result<claw_mcp_memory::Said> {
    if let Value::Object(map) = &mut arguments {
        map.retain(|_, value| !value.is_null());
    }
    notes.run(name, arguments).await.map_err(mistake)
}

fn said<'a>(note: &'a Value, key: &str) -> &'a str {
    note.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The source of what an owner writes.
fn owner() -> Value {
    json!({ "who": "owner" })
}
