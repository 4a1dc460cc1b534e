//! `claw chat`: opens the console door. Must not know what it shows.

use std::process::ExitCode;
use std::sync::Arc;

use super::fail;
use crate::app::App;
use crate::domain::SessionId;
use crate::doors::console;

pub async fn run(app: Arc<App>, session: SessionId) -> anyhow::Result<ExitCode> {
    console::run::run(app, session).await?;
    Ok(ExitCode::from(fail::DONE))
}
