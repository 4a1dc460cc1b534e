//! What the server and a job's supervisor say to each other over the supervisor's stdin, a socket:
//! one line there (`JobSpec`), one line back (`JobEnd`). The end of the stream means "kill the
//! job": it comes when the server says so and, without anybody saying so, when the server dies.
//! Must not know processes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::cgroup::Ticket;
use crate::confine::Boundary;
use crate::level::Level;
use crate::limits::{self, CommandLimits, Met};
use crate::network::Access;
use crate::obeyed::ObeyedEnd;
use crate::openings::Openings;
use crate::services::ServiceSpec;
use crate::shell_end::ShellEnd;

#[derive(Debug, Serialize, Deserialize)]
pub struct JobSpec {
    pub shell: PathBuf,
    pub command: String,
    /// Variables on top of those that every command has.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    pub workspace: PathBuf,
    /// Relative to the workspace.
    pub cwd: PathBuf,
    /// The command's TMPDIR.
    pub scratch: PathBuf,
    pub given: CommandAccess,
    pub level: Level,
    /// What others obey on sight is read-only to it, in the workspace and in HOME.
    pub keeps_obeyed: bool,
    /// What it may change of its HOME.
    pub home_open: Vec<PathBuf>,
    pub access: Access,
    /// Whether `/proc` shows the processes of this server alone.
    pub own_process_table: bool,
    /// The box that its supervisor closes around itself, in namespaces of the command's own. `None`
    /// where there are none: then the server's box is around it already.
    pub own_namespaces: Option<Boundary>,
    /// Folders that this command may change, and its server may not.
    #[serde(default)]
    pub opened_now: Vec<PathBuf>,
    /// Below Landlock ABI 3: mounts alone keep files from being cut.
    pub mounts_must_hold: bool,
    /// At level `read`: no file system is left in which it could change something but its TMPDIR.
    /// Found out in the namespaces.
    #[serde(default)]
    pub only_tmp_can_change: bool,
    /// Where it is kept off what is obeyed on sight: what of it is new gets another
    /// name at the end.
    pub sets_aside: bool,
    /// How it was before this command and those that run beside it.
    #[serde(default)]
    pub baseline: Baseline,
    /// What its shell reads first, so that it tells where it ends. `None`: nobody wants to know.
    #[serde(default)]
    pub begin: Option<PathBuf>,
    pub limits: CommandLimits,
    /// Where the command can have a cgroup of its own.
    pub cgroup: Option<Ticket>,
    /// Of the owner's services, those that it may use.
    #[serde(default)]
    pub services: ServiceSpec,
}

/// What every command of a server gets of the machine beside the system's files. All paths are
/// real.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CommandAccess {
    /// Its HOME.
    pub home: PathBuf,
    /// A folder with what it is told, which it cannot change.
    pub told: PathBuf,
    /// The user's programs outside of the system's folders, for reading and executing.
    pub programs: Vec<PathBuf>,
    /// Folders of the user's that the owner has opened.
    pub opened: Openings,
}

/// What the supervisor says at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    pub how: JobReport,
    /// The limit that the command met, as far as it is known.
    pub met: Option<Met>,
    /// Why the command had no cgroup of its own, although there is room for one.
    pub without_cgroup: Option<String>,
    /// What became of files that it was not to make.
    #[serde(default)]
    pub obeyed: ObeyedEnd,
    /// Why some of what other programs obey on sight was not kept as it is.
    #[serde(default)]
    pub not_held: Option<String>,
    /// How it has left its shell.
    #[serde(default)]
    pub shell: ShellEnd,
}

/// Stands before the report. Whoever waits for a socket reads one byte, and takes no byte of the
/// report where none is handed out.
const REPORT: char = 'e';

impl JobEnd {
    /// One of which no more is known.
    pub fn of(how: JobReport) -> Self {
        let (obeyed, shell) = (ObeyedEnd::default(), ShellEnd::default());
        Self { how, met: None, without_cgroup: None, obeyed, not_held: None, shell }
    }

    /// As it is said.
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(format!("{REPORT}{}\n", serde_json::to_string(self)?))
    }

    /// As it was heard, with what of the bytes before it nobody has read: a command may have ended
    /// before its socket was taken.
    pub fn heard(line: &str) -> Option<Self> {
        serde_json::from_str(line.get(line.find('{')?..)?).ok()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_heard_whatever_of_the_handover_was_read_before() {
        let end = JobEnd::of(JobReport::NotStarted("l{e}".into()));
        let line = end.line().unwrap();
        // The socket was not taken, it was taken, and there is none.
        for heard in [format!("l{line}"), line.clone(), line[1..].to_owned()] {
            assert_eq!(JobEnd::heard(&heard), Some(end.clone()), "{heard}");
        }
        for nothing in ["", "l", "e\n", "{"] {
            assert_eq!(JobEnd::heard(nothing), None, "{nothing}");
        }
    }
}
