//! Claw's home: where it is, what it holds, and that nobody else can look into it. Must not know
//! what its files say.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::agents::is_agent_name;
use super::env::Env;
use super::error::ConfigError;
use super::heartbeats::DEFAULT_HEARTBEATS_TOML;
use crate::domain::canonical::sha256_hex;
use crate::durable;

/// The tool servers that a new user starts with.
pub const DEFAULT_MCP_JSON: &str = include_str!("../../../../mcp.json");
/// The persona that a new user starts with.
pub const DEFAULT_SOUL_MD: &str = include_str!("../../../../SOUL.md");

const OWNER_ONLY_DIR: u32 = 0o700;
/// What of a workspace's name and of its path's digest stands in the name of its commands' HOME.
const NAME_CHARS_MAX: usize = 32;
const DIGEST_CHARS: usize = 12;

/// The paths of one home: claw's own, or that of one agent inside of it. Its files need not be
/// there, except where `ensure` makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
    /// Claw's own home, which is the same except for an agent's.
    root: PathBuf,
}

impl Home {
    /// `CLAW_HOME`, else `.claw` in the user's home.
    pub fn locate(env: &Env, user_home: Option<&Path>) -> Result<Self, ConfigError> {
        let path = match (env.get("CLAW_HOME"), user_home) {
            (Some(written), _) => with_tilde(written, user_home),
            (None, Some(user_home)) => user_home.join(".claw"),
            (None, None) => {
                let message =
                    "neither CLAW_HOME nor HOME is set, so there is no place for claw's files";
                return Err(ConfigError::new(
                    "environment",
                    message,
                    "Set CLAW_HOME to a folder of your own",
                ));
            }
        };
        let path = std::path::absolute(&path)
            .map_err(|error| ConfigError::io(&path, "is no path", &error))?;
        Ok(Self { root: path.clone(), path })
    }

    /// The home of an agent: store, logs, locks and workspace of its own inside of claw's home.
    pub fn of_agent(&self, name: &str) -> Self {
        Self { path: self.agents().join(name), root: self.root.clone() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Claw's own home, which no tool of any agent may enter.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it is that of an agent beside the main one.
    pub fn is_agents(&self) -> bool {
        self.path != self.root
    }

    /// Where the homes of agents are.
    pub fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    /// The homes of all agents that have one, by name.
    pub fn homes_of_agents(&self) -> Vec<Self> {
        let found = fs::read_dir(self.agents()).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<String> =
            found.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| is_agent_name(name) && self.of_agent(name).path().is_dir());
        names.sort();
        names.iter().map(|name| self.of_agent(name)).collect()
    }

    /// The agent whose home it is.
    pub fn agent(&self) -> Option<&str> {
        if self.is_agents() { self.path.file_name()?.to_str() } else { None }
    }

    /// One file describes all agents.
    pub fn claw_toml(&self) -> PathBuf {
        self.root.join("claw.toml")
    }

    /// An agent may have one of its own; else claw's counts.
    pub fn mcp_json(&self) -> PathBuf {
        let own = self.path.join("mcp.json");
        if own.symlink_metadata().is_ok() { own } else { self.root.join("mcp.json") }
    }

    /// The logins to servers over HTTP, beside the file that lists the servers.
    pub fn logins(&self) -> PathBuf {
        self.mcp_json().with_file_name("logins")
    }

    pub fn soul_md(&self) -> PathBuf {
        self.path.join("SOUL.md")
    }

    /// The rules for all agents.
    pub fn policy_toml(&self) -> PathBuf {
        self.root.join("policy.toml")
    }

    /// What an agent adds to the rules for all.
    pub fn own_policy_toml(&self) -> Option<PathBuf> {
        self.is_agents().then(|| self.path.join("policy.toml"))
    }

    /// When the agent wakes up by itself.
    pub fn heartbeats_toml(&self) -> PathBuf {
        self.path.join("heartbeats.toml")
    }

    pub fn claw_db(&self) -> PathBuf {
        self.path.join("claw.db")
    }

    pub fn artifacts(&self) -> PathBuf {
        self.path.join("artifacts")
    }

    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Long outputs of commands, whole. Commands may read it and nothing else of the home but the
    /// workspace.
    pub fn command_output(&self) -> PathBuf {
        self.path.join("command-output")
    }

    /// Where commands have their HOME, a folder for each workspace. Caches: no backup holds them.
    pub fn command_homes(&self) -> PathBuf {
        self.path.join("command-homes")
    }

    /// That of the commands of one workspace.
    pub fn command_home(&self, workspace: &Path) -> PathBuf {
        use std::os::unix::ffi::OsStrExt as _;
        let name = workspace.file_name().unwrap_or_default().to_string_lossy();
        let mut plain: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        plain.truncate(NAME_CHARS_MAX);
        let digest = sha256_hex(workspace.as_os_str().as_bytes());
        self.command_homes().join(format!("{plain}-{}", &digest[..DIGEST_CHARS]))
    }

    /// The notes that the memory server keeps for this agent. No other tool may enter it.
    pub fn memory(&self) -> PathBuf {
        self.path.join("memory")
    }

    /// The index, the proposals and the trash of the notes.
    pub fn memory_state(&self) -> PathBuf {
        self.path.join("memory-state")
    }

    /// The notes of all agents that share theirs: those of the main one.
    pub fn shared_memory(&self) -> PathBuf {
        self.root.join("memory")
    }

    /// What belongs to them, as for an agent's own.
    pub fn shared_memory_state(&self) -> PathBuf {
        self.root.join("memory-state")
    }

    /// The jobs that the scheduler server keeps for this agent. No other tool may enter it.
    pub fn schedule(&self) -> PathBuf {
        self.path.join("schedule")
    }

    /// What the files of the persona were before.
    pub fn persona_versions(&self) -> PathBuf {
        self.path.join("persona-versions")
    }

    /// What workspaces were before turns that changed them. No tool may enter it.
    pub fn snapshots(&self) -> PathBuf {
        self.path.join("snapshots")
    }

    /// Where servers of others run, each in a folder of its own.
    pub fn servers(&self) -> PathBuf {
        self.path.join("servers")
    }

    /// The tokens of MCP clients that call this agent over HTTP.
    pub fn client_tokens(&self) -> PathBuf {
        self.path.join("clients")
    }

    pub fn locks(&self) -> PathBuf {
        self.path.join("locks")
    }

    /// The default workspace: the part of the home that tools may see and change.
    pub fn workspace(&self) -> PathBuf {
        self.path.join("workspace")
    }

    /// Makes the home and its folders, owner-only, and writes `mcp.json`, `SOUL.md` and
    /// `heartbeats.toml` where they are missing; never over what is there. Afterwards the path
    /// holds no symbolic link. Gives back what was repaired, a sentence each.
    ///
    /// # Errors
    /// A home that belongs to somebody else, a part of it that is a link or no folder, and every
    /// failure to write.
    pub fn ensure(&mut self) -> Result<Vec<String>, ConfigError> {
        create_dir(&self.root)?;
        let real = self
            .root
            .canonicalize()
            .map_err(|error| ConfigError::io(&self.root, "cannot be opened", &error))?;
        // An agent's home lies behind the root, and nothing on the way there is a link.
        let below = self.path.strip_prefix(&self.root).unwrap_or(Path::new("")).to_path_buf();
        let mut notices = Vec::new();
        notices.extend(make_private(&real)?);
        self.path = real.clone();
        for part in &below {
            self.path.push(part);
            create_dir(&self.path)?;
            refuse_link(&self.path)?;
            notices.extend(make_private(&self.path)?);
        }
        self.root = real;
        create_dir(&self.root.join("locks"))?;
        let folders = [
            self.artifacts(),
            self.logs(),
            self.locks(),
            self.command_output(),
            self.command_homes(),
        ];
        for folder in folders {
            create_dir(&folder)?;
            refuse_link(&folder)?;
            notices.extend(make_private(&folder)?);
        }
        write_new(&self.root.join("mcp.json"), DEFAULT_MCP_JSON)?;
        write_new(&self.root.join("SOUL.md"), DEFAULT_SOUL_MD)?;
        write_new(&self.root.join("heartbeats.toml"), DEFAULT_HEARTBEATS_TOML)?;
        Ok(notices)
    }
}

/// `~` and `~/…` mean the user's home, as in a shell.
pub(super) fn with_tilde(written: &str, user_home: Option<&Path>) -> PathBuf {
    match (written, written.strip_prefix("~/"), user_home) {
        ("~", _, Some(home)) => home.to_path_buf(),
        (_, Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(written),
    }
}

/// Makes a folder and those above it; a new one is owner-only.
pub(super) fn create_dir(path: &Path) -> Result<(), ConfigError> {
    if path.is_dir() {
        return Ok(());
    }
    durable::create_dirs(path, OWNER_ONLY_DIR)
        .map_err(|error| ConfigError::io(path, "this folder cannot be made", &error))
}

fn refuse_link(path: &Path) -> Result<(), ConfigError> {
    let metadata = fs::symlink_metadata(path)
        .map_err(|error| ConfigError::io(path, "cannot be opened", &error))?;
    if metadata.is_dir() {
        return Ok(());
    }
    let message = "this is a link, where claw needs a folder of its own";
    Err(ConfigError::new(path.display().to_string(), message, "Remove the link and start again"))
}

/// Takes away what group and others may do, and says so. Refuses what belongs to somebody else.
fn make_private(path: &Path) -> Result<Option<String>, ConfigError> {
    let metadata =
        fs::metadata(path).map_err(|error| ConfigError::io(path, "cannot be opened", &error))?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let message =
            "this folder belongs to another user, who could read and change what claw keeps there";
        return Err(ConfigError::new(
            path.display().to_string(),
            message,
            "Set CLAW_HOME to a folder of your own",
        ));
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(None);
    }
    fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY_DIR)).map_err(|error| {
        ConfigError::io(
            path,
            "other users can open this folder, and that cannot be changed",
            &error,
        )
    })?;
    Ok(Some(format!(
        "{} was open to other users (mode {mode:o}); now it is yours alone.",
        path.display()
    )))
}

/// Writes a file that is not there yet. Nothing is followed and nothing is overwritten.
fn write_new(path: &Path, text: &str) -> Result<(), ConfigError> {
    match durable::write_new(path, text) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(ConfigError::io(path, "this file cannot be written", &error)),
    }
}

#[cfg(test)]
mod tests;
