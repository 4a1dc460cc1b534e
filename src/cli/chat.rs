//! `claw chat`: opens the console door. Must not know what it shows.

use std::process::ExitCode;
use std::sync::Arc;

use super::fail;
use crate::app::App;
use crate::config::Color;
use crate::domain::{Mode, SessionId};
use crate::doors::Door as _;
use crate::doors::console::ConsoleDoor;
use crate::doors::console::editor::EditorSettings;
use crate::doors::console::run::{self, ConsoleStart};

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
        no_colour: no_colour(&app),
        mode: context.chat_commands.mode(&visitor, &session)?,
    };
    let greeting = greeting(&app, &session).await?;
    let notices = app.warnings.iter().chain(&app.config.notices).chain(&app.config.place_notice);
    let notices = notices.cloned().collect();
    let retention = tokio::spawn(super::retention::keep(app.clone()));
    let done =
        run::run(context, ConsoleStart { session, instance, editor, greeting, notices }).await;
    retention.abort();
    let waits = done?;
    Ok(ExitCode::from(if waits { fail::WAITS } else { fail::DONE }))
}

fn no_colour(app: &App) -> bool {
    match app.config.console.color {
        Color::Always => false,
        Color::Never => true,
        Color::Auto => app.config.env.get("NO_COLOR").is_some(),
    }
}

async fn greeting(app: &App, session: &SessionId) -> anyhow::Result<String> {
    let chosen = app.model().await?;
    Ok(format!(
        "**claw** · session `{session}` · workspace `{}`\n\n{}\n\n`/help` lists the commands.",
        app.config.workspace.display(),
        chosen.whys.join("\n\n")
    ))
}
