//! `/schedule` and `/remind`: an owner's own words about what comes when. What changes something is
//! an order that the session runs, and the list is a call like every other. Owns the words; must
//! not know how a time is read (`spoken_time.rs`), or when a job fires.

use serde_json::{Value, json};

use super::own::{Looked, Own, shortened};
use super::{ChatCommands, ChatCommandsParts, Given, HeartbeatLine, code, is_owner};
use crate::calls::job_words::{JobWords, id};
use crate::domain::{OwnServerName, SessionId, escape, spoken_time};
use crate::store::StoreError;

pub(super) const SCHEDULER: Own = Own {
    builtin: OwnServerName::Scheduler,
    named: "scheduler server",
    looks: "look into the schedule",
    readers: "`list`",
    owners_only: "Only an owner may do that: what is scheduled is the owner's.",
};

/// Jobs of one list.
const PAGE_JOBS: u64 = 30;

const SCHEDULE_USAGE: &str = "`/schedule` lists what comes. `/schedule cancel 3` ends job 3, `/schedule pause 3` \
                              stops it for a while, and `/schedule resume 3` lets it go on.";

impl ChatCommands {
    pub(super) async fn remind(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let store = &self.parts().store;
        if !is_owner(visitor) {
            return to.say(store, SCHEDULER.owners_only.to_owned()).await;
        }
        if let Some(done) = self.remind_again(given).await? {
            return Ok(done);
        }
        let reminder = match spoken_time::read(words) {
            Ok(reminder) => reminder,
            Err(why) => return to.say(store, why).await,
        };
        let summary = format!("Remind: {}", shortened(&reminder.text));
        let mut arguments = reminder.fields;
        arguments.insert("say".to_owned(), json!(reminder.text));
        arguments.insert("session".to_owned(), json!(session.as_str()));
        let order = SCHEDULER.order("schedule", Value::Object(arguments), summary);
        self.give_order(given, order).await
    }

    pub(super) async fn schedule(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let parts = self.parts();
        if !is_owner(visitor) {
            return to.say(&parts.store, SCHEDULER.owners_only.to_owned()).await;
        }
        let words: Vec<&str> = words.split_whitespace().collect();
        let (tool, number) = match words[..] {
            [] | ["list"] => {
                let listed = list(&parts, session, &visitor.principal).await?;
                let mut said = listed.unwrap_or_else(|why| why);
                said.push_str(&heartbeats(&(parts.heartbeats)()?));
                return to.say(&parts.store, said).await;
            }
            ["cancel", number] => ("cancel", number),
            ["pause", number] => ("pause", number),
            ["resume", number] => ("resume", number),
            _ => return to.say(&parts.store, SCHEDULE_USAGE.to_owned()).await,
        };
        let verb = tool.replacen(char::is_alphabetic, &tool[..1].to_uppercase(), 1);
        let summary = format!("{verb} job {}", shortened(number));
        let order = SCHEDULER.order(tool, json!({ "id": id(number) }), summary);
        self.give_order(given, order).await
    }
}

async fn list(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
) -> Result<Looked, StoreError> {
    let arguments = json!({ "limit": PAGE_JOBS });
    let output = match SCHEDULER.look(parts, session, by, "list", arguments).await? {
        Ok(output) => output.structured.unwrap_or_default(),
        Err(why) => return Ok(Err(why)),
    };
    let jobs: Vec<&Value> = output["jobs"].as_array().into_iter().flatten().collect();
    if jobs.is_empty() {
        return Ok(Ok("Nothing is scheduled. `/remind 20m call mum` makes a reminder.".to_owned()));
    }
    let first_zone = JobWords(jobs[0]).zone();
    let zone = jobs.iter().all(|job| JobWords(job).zone() == first_zone).then_some(first_zone);
    let lines: Vec<String> =
        jobs.iter().map(|job| line(&JobWords(job), session, zone.is_none())).collect();
    let zone = zone.map(|zone| format!(", times of {zone}")).unwrap_or_default();
    let more = match output.get("more").is_some() {
        true => format!("`{} schedule list` has all. ", parts.gate.calls().claw()),
        false => String::new(),
    };
    Ok(Ok(format!(
        "**Scheduled**{zone}\n\n{}\n\n{more}`/schedule cancel NUMBER` ends one; `pause` and `resume` stop it for \
         a while.",
        lines.join("\n")
    )))
}

/// What comes beside the jobs, and is no job. Nothing where there are none.
fn heartbeats(all: &[HeartbeatLine]) -> String {
    let mut text = String::new();
    for one in all {
        if text.is_empty() {
            text.push_str("\n\n**Heartbeats**, of `heartbeats.toml`\n");
        }
        let (next, when, left) = (in_text(&one.next), in_text(&one.when), in_text(&one.left));
        text.push_str(&format!("\n- **{}**: {next}, {when}; {left}", in_text(&one.name)));
        if let Some(fault) = &one.fault {
            text.push_str(&format!("; it does not work: {}", in_text(fault)));
        }
    }
    text
}

/// `- **3** “call mum”: Monday 2026-11-30 09:00, every Monday at 09:00`.
fn line(job: &JobWords<'_>, here: &SessionId, with_zone: bool) -> String {
    let next = match job.next().first() {
        _ if job.is_paused() => "**paused**".to_owned(),
        Some(next) if with_zone => format!("{next} ({})", job.zone()),
        Some(next) => next.clone(),
        None => "nothing more".to_owned(),
    };
    let rule = if job.repeats() { format!(", {}", in_text(job.rule())) } else { String::new() };
    let task = if job.is_reminder() { "" } else { "task " };
    let elsewhere = match job.session() {
        Some(session) if session != here.as_str() => format!(" (in {})", code(session)),
        _ => String::new(),
    };
    let text = in_text(&job.text());
    format!("- **{}** {task}“{text}”: {next}{rule}{elsewhere}", job.number())
}

/// Words of others inside of Markdown, as they are.
fn in_text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in escape::visible(text).chars() {
        if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | ':' | '-' | '\'' | '/' | '(' | ')')
        {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}
