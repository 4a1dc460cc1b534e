//! `claw schedule add`: a new job, at once and without a model.

use std::process::ExitCode;

use claw_mcp_scheduler::Jobs;
use serde_json::json;

use super::{JobWords, place, say, tell_if_nothing_fires, tool};
use crate::app::App;
use crate::args::AddArgs;
use crate::domain::spoken_time::interval;
use crate::whose::claw;

pub async fn run(
    app: &App,
    jobs: &Jobs,
    wanted: AddArgs,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let for_whom = place::for_whom(app, wanted.chat, wanted.session.as_deref())?;
    let words = |words: Vec<String>| (!words.is_empty()).then(|| words.join(" "));
    let arguments = json!({
        "say": words(wanted.what.say),
        "text": words(wanted.what.text),
        "in_seconds": wanted.when.wait_s,
        "at_local": wanted.when.at,
        "date": wanted.date,
        "weekday": wanted.weekday,
        "every": wanted.when.every.map(interval),
        "cron": wanted.when.cron,
        "zone": wanted.zone,
        // As claw names the chat of a job that a conversation makes.
        "chat": for_whom.session,
        "session": for_whom.session,
        "if_missed": wanted.if_missed.name(),
        "until": wanted.until,
    });
    let job = tool(jobs, "schedule", arguments).await?;
    let words = JobWords(&job);
    let number = words.number();
    let kind = if words.is_reminder() { "Reminder" } else { "Task" };
    let mut lines = vec![
        format!("{kind} {number}, for {}: “{}”", for_whom.named, words.text()),
        format!("  {} ({})", words.rule(), words.zone()),
    ];
    if words.repeats() {
        lines.push(format!("  next: {}", words.next().join(", ")));
    } else {
        lines[1] = format!("  {} ({})", words.next().join(", "), words.zone());
    }
    lines.push(format!("`{} schedule cancel {number}` takes it back.", claw(app)));
    let done = say(&job, as_json, lines.join("\n"))?;
    tell_if_nothing_fires(app);
    Ok(done)
}
