//! The paths of an entry, as they are from everywhere: other programs run a project's servers in
//! the project's folder, and claw starts a server in a folder of its own. Reads which files there
//! are and changes nothing. Must not know which program an entry is of.

use std::path::{Component, Path};

use serde_json::{Value, json};

use crate::hub::manifest::NewEntry;

/// What a script is called.
const SCRIPTS: &[&str] = &[".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".rb", ".jar"];

/// Paths of a command, which are relative to `base`, as they are from everywhere. That is the
/// program with a folder in its name, and what names a file there by `./` or `../`.
pub(super) fn from_anywhere(command: Vec<String>, base: &Path) -> Vec<String> {
    let is_path = |index: usize, word: &str| match index {
        0 => word.contains('/') && is_relative(word),
        _ => is_dotted(word) && base.join(word).exists(),
    };
    let all = command.into_iter().enumerate();
    all.map(|(index, word)| if is_path(index, &word) { whole(base, &word) } else { word }).collect()
}

/// The entry of a file whose program runs it in the folder `base`; `None` where nobody knows in
/// which. It gets a `cwd` where what it runs lies in that folder.
pub(super) fn placed(entry: NewEntry, base: Option<&Path>) -> NewEntry {
    // A `${` in the name of the folder would be read as a variable.
    let base = base.filter(|base| base.to_str().is_some_and(|base| !base.contains("${")));
    let Some(base) = base else { return in_its_own(entry) };
    let workspace = base.display().to_string();
    let entry = entry.into_iter().map(|(key, value)| (key, in_workspace(value, &workspace)));
    let mut entry: NewEntry = entry.collect();
    for (key, value) in &mut entry {
        if let ("cwd" | "envFile", Some(path)) = (*key, value.as_str().filter(|it| is_relative(it)))
        {
            *value = json!(whole(base, path));
        }
    }
    if text_of(&entry, "cwd").is_some() {
        return in_its_own(entry);
    }
    let Some(program) = text_of(&entry, "command").map(str::to_owned) else { return entry };
    let Some(args) = texts_of(&entry, "args") else { return entry };
    let command = std::iter::once(program.clone()).chain(args.clone()).collect();
    let command = from_anywhere(command, base);
    let needs_folder = command.first() != Some(&program) || args.iter().any(|it| lies_in(it, base));
    for (key, value) in &mut entry {
        match *key {
            "command" => *value = json!(command.first()),
            "args" => *value = json!(command.get(1..).unwrap_or_default()),
            _ => {}
        }
    }
    if needs_folder {
        let is_before = |key: &str| matches!(key, "type" | "command" | "args");
        let at = entry.iter().position(|(key, _)| !is_before(key)).unwrap_or(entry.len());
        entry.insert(at, ("cwd", json!(workspace)));
    }
    entry
}

/// A program that is named by a path of the entry's own `cwd`, which is whole.
fn in_its_own(mut entry: NewEntry) -> NewEntry {
    let Some(cwd) = text_of(&entry, "cwd").filter(|cwd| !is_relative(cwd)).map(str::to_owned)
    else {
        return entry;
    };
    for (key, value) in &mut entry {
        let program = value.as_str().filter(|it| it.contains('/') && is_relative(it));
        if let ("command", Some(program)) = (*key, program) {
            *value = json!(whole(Path::new(&cwd), program));
        }
    }
    entry
}

/// What of an entry is written like a file and leads to none, as it would be started.
pub(super) fn missing(entry: &NewEntry) -> Vec<String> {
    let cwd = text_of(entry, "cwd").filter(|cwd| !is_relative(cwd));
    let program = text_of(entry, "command").filter(|it| it.contains('/'));
    let args = texts_of(entry, "args").unwrap_or_default();
    let args = args.iter().map(String::as_str).filter(|arg| is_like_a_file(arg));
    let paths = [text_of(entry, "cwd"), text_of(entry, "envFile"), program];
    let paths = paths.into_iter().flatten().chain(args).filter(|path| !has_variable(path));
    let found = paths.map(|path| match cwd.filter(|cwd| is_relative(path) && !has_variable(cwd)) {
        Some(cwd) => whole(Path::new(cwd), path),
        None => path.to_owned(),
    });
    // What is relative still is one of no folder that anybody knows.
    let mut missing: Vec<String> =
        found.filter(|path| is_relative(path) || !Path::new(path).exists()).collect();
    missing.dedup();
    missing
}

/// `server.js`, `./server`, and no option, address, package (`@scope/name`), absolute path or line
/// of a shell.
pub(super) fn is_like_a_file(name: &str) -> bool {
    is_name(name) && (is_dotted(name) || is_script(name))
}

/// Whether what runs reads this from the folder in which it runs.
fn lies_in(arg: &str, base: &Path) -> bool {
    let is_there = base.join(arg).exists();
    is_name(arg)
        && match is_dotted(arg) {
            // What is there is named by its whole path; a script may look around where it runs.
            true => is_script(arg) || !is_there,
            false => is_there && (is_script(arg) || arg.contains('/')),
        }
}

fn is_name(arg: &str) -> bool {
    let is_other = arg.starts_with(['-', '/', '~', '@', '$']) || arg.contains("://");
    !is_other && (is_dotted(arg) || !arg.contains(char::is_whitespace))
}

fn is_script(name: &str) -> bool {
    SCRIPTS.iter().any(|end| name.ends_with(end))
}

fn is_dotted(word: &str) -> bool {
    let first = Path::new(word).components().next();
    matches!(first, Some(Component::CurDir | Component::ParentDir))
}

fn is_relative(path: &str) -> bool {
    !path.starts_with(['/', '~', '$'])
}

/// What is read only when the server starts.
fn has_variable(path: &str) -> bool {
    path.starts_with(['~', '$']) || path.contains("${")
}

fn whole(base: &Path, path: &str) -> String {
    let joined = base.join(path);
    let whole = match base.to_str().is_some_and(has_variable) {
        true => Ok(joined),
        false => std::path::absolute(joined),
    };
    whole
        .ok()
        .and_then(|whole| whole.to_str().map(str::to_owned))
        .unwrap_or_else(|| path.to_owned())
}

fn in_workspace(value: Value, workspace: &str) -> Value {
    match value {
        Value::String(text) => json!(text.replace("${workspaceFolder}", workspace)),
        Value::Array(all) => {
            all.into_iter().map(|one| in_workspace(one, workspace)).collect::<Vec<_>>().into()
        }
        Value::Object(all) => {
            let all = all.into_iter().map(|(key, one)| (key, in_workspace(one, workspace)));
            Value::Object(all.collect())
        }
        other => other,
    }
}

fn text_of<'e>(entry: &'e NewEntry, key: &str) -> Option<&'e str> {
    entry.iter().find(|(name, _)| *name == key).and_then(|(_, value)| value.as_str())
}

/// `None` where it is no list of texts.
fn texts_of(entry: &NewEntry, key: &str) -> Option<Vec<String>> {
    let Some((_, value)) = entry.iter().find(|(name, _)| *name == key) else {
        return Some(Vec::new());
    };
    value.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: Value) -> NewEntry {
        const KEYS: [&str; 4] = ["command", "args", "cwd", "envFile"];
        KEYS.iter().filter_map(|key| Some((*key, value.get(*key)?.clone()))).collect()
    }

    #[test]
    fn what_a_project_runs_in_its_folder_runs_there_and_what_comes_from_elsewhere_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().to_str().unwrap();
        std::fs::create_dir(dir.path().join("tools")).unwrap();
        std::fs::write(dir.path().join("tools/server.py"), "").unwrap();
        for (written, expected) in [
            (
                json!({"command": "./tools/run.sh", "args": []}),
                json!({"command": format!("{base}/tools/run.sh"), "args": [], "cwd": base}),
            ),
            (
                json!({"command": "python3", "args": ["./tools/server.py"]}),
                json!({"command": "python3", "args": [format!("{base}/tools/server.py")], "cwd": base}),
            ),
            (
                json!({"command": "uv", "args": ["--directory", "tools/", "run", "x"]}),
                json!({"command": "uv", "args": ["--directory", "tools/", "run", "x"], "cwd": base}),
            ),
            (
                json!({"command": "./run.sh", "args": ["x.py"], "cwd": "tools", "envFile": ".env"}),
                json!({"command": format!("{base}/tools/run.sh"), "args": ["x.py"],
                    "cwd": format!("{base}/tools"), "envFile": format!("{base}/.env")}),
            ),
            // A folder could only put something else into the place of what is fetched.
            (
                json!({"command": "npx", "args": ["-y", "@a/fs", "./tools", "."]}),
                json!({"command": "npx", "args": ["-y", "@a/fs", format!("{base}/tools"), base]}),
            ),
            (
                json!({"command": "~/bin/x", "args": [7], "cwd": "${HOME}"}),
                json!({"command": "~/bin/x", "args": [7], "cwd": "${HOME}"}),
            ),
        ] {
            assert_eq!(placed(entry(written), Some(dir.path())), entry(expected));
        }
        let alone = || entry(json!({"command": "./x", "args": ["a.py"]}));
        assert_eq!(placed(alone(), None), alone());
        assert_eq!(missing(&alone()), ["./x", "a.py"]);
    }

    #[test]
    fn what_is_not_there_is_named_by_its_whole_path() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().display();
        let gone = entry(json!({"command": "sh", "args": ["./gone"], "envFile": "~/x.env"}));
        assert_eq!(missing(&placed(gone, Some(dir.path()))), [format!("{base}/gone")]);
        let program = entry(json!({"command": "x/run", "args": ["-c", "exec python3 srv.py"]}));
        assert_eq!(missing(&placed(program, Some(dir.path()))), [format!("{base}/x/run")]);
    }
}
