//! What a call does, in words: a table for our own tools, and name and title for those of others.
//! Pure. Must not know questions, doors, or how the workspace is looked at.

mod heartbeats;
mod jobs;
mod notes;
mod patched;
mod proposed;
mod variables;

use serde_json::Value;

use super::difference::{Around, Changed, between};
use crate::domain::{Effect, Level, Opening, Origin, OwnServerName, STOP_ALL_JOBS, escape};
use crate::hub::Method;
use crate::policy::{Facts, level, mode, openings};
use crate::workspace::{FILES_COUNTED_MAX, Last, PathContents};

pub(super) use jobs::say_when;
pub(super) use proposed::{buttons, of_proposed};

/// The longest path or command that stands in the sentence, in characters; a longer one stands
/// among the arguments.
const INLINE_CHARS_MAX: usize = 48;

/// Which path of a call is looked at before the sentence is made.
pub(super) fn looks_at<'a>(facts: &Facts<'a>) -> Option<(&'a str, Last)> {
    if facts.builtin != Some(OwnServerName::Filesystem) {
        return None;
    }
    match facts.tool {
        "write_file" => Some((text(facts, "path")?, Last::Follow)),
        "delete" => Some((text(facts, "path")?, Last::Keep)),
        "move" if flag(facts, "overwrite") => Some((text(facts, "destination")?, Last::Keep)),
        _ => None,
    }
}

/// The effect of a call. `seen` is what the path of [`looks_at`] leads to; without it the sentence
/// says less, and is still true.
pub(super) fn effect_of(
    facts: &Facts<'_>,
    seen: Option<&PathContents>,
    title: Option<&str>,
) -> Effect {
    let effect = match facts.builtin {
        Some(OwnServerName::Filesystem) => of_file_tool(facts, seen),
        Some(OwnServerName::Bash) => of_command(facts),
        Some(OwnServerName::Memory) => notes::of_note_tool(facts),
        Some(OwnServerName::Scheduler) => {
            jobs::of_job_tool(facts).or_else(|| heartbeats::of_put(facts))
        }
        _ => None,
    };
    let effect = effect.or_else(|| of_method(facts));
    let mut effect = effect.unwrap_or_else(|| of_strange_tool(facts, title));
    effect.seen = seen.map(PathContents::mark);
    effect.asker = asker(facts.origin);
    effect
}

/// Whether a person would be warned of it, as far as its arguments say.
pub(super) fn is_dangerous(facts: &Facts<'_>) -> bool {
    effect_of(facts, None, None).danger
}

fn asker(origin: Origin) -> Option<String> {
    let who = match origin {
        Origin::Owner | Origin::Button => return None,
        Origin::Schedule => "Asked for by a schedule",
        Origin::McpClient => "Asked for by a client of claw",
        Origin::SubAgent => "Asked for by another agent",
        Origin::Forwarded => "Asked for in words that are not the owner's own",
    };
    Some(who.to_owned())
}

/// What a file tool does, and who acts by the file: its mode alone would not say why it asks.
fn of_file_tool(facts: &Facts<'_>, seen: Option<&PathContents>) -> Option<Effect> {
    let mut effect = of_file(facts, seen)?;
    if let Some((path, by)) = mode::acted_by(facts).filter(|_| !flag(facts, "dry_run")) {
        let which = match facts.tool {
            "write_file" | "edit_file" => "this file",
            "delete" => "it",
            _ => inline(path).unwrap_or("one of the files"),
        };
        effect.says.push_str(&format!(": {by} {which}"));
        effect.danger = true;
    }
    Some(effect)
}

fn of_file(facts: &Facts<'_>, seen: Option<&PathContents>) -> Option<Effect> {
    match facts.tool {
        "write_file" => Some(of_write(facts, seen)),
        "edit_file" => Some(of_edits(facts)),
        "apply_patch" => patched::of_patch(facts),
        "delete" => Some(of_delete(facts, seen)),
        "move" => Some(of_move(facts, seen)),
        _ => None,
    }
}

fn of_write(facts: &Facts<'_>, seen: Option<&PathContents>) -> Effect {
    let mut told = Vec::new();
    let (path, content) = (place(facts, "path", &mut told), text(facts, "content").unwrap_or(""));
    let lines = count(content.lines().count() as u64, "line");
    // What stands in a file is shown to nobody by somebody else's words.
    let may_show = facts.origin >= Origin::Button;
    let mut effect = Effect::default();
    effect.says = match seen {
        Some(PathContents::Nothing) => format!("Create {path} ({lines})"),
        Some(PathContents::Text(old)) => {
            let changed = between(old, content, Around::One);
            if may_show {
                told.push("content".to_owned());
                effect.difference = changed.text.clone();
            }
            format!("Replace {path} ({})", changed_lines(&changed))
        }
        Some(PathContents::Bytes { size, .. }) => {
            effect.danger = true;
            format!("Replace {path} ({} that cannot be compared) by {lines}", bytes(*size))
        }
        _ => format!("Write {path} ({lines}), whatever is there now"),
    };
    effect.told = told;
    effect
}

fn changed_lines(changed: &Changed) -> String {
    let Changed { gone, come, of, .. } = *changed;
    let lines = |number: u64| count(number, "line");
    match (gone, come) {
        (0, 0) => "no line changes".to_owned(),
        (gone, come) if gone == come && gone == of => match of {
            1 => "its only line changes".to_owned(),
            of => format!("all {of} lines change"),
        },
        (gone, come) if gone == come => {
            format!("{gone} of {} {}", lines(of), if gone == 1 { "changes" } else { "change" })
        }
        (0, come) => format!("{} more than its {of}", lines(come)),
        (gone, 0) => format!("{gone} of {} {}", lines(of), if gone == 1 { "goes" } else { "go" }),
        (1, come) if of == 1 => format!("its only line becomes {come}"),
        (gone, come) if gone == of => format!("all {of} lines become {come}"),
        (gone, come) => format!("{gone} of {} become {come}", lines(of)),
    }
}

fn of_edits(facts: &Facts<'_>) -> Effect {
    let mut told = Vec::new();
    let path = place(facts, "path", &mut told);
    let edits: Vec<(&str, &str)> = facts
        .arguments
        .get("edits")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|edit| Some((edit.get("old_text")?.as_str()?, edit.get("new_text")?.as_str()?)))
        .collect();
    let (mut gone, mut come, mut texts) = (0, 0, Vec::new());
    for (old, new) in &edits {
        // A piece of a line has no line feed at its end, and nothing is to be said of that.
        let open = !old.ends_with('\n') && !new.ends_with('\n');
        let end = if open { "\n" } else { "" };
        let changed = between(&format!("{old}{end}"), &format!("{new}{end}"), Around::All);
        gone += changed.gone;
        come += changed.come;
        texts.push(changed.text);
    }
    // The difference tells the edits whole only if each of them is nothing but these two texts.
    let whole = facts.arguments.get("edits").and_then(Value::as_array).is_some_and(|all| {
        all.len() == edits.len()
            && all.iter().all(|edit| edit.as_object().is_some_and(|edit| edit.len() == 2))
    });
    if whole {
        told.push("edits".to_owned());
    }
    let lines = |number: u64| count(number, "line");
    let what = match (gone, come) {
        (gone, come) if gone == come => {
            format!("{} {}", lines(gone), if gone == 1 { "changes" } else { "change" })
        }
        (0, come) => format!("{} more", lines(come)),
        (gone, 0) => format!("{} {}", lines(gone), if gone == 1 { "goes" } else { "go" }),
        (gone, come) => {
            format!("{} {} {come}", lines(gone), if gone == 1 { "becomes" } else { "become" })
        }
    };
    let edits = facts.arguments.get("edits").and_then(Value::as_array);
    let is_everywhere = |edit: &Value| edit.get("replace_all").is_some_and(|all| *all != false);
    let what = match edits.is_some_and(|all| all.iter().any(is_everywhere)) {
        true => format!("{what}, everywhere in it"),
        false => what,
    };
    let says = if flag(facts, "dry_run") {
        format!("Show how an edit of {path} would look")
    } else {
        format!("Edit {path} ({what})")
    };
    Effect { says, told, difference: texts.join("@ elsewhere\n"), ..Effect::default() }
}

fn of_delete(facts: &Facts<'_>, seen: Option<&PathContents>) -> Effect {
    let mut told = Vec::new();
    let path = place(facts, "path", &mut told);
    let recursive = flag(facts, "recursive");
    let folder = match told.is_empty() {
        true => "this folder".to_owned(),
        false => format!("{}/", path.trim_end_matches('/')),
    };
    if facts.arguments.get("recursive").is_some_and(Value::is_boolean) {
        told.push("recursive".to_owned());
    }
    if matches!(seen, Some(PathContents::Folder { empty: true, .. })) {
        let says = format!("Delete {folder}, an empty folder");
        return Effect { says, told, ..Effect::default() };
    }
    let what = match seen {
        Some(PathContents::Folder { .. }) if !recursive => {
            format!("Delete {folder} if it is empty")
        }
        Some(PathContents::Folder { files, more, .. }) => {
            let files = match (files, more) {
                (_, true) => format!("more than {FILES_COUNTED_MAX} files"),
                (0, false) => "folders".to_owned(),
                (1, false) => "one file".to_owned(),
                (files, false) => format!("{files} files"),
            };
            format!("Delete {folder} and the {files} in it").replace("the one", "one")
        }
        Some(PathContents::Link) => format!("Delete the link {path}"),
        Some(PathContents::Text(text)) => {
            format!("Delete {path} ({})", count(text.lines().count() as u64, "line"))
        }
        Some(PathContents::Bytes { size, .. }) => format!("Delete {path} ({})", bytes(*size)),
        _ if recursive => format!("Delete {path} and everything in it"),
        _ => format!("Delete {path}"),
    };
    Effect { says: what, danger: true, told, ..Effect::default() }
}

fn of_move(facts: &Facts<'_>, seen: Option<&PathContents>) -> Effect {
    let mut told = Vec::new();
    let (from, to) = (place(facts, "source", &mut told), place(facts, "destination", &mut told));
    let (from_folder, from_name) = from.rsplit_once('/').unwrap_or(("", &from));
    let (to_folder, to_name) = to.rsplit_once('/').unwrap_or(("", &to));
    let mut says = if from_folder == to_folder && told.len() == 2 {
        format!("Rename {from} to {to_name}")
    } else if from_name == to_name && told.len() == 2 && !to_folder.is_empty() {
        format!("Move {from} to {to_folder}/")
    } else {
        format!("Move {from} to {to}")
    };
    let mut danger = false;
    if flag(facts, "overwrite") {
        danger = !matches!(seen, Some(PathContents::Nothing));
        says.push_str(match seen {
            Some(PathContents::Nothing) => "",
            Some(_) => " and replace what is there",
            None => " and replace what may be there",
        });
    }
    if facts.arguments.get("overwrite").is_some_and(Value::is_boolean) {
        told.push("overwrite".to_owned());
    }
    Effect { says, danger, told, ..Effect::default() }
}

fn of_command(facts: &Facts<'_>) -> Option<Effect> {
    let job = || facts.arguments.get("job").map(|job| escape::visible(&job.to_string()));
    let mut told = Vec::new();
    let verb = match facts.tool {
        "run" => "Run",
        "start" => "Start",
        "stop" => {
            let says = format!("Stop the background job {}", job()?);
            return Some(Effect { says, told: vec!["job".to_owned()], ..Effect::default() });
        }
        STOP_ALL_JOBS => {
            return Some(Effect {
                says: "Stop all background jobs".to_owned(),
                ..Effect::default()
            });
        }
        _ => return None,
    };
    let command = text(facts, "command")?;
    let mut says = match inline(command) {
        Some(command) => {
            told.push("command".to_owned());
            format!("{verb} `{command}`")
        }
        None => format!("{verb} this command"),
    };
    says.push_str(&begins_in(facts, &mut told));
    if facts.tool == "start" {
        says.push_str(" in the background");
    }
    let level = level::of(facts);
    // The level is told by the words; one that is not known stands among the arguments.
    if level.is_some() {
        told.push("needs".to_owned());
    }
    let (danger, note) = match level {
        _ if !facts.held.files => (true, "No box holds it: it can do what you can"),
        _ if !facts.held.levels => (true, "The box holds no level here: it may use the network"),
        Some(Level::Read) => (false, "It can change nothing; no network"),
        Some(Level::Write) => (false, "It can change files in the workspace; no network"),
        Some(Level::Network) => (true, "It can change files in the workspace"),
        None => (true, "Its level is not known"),
    };
    let mut notes = variables::notes(facts, &mut told);
    notes.push(note.to_owned());
    if level == Some(Level::Network) {
        says.push_str(&reaches(facts, &mut told));
        let opens = openings::named(facts).unwrap_or_default();
        if !opens.is_empty() {
            told.push("opens".to_owned());
            let deeds: Vec<&str> = opens.iter().map(|opening| opening.deed()).collect();
            says.push_str(&format!("; it {}", deeds.join(" and ")));
            notes.splice(..0, opens.iter().map(|opening| opening.warning().to_owned()));
        }
    }
    Some(Effect { says, danger, notes, told, ..Effect::default() })
}

/// In which folder a command begins, where it names one. One that could be read otherwise stands
/// among the arguments.
fn begins_in(facts: &Facts<'_>, told: &mut Vec<String>) -> String {
    let Some(folder) = text(facts, "cwd").and_then(inline) else { return String::new() };
    told.push("cwd".to_owned());
    match folder {
        "." => " in the workspace".to_owned(),
        folder => format!(" in `{folder}`"),
    }
}

/// What of the network a command reaches. Hosts that do not fit stand among the arguments.
fn reaches(facts: &Facts<'_>, told: &mut Vec<String>) -> String {
    let hosts = level::hosts(facts);
    let named = hosts.iter().flatten().map(|hosts| hosts.join(", ")).next();
    match (hosts, named.as_deref().map(inline)) {
        (Some(Some(_)), Some(Some(hosts))) => {
            told.push("hosts".to_owned());
            format!(" with the network: {hosts}")
        }
        (Some(Some(_)), _) => " with these hosts of the network".to_owned(),
        // It gets a network of its own, because Docker is on it.
        (Some(None), _) if openings::named(facts).is_ok_and(|o| o.contains(&Opening::Docker)) => {
            String::new()
        }
        (Some(None), _) => " with all of the network".to_owned(),
        (None, _) => " with the network".to_owned(),
    }
}

/// What others' servers are asked besides their tools.
fn of_method(facts: &Facts<'_>) -> Option<Effect> {
    if facts.builtin.is_some() {
        return None;
    }
    let server = escape::visible(facts.server);
    let mut told = Vec::new();
    let mut named = |argument: &str, otherwise: &str| match text(facts, argument).and_then(inline) {
        Some(text) => {
            told.push(argument.to_owned());
            format!("`{text}`")
        }
        None => otherwise.to_owned(),
    };
    let says = match Method::named(facts.tool)? {
        Method::ReadResource => {
            format!("Read {} from the server {server}", named("uri", "this resource"))
        }
        Method::GetPrompt => {
            format!("Get the prompt {} of the server {server}", named("name", "below"))
        }
        Method::ListResources => format!("List the resources of the server {server}"),
    };
    Some(Effect { says, told, ..Effect::default() })
}

fn of_strange_tool(facts: &Facts<'_>, title: Option<&str>) -> Effect {
    let name = escape::visible(&format!("{}/{}", facts.server, facts.tool));
    let title = title.map(str::trim).filter(|title| !title.is_empty() && *title != facts.tool);
    let title = title.and_then(|title| {
        (title.chars().count() <= INLINE_CHARS_MAX).then(|| escape::visible(title))
    });
    let says = match title {
        Some(title) => format!("Use {name} (“{title}”)"),
        None => format!("Use {name}"),
    };
    Effect { says, danger: facts.destructive_hint == Some(true), ..Effect::default() }
}

/// A path in the sentence, if it is short and plain; it is told then. Otherwise what it is called
/// there, and the path itself stands among the arguments.
fn place(facts: &Facts<'_>, name: &str, told: &mut Vec<String>) -> String {
    match text(facts, name).and_then(inline) {
        Some(path) => {
            told.push(name.to_owned());
            path.to_owned()
        }
        None if name == "destination" => "this destination".to_owned(),
        None if name == "source" => "this source".to_owned(),
        None => "this path".to_owned(),
    }
}

/// A text that can stand in a sentence without a doubt about where it begins and ends: short, one
/// line, nothing that is invisible or could be lost when the sentence is wrapped.
fn inline(text: &str) -> Option<&str> {
    let plain = !text.is_empty()
        && text.chars().count() <= INLINE_CHARS_MAX
        && text.trim() == text
        && !text.contains("  ")
        && !text.contains(['`', '“', '”'])
        && escape::visible(text) == text;
    plain.then_some(text)
}

fn text<'a>(facts: &Facts<'a>, name: &str) -> Option<&'a str> {
    facts.arguments.get(name)?.as_str()
}

fn flag(facts: &Facts<'_>, name: &str) -> bool {
    facts.arguments.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// `1 line`, `40 lines`.
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn bytes(size: u64) -> String {
    match size {
        0..1_000 => count(size, "byte"),
        1_000..1_000_000 => format!("{} kB", size.div_ceil(1_000)),
        _ => format!("{} MB", size.div_ceil(1_000_000)),
    }
}

#[cfg(test)]
mod tests;
