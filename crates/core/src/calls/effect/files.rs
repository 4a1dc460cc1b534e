//! What a call of our filesystem server does, in words: what is written, edited, deleted or moved,
//! and who acts by the file. Pure. Must not know how the workspace is looked at.

use serde_json::Value;

use super::{Effect, Facts, count, flag, inline, text};
use crate::calls::difference::{Around, Changed, between};
use crate::domain::Origin;
use crate::policy::mode;
use crate::workspace::{FILES_COUNTED_MAX, PathContents};

/// What a file tool does, and who acts by the file: its mode alone would not say why it asks.
pub(super) fn of_file_tool(facts: &Facts<'_>, seen: Option<&PathContents>) -> Option<Effect> {
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
        "apply_patch" => super::patched::of_patch(facts),
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

fn bytes(size: u64) -> String {
    match size {
        0..1_000 => count(size, "byte"),
        1_000..1_000_000 => format!("{} kB", size.div_ceil(1_000)),
        _ => format!("{} MB", size.div_ceil(1_000_000)),
    }
}
