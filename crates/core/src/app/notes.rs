//! Where the notes of the memory server are: in the home, or where `mcp.json` says. Owns what the
//! server is told of that and of embeddings, and that no other tool of claw's enters the folder.
//! Must not know what a note is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use super::App;
use crate::config::{Config, ConfigError, MAIN, MEMORY, MemorySection, PersonaSources};
use crate::hub::manifest::{Launch, Manifest, StdioLaunch};
use crate::turn::recall::RecallLimits;

/// The option by which an entry of `mcp.json` names another folder.
const NOTES: &str = "--notes";
/// The option that names the file which every prompt holds.
const ALWAYS: &str = "--always";
/// By which it names the variable that holds the key, and the variable without it.
const KEY_ENV: &str = "--embeddings-key-env";
const KEY_VARIABLE: &str = "CLAW_MEMORY_EMBEDDINGS_KEY";

/// How claw's own memory server is started, for commands that work on the same notes. It may hold a
/// key, so it cannot be printed.
#[derive(Clone)]
pub struct MemoryLaunch {
    /// Behind `claw server memory`.
    pub args: Vec<String>,
    /// Variables of that one process.
    pub env: BTreeMap<String, String>,
}

/// What claw adds to the entry of its own memory server.
#[derive(Default)]
pub(super) struct Added {
    pub args: Vec<String>,
    /// The key, which never stands on a command line.
    pub env: BTreeMap<String, String>,
    /// What the author of `mcp.json` should know.
    pub warning: Option<String>,
}

impl App {
    /// How claw's own memory server is started. `None` where `mcp.json` has none.
    pub fn memory(&self) -> Option<MemoryLaunch> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on the notes are where these servers have them.
    pub(super) fn follow_notes(&self, manifest: &Manifest) {
        *self.memory.write().unwrap_or_else(PoisonError::into_inner) = launch(manifest);
    }
}

/// What claw adds to its own memory server. What the entry says itself is left alone.
///
/// # Errors
/// The agent shares notes that nobody keeps for it.
pub(super) fn added(
    args: &[String],
    config: &Config,
    memory: &MemorySection,
    persona: &PersonaSources,
) -> Result<Added, ConfigError> {
    let mut added = Added::default();
    let text = |path: PathBuf| path.display().to_string();
    added.args.push("--in-claw".to_owned());
    added.add(args, ALWAYS, text(persona.folder.join(MEMORY)));
    if named(args).is_none() {
        let home = &config.home;
        let (notes, state) = match memory.shared {
            true => (shared_folder(config, memory)?, home.shared_memory_state()),
            false => (home.memory(), home.memory_state()),
        };
        added.add(args, NOTES, text(notes));
        added.add(args, "--state", text(state));
        if memory.shared {
            added.add(args, "--folder-agent", MAIN.to_owned());
        }
    }
    if memory.shared {
        added.add(args, "--agent", config.agent.name.clone());
    }
    added.embeddings(args, memory);
    // The notes are looked at by one thread at a time, and memory of its own for each of them would
    // stay: a mebibyte of thirteen. glibc alone knows the variable.
    added.env.insert("MALLOC_ARENA_MAX".to_owned(), "1".to_owned());
    Ok(added)
}

/// The main agent's, which has to share it: nobody else enters notes that are its own.
fn shared_folder(config: &Config, memory: &MemorySection) -> Result<PathBuf, ConfigError> {
    if memory.shared_by.iter().any(|name| name == MAIN) {
        return Ok(config.home.shared_memory());
    }
    let agent = &config.agent.name;
    Err(ConfigError {
        place: config.home.claw_toml().display().to_string(),
        message: format!(
            "the agent {agent} shares its notes, and shared notes lie with the main agent, which \
             does not share its own"
        ),
        next: format!(
            "Write `shared = true` into `[memory]`, and `shared = false` into \
             `[agents.NAME.memory]` of each agent that keeps its notes to itself; or take it out \
             of `[agents.{agent}.memory]`"
        ),
    })
}

impl Added {
    /// Adds an option, unless the entry has it.
    fn add(&mut self, args: &[String], option: &str, value: String) {
        if value_of(args, option).is_none() {
            self.args.extend([option.to_owned(), value]);
        }
    }

    fn embeddings(&mut self, args: &[String], memory: &MemorySection) {
        let section = &memory.embeddings;
        let (Some(url), Some(model)) = (&section.url, &section.model) else { return };
        if value_of(args, "--embeddings-url").is_some() {
            // Its key belongs to another address.
            self.warning = Some(
                "`[memory.embeddings]` is not used: mcp.json names an endpoint for the memory \
                 server itself (`--embeddings-url`). Take one of the two out."
                    .to_owned(),
            );
            return;
        }
        self.args.push("--embeddings-in-claw-toml".to_owned());
        self.add(args, "--embeddings-url", url.clone());
        self.add(args, "--embeddings-model", model.clone());
        self.add(args, "--embeddings-form", section.form.as_str().to_owned());
        self.add(args, "--embeddings-use", section.when.as_str().to_owned());
        if let Some(dimension) = section.dimension {
            self.add(args, "--embeddings-dimension", dimension.to_string());
        }
        let allow = "--embeddings-allow-http";
        if section.allow_http && !args.iter().any(|arg| arg == allow) {
            self.args.push(allow.to_owned());
        }
        if let Some(key) = &section.key {
            let variable = value_of(args, KEY_ENV).unwrap_or(KEY_VARIABLE);
            self.env.insert(variable.to_owned(), key.expose().to_owned());
        }
    }
}

/// How the memory server is started, with what claw has added. `None` without one.
pub(super) fn launch(manifest: &Manifest) -> Option<MemoryLaunch> {
    let launch = memories(manifest).next()?;
    let own = launch.own.as_ref()?;
    let args = launch.args.iter().skip(2).chain(&own.extra_args).cloned().collect();
    let env = own.extra_env.clone().into_iter().chain(launch.env.clone()).collect();
    Some(MemoryLaunch { args, env })
}

/// What of the memory a message is given, if anything.
pub(super) fn recall_limits(
    memory: &MemorySection,
    launch: Option<&MemoryLaunch>,
) -> Option<RecallLimits> {
    memory.recall.then_some(RecallLimits {
        tokens_max: memory.recall_tokens_max,
        hits_max: memory.recall_hits_max,
        time: Duration::from_millis(memory.recall_time_ms),
        notes: launch.and_then(|launch| named(&launch.args)).map(PathBuf::from),
    })
}

/// Folders of notes outside of the home, and what lies beside them. The home is kept from all
/// tools anyway. A folder that holds the workspace cannot be kept from them.
pub(super) fn apart(manifest: &Manifest, config: &Config) -> Vec<PathBuf> {
    let folders = memories(manifest).filter_map(|launch| named(&launch.args)).map(PathBuf::from);
    folders
        .filter(|folder| folder.is_absolute() && !config.workspace.starts_with(folder))
        .flat_map(|folder| [beside(&folder), folder])
        .collect()
}

fn memories(manifest: &Manifest) -> impl Iterator<Item = &StdioLaunch> {
    manifest.servers.values().filter(|entry| !entry.disabled).filter_map(|entry| {
        match &entry.launch {
            Launch::Stdio(launch)
                if launch.own.is_some()
                    && launch.args.get(1).is_some_and(|name| name == "memory") =>
            {
                Some(launch)
            }
            _ => None,
        }
    })
}

fn named(args: &[String]) -> Option<&str> {
    value_of(args, NOTES)
}

/// What stands behind an option, in either way of writing it.
pub(super) fn value_of<'a>(args: &'a [String], option: &str) -> Option<&'a str> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == option {
            return args.next().map(String::as_str);
        }
        if let Some(value) = arg.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value);
        }
    }
    None
}

/// `memory-state` beside `memory`, as the server has it.
fn beside(notes: &Path) -> PathBuf {
    let name = notes.file_name().map(|name| name.to_string_lossy().into_owned());
    notes.with_file_name(format!("{}-state", name.unwrap_or_default()))
}
