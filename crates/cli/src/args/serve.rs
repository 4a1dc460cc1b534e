//! The command line of `claw serve`, as it is typed. Must not know what a client's file looks like.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// What claw calls the client: its sessions, grants and budget go by this name [default: stdio;
    /// with --install and --print-config the client's own]
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
    /// Offer the tools of claw's servers, too, each call behind the gate
    #[arg(long)]
    pub tools: bool,
    /// Over HTTP at a loopback address instead, for clients with a token (`claw clients add NAME`)
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "client")]
    pub http: Option<SocketAddr>,
    /// Write claw into the configuration of this client; shows the change and asks first
    #[arg(long, value_name = "CLIENT", conflicts_with_all = ["print_config", "http"])]
    pub install: Option<ClientApp>,
    /// Print what --install would write, and where, and change nothing
    #[arg(long, value_name = "CLIENT", conflicts_with = "http")]
    pub print_config: Option<ClientApp>,
    /// Install without asking (needs --install)
    #[arg(long, requires = "install")]
    pub yes: bool,
}

/// A program whose configuration claw can write itself into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClientApp {
    ClaudeDesktop,
    ClaudeCode,
    Vscode,
    Cursor,
    Zed,
    Codex,
}
