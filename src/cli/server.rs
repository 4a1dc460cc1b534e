//! `claw server NAME`: our own tool servers, out of the same executable. The only file that names their crates.

use std::process::ExitCode;

use clap::Parser;

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

/// The servers that there are.
pub const NAMES: [&str; 2] = ["bash", "filesystem"];

/// Runs a server if the command line is `claw server NAME …`. Everything behind the name is the server's own, also options
/// that claw has under the same name.
pub fn run_if_asked(mut argv: impl Iterator<Item = String>) -> Option<ExitCode> {
    let asked = argv.nth(1)? == "server";
    let name = argv.next().filter(|name| asked && !name.starts_with('-'))?;
    Some(run(&name, &argv.collect::<Vec<_>>()))
}

/// Runs a server until its stdin closes. Called before any thread or runtime exists: a server confines its whole process.
pub fn run(name: &str, rest: &[String]) -> ExitCode {
    let argv = std::iter::once(format!("claw server {name}")).chain(rest.iter().cloned());
    match name {
        "bash" => claw_mcp_bash::main(Bash::parse_from(argv).args),
        "filesystem" => claw_mcp_filesystem::main(Filesystem::parse_from(argv).args),
        other => super::fail::report(&UserError::because(format!(
            "there is no server `{other}`; there are: {}",
            NAMES.join(", ")
        ))),
    }
}
