//! The service manager's own program, as this system has it. Owns its name and how it is called; must not know what a service is.
#![expect(
    clippy::disallowed_methods,
    reason = "the service manager is no tool of the agent: a person has typed this command"
)]

use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::cli::fail::UserError;

/// How a command of the manager ended.
pub struct Ran {
    pub code: Option<i32>,
    /// What it said, on either stream.
    pub said: String,
}

impl Ran {
    pub fn went_well(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs it and keeps what it says.
pub fn run(words: &[&str]) -> anyhow::Result<Ran> {
    let output = command(words)?.stdin(Stdio::null()).output();
    let output = output.map_err(|error| missing(words, &error))?;
    let mut said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    said.push_str(String::from_utf8_lossy(&output.stderr).trim());
    Ok(Ran { code: output.status.code(), said })
}

/// Runs it in front of the person, and gives its exit code.
pub fn show(words: &[&str]) -> anyhow::Result<Option<i32>> {
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
        "`{program}` cannot be run ({error}), so there is no service manager that claw knows; start `claw gateway` by what this system \
         has instead"
    ))
}
