//! `claw audit explain ID`: what a call was, who wanted it, why it was allowed or not, and how it
//! ended, in sentences. Must not know how rows are written.

mod answers;
mod sentences;

use std::process::ExitCode;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

pub(super) use self::answers::{Answered, is_of_a_round};
pub(super) use self::sentences::{network_briefly, outside_of_calls};
use self::sentences::{origin_words, sentence, who};
use super::fail::{self, UserError};
use super::out;
use super::sessions::note_words;
use crate::app::App;
use crate::domain::canonical::canonical_json;
use crate::domain::{ApprovalId, CallId, EventBody, UnixMillis, audit_kind, text_of};
use crate::store::{AuditRow, now_ms};
use crate::whose::claw;

/// How much of what was said tells which message it was, in characters.
const SAID_CHARS_MAX: usize = 80;

/// What the log says about the request for a call.
#[derive(Debug, Default)]
struct CallRequest {
    model: String,
    /// The newest message before it, or the one that claw made it for.
    said: Option<String>,
    /// What the model was given of the memory in that turn, a line each.
    notes: Vec<String>,
    /// Claw looked into the memory by itself.
    is_recall: bool,
    /// Claw asked git by itself.
    is_git: bool,
    /// Its question is open, and no answer counts any more.
    is_overdue: bool,
}

/// Explains a call (its id, or the id of its question) or a row of the audit (its number).
pub fn run(app: &App, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let (call, rows) = rows_of(app, id)?;
    let mut request = match &call {
        Some(call) => request_for(app, call)?,
        None => CallRequest::default(),
    };
    if let Some(call) = &call {
        let asked = app.store.read(|tx| tx.approval_of(call))?;
        request.is_overdue = asked.is_some_and(|row| row.is_overdue(now_ms()));
    }
    let text = story(&claw(app), &rows, &request, &app.config.zone);
    let id = call.map_or_else(|| id.to_owned(), |call| call.to_string());
    let object =
        json!({"id": id, "text": text, "rows": rows.iter().map(|row| row.id).collect::<Vec<_>>()});
    out::done(as_json, &object, &text)?;
    Ok(ExitCode::from(fail::DONE))
}

fn rows_of(app: &App, id: &str) -> anyhow::Result<(Option<CallId>, Vec<AuditRow>)> {
    let nothing =
        |what: String| UserError::because(format!("{what}; `{} audit` lists them", claw(app)));
    let call = if let Ok(number) = id.parse::<i64>() {
        let row = app.store.read(|tx| tx.audit_after(number.saturating_sub(1), 1))?.pop();
        match row.filter(|row| row.id == number) {
            None => return Err(nothing(format!("the audit has no row {number}"))),
            Some(row) if row.call.is_empty() => return Ok((None, vec![row])),
            Some(row) => row.call.parse().map_err(|error: String| nothing(error))?,
        }
    } else if let Ok(call) = id.parse() {
        call
    } else {
        match app.store.read(|tx| tx.approval(&ApprovalId(id.to_owned())))? {
            Some(approval) => approval.call,
            None => {
                return Err(nothing(format!(
                    "`{id}` is no call (SESSION:EVENT:WHICH), row number or question of the audit"
                )));
            }
        }
    };
    let call = todays_id(app, call)?;
    let rows = app.store.read(|tx| tx.audit_of(&call))?;
    if rows.is_empty() {
        return Err(nothing(format!("the audit knows no call `{call}`")));
    }
    Ok((Some(call), rows))
}

/// The id of a call as it is today: the audit, and who has written it down, may have an earlier
/// one.
fn todays_id(app: &App, call: CallId) -> anyhow::Result<CallId> {
    let known = |call: &CallId| app.store.read(|tx| Ok(tx.call(call)?.is_some()));
    if known(&call)? {
        return Ok(call);
    }
    for meant in call.may_have_meant() {
        if known(&meant)? {
            return Ok(meant);
        }
    }
    Ok(call)
}

fn request_for(app: &App, call: &CallId) -> anyhow::Result<CallRequest> {
    let (Some(session), Some(seq)) = (call.session(), call.seq()) else {
        return Ok(CallRequest::default());
    };
    let is_recall = matches!(call, CallId::Recall { .. });
    let is_git = matches!(call, CallId::Git { .. });
    // What was recalled stands before its message; so does what git said, with the files of the
    // workspace and what was recalled behind it.
    let before = if is_git { 4 } else { 2 };
    let (_, of_claw) = app.store.read(|tx| tx.event_and_message_before(session, seq + before))?;
    let (reply, message) = app.store.read(|tx| tx.event_and_message_before(session, seq))?;
    let message = if is_recall || is_git { of_claw } else { message };
    let recalled = app.store.read(|tx| tx.recalled_before(session, seq))?;
    let notes = recalled.iter().filter_map(|body| match body {
        EventBody::TurnRecalled { notes, call: of, .. } if !is_recall || of == call => Some(notes),
        _ => None,
    });
    let notes = notes.flatten().map(note_words).collect();
    let said = match message {
        Some(EventBody::UserMessage { blocks, .. }) => Some(text_of(&blocks)),
        _ => None,
    };
    let model = match reply {
        Some(EventBody::ModelReply { model, .. }) => model,
        _ => String::new(),
    };
    let notes = if is_git { Vec::new() } else { notes };
    Ok(CallRequest { model, said, notes, is_recall, is_git, is_overdue: false })
}

/// The whole story. Rows are those of one call, oldest first, or a single one that belongs to no
/// call.
fn story(claw: &str, rows: &[AuditRow], request: &CallRequest, zone: &TimeZone) -> String {
    let mut lines = match rows.iter().find(|row| row.kind == audit_kind::RECEIVED) {
        Some(row) => head(row, request),
        None if let Some(list) = list_of(rows) => vec![list.to_owned()],
        None if is_pause(rows) => {
            vec!["No call of a tool: the question whether a turn may go on.".to_owned()]
        }
        None => Vec::new(),
    };
    for (index, row) in rows.iter().enumerate() {
        let before = rows.get(..index).unwrap_or_default();
        lines.push(format!(
            "{}  {}",
            at(row.at_ms, zone),
            out::clean(&capitalised(&sentence(row, before)))
        ));
    }
    lines.extend(conclusion(claw, rows, request.is_overdue));
    lines.extend(given(request));
    lines.join("\n")
}

fn head(row: &AuditRow, request: &CallRequest) -> Vec<String> {
    let body = &row.body;
    let mut lines =
        vec![format!("Call {}: {}/{}", row.call, field(body, "server"), field(body, "tool"))];
    match body.get("arguments") {
        Some(Value::Object(map)) if map.is_empty() => lines.push("  without arguments".to_owned()),
        Some(Value::Object(map)) => {
            lines.extend(map.iter().map(|(name, value)| {
                let value = out::clean(&plain(value)).replace('\n', "\n    ");
                format!("  {}: {value}", out::clean(name))
            }));
        }
        _ => {}
    }
    let model = if request.model.is_empty() { "A model" } else { request.model.as_str() };
    let said = match request.said.as_deref().map(first_words) {
        Some(said) if !said.is_empty() => format!(", after the message “{said}”"),
        _ => String::new(),
    };
    let who = who(&field(body, "principal"));
    let origin = field(body, "origin");
    let origin = origin_words(&origin);
    let Some(session) = body.get("session").and_then(Value::as_str) else {
        lines.push(out::clean(&capitalised(&format!("{who} asked for it: {origin}."))));
        return lines;
    };
    if let Some(by) = body.get("proposed_by") {
        lines.push(out::clean(&format!(
            "The result of the call {} proposed it in the session `{session}`{said}. It acts for \
             {who}: {origin}.",
            plain(by)
        )));
        return lines;
    }
    if request.is_recall || request.is_git {
        let did =
            if request.is_git { "asked git what has changed" } else { "looked into the memory" };
        lines.push(out::clean(&format!(
            "Claw itself {did} in the session `{session}`{}. It acts for {who}: \
             {origin}.",
            said.replace(", after the message", ", for the message")
        )));
        return lines;
    }
    lines.push(out::clean(&format!(
        "{model} asked for it in the session `{session}`{said}. It acts for {who}: {origin}."
    )));
    lines
}

/// What of the memory the model had before it, and why.
fn given(request: &CallRequest) -> Vec<String> {
    if request.notes.is_empty() {
        let nothing = "The model was given nothing new of the memory with it.";
        return request.is_recall.then(|| nothing.to_owned()).into_iter().collect();
    }
    let head = match request.is_recall {
        true => "The model was given these notes with it:",
        false => "The model had been given these notes of the memory for that message:",
    };
    let notes = request.notes.iter().map(|note| format!("  {}", out::clean(note)));
    std::iter::once(head.to_owned()).chain(notes).collect()
}

/// The last line about the call itself: did it happen?
fn conclusion(claw: &str, rows: &[AuditRow], is_overdue: bool) -> Option<String> {
    let call = rows.first().map(|row| &row.call).filter(|call| !call.is_empty())?;
    let has = |kind: &str| rows.iter().rev().find(|row| row.kind == kind);
    if list_of(rows).is_some() {
        let text = match has("answered") {
            Some(_) => "it was closed",
            None if is_overdue => "its time is over",
            None => "it waits for an answer",
        };
        return Some(format!("In short: {text}; each action has a story of its own."));
    }
    if is_pause(rows) {
        let answer =
            has("asked").and_then(|asked| answer_to(rows, &field(&asked.body, "approval")));
        let text = match answer {
            None if is_overdue => {
                "the time of the question is over, and the turn does not go on".to_owned()
            }
            None => format!("it waits for an answer; `{claw} approvals` shows the question"),
            Some("allow") => "the turn went on".to_owned(),
            Some(_) => "the turn did not go on".to_owned(),
        };
        return Some(format!("In short: {text}."));
    }
    let text = match (
        has("ended").map(|row| field(&row.body, "outcome")).as_deref(),
        has("started"),
        has("asked"),
    ) {
        (Some("ended"), _, _) => "it ran once".to_owned(),
        (Some("denied"), _, _) => "it did not run".to_owned(),
        (Some(_), _, _) => "it may or may not have run, and will not be repeated".to_owned(),
        (None, Some(_), _) => {
            "it was started and has no end yet; if nothing runs any more, it may or may not have \
             run"
            .to_owned()
        }
        (None, None, Some(asked)) => match answer_to(rows, &field(&asked.body, "approval")) {
            None if is_overdue => {
                "the time of its question is over, and it does not run".to_owned()
            }
            None => {
                let id = field(&asked.body, "approval");
                format!("it waits for an answer, `{claw} approve {id}` or `{claw} deny {id}`")
            }
            Some("allow" | "press") => "it was allowed, and has not run yet".to_owned(),
            Some(_) => "it did not run".to_owned(),
        },
        (None, None, None) => "it has not run".to_owned(),
    };
    Some(format!("In short: {call}: {text}."))
}

/// What a question was that stands for several staged actions.
fn list_of(rows: &[AuditRow]) -> Option<&'static str> {
    let asked = rows.iter().find(|row| row.kind == audit_kind::ASKED)?;
    match field(&asked.body, "list").as_str() {
        "staged_all" => {
            Some("No call of a tool: the question about all actions of a list at once.")
        }
        "staged_buttons" => {
            Some("No call of a tool: a group of buttons, of which one can be pressed.")
        }
        "together" => Some("No call of a tool: the question about several calls of one reply."),
        _ => None,
    }
}

/// A question about the turn itself has no request of a model in front of it.
fn is_pause(rows: &[AuditRow]) -> bool {
    rows.iter().any(|row| row.kind == audit_kind::ASKED)
        && !rows.iter().any(|row| row.kind == audit_kind::RECEIVED)
}

/// How a question was answered: the answer's kind, or empty if it was closed without one.
fn answer_to<'a>(rows: &'a [AuditRow], approval: &str) -> Option<&'a str> {
    let answered = |row: &&AuditRow| {
        row.kind == audit_kind::ANSWERED && field(&row.body, "approval") == approval
    };
    let body = &rows.iter().find(answered)?.body;
    Some(body.pointer("/answer/kind").and_then(Value::as_str).unwrap_or_default())
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn first_words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SAID_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line,
    }
}

fn at(at_ms: UnixMillis, zone: &TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at_ms) {
        Ok(at) => at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => format!("{at_ms} ms"),
    }
}

fn field(body: &Value, key: &str) -> String {
    body.get(key).map(plain).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => canonical_json(other),
    }
}

#[cfg(test)]
mod tests;
