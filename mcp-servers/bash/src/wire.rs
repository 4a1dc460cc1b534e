//! What the server and a job's supervisor say to each other over the supervisor's stdin, a socket: one line there
//! (`JobSpec`), one line back (`JobReport`). The end of the stream means "kill the job": it comes when the server says
//! so and, without anybody saying so, when the server dies. Must not know processes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub struct JobSpec {
    pub shell: PathBuf,
    pub command: String,
    pub workspace: PathBuf,
    /// Relative to the workspace.
    pub cwd: PathBuf,
}

/// How the command ended. There is none when the supervisor was told to kill it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobReport {
    Exited(i32),
    Signaled(i32),
    /// Nothing ran. The sentence says why and what to change.
    NotStarted(String),
}
