//! What the server and a job's supervisor say to each other over the supervisor's stdin, a socket:
//! one line there (`JobSpec`), one line back (`JobEnd`). The end of the stream means "kill the
//! job": it comes when the server says so and, without anybody saying so, when the server dies.
//! Must not know processes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cgroup::Ticket;
use crate::level::Level;
use crate::limits::{self, CommandLimits, Met};
use crate::network::Access;

#[derive(Debug, Serialize, Deserialize)]
pub struct JobSpec {
    pub shell: PathBuf,
    pub command: String,
    pub workspace: PathBuf,
    /// Relative to the workspace.
    pub cwd: PathBuf,
    /// The command's TMPDIR.
    pub scratch: PathBuf,
    pub level: Level,
    pub access: Access,
    /// Whether `/proc` shows the processes of this server alone.
    pub own_process_table: bool,
    pub limits: CommandLimits,
    /// Where the command can have a cgroup of its own.
    pub cgroup: Option<Ticket>,
}

/// What the supervisor says at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    pub how: JobReport,
    /// The limit that the command met, as far as it is known.
    pub met: Option<Met>,
    /// Why the command had no cgroup of its own, although there is room for one.
    pub without_cgroup: Option<String>,
}

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobReport {
    Exited(i32),
    Signaled(i32),
    /// The supervisor killed it: told to, or because of a limit.
    Killed,
    /// Nothing ran. The sentence says why and what to change.
    NotStarted(String),
}

impl JobReport {
    /// The limit that the end alone gives away.
    pub fn met(&self) -> Option<Met> {
        match self {
            Self::Exited(code) => limits::met_by_ending(Some(*code), None),
            Self::Signaled(signal) => limits::met_by_ending(None, Some(*signal)),
            Self::Killed | Self::NotStarted(_) => None,
        }
    }
}
