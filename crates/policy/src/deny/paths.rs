//! Which written paths mean the root, a system folder, or a home. Lexical: nothing is looked up on
//! the disk. Must not know commands.

use std::path::{Component, Path, PathBuf};

use super::shell::{SUBSTITUTION, VARIABLE};
use crate::Facts;

/// Folders directly below the root without which the system or its users are lost.
const SYSTEM: &[&str] = &[
    "Applications",
    "Library",
    "System",
    "Users",
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "private",
    "proc",
    "root",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
];

/// A written path, resolved as far as the text alone allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: PathBuf,
    /// A glob behind it named everything inside.
    pub(super) everything_in: bool,
}

/// `None` where the text alone does not say which path it is.
pub(super) fn resolve(text: &str, facts: &Facts<'_>, cwd: Option<&Path>) -> Option<Target> {
    let expanded = expand(text, facts)?;
    let (rest, everything_in) = match expanded.rsplit_once('/') {
        Some((before, last)) if is_everything(last) => (format!("{before}/"), true),
        None if is_everything(&expanded) => (".".to_owned(), true),
        _ => (expanded, false),
    };
    if rest.is_empty() {
        return None;
    }
    let written = Path::new(&rest);
    let whole = if written.is_absolute() { written.to_path_buf() } else { cwd?.join(written) };
    Some(Target { path: normal(&whole), everything_in })
}

/// Whether losing the folder would mean losing the system, the user's home or claw's.
pub(super) fn is_precious(path: &Path, facts: &Facts<'_>) -> bool {
    let mut names = path.components().filter(|component| matches!(component, Component::Normal(_)));
    let system = match (names.next(), names.next()) {
        (None, _) => true,
        (Some(top), None) => SYSTEM.iter().any(|name| top.as_os_str() == *name),
        _ => false,
    };
    system || normal(facts.user_home).starts_with(path) || normal(facts.home).starts_with(path)
}

/// The rule that a precious path falls under.
pub(super) fn rule(path: &Path, facts: &Facts<'_>) -> &'static str {
    let home = [facts.user_home, facts.home].iter().any(|home| normal(home) == path);
    if home { "wipe-home" } else { "wipe-root" }
}

fn expand(text: &str, facts: &Facts<'_>) -> Option<String> {
    let home = facts.user_home.to_string_lossy();
    let user = facts
        .user_home
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut out = String::new();
    for (index, part) in text.split(VARIABLE).enumerate() {
        match (index % 2, part) {
            (0, plain) if plain.contains(SUBSTITUTION) => return None,
            (0, plain) => out.push_str(plain),
            (_, "HOME") => out.push_str(&home),
            (_, "CLAW_HOME") => out.push_str(&facts.home.to_string_lossy()),
            (_, "USER" | "LOGNAME") => out.push_str(&user),
            _ => return None,
        }
    }
    let Some(rest) = out.strip_prefix('~') else { return Some(out) };
    let (name, tail) = rest.split_once('/').map_or((rest, None), |(name, tail)| (name, Some(tail)));
    let base = match name {
        "" => home.into_owned(),
        "root" => "/root".to_owned(),
        name if name == user => home.into_owned(),
        _ => return Some(out),
    };
    Some(tail.map_or(base.clone(), |tail| format!("{base}/{tail}")))
}

/// A last component that stands for all entries of its folder: `*`, `.*`, `?*`, `.[!.]*`, …
fn is_everything(last: &str) -> bool {
    last.contains('*') && last.chars().all(|c| matches!(c, '*' | '.' | '?' | '[' | ']' | '!' | '^'))
}

/// Without `.`, `..` and doubled slashes. `..` above the root is the root.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::ParentDir => drop(out.pop()),
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    out
}
