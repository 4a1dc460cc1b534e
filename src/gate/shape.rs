//! The shapes of arguments that a grant can cover, and the answers that a question offers. Pure. Must not know who was
//! granted what, or until when.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::policy::Facts;
use crate::domain::canonical;
use crate::domain::escape::visible;
use crate::domain::{Answer, Choice, Scope, Term};

/// Our filesystem server's tools whose reach is told by paths alone, with the arguments that hold the paths. `find` and
/// `search` are missing, because a pattern reaches where no path says.
const PATH_TOOLS: &[(&str, &[&str])] = &[
    ("read_file", &["path"]),
    ("list_dir", &["path"]),
    ("write_file", &["path"]),
    ("edit_file", &["path"]),
    ("delete", &["path"]),
    ("move", &["source", "destination"]),
];

/// Which arguments a grant covers. It stands beside the server and the tool, which the grant names itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// Exactly these arguments: SHA-256 of their canonical JSON, in hexadecimal.
    Exact { digest: String },
    /// A file tool of ours, for every path at or below this one: relative to the workspace, normalised, never empty.
    ///
    /// The comparison is by the names alone. A symbolic link below the path may lead elsewhere in the workspace; that it
    /// cannot lead out of it is the server's promise.
    Below { path: String },
}

impl Shape {
    /// The shape that `scope` means for this call. `None` where the scope does not fit the call, or does not cover it.
    pub fn of(scope: &Scope, facts: &Facts<'_>) -> Option<Self> {
        let shape = match scope {
            Scope::Exact => Self::Exact { digest: canonical::digest(facts.arguments) },
            Scope::Below { path } => Self::Below { path: components(path)?.join("/") },
        };
        covers(&shape, facts).then_some(shape)
    }
}

/// Whether the call's arguments are of this shape. In doubt they are not.
pub fn covers(shape: &Shape, facts: &Facts<'_>) -> bool {
    match shape {
        Shape::Exact { digest } => *digest == canonical::digest(facts.arguments),
        Shape::Below { path } => {
            let Some(prefix) = components(path) else { return false };
            let Some(paths) = call_paths(facts) else { return false };
            paths.iter().all(|path| components(path).is_some_and(|path| path.starts_with(&prefix)))
        }
    }
}

/// The scopes that this call can be granted in, each with half a sentence that says exactly what it grants. A shell command
/// is granted with exactly its arguments only.
pub fn offered_shapes(facts: &Facts<'_>) -> Vec<(Scope, String)> {
    let tool = visible(&format!("{}/{}", facts.server, facts.tool));
    let mut offered = vec![(Scope::Exact, format!("{tool} with exactly these arguments"))];
    if let Some(path) = common_folder(facts) {
        let sentence = match facts.tool {
            "move" => format!("{tool} from and to any path at or below {}", visible(&path)),
            _ => format!("{tool} for any path at or below {}, whatever its other arguments", visible(&path)),
        };
        offered.push((Scope::Below { path }, sentence));
    }
    offered
}

/// The answers to a question about this call, in the order in which they are shown.
pub fn choices(facts: &Facts<'_>) -> Vec<Choice> {
    let choice = |key: &str, label: String, answer: Answer| Choice { key: key.to_owned(), label, answer };
    let allow = |key: &str, term: Term, (scope, what): &(Scope, String)| {
        let until = match term {
            Term::Once => {
                return choice(key, "allow this one call".to_owned(), Answer::Allow { term, scope: scope.clone() });
            }
            Term::TenMinutes => "for 10 minutes",
            Term::Session => "until this session ends or /new",
            Term::Always => "until you revoke it",
        };
        choice(key, format!("allow {what}, {until}"), Answer::Allow { term, scope: scope.clone() })
    };
    let offered = offered_shapes(facts);
    let mut choices = Vec::new();
    for (index, shape) in offered.iter().enumerate() {
        if index == 0 {
            choices.push(allow("y", Term::Once, shape));
            choices.push(allow("10m", Term::TenMinutes, shape));
            choices.push(allow("s", Term::Session, shape));
            choices.push(allow("a", Term::Always, shape));
        } else {
            choices.push(allow("sb", Term::Session, shape));
            choices.push(allow("ab", Term::Always, shape));
        }
    }
    let tool = visible(&format!("{}/{}", facts.server, facts.tool));
    choices.push(choice("n", "deny this one call".to_owned(), Answer::Deny { word: None }));
    choices.push(choice(
        "n WORDS",
        "deny this one call and tell the model WORDS".to_owned(),
        Answer::Deny { word: None },
    ));
    choices.push(choice("never", format!("deny {tool} with exactly these arguments, now and always"), Answer::Never));
    choices
}

/// The paths that the call names; `None` where it is no call that paths alone describe.
fn call_paths<'a>(facts: &Facts<'a>) -> Option<Vec<&'a str>> {
    if facts.builtin != Some("filesystem") {
        return None;
    }
    let (_, names) = PATH_TOOLS.iter().find(|(tool, _)| *tool == facts.tool)?;
    names.iter().map(|name| facts.arguments.get(name).and_then(Value::as_str)).collect()
}

/// The folder that holds everything which the call names. `None` for the workspace itself: that grant would say nothing.
fn common_folder(facts: &Facts<'_>) -> Option<String> {
    let paths: Option<Vec<Vec<&str>>> = call_paths(facts)?.into_iter().map(components).collect();
    let mut folders = paths?.into_iter().map(|mut path| {
        path.pop();
        path
    });
    let first = folders.next()?;
    let common = folders.fold(first, |common, folder| {
        let same = common.iter().zip(&folder).take_while(|(a, b)| a == b).count();
        common.into_iter().take(same).collect()
    });
    (!common.is_empty()).then(|| common.join("/"))
}

/// A relative path without `.` and doubled slashes. `None` for everything that could mean another place to some reader:
/// empty, absolute, `..`, a leading `~`, backslashes, control characters, and what is nothing but dots and slashes.
fn components(path: &str) -> Option<Vec<&str>> {
    let strange = |c: char| c == '\\' || c.is_control();
    if path.starts_with('/') || path.contains(strange) {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let climbs = parts.iter().any(|part| part.trim() == "..");
    let somebodys_home = parts.first().is_some_and(|part| part.starts_with('~'));
    (!parts.is_empty() && !climbs && !somebodys_home).then_some(parts)
}

#[cfg(test)]
mod tests;
