//! The servers that this executable is, and which of their tools only read. Must not know how a
//! server is started, nor what a rule says about it.

/// A server of ours: `claw server NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnServer {
    pub name: &'static str,
    /// The tools that change nothing that counts. All others are mutating, as is every tool that
    /// is not known.
    pub readers: &'static [&'static str],
    /// The tools that only ask, or end the asking: they write where nothing reads but its owner's
    /// yes, and once more does no harm. They are no readers.
    pub proposes: &'static [&'static str],
}

/// All servers of ours.
pub const OWN_SERVERS: [OwnServer; 4] = [
    OwnServer { name: "bash", readers: &["output", "list"], proposes: &[] },
    OwnServer {
        name: "filesystem",
        readers: &["read_file", "read_files", "list_dir", "find", "search", "read_artifact"],
        proposes: &[],
    },
    OwnServer {
        name: "memory",
        readers: &["recall", "read", "list"],
        proposes: &["propose", "skip"],
    },
    OwnServer {
        name: "scheduler",
        readers: &["list", "history", "due", "now"],
        proposes: &["propose_heartbeat"],
    },
];

/// What claw answers itself, without a server. No server of `mcp.json` is this one, whatever it is
/// called.
pub const CLAW_ITSELF: OwnServer =
    OwnServer { name: "claw", readers: &[TOOL_SEARCH], proposes: &[] };

/// The tool of claw itself that finds tools, under the name by which a model calls it. The name has
/// no `__`, so no server's tool is offered under it.
pub const TOOL_SEARCH: &str = "tool_search";

impl OwnServer {
    /// Whether claw answers this tool itself.
    pub fn is_claw_itself(server: &str, tool: &str) -> bool {
        server == CLAW_ITSELF.name && CLAW_ITSELF.readers.contains(&tool)
    }

    /// The server of ours with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        OWN_SERVERS.iter().find(|own| own.name == name)
    }
}
