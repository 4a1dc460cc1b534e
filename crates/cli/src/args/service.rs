//! `claw service`, as it is typed. Must not know what a service manager is.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ServiceAction {
    /// Write the unit and the settings of this environment that it needs, and start it; again after
    /// an update or a new setting
    Install {
        /// Only write the files
        #[arg(long)]
        no_start: bool,
    },
    /// What the service manager says of it
    Status,
    /// The newest 100 lines of its log
    Logs {
        /// Go on as new lines come
        #[arg(long, short)]
        follow: bool,
    },
    /// Stop it and remove the unit; the home stays
    Uninstall,
}
