//! An answer as a person reads it: of the one question whether a call may run, or of what a server
//! asks while it runs. Must not know the other rows of the story.

use serde_json::Value;

use super::sentences::who;
use super::{field, plain};
use crate::domain::person;

/// Whether it is about what a server asks in the middle of a call, and not about whether the call
/// may run.
pub(crate) fn is_of_a_round(body: &Value) -> bool {
    body.get("round").is_some_and(|round| !round.is_null())
}

pub(super) fn answered(body: &Value) -> String {
    let approval = field(body, "approval");
    let Some(Value::Object(answer)) = body.get("answer") else {
        return match field(body, "answer").as_str() {
            "expired" => format!("Nobody answered the question {approval} in time."),
            "superseded" => {
                format!("The question {approval} was closed: {}.", closed_because(body))
            }
            other => format!("The question {approval} was closed: {other}."),
        };
    };
    if let Some(grant) = body.get("covered_by") {
        return format!(
            "Grant {}, which {} gave at this moment, covered it: {}.",
            field(grant, "id"),
            who(&field(grant, "given_by")),
            field(grant, "says")
        );
    }
    let (by, said) = (who(&field(body, "by")), answer_words(body, answer));
    let grant = body
        .get("grant")
        .map(|grant| format!(" This made grant {}: {}.", field(grant, "id"), field(grant, "says")));
    format!("{by} {said}.{}", grant.unwrap_or_default())
}

/// What somebody has done who answered, behind who it was.
fn answer_words(body: &Value, answer: &serde_json::Map<String, Value>) -> String {
    let get = |key: &str| answer.get(key).map(plain).unwrap_or_default();
    let asked_for = match field(body, "field") {
        field if field.is_empty() => "what the server asked".to_owned(),
        field => format!("“{field}”"),
    };
    match (get("kind").as_str(), get("term").as_str()) {
        ("give", _) => format!("answered {asked_for}"),
        ("skip", _) => format!("left out {asked_for}"),
        ("deny" | "never", _) if is_of_a_round(body) => {
            "declined to answer what the server asked".to_owned()
        }
        ("allow", "once") => "allowed this one call".to_owned(),
        ("allow", "ten_minutes") => "allowed it for ten minutes".to_owned(),
        ("allow", "session") => "allowed it until the session ends".to_owned(),
        ("allow", _) => "allowed it until that is revoked".to_owned(),
        ("press", _) => "pressed its button".to_owned(),
        ("pick", _) => "answered some of it".to_owned(),
        ("never", _) => "denied it, and these arguments permanently".to_owned(),
        _ => match get("word") {
            word if word.is_empty() => "denied it".to_owned(),
            word => format!("denied it, with the word “{word}”"),
        },
    }
}

/// Why a question was closed without an answer.
fn closed_because(body: &Value) -> String {
    let by = field(body, "by");
    if by.is_empty() { "it had no answer".to_owned() } else { by }
}

/// The answer to a question in a few words, for a list.
pub(crate) struct Answered {
    /// Whether a call may run by it.
    pub allows: bool,
    /// `the person at this machine denied it`.
    pub says: String,
}

impl Answered {
    /// Of a row of the audit, or the like: `by` and `answer`.
    pub(crate) fn of(body: &Value) -> Self {
        let by = field(body, "by");
        let (allows, says) = match body.get("answer") {
            Some(Value::Object(answer)) => {
                let kind = answer.get("kind").map(plain).unwrap_or_default();
                let says = match body.get("covered_by") {
                    Some(_) => format!("covered by {by}"),
                    None => format!("{} {}", person(&by), answer_words(body, answer)),
                };
                (!matches!(kind.as_str(), "deny" | "never"), says)
            }
            _ if body.get("covered_by").is_some() => (true, format!("covered by {by}")),
            _ => match field(body, "answer").as_str() {
                "expired" => (false, "nobody answered in time".to_owned()),
                "superseded" => (false, closed_because(body)),
                other => (false, other.to_owned()),
            },
        };
        Self { allows, says }
    }
}
