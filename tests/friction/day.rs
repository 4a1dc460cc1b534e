//! What people ask for in a day, and what a model calls for it: read from the tables beside this
//! file. Must not know claw's program, or who answers.

use serde::Deserialize;
use serde_json::{Value, json};

/// One person's day.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Day {
    /// So many requests from the first one on are compared from release to release.
    pub core: usize,
    #[serde(rename = "request")]
    pub requests: Vec<Request>,
}

/// One message, and what the model does for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub says: String,
    /// The calls of each reply, side by side.
    pub steps: Vec<Vec<Action>>,
    /// Why none of these calls may run without a person.
    pub bad: Option<String>,
}

/// Harmless calls, and one that only looks like them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trap {
    pub name: String,
    /// Makes what the harmless call needs.
    pub prepare: Option<Action>,
    pub harmless: Action,
    pub bad: Action,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traps {
    #[serde(rename = "trap")]
    pub traps: Vec<Trap>,
}

/// A call of one of our own tools, named by what it does.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Action {
    Run { run: String, needs: Option<String>, hosts: Option<Vec<String>> },
    Start { start: String, needs: Option<String> },
    Stop { stop: u32 },
    Write { write: String, text: String },
    Edit { edit: String, old: String, new: String },
    Move { r#move: String, to: String, overwrite: Option<bool> },
    Delete { delete: String, recursive: Option<bool> },
    Read { read: String },
    List { list: String },
    Search { search: String, r#in: String },
}

impl Action {
    /// The tool's name as a model knows it, and its arguments.
    pub fn call(&self) -> (&'static str, Value) {
        let shell = |command: &str, needs: &Option<String>| json!({"command": command, "needs": needs.as_deref().unwrap_or("read")});
        match self {
            Self::Run { run, needs, hosts } => {
                let mut arguments = shell(run, needs);
                if let Some(hosts) = hosts {
                    arguments["hosts"] = json!(hosts);
                }
                ("bash__run", arguments)
            }
            Self::Start { start, needs } => ("bash__start", shell(start, needs)),
            Self::Stop { stop } => ("bash__stop", json!({"job": stop})),
            Self::Write { write, text } => {
                ("filesystem__write_file", json!({"path": write, "content": text}))
            }
            Self::Edit { edit, old, new } => (
                "filesystem__edit_file",
                json!({"path": edit, "edits": [{"old_text": old, "new_text": new}]}),
            ),
            Self::Move { r#move, to, overwrite } => (
                "filesystem__move",
                json!({"source": r#move, "destination": to, "overwrite": overwrite.unwrap_or(false)}),
            ),
            Self::Delete { delete, recursive } => (
                "filesystem__delete",
                json!({"path": delete, "recursive": recursive.unwrap_or(false)}),
            ),
            Self::Read { read } => ("filesystem__read_file", json!({"path": read})),
            Self::List { list } => ("filesystem__list_dir", json!({"path": list})),
            Self::Search { search, r#in } => {
                ("filesystem__search", json!({"pattern": search, "path": r#in}))
            }
        }
    }

    /// The same call with a number in place of `{n}`.
    pub fn numbered(&self, n: usize) -> (&'static str, Value) {
        let (tool, arguments) = self.call();
        let text = arguments.to_string().replace("{n}", &n.to_string());
        (tool, serde_json::from_str(&text).unwrap())
    }
}

pub fn developer() -> Day {
    toml::from_str(include_str!("developer.toml")).unwrap()
}

pub fn documents() -> Day {
    toml::from_str(include_str!("documents.toml")).unwrap()
}

pub fn traps() -> Vec<Trap> {
    toml::from_str::<Traps>(include_str!("traps.toml")).unwrap().traps
}
