//! Whether git, asked to read in this folder, starts no other program and asks nobody else. Must
//! not know how git was called.
//!
//! git runs what a configuration names (`core.fsmonitor`, filters, external differs, signature
//! checks, aliases of helpers), what lies in `hooks`, and fetches what a partial clone lacks. In
//! the box `HOME` is the workspace, so all of that comes with the files that somebody unpacked
//! there. So each configuration is read here, and one key that is not known to be harmless is
//! enough to ask. A submodule is a repository with a configuration of its own, which `status` and
//! `diff` go into; an index that names one is enough to ask, too.

use std::fs;
use std::path::{Path, PathBuf};

use super::place::Place;

/// The largest index and the largest configuration that are read, in bytes.
const INDEX_BYTES_MAX: u64 = 32 * 1024 * 1024;
const CONFIG_BYTES_MAX: u64 = 256 * 1024;

/// What the system's own packages may have configured.
const SYSTEM_CONFIGS: &[&str] = &["/etc/gitconfig", "/usr/local/etc/gitconfig"];

/// Keys that start nothing and lead nowhere, by section. With a name in quotes behind the section
/// for those of `NAMED`.
const KEYS: &[(&str, &str)] = &[
    (
        "core",
        "abbrev autocrlf bare eol filemode ignorecase logallrefupdates precomposeunicode quotepath \
        repositoryformatversion safecrlf symlinks",
    ),
    ("advice", "detachedhead statushints"),
    // Asked only by what goes to a remote, which nothing here does.
    ("credential", "helper usehttppath username"),
    ("color", "branch diff status ui"),
    ("fetch", "prune"),
    ("init", "defaultbranch"),
    ("pull", "ff rebase"),
    ("push", "autosetupremote default"),
    ("safe", "directory"),
    ("user", "email name"),
];

const NAMED: &[(&str, &str)] = &[
    ("branch", "description gh-merge-base merge rebase remote vscode-merge-base"),
    ("credential", "helper usehttppath username"),
    ("remote", "fetch pushurl tagopt url"),
];

/// The extensions of an index that say nothing about which files there are.
const EXTENSIONS: &[&[u8]] = &[b"TREE", b"REUC", b"UNTR", b"EOIE", b"IEOT"];

pub(super) fn starts_nothing(place: &Place<'_>) -> bool {
    SYSTEM_CONFIGS.iter().all(|path| is_harmless_file(Path::new(path)))
        && repository_starts_nothing(place)
}

fn repository_starts_nothing(place: &Place<'_>) -> bool {
    let Some(repository) = repository(place) else { return false };
    let home = place.workspace();
    let configs =
        [home.join(".gitconfig"), home.join(".config/git/config"), repository.join("config")];
    configs.iter().all(|path| is_harmless_file(path))
        && !exists(&repository.join("commondir"))
        && !exists(&repository.join("hooks/post-index-change"))
        && has_no_submodule(&repository.join("index"))
}

/// The `.git` that git takes from here: the first one upwards, in the workspace. `None` where git
/// could take another one: a `.git` that is a link, a file or not whole, and folders that look like
/// a repository themselves.
fn repository(place: &Place<'_>) -> Option<PathBuf> {
    for folder in place.upwards() {
        let dot_git = folder.join(".git");
        let Ok(found) = dot_git.symlink_metadata() else {
            if exists(&folder.join("HEAD")) {
                return None;
            }
            continue;
        };
        let whole =
            found.is_dir() && is_head(&dot_git.join("HEAD")) && is_dir(&dot_git.join("objects"));
        return (whole && is_dir(&dot_git.join("refs"))).then_some(dot_git);
    }
    None
}

fn exists(path: &Path) -> bool {
    !matches!(path.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}

fn is_dir(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn is_head(path: &Path) -> bool {
    let Some(bytes) = read_file(path, 1024) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end();
    text.starts_with("ref: refs/")
        || (text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A plain file of at most so many bytes.
fn read_file(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let meta = path.symlink_metadata().ok()?;
    (meta.is_file() && meta.len() <= bytes_max).then(|| fs::read(path).ok()).flatten()
}

/// A configuration that is not there is harmless.
fn is_harmless_file(path: &Path) -> bool {
    if !exists(path) {
        return true;
    }
    let text = read_file(path, CONFIG_BYTES_MAX).and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| is_harmless(&text))
}

/// Whether every line is empty, a comment, a section's head alone on its line, or a known key whose
/// value ends with its line.
fn is_harmless(text: &str) -> bool {
    let mut keys = "";
    text.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if line.starts_with('[') {
            let Some(known) = section(line) else { return false };
            keys = known;
            return true;
        }
        let key = line.split_once('=').map_or(line, |(key, _)| key).trim().to_ascii_lowercase();
        keys.split_ascii_whitespace().any(|known| known == key)
            && !line.ends_with('\\')
            && !line.contains(char::is_control)
    })
}

/// The known keys of a section, by its head: `[core]` or `[remote "origin"]`.
fn section(line: &str) -> Option<&'static str> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, table) = match inner.split_once(" \"") {
        Some((name, rest)) => {
            let quoted = rest.strip_suffix('"')?;
            if quoted.contains(['"', '\\', ']']) {
                return None;
            }
            (name, NAMED)
        }
        None => (inner, KEYS),
    };
    let name = name.to_ascii_lowercase();
    table.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys)
}

/// Reads the index (gitformat-index(5), versions 2 and 3). One that is not there names nothing.
fn has_no_submodule(path: &Path) -> bool {
    !exists(path)
        || read_file(path, INDEX_BYTES_MAX)
            .is_some_and(|bytes| names_files_only(&bytes) == Some(true))
}

/// `None` where the bytes are no index that is understood to its end.
fn names_files_only(bytes: &[u8]) -> Option<bool> {
    const GITLINK: u32 = 0o160_000;
    const NAME_LENGTH: u16 = 0x0fff;
    const IS_EXTENDED: u16 = 0x4000;
    let number = |at: usize| {
        bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes)
    };
    let version = number(4)?;
    if bytes.get(..4)? != b"DIRC" || !matches!(version, 2 | 3) {
        return None;
    }
    let mut at = 12;
    for _ in 0..number(8)? {
        if number(at + 24)? & 0o170_000 == GITLINK {
            return Some(false);
        }
        let flags = bytes
            .get(at + 60..at + 62)
            .and_then(|two| two.try_into().ok())
            .map(u16::from_be_bytes)?;
        let fixed = if flags & IS_EXTENDED == 0 { 62 } else { 64 };
        let name = bytes.get(at + fixed..)?;
        let length = match flags & NAME_LENGTH {
            NAME_LENGTH => name.iter().position(|byte| *byte == 0)?,
            length => usize::from(length),
        };
        // One to eight zeros fill an entry up to a multiple of eight bytes.
        at += (fixed + length + 8) / 8 * 8;
    }
    // Behind the extensions lies a checksum of 20 bytes.
    while at + 20 < bytes.len() {
        if !EXTENSIONS.contains(&bytes.get(at..at + 4)?) {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
    }
    (at + 20 == bytes.len()).then_some(true)
}

#[cfg(test)]
mod tests;
