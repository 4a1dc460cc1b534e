//! The service manager's own program, as this system has it. Owns its name and how it is called;
//! must not know what a service is.
#![expect(
    clippy::disallowed_methods,
    reason = "the service manager is no tool of the agent: a person has typed this command"
)]

use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::fail::UserError;

/// How a command of the manager ended.
pub struct ManagerExit {
    pub code: Option<i32>,
    /// What it said, on either stream.
    pub said: String,
}

impl ManagerExit {
    pub fn went_well(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs it and keeps what it says.
pub fn run(words: &[&str]) -> anyhow::Result<ManagerExit> {
    let output = command(words)?.stdin(Stdio::null()).output();
    let output = output.map_err(|error| missing(words, &error))?;
    let mut said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    said.push_str(String::from_utf8_lossy(&output.stderr).trim());
    if output.status.code() != Some(0) && has_no_session(&said) {
        return Err(no_session(words));
    }
    Ok(ManagerExit { code: output.status.code(), said })
}

/// Whether systemd says that the user's own manager cannot be reached (systemd,
/// `bus_log_connect_error`).
fn has_no_session(said: &str) -> bool {
    ["Failed to connect to bus", "Failed to connect to user scope bus", "$DBUS_SESSION_BUS_ADDRESS"]
        .iter()
        .any(|sentence| said.contains(sentence))
}

fn no_session(words: &[&str]) -> anyhow::Error {
    let user = rustix::process::getuid().as_raw();
    UserError::because(format!(
        "`{}` finds no session of this user (uid {user}), which is so after `su` or `sudo`, and \
         in most containers. Either log in as this user (ssh, or `machinectl shell`), or run \
         `sudo loginctl enable-linger` for it and `export XDG_RUNTIME_DIR=/run/user/{user}`; then \
         run this again. Without systemd, start `claw gateway` by what this system has",
        words.join(" ")
    ))
}

/// Runs it in front of the person, and gives its exit code.
pub fn show(words: &[&str]) -> anyhow::Result<Option<i32>> {
    if let [program @ "systemctl", "--user", ..] = words {
        // Asked before, so that a sentence that helps is all that is said where there
        // is no session.
        run(&[program, "--user", "show-environment"])?;
    }
    let status = command(words)?.status().map_err(|error| missing(words, &error))?;
    Ok(status.code())
}

fn command(words: &[&str]) -> anyhow::Result<Command> {
    let (program, rest) = words.split_first().context("no program is named")?;
    let mut command = Command::new(program);
    command.args(rest);
    Ok(command)
}

fn missing(words: &[&str], error: &std::io::Error) -> anyhow::Error {
    let program = words.first().copied().unwrap_or_default();
    UserError::because(format!(
        "`{program}` cannot be run ({error}), so there is no service manager that claw knows; \
         start `claw gateway` by what this system has instead"
    ))
}
