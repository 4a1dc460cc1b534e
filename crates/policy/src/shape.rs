//! The shapes of arguments that a grant can cover, and the answers that a question offers. Pure.
//! Must not know who was granted what, or until when.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Facts, level, mode, obeyed, openings, parts, shell, variables};
use claw_domain::canonical;
use claw_domain::escape::visible;
use claw_domain::{Answer, Choice, Level, Mode, Opening, Origin, OwnServerName, Scope, Term};
pub use hosts::says as says_hosts;

/// Our filesystem server's tools whose reach is told by paths alone, with the arguments that hold
/// the paths. `find` and `search` are missing, because a pattern reaches where no path says.
const PATH_TOOLS: &[(&str, &[&str])] = &[
    ("read_file", &["path"]),
    ("read_files", &["paths"]),
    ("list_dir", &["path"]),
    ("write_file", &["path"]),
    ("edit_file", &["path"]),
    ("delete", &["path"]),
    ("move", &["source", "destination"]),
];

/// Those of them that change nothing.
const READS: &[&str] = &["read_file", "read_files", "list_dir"];

/// What is typed for the answers about exactly these arguments, where no other grant is offered:
/// a call that is made again as it was, such as a look at how far something is.
const EXACT_KEYS: &[(&str, Term)] =
    &[("y", Term::Once), ("10m", Term::TenMinutes), ("s", Term::Session), ("a", Term::Always)];

/// Ten minutes of them are offered for no change of a file, which is not made again, and for no
/// call that a wider grant on offer covers with its like.
const EXACT_KEYS_BESIDE_OTHERS: &[(&str, Term)] =
    &[("y", Term::Once), ("s", Term::Session), ("a", Term::Always)];

/// The arguments of a command that change where and how long it runs, and not what.
const COMMAND_ARGUMENTS: &[&str] = &["command", "cwd", "timeout_s", "needs", "hosts"];

/// Which arguments a grant covers. It stands beside the server and the tool, which the grant names
/// itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// Exactly these arguments: SHA-256 of their canonical JSON, in hexadecimal.
    Exact { digest: String },
    /// A file tool of ours, for every path at or below this one: relative to the workspace,
    /// normalised, never empty.
    ///
    /// The comparison is by the names alone. A symbolic link below the path may lead elsewhere in
    /// the workspace; that it cannot lead out of it is the server's promise.
    Below { path: String },
    /// Writing, editing and moving by our filesystem server at or below this path, or anywhere in
    /// the workspace where it is empty. Nothing that is deleted or replaced, or that other programs
    /// obey.
    Files { path: String },
    /// A command of our bash server: this program and subcommand, then options that claw knows and
    /// plain words, in any folder of the workspace and with any time limit, at this level of the
    /// box or a lower one. Only where the operating system keeps it in its box. A grant from before
    /// there were levels has none, and covers no network.
    Command {
        words: Vec<String>,
        #[serde(default = "without_network")]
        needs: Level,
        /// With the network: these hosts and no others. `None`: all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hosts: Option<Vec<String>>,
    },
    /// Any command of our bash server that names these hosts or some of them, in order and each
    /// once; see [`hosts`].
    Hosts { hosts: Vec<String> },
    /// What this mode lets through, of whatever tool of ours.
    Mode { mode: Mode },
    /// This is open to commands that name it. Each use is asked about, so that it covers no call.
    Opening { opening: Opening },
    /// This folder is open to every command, for reading, or for changes, too. It covers no call,
    /// because what a command does with it is asked about like everything else.
    Folder { path: String, write: bool },
}

impl Shape {
    /// The shape that `scope` means for this call. `None` where the scope does not fit the call, or
    /// does not cover it.
    pub fn of(scope: &Scope, facts: &Facts<'_>) -> Option<Self> {
        let shape = match scope {
            Scope::Exact => Self::Exact { digest: canonical::digest(facts.arguments) },
            Scope::Below { path } => Self::Below { path: components(path)?.join("/") },
            Scope::Files { path } if matches!(path.as_str(), "" | ".") => {
                Self::Files { path: String::new() }
            }
            Scope::Files { path } => Self::Files { path: components(path)?.join("/") },
            Scope::Command { words } => Self::Command {
                words: words.clone(),
                needs: level::of(facts)?,
                hosts: level::hosts(facts)?,
            },
            // No more than the question has named.
            Scope::Hosts { hosts: named } => {
                let hosts = hosts::of_call(facts)?;
                (hosts::sorted(named.clone()) == hosts).then_some(Self::Hosts { hosts })?
            }
            // The narrowest one; a wider one is given by a command, and not by an answer.
            Scope::Mode { mode } => {
                (mode::that_fits(facts) == Some(*mode)).then_some(Self::Mode { mode: *mode })?
            }
        };
        covers(&shape, facts).then_some(shape)
    }

    /// Whether it covers changes of files that nobody has seen in a question.
    pub fn is_wide(&self) -> bool {
        matches!(
            self,
            Self::Below { .. } | Self::Files { .. } | Self::Hosts { .. } | Self::Mode { .. }
        )
    }
}

/// Whether the call's arguments are of this shape. In doubt they are not.
pub fn covers(shape: &Shape, facts: &Facts<'_>) -> bool {
    match shape {
        Shape::Exact { digest } => *digest == canonical::digest(facts.arguments),
        Shape::Below { path } => {
            let Some(paths) = call_paths(facts) else { return false };
            let is_free = |path: &&str| READS.contains(&facts.tool) || !obeyed::is_obeyed(path);
            !mode::replaces(facts) && paths.iter().all(is_free) && are_below(&paths, path)
        }
        Shape::Files { path } => {
            mode::edited(facts).is_some_and(|paths| path.is_empty() || are_below(&paths, path))
        }
        Shape::Command { words, needs, hosts } => {
            let Some(level) = level::of(facts) else { return false };
            level <= *needs
                && (level < Level::Network || reaches_no_other(facts, hosts.as_deref()))
                && command_words(facts).is_some_and(|found| found == *words)
        }
        Shape::Hosts { hosts } => {
            hosts::of_call(facts).is_some_and(|named| named.iter().all(|host| hosts.contains(host)))
        }
        Shape::Mode { mode } => mode::lets_through(*mode, facts),
        Shape::Opening { .. } | Shape::Folder { .. } => false,
    }
}

fn are_below(paths: &[&str], folder: &str) -> bool {
    components(folder).is_some_and(|folder| {
        paths.iter().all(|path| components(path).is_some_and(|path| path.starts_with(&folder)))
    })
}

/// The scopes that this call can be granted in, each with half a sentence that says exactly what it
/// grants.
pub fn offered_shapes(facts: &Facts<'_>) -> Vec<(Scope, String)> {
    let tool = visible(&format!("{}/{}", facts.server, facts.tool));
    let mut offered = vec![(Scope::Exact, format!("{tool} with exactly these arguments"))];
    offered.extend(offered_folder(facts, &tool));
    let reach = level::of(facts).zip(level::hosts(facts));
    if let (Some(words), Some((needs, hosts))) = (command_words(facts), reach) {
        let sentence = format!("{tool} for {}", says_command(&words, needs, hosts.as_deref()));
        offered.push((Scope::Command { words }, sentence));
    }
    if let Some(hosts) = hosts::of_call(facts) {
        let sentence = says_hosts(&hosts);
        offered.push((Scope::Hosts { hosts }, sentence));
    }
    if let Some(mode) = mode::that_fits(facts) {
        offered.push((
            Scope::Mode { mode },
            format!("{} in this workspace (mode `{mode}`)", widely(mode)),
        ));
    }
    offered
}

/// The folder that a file tool can be granted for: all edits of the owner's own words together, and
/// otherwise this tool alone. Nothing is offered for what deletes or replaces a file, or changes
/// what other programs obey.
fn offered_folder(facts: &Facts<'_>, tool: &str) -> Option<(Scope, String)> {
    if mode::that_fits(facts) == Some(Mode::Edits) {
        let path = common_folder(&mode::edited(facts)?).unwrap_or_default();
        let sentence = says_files(&path);
        return Some((Scope::Files { path }, sentence));
    }
    if !READS.contains(&facts.tool) {
        mode::edited(facts)?;
    }
    let path = common_folder(&call_paths(facts)?)?;
    let sentence = match facts.tool {
        "move" => format!("{tool} from and to any path at or below {}", visible(&path)),
        _ => format!(
            "{tool} for any path at or below {}, whatever its other arguments",
            visible(&path)
        ),
    };
    Some((Scope::Below { path }, sentence))
}

/// What a grant for edits covers, in words.
pub fn says_files(path: &str) -> String {
    match path {
        "" => "writing, editing and moving files anywhere in this workspace".to_owned(),
        path => format!("writing, editing and moving files at or below {}", visible(path)),
    }
}

/// What a grant for a program and subcommand covers, in words.
pub fn says_command(words: &[String], needs: Level, hosts: Option<&[String]>) -> String {
    let network = match hosts {
        _ if needs < Level::Network => "without a network".to_owned(),
        Some(hosts) => format!("with the network to {}", visible(&hosts.join(", "))),
        None => "with all of the network".to_owned(),
    };
    let words = visible(&words.join(" "));
    format!("any `{words}` with known options and plain words, in the box and {network}")
}

/// What an answer with a mode grants, in a few words.
fn widely(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "nothing more",
        Mode::Edits => "writing, editing and moving files",
        Mode::Work => "edits, and commands without the network,",
    }
}

/// A mode holds for a session and never for longer.
fn mode_key(mode: Mode) -> &'static [(&'static str, Term)] {
    match mode {
        Mode::Ask => &[],
        Mode::Edits => &[("e", Term::Session)],
        Mode::Work => &[("w", Term::Session)],
    }
}

/// Whether the call names hosts, and each of them is among those that were granted.
fn reaches_no_other(facts: &Facts<'_>, granted: Option<&[String]>) -> bool {
    let Some(granted) = granted else { return true };
    let Some(Some(named)) = level::hosts(facts) else { return false };
    named.iter().all(|host| granted.contains(host))
}

fn without_network() -> Level {
    Level::Write
}

/// The answers to a question about this call, in the order in which they are shown.
pub fn choices(facts: &Facts<'_>) -> Vec<Choice> {
    let choice =
        |key: &str, label: String, answer: Answer| Choice { key: key.to_owned(), label, answer };
    // What is granted to a job is bound to it, and ends with it.
    let of_job = facts.origin == Origin::Schedule;
    let allow = |key: &str, term: Term, (scope, what): &(Scope, String)| {
        let until = match term {
            Term::Once => {
                return choice(
                    key,
                    "allow this one call".to_owned(),
                    Answer::Allow { term, scope: scope.clone() },
                );
            }
            Term::TenMinutes => "for 10 minutes",
            Term::Session => "until this session ends or /new",
            Term::Always if of_job => "always for this job, until it ends or changes",
            Term::Always if facts.origin == Origin::McpClient => {
                "always for this client, until you revoke it"
            }
            Term::Always => "until you revoke it",
        };
        choice(key, format!("allow {what}, {until}"), Answer::Allow { term, scope: scope.clone() })
    };
    let offered = offered_shapes(facts);
    let mut choices = Vec::new();
    for shape in &offered {
        let keys: &[(&str, Term)] = match &shape.0 {
            Scope::Exact if changes_files(facts) || offered.len() > 1 => EXACT_KEYS_BESIDE_OTHERS,
            Scope::Exact => EXACT_KEYS,
            // A mode does the same for the session.
            Scope::Files { path } if path.is_empty() => &[("ab", Term::Always)],
            Scope::Files { .. } => &[("sb", Term::Session), ("ab", Term::Always)],
            Scope::Below { .. } => &[("sb", Term::Session), ("ab", Term::Always)],
            Scope::Command { .. } => {
                &[("10c", Term::TenMinutes), ("sc", Term::Session), ("ac", Term::Always)]
            }
            Scope::Hosts { .. } => &[("sh", Term::Session), ("ah", Term::Always)],
            Scope::Mode { mode } => mode_key(*mode),
        };
        let keys =
            keys.iter().filter(|(_, term)| !of_job || matches!(term, Term::Once | Term::Always));
        choices.extend(keys.map(|(key, term)| allow(key, *term, shape)));
    }
    let tool = visible(&format!("{}/{}", facts.server, facts.tool));
    choices.push(choice("n", "deny this one call".to_owned(), Answer::Deny { word: None }));
    choices.push(choice(
        "n WORDS",
        "deny this one call and tell the model WORDS".to_owned(),
        Answer::Deny { word: None },
    ));
    choices.push(choice(
        "never",
        format!("deny {tool} with exactly these arguments, now and always"),
        Answer::Never,
    ));
    choices
}

/// The program and subcommand that the call can be granted by. `None` without a box: what is
/// granted this way may run whatever the workspace holds.
fn command_words(facts: &Facts<'_>) -> Option<Vec<String>> {
    let command = shell_command(facts)?;
    facts.held.files.then(|| shell::grants::words_of(&shell::read(command)?)).flatten()
}

/// The text of a call to `run` of our bash server, if the call says nothing else that claw does not
/// know, and gives no variable that could change what the text means.
pub fn shell_command<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    if facts.builtin != Some(OwnServerName::Bash) || facts.tool != "run" {
        return None;
    }
    let arguments = facts.arguments.as_object()?;
    let opens_nothing = openings::named(facts).is_ok_and(|named| named.is_empty());
    let is_known = |name: &String| {
        COMMAND_ARGUMENTS.contains(&name.as_str())
            || name == variables::VARIABLES
            || (name == openings::OPENS && opens_nothing)
    };
    let known = arguments.keys().all(is_known) && variables::are_harmless(facts);
    known.then(|| arguments.get("command").and_then(Value::as_str)).flatten()
}

fn changes_files(facts: &Facts<'_>) -> bool {
    call_paths(facts).is_some() && !READS.contains(&facts.tool)
}

/// The paths that the call names; `None` where it is no call that paths alone describe.
pub(super) fn call_paths<'a>(facts: &Facts<'a>) -> Option<Vec<&'a str>> {
    if facts.builtin != Some(OwnServerName::Filesystem) {
        return None;
    }
    if facts.tool == "apply_patch" {
        return Some(parts::patched(facts.arguments)?.iter().map(|change| change.path).collect());
    }
    let (_, names) = PATH_TOOLS.iter().find(|(tool, _)| *tool == facts.tool)?;
    let mut paths = Vec::new();
    for name in *names {
        match facts.arguments.get(name)? {
            Value::String(path) => paths.push(path.as_str()),
            Value::Array(several) if !several.is_empty() => {
                for path in several {
                    paths.push(path.as_str()?);
                }
            }
            _ => return None,
        }
    }
    Some(paths)
}

/// The folder that holds all of these paths. `None` for the workspace itself.
fn common_folder(paths: &[&str]) -> Option<String> {
    let paths: Option<Vec<Vec<&str>>> = paths.iter().map(|path| components(path)).collect();
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

/// A relative path without `.` and doubled slashes. `None` for everything that could mean another
/// place to some reader: empty, absolute, `..`, a leading `~`, backslashes, control characters, and
/// what is nothing but dots and slashes.
pub(super) fn components(path: &str) -> Option<Vec<&str>> {
    let strange = |c: char| c == '\\' || c.is_control();
    if path.starts_with('/') || path.contains(strange) {
        return None;
    }
    let parts: Vec<&str> =
        path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let climbs = parts.iter().any(|part| part.trim() == "..");
    let somebodys_home = parts.first().is_some_and(|part| part.starts_with('~'));
    (!parts.is_empty() && !climbs && !somebodys_home).then_some(parts)
}

mod hosts;
#[cfg(test)]
mod tests;
