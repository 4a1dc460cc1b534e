//! `claw gateway`: opens the doors of all agents. Must not know what they show.

use std::process::ExitCode;

use super::fail;
use crate::config::Overrides;
use crate::doors::telegram;

pub async fn run(overrides: Overrides) -> anyhow::Result<ExitCode> {
    telegram::run::run(overrides).await?;
    Ok(ExitCode::from(fail::DONE))
}
