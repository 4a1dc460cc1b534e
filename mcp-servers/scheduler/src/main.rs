//! The standalone program. Owns the command line only.

use std::process::ExitCode;

use clap::Parser;

/// An MCP server over stdio that knows what is due when: jobs in one file, each firing taken once.
#[derive(Parser)]
#[command(name = claw_mcp_scheduler::SERVER_NAME, version)]
struct Cli {
    #[command(flatten)]
    args: claw_mcp_scheduler::Args,
}

fn main() -> ExitCode {
    claw_mcp_scheduler::main(Cli::parse().args)
}
