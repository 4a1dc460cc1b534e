//! The actions of `claw schedule`. Owns names and helps; must not know what they do.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::domain::spoken_time::{seconds, wait_s};

#[derive(Debug, Subcommand)]
pub enum ScheduleAction {
    /// All jobs, each with when it comes next
    List,
    /// One job as a whole
    Show {
        /// Its number, as `list` shows it
        id: String,
    },
    /// Make a job: words that are said (`--say`), or a task for claw (`--text`)
    Add(Box<AddArgs>),
    /// End a job permanently
    Cancel { id: String },
    /// Stop a job until it is resumed; nothing of that time is made up
    Pause { id: String },
    /// Let a paused job go on from now
    Resume { id: String },
    /// What became of all jobs, or of one, newest first
    History {
        id: Option<String>,
        /// How many rows
        #[arg(long, default_value_t = 50, value_name = "NUMBER")]
        limit: u32,
    },
    /// Let a job come now, beside its own times
    Run { id: String },
    /// Take in the heartbeats of another agent (heartbeats.json); shows each and asks first
    ImportHeartbeats {
        file: PathBuf,
        /// Do it without asking
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub struct AddArgs {
    #[command(flatten)]
    pub when: WhenArgs,
    #[command(flatten)]
    pub what: WhatArgs,
    /// The day of --at: 2026-12-24, today or tomorrow
    #[arg(long, value_name = "DAY", requires = "at", conflicts_with = "weekday")]
    pub date: Option<String>,
    /// The day of --at: the next such weekday
    #[arg(long, value_name = "DAY", requires = "at")]
    pub weekday: Option<String>,
    /// The zone of its times, such as Europe/Berlin [default: claw's own]
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// The Telegram chat that it is for, by its number [default: the owner's]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "session")]
    pub chat: Option<i64>,
    /// The session that it is for, as `claw sessions` lists them
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// What becomes of times at which claw was not there: they are skipped, the latest is made up,
    /// or all are
    #[arg(long, value_name = "WHAT", default_value = "latest")]
    pub if_missed: IfMissedArg,
    /// No time behind this: 2026-12-24, or '2026-12-24 18:00'
    #[arg(long, value_name = "DAY")]
    pub until: Option<String>,
}

/// When it comes.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct WhenArgs {
    /// Once, so long from now: 20m, 90s, 2h
    #[arg(long = "in", value_name = "TIME", value_parser = wait_s)]
    pub wait_s: Option<u64>,
    /// Once, at this time of day: 09:00
    #[arg(long, value_name = "HH:MM")]
    pub at: Option<String>,
    /// Again and again by real time: 30m, 2h
    #[arg(long, value_name = "TIME", value_parser = interval_s)]
    pub every: Option<u64>,
    /// Again and again by local time, as five fields: '0 9 * * 1' is every Monday at 09:00
    #[arg(long, value_name = "PATTERN")]
    pub cron: Option<String>,
}

/// What it brings.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct WhatArgs {
    /// Words that are said as they are, without a model
    #[arg(long, value_name = "WORDS", num_args = 1..)]
    pub say: Vec<String>,
    /// What claw is to do then; it asks before it acts
    #[arg(long, value_name = "WORDS", num_args = 1..)]
    pub text: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IfMissedArg {
    Skip,
    Latest,
    All,
}

impl IfMissedArg {
    /// As the scheduler names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Latest => "latest",
            Self::All => "all",
        }
    }
}

/// A day of local time is no interval.
fn interval_s(text: &str) -> Result<u64, String> {
    seconds(text, "`--cron '0 9 * * *'` is every day at 09:00, `--cron '0 9 * * 1'` every Monday")
}
