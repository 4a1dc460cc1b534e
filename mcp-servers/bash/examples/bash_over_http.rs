//! The bash server over streamable HTTP, for the official conformance suite (`.ci/conformance.sh`):
//! the program itself, with the feature `http`, under which it takes `--http`.

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: claw_mcp_bash::Args,
}

fn main() -> ExitCode {
    claw_mcp_bash::main(Cli::parse().args)
}
