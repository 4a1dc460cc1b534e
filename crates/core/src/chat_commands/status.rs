//! What `/status` says: model, context, servers, what runs and what waits. Read from the store, so
//! that it is as true in this process as in any other; servers and background jobs are those of
//! this process in the conversation's folder. Must not know doors.

use std::path::Path;

use super::open_proposals::proposals_wait;
use super::{ChatCommandsParts, code, definitions, is_owner, lists, mode, role, usage};
use crate::domain::SessionId;
use crate::hub::{ServerState, ServerStatus};
use crate::redact::Redactor;
use crate::router::Visitor;
use crate::store::{StoreError, Tx, now_ms};
use crate::turn::{Log, window};

/// Whoever is no owner reads no path of this machine and no process of it.
pub(super) async fn markdown(
    parts: &ChatCommandsParts,
    session: &SessionId,
    visitor: &Visitor,
) -> Result<String, StoreError> {
    let owner = is_owner(visitor);
    let (log, chosen, used, open, proposals, queued, panic, (missed, stopped)) =
        parts.store.read(|tx| {
            let log = Log::new(session.clone(), tx.window(session)?.events, tx.last_seq(session)?);
            let open = tx.open_questions(None)?;
            let elsewhere =
                open.iter().filter(|row| row.question.session.as_ref() != Some(session)).count();
            let here = open.len() - elsewhere;
            let proposals = open.iter().filter(|row| row.question.is_to_remember()).count();
            let (used, queued) = (tx.usage_since(Some(session), 0)?, tx.queued_messages(session)?);
            let role = tx.session_role(session)?;
            let missed = (tx.jobs_missed()?, stopped_heartbeats(tx)?);
            Ok((log, role, used, (here, elsewhere), proposals, queued, tx.panic()?, missed))
        })?;
    let folder = parts.folder_of(session)?;
    let own = if folder == parts.workspace { "" } else { ", by `/here`" };
    let workspace = format!("- workspace: {}{own}\n", code(&folder.display().to_string()));
    let mut text = format!(
        "- model: {} ({})\n{}- session: `{session}`\n{}- context: {}\n- tools: {}- used in this session: {}\n\
         {}- running: {}\n- open questions: {}\n- queued messages: {queued}\n",
        code(&parts.model.name),
        parts.model.provider,
        role::status_line(&parts.roles, chosen.as_deref(), &log),
        mode::status_line(parts, session, visitor)?,
        context(&log, parts.window_tokens),
        definitions::status(parts, &log),
        usage::in_words(&used),
        if owner { workspace.as_str() } else { "" },
        running(parts, &log, queued).await,
        questions(open),
    );
    if owner && proposals > 0 {
        text.push_str(&format!("- {}\n", proposals_wait(proposals)));
    }
    if missed > 0 {
        let noun = if missed == 1 { "firing was" } else { "firings were" };
        text.push_str(&format!(
            "- jobs: {missed} {noun} missed while claw was not running or was stopped\n"
        ));
    }
    if owner && !stopped.is_empty() {
        let verb = if stopped.len() == 1 { "has" } else { "have" };
        let names: Vec<_> = stopped.iter().map(|name| code(name)).collect();
        text.push_str(&format!(
            "- heartbeats: {} {verb} stopped for today (budget in `heartbeats.toml`)\n",
            names.join(", ")
        ));
    }
    if owner {
        text.push_str(&clients(parts)?);
    }
    text.push_str(&match panic {
        Some(by) => format!("- **the stop switch is on** ({by}); `/panic off` releases it\n"),
        None => "- stop switch: off\n".to_owned(),
    });
    let (jobs, known) = at_work(parts, &folder);
    let how_to_end =
        if owner && jobs > 0 { " (`/stop jobs` ends those of this folder)" } else { "" };
    text.push_str(&format!("- background jobs: {jobs}{how_to_end}\n"));
    text.push_str(&servers(known, parts.gate.redactor(), owner));
    Ok(text)
}

/// Background jobs and servers of the folder that the conversation works in. None runs in one that
/// is not open.
fn at_work(parts: &ChatCommandsParts, folder: &Path) -> (u32, Vec<ServerStatus>) {
    let own = if folder == parts.workspace {
        Some(parts.gate.clone())
    } else {
        parts.folder_gates.of(folder)
    };
    if let Some(gate) = own {
        return (gate.hub().background_jobs(), gate.hub().servers());
    }
    let mut all = parts.gate.hub().servers();
    all.iter_mut().for_each(|server| server.state = ServerState::Idle);
    (0, all)
}

/// Who calls claw, if anybody has ever called.
fn clients(parts: &ChatCommandsParts) -> Result<String, StoreError> {
    let (rows, open) = parts.store.read(|tx| Ok((tx.clients()?, tx.open_client_calls()?)))?;
    let active = rows.iter().filter(|row| row.revoked_ms.is_none() && row.seen_ms.is_some());
    let active = active.count();
    if active == 0 {
        return Ok(String::new());
    }
    Ok(format!("- MCP clients: {active}; calls without an end: {}\n", open.len()))
}

/// Those whose budget of the day is used up, as their owner was told.
fn stopped_heartbeats(tx: &Tx<'_>) -> Result<Vec<String>, StoreError> {
    let all = tx.heartbeats()?.into_iter();
    let stopped = all.filter(|(_, state)| state.stopped_until_ms > now_ms());
    Ok(stopped.map(|(name, _)| name).collect())
}

fn context(log: &Log, window_tokens: u64) -> String {
    let tokens = window::size(log).tokens;
    let exchanges = log.exchanges();
    let percent = tokens.saturating_mul(100) / window_tokens.max(1);
    let summary = if log.summary().is_some() { " and a summary" } else { "" };
    let noun = if exchanges == 1 { "exchange" } else { "exchanges" };
    format!("{exchanges} {noun}{summary}, about {tokens} of {window_tokens} tokens ({percent} %)")
}

/// What the open turn is at, as far as its log says. A log may be some milliseconds behind.
async fn running(parts: &ChatCommandsParts, log: &Log, queued_messages: u32) -> String {
    let Some(turn) = log.open_turn() else {
        return if queued_messages == 0 { "nothing" } else { "a turn is about to begin" }
            .to_owned();
    };
    let seconds = (now_ms() - turn.began_ms).max(0) / 1000;
    let (asked, at_work): (Vec<_>, Vec<_>) =
        turn.unanswered().into_iter().partition(|(id, _)| turn.waiting.contains_key(id));
    let mut names = Vec::new();
    for (_, tool_use) in &at_work {
        names.push(code(&lists::tool_name(&parts.gate, &tool_use.name).await));
    }
    let what = match (names.is_empty(), asked.is_empty()) {
        (false, _) => names.join(", "),
        (true, false) => "it waits for your answer".to_owned(),
        (true, true) => "the model is asked".to_owned(),
    };
    format!("a turn, begun {seconds} s ago: {what}")
}

fn questions((here, elsewhere): (usize, usize)) -> String {
    if elsewhere == 0 {
        here.to_string()
    } else {
        format!("{here}, and {elsewhere} in other sessions")
    }
}

fn servers(mut all: Vec<ServerStatus>, redactor: &Redactor, owner: bool) -> String {
    for server in &mut all {
        if let ServerState::Failed { reason, .. } = &mut server.state {
            // It quotes the server's own last words.
            *reason = redactor.redact(reason).into_owned();
        }
    }
    let enabled = || all.iter().filter(|server| !server.disabled);
    let up = enabled().filter(|server| matches!(server.state, ServerState::Up { .. })).count();
    let failed =
        enabled().filter(|server| matches!(server.state, ServerState::Failed { .. })).count();
    let mut text = format!("- servers: {up} of {} up, {failed} failed\n", enabled().count());
    for server in &all {
        text.push_str(&format!("  - {}: {}\n", code(&server.name), state(server, owner)));
    }
    text
}

fn state(server: &ServerStatus, owner: bool) -> String {
    match &server.state {
        _ if server.disabled => "disabled in `mcp.json`".to_owned(),
        ServerState::Idle => "starts on first need".to_owned(),
        ServerState::Starting => "starting".to_owned(),
        ServerState::Up { .. } if !owner => "up".to_owned(),
        ServerState::Failed { .. } if !owner => "failed".to_owned(),
        ServerState::Up { pid: Some(pid), protocol, .. } => {
            format!("up (process {pid}, MCP {protocol})")
        }
        ServerState::Up { pid: None, protocol, .. } => {
            format!("up (over HTTP, MCP {protocol})")
        }
        ServerState::Failed { reason, retry_in, .. } => {
            let again = match retry_in.as_secs_f32().ceil() {
                0.0 => "on next need".to_owned(),
                seconds => format!("in {seconds} s at the earliest"),
            };
            format!("failed: {}; it starts again {again}", code(reason))
        }
    }
}
