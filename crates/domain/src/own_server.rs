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
        readers: &["read_file", "list_dir", "find", "search", "read_artifact"],
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

impl OwnServer {
    /// The server of ours with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        OWN_SERVERS.iter().find(|own| own.name == name)
    }
}
