//! The jobs of the schedule in a backup, and in the home that is made of one. Must not
//! know how jobs are kept.

use std::path::Path;

use claw_mcp_scheduler::{Args, Jobs};

use super::contents::JOBS;
use crate::config::Home;
use crate::durable::Part;

fn open(file: &Path) -> anyhow::Result<Jobs> {
    let args = Args { database: Some(file.to_owned()), ..Args::default() };
    Jobs::open(&args).map_err(anyhow::Error::msg)
}

/// The jobs as they are at one moment, in a passing file of the home. `None`: there are none.
///
/// # Errors
/// Their file cannot be read whole.
pub fn copy(home: &Home) -> anyhow::Result<Option<Part>> {
    let file = home.path().join(JOBS);
    if !file.is_file() {
        return Ok(None);
    }
    // In the home itself, where the doctor looks for what a kill has left. SQLite
    // takes an empty file.
    let part = Part::beside(&home.path().join("jobs.db"))?;
    open(&file)?.copy_into(part.path()).map_err(anyhow::Error::msg)?;
    Ok(Some(part))
}

/// Holds back the jobs of a restored home that may have acted since its backup. Each as one line.
///
/// # Errors
/// The file of the jobs is damaged.
pub fn hold_back(home: &Path) -> anyhow::Result<Vec<String>> {
    let file = home.join(JOBS);
    if !file.is_file() {
        return Ok(Vec::new());
    }
    open(&file)?.hold_back().map_err(anyhow::Error::msg)
}
