//! `claw schedule import-heartbeats`: the heartbeats of another agent become entries of
//! `heartbeats.toml`, each after it was shown. Must not know how an entry is read.

use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use claw_kit::counted::counted;
use serde_json::json;

use crate::app::App;
use crate::ask_person::{self, agreed};
use crate::config::{ImportedHeartbeat, import_heartbeats, with_heartbeats};
use crate::durable;
use crate::fail::UserError;
use crate::whose::{as_reached, claw};
use crate::{fail, out};

const FILE_BYTES_MAX: u64 = 1024 * 1024;

pub fn run(app: &App, file: &Path, yes: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    let named = file.display().to_string();
    let cannot = |why: String| {
        UserError::because(format!("{named} cannot be taken in: {}", why.trim_end_matches('.')))
    };
    let bytes = std::fs::metadata(file).map_err(|error| cannot(error.to_string()))?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(cannot(format!("it has {bytes} bytes, and may have {FILE_BYTES_MAX}")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| cannot(error.to_string()))?;
    let target = app.config.home.heartbeats_toml();
    let existing = match std::fs::read_to_string(&target) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| cannot(format!("{}: {error}", target.display())))?,
    };
    let zone = &app.config.zone;
    let mut found = import_heartbeats(&text, &existing, zone).map_err(cannot)?;
    for why in found.iter_mut().filter_map(|one| one.entry.as_mut().err()) {
        *why = as_reached(why, &claw(app));
    }
    let possible = found.iter().filter(|one| one.entry.is_ok()).count();
    let can_ask = yes || ask_person::possible();
    let mut wanted = Vec::new();
    for one in &found {
        out::err_line(&out::clean(&shown(one)));
        if let Ok(entry) = &one.entry
            && (yes || can_ask && agreed("Take it in?")?)
        {
            wanted.push(entry.clone());
        }
        if as_json {
            out::line(&row(one, wanted.last()))?;
        }
    }
    if !can_ask && possible > 0 {
        out::err_line(
            "Nothing was written, because nobody can be asked here; `--yes` takes in what is shown.",
        );
        return Ok(ExitCode::from(fail::WAITS));
    }
    if !wanted.is_empty() {
        let whole = with_heartbeats(&existing, &wanted, zone).map_err(cannot)?;
        durable::replace(&target, &whole, 0o600).map_err(|error| cannot(error.to_string()))?;
    }
    if !as_json {
        let (taken, all) = (wanted.len(), found.len());
        let into = target.display();
        out::line(&match taken {
            0 if all == 1 => "The one heartbeat was not taken in.".to_owned(),
            0 => format!("None of {all} heartbeats was taken in."),
            _ => format!(
                "Taken in: {taken} of {}, into {into}.\n`{} schedule list` says \
                 when they come.",
                counted(all, "heartbeat"),
                claw(app)
            ),
        })?;
    }
    let done = if wanted.is_empty() && possible > 0 { fail::WAITS } else { fail::DONE };
    Ok(ExitCode::from(done))
}

/// The entry as it would stand in the file, and what of it is lost.
fn shown(one: &ImportedHeartbeat) -> String {
    let mut text = match &one.entry {
        Ok(entry) => entry
            .trim_end()
            .lines()
            .fold(format!("{}:", one.name), |text, line| format!("{text}\n    {line}")),
        Err(why) => format!("{}: not taken in, because {why}", one.name),
    };
    for left_out in &one.left_out {
        text.push_str(&format!("\n    left out: {left_out}"));
    }
    text
}

fn row(one: &ImportedHeartbeat, last: Option<&String>) -> String {
    let entry = one.entry.as_ref().ok();
    let row = json!({
        "name": one.name, "taken_in": entry.is_some() && entry == last, "entry": entry,
        "reason": one.entry.as_ref().err(), "left_out": one.left_out,
    });
    row.to_string()
}
