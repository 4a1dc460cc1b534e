//! `claw server NAME`: our own tool servers, out of the same executable. The only file that names
//! their crates.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use claw_mcp_scheduler::HeartbeatGrammar;
use jiff::tz::TimeZone;

use crate::app::MemoryLaunch;
use crate::config::{drafted_heartbeat, heartbeat_entry, with_heartbeat};
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

/// What the arguments of the memory server say, for commands that work on the same notes. The key
/// of an endpoint is that of the server, else that of the shell.
pub fn memory_args(launch: &MemoryLaunch) -> anyhow::Result<claw_mcp_memory::Args> {
    let mut args = read::<Memory>("memory", &launch.args)?.args;
    let key = launch.env.get(&args.embeddings.embeddings_key_env).cloned();
    args.embeddings.embeddings_key = key.map(claw_mcp_memory::EmbeddingsKey);
    Ok(args)
}

/// The same of the scheduler, for commands that work on the same jobs.
pub fn scheduler_args(rest: &[String]) -> anyhow::Result<claw_mcp_scheduler::Args> {
    read::<Scheduler>("scheduler", rest).map(|scheduler| scheduler.args)
}

fn read<P: Parser>(name: &str, rest: &[String]) -> anyhow::Result<P> {
    let command = format!("claw server {name}");
    let argv = std::iter::once(command.as_str()).chain(rest.iter().map(String::as_str));
    P::try_parse_from(argv).map_err(|error| {
        let why = error.to_string();
        let first = why.lines().next().unwrap_or_default().trim_start_matches("error: ");
        UserError::because(format!("mcp.json starts the {name} server wrongly: {first}"))
    })
}

/// How `heartbeats.toml` is written. An entry is in order or not whatever zone it would go by.
const HEARTBEATS: HeartbeatGrammar = HeartbeatGrammar {
    entry: heartbeat_entry,
    drafted: drafted_heartbeat,
    with: |file, name, entry| with_heartbeat(file, name, entry, &TimeZone::UTC),
};

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
        "scheduler" => {
            let args = Scheduler::parse_from(argv).args;
            claw_mcp_scheduler::main_of_host(args, Some(HEARTBEATS))
        }
        other => super::fail::report_own(&UserError::because(format!(
            "there is no server `{other}`; there are: {}",
            OWN_SERVERS.map(|own| own.name.as_str()).join(", ")
        ))),
    }
}
