//! `claw sessions`: the list, and one session in readable form, with what each turn took. Must not
//! know how a log is folded.

use std::process::ExitCode;

use claw_kit::counted::counted;
use serde_json::json;

use super::explain::Answered;
use super::fail::{self, UserError};
use super::out;
use super::turn_report::tool_name;
use super::turn_sum;
use crate::app::{App, day};
use crate::domain::{
    Action, Answer, Block, CallId, Event, EventBody, LEFT, LoadedBy, Named, NamedState, Outcome,
    ProjectFile, RecalledNote, SessionId, ShellPart, person, text_of, tool_for_person,
};
use crate::store::{Store, StoreError};
use crate::turn::{Turn, export, named};
use crate::whose::claw;

pub fn list(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let sessions = app.store.read(|tx| tx.sessions())?;
    for session in &sessions {
        let shown = if as_json {
            json!({"id": session.name, "created_ms": session.created_ms, "last_ms": session.last_ms,
                   "events": session.events, "turns": session.turns})
            .to_string()
        } else {
            format!(
                "{:<24} {:>5} turn{}  {:>6} events  last {}",
                session.name,
                session.turns,
                if session.turns == 1 { " " } else { "s" },
                session.events,
                super::when(session.last_ms)
            )
        };
        out::line(&shown)?;
    }
    if sessions.is_empty() && !as_json {
        out::err_line(&format!("There is no session yet; `{} chat` starts one.", claw(app)));
    }
    Ok(ExitCode::from(fail::DONE))
}

pub fn show(app: &App, name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let (session, events) = (SessionId::new(name)?, events(app, name)?);
    if events.is_empty() && !as_json {
        out::err_line(&format!(
            "Nothing is written in `{name}` yet: what was said there has not been begun."
        ));
    }
    let gone = app
        .store
        .read(|tx| tx.artifacts())?
        .into_iter()
        .filter_map(|row| Some((row.digest, row.removed?)));
    let gone: Vec<_> = gone
        .map(|(digest, (at_ms, why))| (digest, format!("removed by {why} on {}", day(at_ms))))
        .collect();
    let mut turn: Option<Turn<'_>> = None;
    for event in &events {
        Turn::follow(&mut turn, &session, event);
        if as_json {
            out::line(&export::line_of(&session, event)?)?;
            continue;
        }
        let text = match &event.body {
            EventBody::TurnEnded { end } => turn.take().map(|turn| turn_sum::ended(&turn, end)),
            _ => readable(&app.store, &session, event)?,
        };
        if let Some(text) = text {
            out::line(&line(event, &with_gone(&text, &gone)))?;
        }
    }
    if let (Some(turn), Some(last), false) = (turn, events.last(), as_json) {
        out::line(&line(last, &turn_sum::open(&turn)))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Says behind the name of an artifact that its file has gone.
fn with_gone(text: &str, gone: &[(String, String)]) -> String {
    let mark = |text: String, (digest, how): &(String, String)| match text.contains(digest.as_str())
    {
        true => text.replace(digest.as_str(), &format!("{digest} ({how})")),
        false => text,
    };
    gone.iter().fold(text.to_owned(), mark)
}

fn line(event: &Event, text: &str) -> String {
    format!("{:>5}  {}  {}", event.seq, super::when(event.at_ms), out::clean(text))
}

/// The log of a session; empty if a message waits there and nothing is begun.
///
/// # Errors
/// No session has this name.
pub fn events(app: &App, name: &str) -> anyhow::Result<Vec<Event>> {
    let session = SessionId::new(name)?;
    let (events, listed) = app.store.read(|tx| {
        let events = tx.events_from(&session, 1)?;
        let listed = !events.is_empty() || tx.sessions()?.iter().any(|row| row.name == name);
        Ok::<_, StoreError>((events, listed))
    })?;
    if !listed {
        return Err(UserError::because(format!(
            "there is no session `{name}`; `{} sessions` lists them",
            claw(app)
        )));
    }
    Ok(events)
}

/// The tool calls of a reply, each on a line of its own.
fn calls_of(
    store: &Store,
    session: &SessionId,
    reply_seq: u64,
    blocks: &[Block],
) -> Result<String, StoreError> {
    let mut calls = String::new();
    for (block, tool_use) in (0..).zip(blocks) {
        let Block::ToolUse(tool_use) = tool_use else { continue };
        let call = CallId::Reply { session: session.clone(), reply_seq, block };
        let tool = tool_name(store, &call, &tool_use.name)?;
        calls.push_str(&format!("\n         calls {tool} {}", tool_use.input));
    }
    Ok(calls)
}

fn forgotten(part: ShellPart) -> &'static str {
    match part {
        ShellPart::Folder => "the shell is back in the workspace (tools.keep_shell_folder)",
        ShellPart::Variables => "the shell keeps no variable (tools.keep_shell_variables)",
    }
}

/// Which tools stand in the requests from here on.
fn tools_words(by: LoadedBy, tools: &[String]) -> String {
    let names: Vec<String> = tools.iter().map(|name| tool_for_person(name)).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    match by {
        LoadedBy::Begin => {
            format!("not all tools are offered at once; these beside claw's own: {names}")
        }
        LoadedBy::Search => format!("tools that the model has found: {names}"),
        LoadedBy::Message => format!("tools that claw has found for the message: {names}"),
    }
}

fn readable(
    store: &Store,
    session: &SessionId,
    event: &Event,
) -> Result<Option<String>, StoreError> {
    Ok(Some(match &event.body {
        EventBody::UserMessage { blocks, .. } => format!("you: {}", text_of(blocks)),
        EventBody::ModelReply { blocks, usage, model, .. } => {
            let (input, output) = (usage.input_tokens, usage.output_tokens);
            let calls = calls_of(store, session, event.seq, blocks)?;
            format!("{model} ({input} + {output} tokens): {}{calls}", text_of(blocks))
        }
        EventBody::ToolResult { call, outcome } => {
            format!("result of {call}: {}", outcome_text(outcome))
        }
        EventBody::CallParked { call, approval } => {
            format!("{call} waits for an answer to {approval}")
        }
        EventBody::CallAnswered { call, answer, by, .. } => match answer {
            Some(answer) => format!("{call}: {}", answered(answer, by)),
            None => format!("{call} not answered: {by}"),
        },
        EventBody::ActionAnswered { call, action, answer, by, .. } => {
            action_answered(call, action, answer.as_ref(), by)
        }
        EventBody::ActionResult { call, action, outcome } => {
            let (Action { server, tool, .. }, text) = (&**action, outcome_text(outcome));
            format!("result of the staged {call} ({server}/{tool}): {text}")
        }
        EventBody::TurnContext { text } => text.clone(),
        EventBody::TurnProject { files, .. } => project_words(files),
        EventBody::TurnNamed { named, state, text, .. } => named_words(named, *state, text),
        EventBody::TurnRecalled { notes, left_out, .. } => recalled_words(notes, *left_out),
        EventBody::ModelPartial { text } => format!("(stopped while it wrote) {text}"),
        EventBody::ModelFailed { reason, .. } => format!("the model failed: {reason}"),
        EventBody::StopRequested { by } => format!("stop requested by {}", person(by)),
        EventBody::LimitReached { text, .. } => text.clone(),
        EventBody::Summary { text, through_seq, .. } => {
            format!("summary of everything up to {through_seq}: {text}")
        }
        EventBody::WindowDropped { reason, through_seq, .. } => {
            format!("dropped up to {through_seq}: {reason}")
        }
        EventBody::ExchangeDropped { from_seq, through_seq } => {
            format!(
                "the exchange from {from_seq} to {through_seq} was dropped from what the model sees"
            )
        }
        EventBody::SessionCleared {} => "a new conversation".to_owned(),
        EventBody::ShellForgotten { part } => forgotten(*part).to_owned(),
        EventBody::CompactRequested { .. } => "a summary was asked for".to_owned(),
        EventBody::WindowIdle { idle_s } => {
            format!("nobody had said anything for {idle_s} s (limits.idle_window_s)")
        }
        EventBody::ResultsCut { cut, bytes, before_tokens, after_tokens } => format!(
            "{} cut to {}: about {before_tokens} tokens before, {after_tokens} after",
            counted(cut.len(), "result"),
            counted(*bytes, "byte")
        ),
        EventBody::CompactionFailed { reason, .. } => format!("no summary was written: {reason}"),
        EventBody::ToolsLoaded { by, tools } => tools_words(*by, tools),
        EventBody::TurnEnded { .. }
        | EventBody::TurnStarted { .. }
        | EventBody::PromptPacked { .. } => {
            return Ok(None);
        }
    }))
}

fn action_answered(call: &CallId, action: &Action, answer: Option<&Answer>, by: &str) -> String {
    let what = format!("{call} ({}/{}: {})", action.server, action.tool, action.summary);
    match answer {
        Some(answer) => format!("staged {what}: {}", answered(answer, by)),
        None => format!("staged {what} not answered: {by}"),
    }
}

/// Who has answered what: `the person at this machine allowed this one call`.
fn answered(answer: &Answer, by: &str) -> String {
    Answered::of(&json!({"answer": answer, "by": by})).says
}

/// Which files of the workspace were quoted to the model.
fn project_words(files: &[ProjectFile]) -> String {
    if files.is_empty() {
        return "the workspace has no files for agents any more".to_owned();
    }
    let file = |file: &ProjectFile| {
        let cut = if file.is_cut { ", its beginning" } else { "" };
        format!("{} ({} bytes{cut})", file.name, file.bytes)
    };
    format!("from the workspace: {}", files.iter().map(file).collect::<Vec<_>>().join(", "))
}

/// What was fetched because a message names it, with its size: the words are a server's.
fn named_words(of: &Named, state: NamedState, text: &str) -> String {
    let what = named::written(of);
    match state {
        NamedState::Given => format!("{what} was given to the model ({} bytes)", text.len()),
        NamedState::Failed | NamedState::Changed => text.to_owned(),
    }
}

/// Which notes were given to the model with a message, and why each came.
fn recalled_words(notes: &[RecalledNote], left_out: u32) -> String {
    let mut text = "from the memory:".to_owned();
    for note in notes {
        text.push_str(&format!("\n         {}", note_words(note)));
    }
    if left_out > 0 {
        text.push_str(&format!(
            "\n         {left_out} more had no room (memory.recall_tokens_max)"
        ));
    }
    text
}

/// One note in a line.
pub(super) fn note_words(note: &RecalledNote) -> String {
    let RecalledNote { id, subject, source, age, superseded_by, of, why, .. } = note;
    let mut facts = vec![age.clone()];
    facts.extend((!source.is_empty()).then(|| format!("from {source}")));
    facts.extend(of.as_ref().map(|of| format!("from agent {of}")));
    facts.extend(superseded_by.as_ref().map(|by| format!("superseded by {by}")));
    format!("{subject} ({id}; {}): {why}", facts.join(", "))
}

fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ended { output } if output.is_error => format!("(failed) {}", output.text),
        Outcome::Ended { output } => {
            let staged = output.actions.iter().map(|action| {
                let words =
                    action.summary.as_ref().or(action.label.as_ref()).unwrap_or(&action.tool);
                format!("\n         stages {} {}: {words}", action.tool, action.arguments)
            });
            format!("{}{}", output.text, staged.collect::<String>())
        }
        Outcome::Denied { reason, .. } => format!("not run: {reason}"),
        Outcome::Unknown { reason } => format!("may or may not have run: {reason}"),
        Outcome::Parked { approval } => format!("waits for {approval}"),
        Outcome::Left => LEFT.to_owned(),
    }
}
