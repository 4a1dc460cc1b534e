//! The servers that this executable is, and which of their tools only read. Must not know how a
//! server is started, nor what a rule says about it.

use std::fmt;

use serde::Serialize;

/// The tool of the bash server that ends all jobs, which no model is offered.
pub const STOP_ALL_JOBS: &str = "stop_all";

/// Which of ours a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnServerName {
    Bash,
    Filesystem,
    Memory,
    Scheduler,
    /// What claw answers itself, without a server.
    Claw,
}

impl OwnServerName {
    /// As in `claw server NAME`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Filesystem => "filesystem",
            Self::Memory => "memory",
            Self::Scheduler => "scheduler",
            Self::Claw => "claw",
        }
    }

    /// What of its tools is known.
    pub fn server(self) -> &'static OwnServer {
        match self {
            Self::Bash => &BASH,
            Self::Filesystem => &FILESYSTEM,
            Self::Memory => &MEMORY,
            Self::Scheduler => &SCHEDULER,
            Self::Claw => &CLAW_ITSELF,
        }
    }
}

impl fmt::Display for OwnServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A server of ours: `claw server NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnServer {
    pub name: OwnServerName,
    /// The tools that change nothing that counts. All others are mutating, as is every tool that
    /// is not known.
    pub readers: &'static [&'static str],
    /// The tools that only ask, or end the asking: they write where nothing reads but its owner's
    /// yes, and once more does no harm. They are no readers.
    pub proposes: &'static [&'static str],
}

const BASH: OwnServer =
    OwnServer { name: OwnServerName::Bash, readers: &["output", "list"], proposes: &[] };

const FILESYSTEM: OwnServer = OwnServer {
    name: OwnServerName::Filesystem,
    readers: &["read_file", "read_files", "list_dir", "find", "search", "read_artifact"],
    proposes: &[],
};

const MEMORY: OwnServer = OwnServer {
    name: OwnServerName::Memory,
    readers: &["recall", "read", "list"],
    proposes: &["propose", "skip"],
};

const SCHEDULER: OwnServer = OwnServer {
    name: OwnServerName::Scheduler,
    readers: &["list", "history", "due", "now"],
    proposes: &["propose_heartbeat"],
};

/// All servers of ours.
pub const OWN_SERVERS: [OwnServer; 4] = [BASH, FILESYSTEM, MEMORY, SCHEDULER];

/// What claw answers itself, without a server. No server of `mcp.json` is this one, whatever it is
/// called.
pub const CLAW_ITSELF: OwnServer =
    OwnServer { name: OwnServerName::Claw, readers: &[TOOL_SEARCH], proposes: &[] };

/// The tool of claw itself that finds tools, under the name by which a model calls it. The name has
/// no `__`, so no server's tool is offered under it.
pub const TOOL_SEARCH: &str = "tool_search";

impl OwnServer {
    /// Whether claw answers this tool itself.
    pub fn is_claw_itself(server: &str, tool: &str) -> bool {
        server == OwnServerName::Claw.as_str() && CLAW_ITSELF.readers.contains(&tool)
    }

    /// The server of ours that `claw server NAME` is.
    pub fn named(name: &str) -> Option<&'static Self> {
        OWN_SERVERS.iter().find(|own| own.name.as_str() == name)
    }
}
