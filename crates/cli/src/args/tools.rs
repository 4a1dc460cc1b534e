//! What is typed behind `claw tools`. Must not know what a command does.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ToolsAction {
    /// The servers, or the tools of one
    List { server: Option<String> },
    /// What changed since you accepted it
    Diff,
    /// Take the change of SERVER or SERVER/TOOL
    Accept { what: String },
}
