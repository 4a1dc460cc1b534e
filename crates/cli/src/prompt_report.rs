//! `claw sessions show NAME --prompt TURN`: what the model was given in a turn, part by part. Must
//! not know how a request is packed, or how a log is read.

use std::process::ExitCode;

use claw_kit::counted::counted;
use serde_json::{Value, json};

use super::fail::{self, UserError};
use super::out;
use super::sessions::{events, note_words};
use crate::app::App;
use crate::domain::{SessionId, TurnId, Usage};
use crate::turn::prompt::{LastRequest, NotGiven, Shares};
use crate::whose::claw;

/// The word for the turn that began last.
const NEWEST: &str = "newest";

pub fn run(app: &App, name: &str, which: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let session = SessionId::new(name)?;
    let events = events(app, name)?;
    let number = match which.strip_prefix(&format!("{session}:")).unwrap_or(which) {
        NEWEST => None,
        number => Some(number.parse().map_err(|_| {
            UserError::because(format!(
                "`{which}` is no turn; give the number of one of its events, such as 12, or \
                 `{NEWEST}`"
            ))
        })?),
    };
    let given = LastRequest::of(&session, &events, number).map_err(|why| {
        UserError::because(match why {
            NotGiven::NoTurn => format!(
                "no turn of the session `{session}` holds the event {which}; `{} sessions show \
                 {session}` lists them",
                claw(app)
            ),
            NotGiven::NotAsked { seq } => format!(
                "the model was not asked in the turn {session}:{seq}; `{} sessions show \
                 {session}` says what happened in it",
                claw(app)
            ),
        })
    })?;
    let turn = TurnId { session, seq: given.seq };
    if as_json {
        out::line(&object(&turn, &given).to_string())?;
    } else {
        lines(&turn, &given).iter().try_for_each(|line| out::line(&out::clean(line)))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

fn lines(turn: &TurnId, given: &LastRequest) -> Vec<String> {
    let which = match given.requests {
        1 => "one request".to_owned(),
        many => format!("the last of {many} requests"),
    };
    let mut lines = vec![
        format!("Turn {turn}, {which}:"),
        format!("about {} tokens", given.tokens()),
        String::new(),
        "  part       tokens".to_owned(),
    ];
    for (name, tokens, note) in parts(given) {
        lines.push(format!("  {name:<9}{tokens:>8}  {note}").trim_end().to_owned());
    }
    if given.beside.is_none() {
        lines.push("  persona, rules, tools: not noted".to_owned());
    }
    lines.extend(given.answer.as_ref().and_then(|(model, usage)| counted_by(model, usage)));
    let texts = given.beside.iter().flat_map(|account| &account.texts);
    let texts = texts.map(|text| format!("{:<12} {}", text.name, text.digest)).collect();
    let list = |head: &str, items: Vec<String>| {
        let head = (!items.is_empty()).then(|| format!("\n{head}"));
        head.into_iter().chain(items.into_iter().map(|item| format!("  {item}")))
    };
    lines.extend(list("Persona, by version:", texts));
    let files = given.project.iter().map(|file| format!("{:<12} {}", file.name, file.digest));
    lines.extend(list("Files of the workspace:", files.collect()));
    lines.extend(list("Notes of the memory:", given.notes.iter().map(note_words).collect()));
    lines.extend(list("Not in it, or not whole:", given.cut.clone()));
    lines
}

fn parts(given: &LastRequest) -> Vec<(&'static str, u64, String)> {
    let mut parts = Vec::new();
    if let Some(beside) = &given.beside {
        parts.push(("persona", beside.persona.tokens, String::new()));
        parts.push(("rules", beside.rules.tokens, String::new()));
        let tools = match beside.tools_known.count {
            0 => counted(beside.tools_count, "tool"),
            all => format!("{} of {}", beside.tools_count, counted(all, "tool")),
        };
        parts.push(("tools", beside.tools.tokens, tools));
    }
    let Shares { summary, messages, results, recalled, project, told } = given.shares;
    let events = format!("events {} to {}", given.from_seq, given.through_seq);
    let new = match given.notes.len() {
        0 => String::new(),
        some => format!("{some} new in this turn"),
    };
    parts.extend([("messages", messages, events)]);
    let others = [
        ("summary", summary, String::new()),
        ("results", results, String::new()),
        ("notes", recalled, new),
        ("project", project, "its own files".to_owned()),
        ("told", told, "mode, branch, actions".to_owned()),
    ];
    parts.extend(others.into_iter().filter(|(_, tokens, _)| *tokens > 0));
    parts
}

/// What the provider counted. One that reports no cache is not said to have none.
fn counted_by(model: &str, usage: &Usage) -> Option<String> {
    let cached = match usage.cached_tokens {
        0 => String::new(),
        cached => format!(", {cached} cached"),
    };
    let input = usage.input_tokens;
    (input > 0).then(|| format!("\nAnswered by {model},\nwhich counted {input} tokens{cached}"))
}

fn object(turn: &TurnId, given: &LastRequest) -> Value {
    let Shares { summary, messages, results, recalled, project, told } = given.shares;
    let answer = given.answer.as_ref();
    json!({
        "turn": turn.to_string(),
        "requests": given.requests,
        "estimated_tokens": given.tokens(),
        "beside": given.beside,
        "conversation": {
            "from_seq": given.from_seq, "through_seq": given.through_seq, "summary": summary,
            "messages": messages, "results": results, "notes": recalled, "project": project, "told": told,
        },
        "answer": answer.map(|(model, usage)| json!({"model": model, "usage": usage})),
        "notes": given.notes,
        "project": given.project,
        "cut": given.cut,
    })
}
