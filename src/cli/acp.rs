//! `claw acp`: opens the door for editors. Standard output belongs to it alone. Must not know
//! what it
//! says.

use std::process::ExitCode;
use std::sync::Arc;

use super::{fail, out};
use crate::app::App;
use crate::doors::Door as _;
use crate::doors::acp::AcpDoor;
use crate::doors::acp::run::{self, AcpStart};

pub async fn run(app: Arc<App>) -> anyhow::Result<ExitCode> {
    let context = app.door_context(app.agents()).await?;
    for notice in app.warnings.iter().chain(&app.config.notices) {
        out::err_line(&out::clean(&format!("claw: {notice}")));
    }
    let opening = app.clone();
    let open = Arc::new(move || opening.open_door(AcpDoor::NAME));
    let retention = tokio::spawn(super::retention::keep(app.clone()));
    let done = run::run(AcpStart { context, open }).await;
    retention.abort();
    done?;
    Ok(ExitCode::from(fail::DONE))
}
