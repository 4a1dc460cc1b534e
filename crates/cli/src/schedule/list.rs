//! `claw schedule list` and `show`: the jobs, and one as a whole.

use std::process::ExitCode;

use claw_mcp_scheduler::Jobs;
use serde_json::{Value, json};

use super::{JobWords, heartbeats, id, no_job, say, tell_if_nothing_fires, tool};
use crate::app::App;
use crate::calls::job_words::{moment, number};
use crate::domain::SessionId;
use crate::whose::claw;
use crate::{fail, out};

pub async fn run(app: &App, jobs: &Jobs, as_json: bool) -> anyhow::Result<ExitCode> {
    let all = all(jobs).await?;
    for job in &all {
        out::line(&if as_json { job.to_string() } else { out::clean(&lines(&JobWords(job))) })?;
    }
    let due = tool(jobs, "due", json!({})).await?["due"].take();
    let due = due.as_array().map(Vec::as_slice).unwrap_or_default();
    if !as_json {
        due.iter().try_for_each(|firing| out::line(&out::clean(&waiting(app, firing))))?;
    }
    let beats = heartbeats::list(app, as_json)?;
    if all.is_empty() && due.is_empty() && beats == 0 && !as_json {
        out::err_line(&format!(
            "Nothing is scheduled. `{} schedule add --in 20m --say call mum` makes a reminder.",
            claw(app)
        ));
    }
    tell_if_nothing_fires(app);
    Ok(ExitCode::from(fail::DONE))
}

pub async fn show(app: &App, jobs: &Jobs, typed: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let wanted = id(typed);
    let job = all(jobs).await?.into_iter().find(|job| job["id"] == wanted.as_str());
    let Some(job) = job else {
        return Err(no_job(app, typed));
    };
    let done = say(&job, as_json, whole(&job))?;
    tell_if_nothing_fires(app);
    Ok(done)
}

/// A firing that has come and that nobody has brought yet. Its job may be gone.
fn waiting(app: &App, firing: &Value) -> String {
    let (claw, job) = (claw(app), JobWords(firing));
    let number = number(firing["job"].as_str().unwrap_or_default());
    let at = match firing["session"].as_str() {
        Some(session) if is_behind_turn(app, session, firing) => {
            format!("the end of the turn in the session `{session}`")
        }
        Some(session) => format!("`{claw} chat --session {session}` or a gateway"),
        None => format!("`{claw} chat` or a gateway"),
    };
    format!("{number}  due since {}, waits for {at}: {}", moment(&firing["planned"]), job.text())
}

/// Whether it is a task whose session is in a turn, which it waits for.
fn is_behind_turn(app: &App, session: &str, firing: &Value) -> bool {
    let is_open = |session: SessionId| app.store.read(|tx| tx.turn_open(&session)).unwrap_or(false);
    firing["text"].is_string() && SessionId::new(session).is_ok_and(is_open)
}

/// Page by page.
async fn all(jobs: &Jobs) -> anyhow::Result<Vec<Value>> {
    let (mut all, mut after) = (Vec::new(), Value::Null);
    loop {
        let mut page = tool(jobs, "list", json!({ "after": after })).await?;
        if let Value::Array(jobs) = page["jobs"].take() {
            all.extend(jobs);
        }
        after = page["more"].take();
        if after.is_null() {
            return Ok(all);
        }
    }
}

/// Two lines: what it is, and when it comes.
fn lines(job: &JobWords<'_>) -> String {
    let next = match job.next().first() {
        _ if job.is_paused() => "paused".to_owned(),
        Some(next) => format!("{next} ({})", job.zone()),
        None => "nothing more".to_owned(),
    };
    let rule = if job.repeats() { format!(", {}", job.rule()) } else { String::new() };
    let indent = " ".repeat(job.number().len());
    format!("{}  {}: {}\n{indent}  {next}{rule}", job.number(), job.kind(), job.text())
}

fn whole(value: &Value) -> String {
    let job = JobWords(value);
    let paused = if job.is_paused() { ", paused" } else { "" };
    // A single time names its zone itself.
    let zone = if job.repeats() { format!(" ({})", job.zone()) } else { String::new() };
    let mut lines = vec![
        format!("{} {}, revision {}{paused}", job.kind(), job.number(), value["revision"]),
        format!("when      {}{zone}", job.rule()),
    ];
    if let Some(cron) = value["cron"].as_str() {
        lines.push(format!("pattern   {cron}"));
    }
    lines.extend(job.next().iter().map(|next| format!("next      {next}")));
    if value["until"].is_object() {
        lines.push(format!("until     {}", crate::calls::job_words::moment(&value["until"])));
    }
    let missed = match value["if_missed"].as_str() {
        Some("skip") => "it is skipped",
        Some("all") => "each is made up",
        _ => "the latest is made up",
    };
    lines.push(format!("if missed {missed}"));
    for (key, what) in [("session", "session  "), ("agent", "agent    ")] {
        if let Some(name) = value[key].as_str() {
            lines.push(format!("{what} {name}"));
        }
    }
    let text = value["say"].as_str().or(value["text"].as_str()).unwrap_or_default();
    lines.push(String::new());
    lines.push(text.to_owned());
    lines.join("\n")
}
