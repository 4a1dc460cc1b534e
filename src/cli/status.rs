//! What `/status`, `/tools` and `/approvals` say, in Markdown. Must not know doors.

use crate::app::App;
use crate::domain::{EventBody, SessionId, escape};
use crate::hub::ServerState;
use crate::turn::estimate;

pub async fn status(app: &App, session: &SessionId) -> anyhow::Result<String> {
    let chosen = app.model().await?;
    let (window, usage, open, queued, panic) = app.store.read(|tx| {
        Ok((
            tx.window(session)?,
            tx.usage_since(Some(session), 0)?,
            tx.open_approvals(Some(session))?.len(),
            tx.queued_messages(session)?,
            tx.panic()?,
        ))
    })?;
    let tokens: u64 = window.iter().map(estimate::of_event).sum();
    let turns = window.iter().filter(|event| matches!(event.body, EventBody::TurnStarted { .. })).count();
    let mut text = format!(
        "- model: {} ({})\n- session: `{session}`, {turns} turns in the window, about {tokens} of {} tokens\n\
         - used in this session: {} tokens in ({} cached), {} out, {} replies\n- workspace: `{}`\n\
         - open questions: {open}, queued messages: {queued}\n",
        chosen.model.model(),
        chosen.model.provider(),
        app.config.limits.window_tokens,
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        usage.replies,
        app.config.workspace.display(),
    );
    if let Some(by) = panic {
        text.push_str(&format!("- **the stop switch is on** ({by}); `claw panic off` releases it\n"));
    }
    for server in app.gate.hub().servers() {
        text.push_str(&format!("- server `{}`: {}\n", server.name, state(&server.state, server.disabled)));
    }
    Ok(text)
}

fn state(state: &ServerState, disabled: bool) -> String {
    if disabled {
        return "disabled in mcp.json".to_owned();
    }
    match state {
        ServerState::Idle => "starts on first need".to_owned(),
        ServerState::Starting => "starting".to_owned(),
        ServerState::Up { pid, protocol, .. } => format!("up (process {pid}, MCP {protocol})"),
        ServerState::Failed { reason, .. } => format!("failed: {}", escape::visible(reason)),
    }
}

pub async fn tools(app: &App) -> String {
    let offered = app.gate.offered().await;
    let mut text = String::new();
    for notice in offered.notices {
        text.push_str(&format!("{}\n\n", escape::visible(&notice)));
    }
    for spec in offered.specs {
        let first = spec.description.lines().next().unwrap_or_default();
        text.push_str(&format!("- `{}`: {}\n", spec.name, escape::visible(first)));
    }
    if text.is_empty() { "No server offers a tool; `claw doctor` says why.".to_owned() } else { text }
}

pub fn approvals(app: &App) -> anyhow::Result<String> {
    let rows = app.store.read(|tx| tx.open_approvals(None))?;
    if rows.is_empty() {
        return Ok("Nothing waits for an answer.".to_owned());
    }
    let lines = rows.iter().map(|row| {
        let question = &row.question;
        let shown: Vec<String> = question.arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!(
            "- `{}` in `{}`: {} {} · {}\n",
            row.id,
            question.session,
            question.server,
            question.tool,
            shown.join(" · ")
        )
    });
    Ok(lines.collect())
}
