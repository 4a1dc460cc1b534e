//! What is said of jobs. Pure. Must not know who is told, or when.

use super::due::Firing;
use crate::domain::{LATE_REMINDER, escape};

/// Of a job's words where it is named, in characters.
const TITLE_CHARS_MAX: usize = 60;
/// Of the words of one reminder among others, in characters.
const ITEM_CHARS_MAX: usize = 300;
/// Reminders that one message repeats. The history of the scheduler has the others.
const ITEMS_MAX: usize = 100;

/// `j3` is job 3 to a person.
fn job_number(job: &str) -> &str {
    job.strip_prefix('j').filter(|number| !number.is_empty()).unwrap_or(job)
}

/// The beginning of a text, in one line, with nothing in it that is Markdown.
fn beginning(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().take(chars_max).collect();
    if line.chars().count() > chars_max {
        shown.push('…');
    }
    escape::visible(&shown).replace('`', "'")
}

/// The job in a few words.
pub(super) fn title(firing: &Firing) -> String {
    let text = firing.say.as_deref().or(firing.text.as_deref()).unwrap_or_default();
    beginning(text, TITLE_CHARS_MAX)
}

/// The words of a job that only says something.
pub(super) fn reminder(words: &str, firing: &Firing, late_ms: Option<i64>) -> String {
    match late_ms {
        None => format!("⏰ {words}"),
        Some(_) => format!(
            "⏰ {words}{LATE_REMINDER}{}, when claw was not running or was stopped.*",
            firing.planned.line()
        ),
    }
}

/// Why it is told here, and not where it was asked for.
pub(super) fn elsewhere(text: &str, session: &str) -> String {
    format!("{text}\n\n*Asked for in the session `{session}`, which nobody has open.*")
}

/// What a model is told that a job has begun a turn of.
pub(super) fn instruction(text: &str, firing: &Firing, late_ms: Option<i64>) -> String {
    let late = match late_ms {
        None => String::new(),
        Some(ms) => {
            format!(
                " It comes {} late, because claw was not running, was stopped or waited for the \
                 turn before it.",
                span(ms)
            )
        }
    };
    format!(
        "[Job {} of the schedule, {}, planned for {}. Nobody has typed this now; the owner had it \
         scheduled.{late} Do it now and say what came of it.]\n\n{text}",
        firing.job,
        firing.schedule(),
        firing.planned.line(),
    )
}

/// That a job has no conversation any more.
pub(super) fn gone(claw: &str, firing: &Firing, why: &str) -> String {
    let what = match (&firing.say, &firing.text) {
        (Some(words), _) => format!("Its words: {words}"),
        (None, _) => "It was not run.".to_owned(),
    };
    let number = job_number(&firing.job);
    format!(
        "⏰ **Job {number}** (`{}`) was due {}, and {why}. {what}\n\nCancel it, or make it anew \
         where it is to be told: `{claw} schedule` lists all jobs.",
        title(firing),
        firing.planned.line()
    )
}

/// What came due while claw was away, in one message. `turns` begin one after another.
pub(super) fn while_away(
    words: &[(&Firing, String)],
    turns: &[&Firing],
    oldest_ms: i64,
    turns_minute_max: u32,
) -> String {
    let counted = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let what: Vec<String> = [(words.len(), "reminder"), (turns.len(), "job")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    let mut text =
        format!("⏰ **While claw was away ({}): {}.**\n", span(oldest_ms), what.join(" and "));
    for (firing, words) in words.iter().take(ITEMS_MAX) {
        let words = beginning(words, ITEM_CHARS_MAX);
        text.push_str(&format!("\n- {}: {words}", firing.planned.line()));
    }
    if words.len() > ITEMS_MAX {
        text.push_str(&format!("\n- and {} more", words.len() - ITEMS_MAX));
    }
    if !turns.is_empty() {
        let one = turns.len() == 1;
        let run = if one { "The job begins now" } else { "The jobs begin now" };
        text.push_str(&format!("\n\n{run}, at most {turns_minute_max} in a minute."));
    }
    text
}

/// A time in words, rounded down.
pub(super) fn span(ms: i64) -> String {
    const MINUTE_MS: i64 = 60_000;
    match ms / MINUTE_MS {
        minutes @ 0..120 => format!("{minutes} min"),
        minutes @ 120..2_880 => format!("{} h", minutes / 60),
        minutes => format!("{} days", minutes / 1_440),
    }
}
