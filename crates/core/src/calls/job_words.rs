//! A job of the scheduler as a person reads it: which number, what it is, when it comes. Owns these
//! words, plain text that is no Markdown. Pure. Must not know who reads them, or how a job came to
//! be.

use serde_json::Value;

use crate::domain::Outcome;

/// Of the text of a job in a line about it, in characters.
const TEXT_CHARS_MAX: usize = 120;

/// A job as its server shows it.
#[derive(Clone, Copy, Debug)]
pub struct JobWords<'a>(pub &'a Value);

/// `3` of `j3`, as people name a job.
pub fn number(id: &str) -> &str {
    id.strip_prefix('j').filter(|number| is_number(number)).unwrap_or(id)
}

/// `j3` of `3` or `j3`, as the server names a job. Anything else stays, and the server refuses it.
pub fn id(typed: &str) -> String {
    if is_number(typed) { format!("j{typed}") } else { typed.to_owned() }
}

/// `Monday 2026-11-30 09:00` of a moment of the server's.
pub fn moment(at: &Value) -> String {
    format!("{} {}", text_at(at, "weekday"), text_at(at, "local"))
}

impl<'a> JobWords<'a> {
    pub fn number(&self) -> &'a str {
        number(text_at(self.0, "id"))
    }

    /// Words that are said as they are, as against a task, for which claw works.
    pub fn is_reminder(&self) -> bool {
        self.0.get("say").is_some()
    }

    pub fn is_paused(&self) -> bool {
        self.0["is_paused"] == true
    }

    pub fn repeats(&self) -> bool {
        self.0["repeats"] == true
    }

    /// In words: `every Monday at 09:00`.
    pub fn rule(&self) -> &'a str {
        text_at(self.0, "when")
    }

    pub fn zone(&self) -> &'a str {
        text_at(self.0, "zone")
    }

    pub fn session(&self) -> Option<&'a str> {
        self.0.get("session").and_then(Value::as_str)
    }

    /// The next firings, at most three.
    pub fn next(&self) -> Vec<String> {
        self.0["next"].as_array().into_iter().flatten().map(moment).collect()
    }

    /// The beginning of its text, on one line.
    pub fn text(&self) -> String {
        let key = if self.is_reminder() { "say" } else { "text" };
        let line = text_at(self.0, key).split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(TEXT_CHARS_MAX) {
            Some((cut, _)) => format!("{}…", &line[..cut]),
            None => line,
        }
    }

    /// `reminder 3 (“call mum”)`.
    pub fn name(&self) -> String {
        format!("{} {} (“{}”)", self.kind(), self.number(), self.text())
    }

    pub fn kind(&self) -> &'static str {
        if self.is_reminder() { "reminder" } else { "task" }
    }

    /// What a person is told who has made it.
    pub fn made(&self) -> String {
        let kind = if self.is_reminder() { "Reminder" } else { "Task" };
        let (number, next) = (self.number(), self.next());
        let first = next.first().map(String::as_str).unwrap_or("never");
        let (when, takes) = match self.repeats() {
            true => (format!("{} ({}), first {first}", self.rule(), self.zone()), "ends it"),
            false => (format!("{first} ({})", self.zone()), "takes it back"),
        };
        format!("{kind} {number}: {when}: “{}”. /schedule cancel {number} {takes}.", self.text())
    }

    /// What a person is told who has paused it, or lets it go on. `command` is what they type to
    /// change a job.
    pub fn paused_or_resumed(&self, command: &str) -> String {
        let number = self.number();
        match self.next().first() {
            _ if self.is_paused() => {
                format!("Paused: {}. {command} resume {number} lets it go on.", self.name())
            }
            Some(next) => format!("It goes on: {}, next {next} ({}).", self.name(), self.zone()),
            None => format!("It goes on: {}.", self.name()),
        }
    }

    /// What a person is told who has cancelled it.
    pub fn cancelled(&self) -> String {
        format!("Cancelled: {}.", self.name())
    }
}

/// Whether the server has refused because it has no such job. Its words are a model's, and name
/// tools.
pub fn says_no_job(refused: &str) -> bool {
    refused.starts_with("there is no job `")
}

/// What a person is told of their own order about a job. `None` where nothing is known but what is
/// said of every action.
pub fn of_order(tool: &str, arguments: &Value, outcome: &Outcome) -> Option<String> {
    let Outcome::Ended { output } = outcome else { return None };
    if output.is_error && says_no_job(&output.text) {
        let number = number(text_at(arguments, "id"));
        return Some(format!("Not done: there is no job {number}. /schedule lists what comes."));
    }
    if output.is_error {
        let not = if tool == "schedule" { "Not scheduled" } else { "Not done" };
        return Some(format!("{not}: {}", output.text.trim()));
    }
    let words = JobWords(output.structured.as_ref()?);
    match tool {
        "schedule" => Some(words.made()),
        "pause" | "resume" => Some(words.paused_or_resumed("/schedule")),
        "cancel" => Some(words.cancelled()),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn monday() -> Value {
        json!({"weekday": "Monday", "local": "2026-11-30 09:00", "zone": "Europe/Berlin"})
    }

    #[test]
    fn what_was_made_says_when_in_local_time_and_how_it_is_taken_back() {
        let mut job = json!({
            "id": "j3", "repeats": false, "is_paused": false, "when": "once, …",
            "zone": "Europe/Berlin", "say": "call\nmum", "next": [monday()],
        });
        assert_eq!(
            JobWords(&job).made(),
            "Reminder 3: Monday 2026-11-30 09:00 (Europe/Berlin): “call mum”. /schedule cancel 3 \
             takes it back."
        );
        job["repeats"] = json!(true);
        job["when"] = json!("every Monday at 09:00");
        assert_eq!(
            JobWords(&job).made(),
            "Reminder 3: every Monday at 09:00 (Europe/Berlin), first Monday 2026-11-30 09:00: \
             “call mum”. /schedule cancel 3 ends it."
        );
        assert!(
            JobWords(&job).paused_or_resumed("/schedule").starts_with("It goes on: reminder 3 (")
        );
        job["is_paused"] = json!(true);
        assert!(JobWords(&job).paused_or_resumed("/schedule").contains("/schedule resume 3"));
        let task = json!({"id": "j4", "text": "x".repeat(500)});
        assert_eq!(JobWords(&task).text().chars().count(), TEXT_CHARS_MAX + 1);
        assert!(JobWords(&task).cancelled().starts_with("Cancelled: task 4 (“x"));
    }

    #[test]
    fn a_job_is_named_by_its_number() {
        assert_eq!((number("j12"), number("j"), number("x1")), ("12", "j", "x1"));
        assert_eq!((id("12"), id("j12"), id("x")), ("j12".into(), "j12".into(), "x".into()));
    }
}
