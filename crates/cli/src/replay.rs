//! `claw sessions replay`: whether each step of a log is what `turn::next` says today. Must not
//! know how a step is decided.

use std::process::ExitCode;

use claw_kit::counted::counted;
use serde_json::{Value, json};

use super::{fail, out, sessions};
use crate::app::App;
use crate::domain::SessionId;
use crate::turn::replay::{Replayed, replay};

/// Replays one session, or all of them. Exit code 1 if one of them differs or cannot be read.
pub fn run(app: &App, name: Option<&str>, as_json: bool) -> anyhow::Result<ExitCode> {
    let names = match name {
        Some(name) => vec![name.to_owned()],
        None => {
            app.store.read(|tx| tx.sessions())?.into_iter().map(|session| session.name).collect()
        }
    };
    let bounds = app.bounds();
    let mut well = true;
    for session in &names {
        // A log that cannot be read must not hide what the others say.
        let shown = match one(app, session, name.is_some()) {
            Ok(events) => {
                let replayed = replay(&SessionId::new(session.as_str())?, events, &bounds);
                well &= replayed.difference.is_none();
                if as_json {
                    as_row(session, &replayed).to_string()
                } else {
                    sentence(session, &replayed)
                }
            }
            Err(error) if name.is_some() => return Err(error),
            Err(error) => {
                well = false;
                if as_json {
                    json!({"id": session, "ok": false, "error": format!("{error:#}")}).to_string()
                } else {
                    format!("{session}: {error:#}")
                }
            }
        };
        out::line(&shown)?;
    }
    if names.is_empty() && !as_json {
        out::err_line("There is no session yet.");
    }
    Ok(ExitCode::from(if well { fail::DONE } else { fail::BROKEN }))
}

fn one(app: &App, session: &str, named: bool) -> anyhow::Result<Vec<crate::domain::Event>> {
    if named {
        return sessions::events(app, session);
    }
    let session = SessionId::new(session)?;
    Ok(app.store.read(|tx| tx.events_from(&session, 1))?)
}

fn sentence(session: &str, replayed: &Replayed) -> String {
    let Replayed { events, steps, other_limits, difference } = replayed;
    let limits = match other_limits {
        0 => String::new(),
        1 => "; one of them only under other limits than today's".to_owned(),
        more => format!("; {more} of them only under other limits than today's"),
    };
    match difference {
        None => format!(
            "{session}: {}, {}, each comes out of the log as it was{limits}.",
            counted(*events, "event"),
            counted(*steps, "step")
        ),
        Some(difference) => {
            out::clean(&format!("{session}: differs: {}{limits}.", difference.sentence()))
        }
    }
}

fn as_row(session: &str, replayed: &Replayed) -> Value {
    json!({
        "id": session,
        "ok": replayed.difference.is_none(),
        "events": replayed.events,
        "steps": replayed.steps,
        "other_limits": replayed.other_limits,
        "difference": replayed.difference.as_ref().map(|found| json!({"event": found.seq, "text": found.sentence()})),
    })
}
