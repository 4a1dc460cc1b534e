//! What can be set on the command line. Owns names, units and defaults; must not know how they are
//! used.

use std::path::PathBuf;

/// The arguments of `claw-mcp-scheduler` and of `claw server scheduler`.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Args {
    /// The file of the jobs (SQLite). It is made if it is not there. Default: $CLAW_SCHEDULE
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,

    /// The zone of jobs that name none, as in the IANA database: Europe/Berlin. Default: the
    /// system's
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,

    /// The host's own file of heartbeats, which its agent may propose to change. Only of use where
    /// the host starts this server out of its own program, as claw does
    #[arg(long, value_name = "FILE")]
    pub heartbeats: Option<PathBuf>,

    #[command(flatten)]
    pub limits: Limits,
}

/// Upper bounds. All of them hold whatever a request asks for.
#[derive(clap::Args, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Jobs that are active or paused
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub jobs_max: u64,

    /// The text of one job, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 8_192)]
    pub text_bytes_max: u64,

    /// The shortest time between two firings of one job, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub interval_s_min: u64,

    /// Firings that are due and not taken. Further jobs wait until there is room
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub due_max: u64,

    /// A firing that is found later than this counts as missed, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub late_s_max: u64,

    /// Firings of one job that are made up together, with `if_missed = all`. Older ones are counted
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub made_up_max: u64,

    /// Rows of the history, and firings that were taken. The oldest go first
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    pub history_rows_max: u64,

    /// How long rows of the history are kept, in days
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    pub history_days_max: u64,

    /// Jobs, firings or rows of one page
    #[arg(long, value_name = "COUNT", default_value_t = 25)]
    pub page_rows_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            jobs_max: 1_000,
            text_bytes_max: 8_192,
            interval_s_min: 60,
            due_max: 1_000,
            late_s_max: 300,
            made_up_max: 100,
            history_rows_max: 10_000,
            history_days_max: 90,
            page_rows_max: 25,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn what_is_not_set_is_the_default() {
        assert_eq!(Cli::parse_from(["scheduler"]).args.limits, Limits::default());
    }
}
