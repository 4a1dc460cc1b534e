//! What a call of our own scheduler does, in words: the job as it will be, whole. Pure. Must not
//! know how times are computed.

use serde_json::Value;

use super::notes::lines_of;
use super::{inline, text};
use crate::calls::JobPreview;
use crate::domain::{Effect, escape};
use crate::policy::Facts;

/// The fields that say when, which the preview tells.
const WHEN: [&str; 9] =
    ["in_minutes", "in_seconds", "at_local", "date", "weekday", "every", "cron", "zone", "until"];
/// Names that claw itself gives, whatever is written there.
const WHOSE: [&str; 4] = ["chat", "topic", "session", "agent"];

pub(super) fn of_job_tool(facts: &Facts<'_>) -> Option<Effect> {
    let id = || text(facts, "id").and_then(inline).map(|id| id.trim_start_matches('j').to_owned());
    let says = |verb: &str, then: &str| {
        let says = format!("{verb} job {}{then}", id()?);
        Some(Effect { says, told: vec!["id".to_owned()], ..Effect::default() })
    };
    match facts.tool {
        "schedule" => Some(of_new(facts)),
        "change" => {
            let mut effect = says("Change", "")?;
            effect.told.push("revision".to_owned());
            let to = facts.arguments.get("to");
            put_words(&mut effect, to, "to.");
            effect.notes.push("What was allowed to this job before ends".to_owned());
            Some(effect)
        }
        "cancel" => says("End", " permanently"),
        "pause" => says("Stop", " until it is resumed"),
        "resume" => says("Let", " go on"),
        _ => None,
    }
}

fn of_new(facts: &Facts<'_>) -> Effect {
    let acts = text(facts, "text").is_some();
    let says = if acts { "Make a job" } else { "Make a reminder" }.to_owned();
    let told = WHOSE.map(str::to_owned).to_vec();
    let mut effect = Effect { says, told, ..Effect::default() };
    put_words(&mut effect, Some(facts.arguments), "");
    if acts {
        effect.notes.push("What it may do without you is asked about each time".to_owned());
    }
    effect
}

/// The words of the job, whole.
fn put_words(effect: &mut Effect, fields: Option<&Value>, before: &str) {
    for name in ["text", "say"] {
        let Some(words) = fields.and_then(|fields| fields.get(name)?.as_str()) else { continue };
        effect.difference = lines_of("", words);
        effect.told.push(format!("{before}{name}"));
    }
}

/// Adds when the job will fire.
pub(in crate::calls) fn say_when(effect: &mut Effect, facts: &Facts<'_>, seen: &JobPreview) {
    let before = if facts.tool == "change" { "to." } else { "" };
    effect.told.extend(WHEN.map(|name| format!("{before}{name}")));
    effect.says.push_str(&format!(": {}", escape::visible(&seen.when).replace('`', "'")));
    // A single time is said by the words.
    if seen.next.len() > 1 {
        effect.notes.insert(0, format!("Next: {}", escape::visible(&seen.next.join(", "))));
    }
}
