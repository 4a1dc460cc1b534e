//! `claw supervise NAME`: the process between claw and a stranger's server. Claw starts it; nobody
//! types it. The name is for whoever looks at a list of processes.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::hub::supervisor;

/// Runs the supervisor if the command line asks for it. Called before any thread or runtime exists.
pub fn run_if_asked(argv: &[OsString]) -> Option<ExitCode> {
    argv.get(1).is_some_and(|word| word == supervisor::COMMAND).then(supervisor::main)
}
