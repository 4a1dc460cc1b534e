//! Where the notes of the memory server are: in the home, or where `mcp.json` says. Owns what the
//! server is told of that, and that no other tool of claw's enters the folder. Must not know what
//! a note is.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use super::App;
use crate::config::{Config, MemorySection};
use crate::hub::manifest::{Launch, Manifest, OwnProgram, StdioLaunch};
use crate::turn::recall::RecallLimits;

/// The option by which an entry of `mcp.json` names another folder.
const NOTES: &str = "--notes";

impl App {
    /// How claw's own memory server is started, behind `claw server memory`. `None` where
    /// `mcp.json` has none.
    pub fn memory(&self) -> Option<Vec<String>> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on the notes are where these servers have them.
    pub(super) fn follow_notes(&self, manifest: &Manifest) {
        *self.memory.write().unwrap_or_else(PoisonError::into_inner) = launch(manifest);
    }
}

/// The arguments that claw adds to its own memory server.
pub(super) fn server_args(args: &[String], config: &Config) -> Vec<String> {
    if named(args).is_some() {
        return Vec::new();
    }
    let text = |path: PathBuf| path.display().to_string();
    let mut added = vec![NOTES.to_owned(), text(config.home.memory())];
    if !args.iter().any(|arg| arg == "--state" || arg.starts_with("--state=")) {
        added.extend(["--state".to_owned(), text(config.home.memory_state())]);
    }
    added
}

/// The arguments of the memory server, with those that claw has added. `None` without one.
pub(super) fn launch(manifest: &Manifest) -> Option<Vec<String>> {
    let (args, own) = memories(manifest).next()?;
    Some(args.iter().skip(2).chain(&own.extra_args).cloned().collect())
}

/// What of the memory a message is given, if anything. `launch` are the server's arguments.
pub(super) fn recall_limits(
    memory: &MemorySection,
    launch: Option<&[String]>,
) -> Option<RecallLimits> {
    memory.recall.then_some(RecallLimits {
        tokens_max: memory.recall_tokens_max,
        hits_max: memory.recall_hits_max,
        time: Duration::from_millis(memory.recall_time_ms),
        notes: launch.and_then(named).map(PathBuf::from),
    })
}

/// Folders of notes outside of the home, and what lies beside them. The home is kept from all
/// tools anyway. A folder that holds the workspace cannot be kept from them.
pub(super) fn apart(manifest: &Manifest, config: &Config) -> Vec<PathBuf> {
    let folders = memories(manifest).filter_map(|(args, _)| named(args)).map(PathBuf::from);
    folders
        .filter(|folder| folder.is_absolute() && !config.workspace.starts_with(folder))
        .flat_map(|folder| [beside(&folder), folder])
        .collect()
}

fn memories(manifest: &Manifest) -> impl Iterator<Item = (&[String], &OwnProgram)> {
    manifest.servers.values().filter(|entry| !entry.disabled).filter_map(|entry| {
        match &entry.launch {
            Launch::Stdio(StdioLaunch { own: Some(own), args, .. })
                if args.get(1).is_some_and(|name| name == "memory") =>
            {
                Some((args.as_slice(), own))
            }
            _ => None,
        }
    })
}

fn named(args: &[String]) -> Option<&str> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == NOTES {
            return args.next().map(String::as_str);
        }
        if let Some(path) = arg.strip_prefix("--notes=") {
            return Some(path);
        }
    }
    None
}

/// `memory-state` beside `memory`, as the server has it.
fn beside(notes: &Path) -> PathBuf {
    let name = notes.file_name().map(|name| name.to_string_lossy().into_owned());
    notes.with_file_name(format!("{}-state", name.unwrap_or_default()))
}
