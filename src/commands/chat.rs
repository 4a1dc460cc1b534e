//! `claw chat`: opens the console door. Must not know what it shows.

use std::process::ExitCode;
use std::sync::Arc;

use claw_cli::{fail, out};
use claw_core::app::App;
use claw_core::domain::{Mode, SessionId};
use claw_door_console::ConsoleDoor;
use claw_door_console::editor::EditorSettings;
use claw_door_console::run::{self, ConsoleStart};
use claw_door_console::settings::ConsoleSection;
use claw_doors::Door as _;

pub async fn run(
    app: Arc<App>,
    session: SessionId,
    mode: Option<Mode>,
) -> anyhow::Result<ExitCode> {
    let context = app.door_context(app.agents()).await?;
    let instance = app.open_door(ConsoleDoor::NAME)?;
    let visitor = app.console_visitor(instance.address());
    if let Some(mode) = mode {
        context.chat_commands.set_mode(&visitor, &session, mode).await?;
    }
    let editor = EditorSettings {
        history: Some(app.config.home.path().join("history")),
        no_colour: ConsoleSection::of(&app.config.doors)?.no_colour(&app.config.env),
        mode: context.chat_commands.mode(&visitor, &session)?,
    };
    let greeting = greeting(&app, &session).await?;
    let notices = app.warnings.iter().chain(&app.config.notices).chain(&app.config.place_notice);
    let notices = notices.cloned().collect();
    let retention = claw_cli::retention::begin(app.clone());
    let done =
        run::run(context, ConsoleStart { session, instance, editor, greeting, notices }).await;
    retention.abort();
    let waits = done?;
    match app.gate.hub().background_jobs() {
        0 => {}
        1 => out::err_line("claw: 1 background job ends with this chat."),
        jobs => out::err_line(&format!("claw: {jobs} background jobs end with this chat.")),
    }
    Ok(ExitCode::from(if waits { fail::WAITS } else { fail::DONE }))
}

async fn greeting(app: &App, session: &SessionId) -> anyhow::Result<String> {
    let chosen = app.model().await?;
    Ok(format!(
        "**claw** · session `{session}` · workspace `{}`\n\n{}\n\n`/help` lists the commands.",
        app.config.workspace.display(),
        chosen.whys.join("\n\n")
    ))
}
