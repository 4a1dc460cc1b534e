//! `mcp.json` as Claude Desktop, Claude Code, VS Code and Cursor write it, read into one form. Owns
//! what an entry means; must not know processes or connections. Pure: the environment and the
//! folders come in with [`Expansion`].

mod edit;
mod env_file;
mod expand;
mod forms;
mod json;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::transport::http::address::Destination;

pub use edit::{NewEntry, add, input, remove};
pub(crate) use env_file::parse_env_file;
pub use expand::Expansion;
pub use json::OPTIONS as JSON_OPTIONS;

/// The command by which an entry means this executable.
pub const OWN_COMMAND: &str = "claw";

/// All servers that a file names, and what its author should know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// By the name in the file.
    pub servers: BTreeMap<String, ServerEntry>,
    /// One sentence each, for example about a variable that is not set.
    pub warnings: Vec<String>,
}

/// One server, expanded and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerEntry {
    pub name: String,
    pub launch: Launch,
    /// The longest that a call to this server may take, where the file says so (`timeout`,
    /// milliseconds).
    pub timeout: Option<Duration>,
    /// The longest that its start may take, where the file says so (`startup_timeout`,
    /// milliseconds; Codex's `startup_timeout_sec`).
    pub startup_timeout: Option<Duration>,
    pub disabled: bool,
    /// It may be told where the agent's workspace is (`roots`).
    pub roots: bool,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Launch {
    Stdio(StdioLaunch),
    Http(HttpLaunch),
    /// Understood, but it cannot be started; the reason says what is missing.
    Unusable {
        reason: String,
    },
}

/// A server that is reached at a URL (Streamable HTTP).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpLaunch {
    pub url: String,
    /// Sent with each request, to this server alone.
    pub headers: BTreeMap<String, String>,
    /// Hosts that may lead to private addresses (`private_hosts`).
    pub private_hosts: Vec<String>,
    /// Where the owner has put the document that describes claw to those at whom it logs in
    /// (`client_metadata_url`).
    pub client_metadata_url: Option<String>,
}

/// A child process that speaks MCP on its standard input and output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StdioLaunch {
    /// As written, after expansion. `claw` stands for this executable, see `own`.
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// The names of the variables that it gets from claw's environment, where the entry says so
    /// (`inherit`).
    pub inherit: Option<Vec<String>>,
    /// Read when the server starts; `env` wins over it.
    pub env_file: Option<PathBuf>,
    /// The hub's own working directory for servers where absent.
    pub cwd: Option<PathBuf>,
    /// Set when `command` means this executable.
    pub own: Option<OwnProgram>,
}

/// This executable, and what its caller adds. Neither is part of the launch pin: they are claw's
/// own, not a stranger's, and another workspace must not look like a changed server.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnProgram {
    pub exe: PathBuf,
    /// Appended after the arguments of the file.
    pub extra_args: Vec<String>,
    /// Variables beside the usual ones; the entry's own go before them.
    pub extra_env: BTreeMap<String, String>,
}

/// A file that cannot be used. Each names the place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ManifestError {
    #[error("mcp.json, line {line}, column {column}: {what}")]
    Syntax { line: usize, column: usize, what: String },
    #[error("mcp.json, line {line}, column {column}: the key `{key}` is there twice")]
    DuplicateKey { key: String, line: usize, column: usize },
    #[error("mcp.json: {what}")]
    Shape { what: String },
    #[error(
        "mcp.json: there is neither `mcpServers` nor `servers`, so that there would be no tools: remove the file and claw writes \
         its own again, or write {{\"mcpServers\": {{}}}} to have none"
    )]
    NoRoot,
    #[error("mcp.json, server `{server}`: {what}")]
    Entry { server: String, what: String },
    #[error(
        "mcp.json: the servers `{first}` and `{second}` would be offered under the same name `{offered}`; rename one"
    )]
    NamesCollide { first: String, second: String, offered: String },
}

impl claw_domain::Blamed for ManifestError {
    fn blame(&self) -> claw_domain::Blame {
        claw_domain::Blame::User
    }
}

/// The JSON of a file as other programs write it, with comments. `None` for an empty one.
///
/// # Errors
/// Broken JSON, and a key that is there twice.
pub fn read_json(text: &str) -> Result<Option<serde_json::Value>, ManifestError> {
    json::parse(text)
}

/// Whether claw would connect to a server at this URL. One with variables may be anything.
///
/// # Errors
/// Why not, as a sentence without its full stop.
pub fn check_url(url: &str) -> Result<(), String> {
    if url.contains("${") {
        return Ok(());
    }
    let host = Destination::new(url, &[]);
    host.map(|_| ()).map_err(|why| format!("this server cannot be used: {why}"))
}

/// Reads a file of any of the four forms. Comments, trailing commas and unknown keys are fine. A
/// file without a root is refused: it is what a power loss leaves, and an agent without tools would
/// not say why.
///
/// # Errors
/// Broken JSON, a key that is there twice, values of a wrong type, and servers whose names collide
/// once they are made safe for a model. A server that is merely unsupported is kept as
/// [`Launch::Http`] or [`Launch::Unusable`].
pub fn parse(text: &str, expand: &Expansion) -> Result<Manifest, ManifestError> {
    let Some(root) = json::parse(text)? else {
        return Err(ManifestError::NoRoot);
    };
    forms::read(&root, expand)
}

#[cfg(test)]
mod tests;
