//! The standalone program. Owns the command line only.

use std::process::ExitCode;

use clap::Parser;

/// An MCP server over stdio that works on the files of one directory and never leaves it.
#[derive(Parser)]
#[command(name = claw_mcp_filesystem::SERVER_NAME, version)]
struct Cli {
    #[command(flatten)]
    args: claw_mcp_filesystem::Args,
}

fn main() -> ExitCode {
    claw_mcp_filesystem::main(Cli::parse().args)
}
