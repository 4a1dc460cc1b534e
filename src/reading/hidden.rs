//! Files that a reader opens although nobody has named them: the magic of `file`, the ignore rules
//! of `rg`. Such a file may be a link, and then lines from elsewhere show up in what the program
//! prints. Must not know how a command is judged.

use std::fs;
use std::path::{Path, PathBuf};

use super::place::Place;

/// More entries are not looked at, and then the command asks.
const ENTRIES_MAX: usize = 20_000;

/// Read in every folder, and in those above it.
const IGNORE_FILES: [&str; 3] = [".ignore", ".gitignore", ".rgignore"];
/// Of git, below the home, which in the box is the workspace. Its settings can name any file.
const GITS_OWN: [&str; 2] = [".gitconfig", ".config/git"];
const MAGIC_FILES: [&str; 2] = [".magic", ".magic.mgc"];

/// Whether all that the program opens by itself are plain files of the workspace. `paths` are those
/// that it is told.
pub(super) fn is_plain(program: &str, place: &Place<'_>, paths: &[&str]) -> bool {
    match program {
        "file" => MAGIC_FILES.iter().all(|name| is_file_or_absent(&place.workspace().join(name))),
        "rg" => ignores_are_plain(place, paths),
        _ => true,
    }
}

fn ignores_are_plain(place: &Place<'_>, paths: &[&str]) -> bool {
    if GITS_OWN.iter().any(|name| place.workspace().join(name).symlink_metadata().is_ok()) {
        return false;
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths.iter().copied().chain(paths.is_empty().then_some(".")) {
        let named = place.folder(path);
        let above =
            named.as_ref().unwrap_or(place).upwards().map(Path::to_owned).collect::<Vec<_>>();
        if !above.iter().all(|folder| folder_is_plain(folder)) {
            return false;
        }
        // What is no folder is a file, and has no rules below it.
        folders.extend(named.and(above.into_iter().next()));
    }
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { return false };
        for entry in entries {
            looked_at += 1;
            let Ok(entry) = entry else { return false };
            let Ok(kind) = entry.file_type() else { return false };
            let name = entry.file_name();
            let is_rule = IGNORE_FILES.iter().any(|file| name == *file);
            let is_bad =
                is_rule && !kind.is_file() || name == ".git" && !git_is_plain(&entry.path());
            if is_bad || looked_at > ENTRIES_MAX {
                return false;
            }
            // A link is not followed by the program either.
            if kind.is_dir() && name != ".git" {
                folders.push(entry.path());
            }
        }
    }
    true
}

fn folder_is_plain(folder: &Path) -> bool {
    IGNORE_FILES.iter().all(|name| is_file_or_absent(&folder.join(name)))
        && git_is_plain(&folder.join(".git"))
}

/// A repository whose rules lie in it: no file that leads to another one, and no link on the way.
fn git_is_plain(git: &Path) -> bool {
    let Ok(found) = git.symlink_metadata() else { return true };
    if !found.is_dir() {
        return false;
    }
    let info = git.join("info");
    let no_link = info.symlink_metadata().map_or(true, |info| info.is_dir());
    no_link && is_file_or_absent(&info.join("exclude")) && is_file_or_absent(&git.join("commondir"))
}

fn is_file_or_absent(path: &Path) -> bool {
    path.symlink_metadata().map_or(true, |found| found.is_file())
}
