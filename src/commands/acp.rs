//! `claw acp`: opens the door for editors. Standard output belongs to it alone. Must not know
//! what it says.

use std::process::ExitCode;
use std::sync::Arc;

use claw_cli::{fail, out};
use claw_core::app::App;
use claw_door_acp::AcpDoor;
use claw_door_acp::run::{self, AcpStart};
use claw_doors::Door as _;

pub async fn run(app: Arc<App>) -> anyhow::Result<ExitCode> {
    let context = app.door_context(app.agents()).await?;
    for notice in app.warnings.iter().chain(&app.config.notices) {
        out::err_line(&out::clean(&format!("claw: {notice}")));
    }
    let opening = app.clone();
    let open = Arc::new(move || opening.open_door(AcpDoor::NAME));
    let retention = claw_cli::retention::begin(app.clone());
    let done = run::run(AcpStart { context, open }).await;
    retention.abort();
    done?;
    Ok(ExitCode::from(fail::DONE))
}
