//! Where the jobs of the scheduler server are: in the home, or where `mcp.json` says. Owns what the
//! server is told of that, that no other tool of claw's enters the file, and the room that sees to
//! what is due. Must not know what a job is.

use crate::domain::OwnServerName;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use super::App;
use super::notes::value_of;
use crate::calls::{JobPreview, PreviewJob};
use crate::config::Config;
use crate::hub::manifest::{Launch, Manifest, OwnProgram, StdioLaunch};
use crate::jobs::{JobLimits, Jobs, JobsParts};

/// The options by which an entry of `mcp.json` names another file, or another zone.
const DATABASE: &str = "--database";
const ZONE: &str = "--zone";
const HEARTBEATS: &str = "--heartbeats";

impl App {
    /// How claw's own scheduler is started, behind `claw server scheduler`. `None` where
    /// `mcp.json` has none.
    pub fn scheduler(&self) -> Option<Vec<String>> {
        self.scheduler.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on the jobs are where these servers have them.
    pub(super) fn follow_jobs(&self, manifest: &Manifest) {
        *self.scheduler.write().unwrap_or_else(PoisonError::into_inner) = launch(manifest);
    }

    /// The jobs of this home, for the one door that sees to them.
    pub(super) fn jobs(self: &Arc<Self>) -> Jobs {
        let (database, limits) = (self.clone(), self.clone());
        Jobs::new(JobsParts {
            store: self.store.clone(),
            gate: self.gate.clone(),
            database: Arc::new(move || {
                database.scheduler().and_then(|args| value_of(&args, DATABASE).map(PathBuf::from))
            }),
            limits: Arc::new(move || {
                let limits = &limits.settings().limits;
                JobLimits {
                    turns_minute_max: limits.job_turns_minute_max,
                    queued_messages_max: limits.queued_messages_max,
                }
            }),
        })
    }
}

/// When a job would fire, before it is made: in the zone that the scheduler is told.
pub(super) fn preview(config: &Config) -> PreviewJob {
    let zone = claw_kit::zone::name_of(&config.zone).unwrap_or("UTC").to_owned();
    PreviewJob::new(move |fields| {
        let preview = claw_mcp_scheduler::preview(fields, &zone)?;
        Some(JobPreview { when: preview.when, next: preview.next })
    })
}

/// The arguments that claw adds to its own scheduler.
pub(super) fn server_args(args: &[String], config: &Config) -> Vec<String> {
    let mut added = Vec::new();
    if value_of(args, DATABASE).is_none() {
        let file = config.home.schedule().join("jobs.db").display().to_string();
        added.extend([DATABASE.to_owned(), file]);
    }
    if value_of(args, ZONE).is_none()
        && let Some(zone) = claw_kit::zone::name_of(&config.zone)
    {
        added.extend([ZONE.to_owned(), zone.to_owned()]);
    }
    // Of the agent whose home it is; nobody else's.
    added.extend([HEARTBEATS.to_owned(), config.home.heartbeats_toml().display().to_string()]);
    added
}

/// The arguments of the scheduler, with those that claw has added. `None` without one.
pub(super) fn launch(manifest: &Manifest) -> Option<Vec<String>> {
    let (args, own) = schedulers(manifest).next()?;
    Some(args.iter().skip(2).chain(&own.extra_args).cloned().collect())
}

/// The file of the jobs where it is outside of the home, with what SQLite puts beside it. The home
/// is kept from all tools anyway.
pub(super) fn apart(manifest: &Manifest) -> Vec<PathBuf> {
    let files = schedulers(manifest).filter_map(|(args, _)| value_of(args, DATABASE));
    let files = files.filter(|file| PathBuf::from(file).is_absolute());
    files.flat_map(|file| ["", "-wal", "-shm"].map(|end| format!("{file}{end}").into())).collect()
}

fn schedulers(manifest: &Manifest) -> impl Iterator<Item = (&[String], &OwnProgram)> {
    manifest.servers.values().filter(|entry| !entry.disabled).filter_map(|entry| {
        match &entry.launch {
            Launch::Stdio(StdioLaunch { own: Some(own), args, .. })
                if args.get(1).is_some_and(|name| name == OwnServerName::Scheduler.as_str()) =>
            {
                Some((args.as_slice(), own))
            }
            _ => None,
        }
    })
}
