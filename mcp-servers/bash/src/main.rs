//! The standalone bash server. Owns nothing: arguments in, the library's `main`.

use std::process::ExitCode;

use clap::Parser;

/// MCP server over stdio with one tool, `run`: a shell command in a workspace, confined by the
/// operating system.
#[derive(Parser)]
#[command(name = "claw-mcp-bash", version)]
struct Cli {
    #[command(flatten)]
    args: claw_mcp_bash::Args,
}

fn main() -> ExitCode {
    claw_mcp_bash::main(Cli::parse().args)
}
