//! `claw server NAME`: our own tool servers, out of the same executable. The only file that names
//! their crates.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::domain::OWN_SERVERS;

use super::fail::UserError;

#[derive(Parser)]
#[command(name = "claw server bash")]
struct Bash {
    #[command(flatten)]
    args: claw_mcp_bash::Args,
}

#[derive(Parser)]
#[command(name = "claw server filesystem")]
struct Filesystem {
    #[command(flatten)]
    args: claw_mcp_filesystem::Args,
}

#[derive(Parser)]
#[command(name = "claw server memory")]
struct Memory {
    #[command(flatten)]
    args: claw_mcp_memory::Args,
}

#[derive(Parser)]
#[command(name = "claw server scheduler")]
struct Scheduler {
    #[command(flatten)]
    args: claw_mcp_scheduler::Args,
}

/// What the arguments of the memory server say, for commands that work on the same notes.
pub fn memory_args(rest: &[String]) -> anyhow::Result<claw_mcp_memory::Args> {
    let argv = std::iter::once("claw server memory").chain(rest.iter().map(String::as_str));
    let read = Memory::try_parse_from(argv);
    read.map(|memory| memory.args).map_err(|error| {
        let why = error.to_string();
        let first = why.lines().next().unwrap_or_default().trim_start_matches("error: ");
        UserError::because(format!("mcp.json starts the memory server wrongly: {first}"))
    })
}

/// Runs a server if the command line is `claw server NAME …`. Everything behind the name is the
/// server's own, also options that claw has under the same name.
pub fn run_if_asked(argv: &[OsString]) -> Option<ExitCode> {
    let [_, command, name, rest @ ..] = argv else { return None };
    let name = name.to_str().filter(|name| command == "server" && !name.starts_with('-'))?;
    Some(run(name, rest))
}

/// Runs a server until its stdin closes. Called before any thread or runtime exists: a server
/// confines its whole process.
pub fn run(name: &str, rest: &[OsString]) -> ExitCode {
    let argv = std::iter::once(format!("claw server {name}").into()).chain(rest.iter().cloned());
    match name {
        "bash" => claw_mcp_bash::main(Bash::parse_from(argv).args),
        "filesystem" => claw_mcp_filesystem::main(Filesystem::parse_from(argv).args),
        "memory" => claw_mcp_memory::main(Memory::parse_from(argv).args),
        "scheduler" => claw_mcp_scheduler::main(Scheduler::parse_from(argv).args),
        other => super::fail::report(&UserError::because(format!(
            "there is no server `{other}`; there are: {}",
            OWN_SERVERS.map(|own| own.name).join(", ")
        ))),
    }
}
