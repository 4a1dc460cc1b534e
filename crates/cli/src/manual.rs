//! `claw completions SHELL` and `claw man`: made from the same description of the command line that
//! parses it. Must not know what a command does.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;

use super::args::{Cli, Shell};
use super::{fail, out};

/// Prints a completion script.
pub fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "claw", &mut script);
    out::line(String::from_utf8(script)?.trim_end())?;
    Ok(ExitCode::from(fail::DONE))
}

/// Prints the page of `claw` itself, or writes all pages into `dir`, over older ones.
pub fn man(dir: Option<&Path>) -> anyhow::Result<ExitCode> {
    let command = command();
    let Some(dir) = dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        out::line(String::from_utf8(page)?.trim_end())?;
        return Ok(ExitCode::from(fail::DONE));
    };
    let written = fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir));
    written.with_context(|| format!("the pages cannot be written to {}", dir.display()))?;
    out::err_line(&format!(
        "The pages are in {}; `man {}/claw.1` shows the first.",
        dir.display(),
        dir.display()
    ));
    Ok(ExitCode::from(fail::DONE))
}

/// `claw help COMMAND` says what each page says already, so it has none of its own.
fn command() -> clap::Command {
    Cli::command().disable_help_subcommand(true)
}
