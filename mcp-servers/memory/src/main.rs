//! The standalone program. Owns the command line only.

use std::process::ExitCode;

use clap::Parser;

/// An MCP server over stdio that remembers: Markdown notes in one folder, with an index
/// to find them.
#[derive(Parser)]
#[command(name = claw_mcp_memory::SERVER_NAME, version)]
struct Cli {
    #[command(flatten)]
    args: claw_mcp_memory::Args,
}

fn main() -> ExitCode {
    claw_mcp_memory::main(Cli::parse().args)
}
