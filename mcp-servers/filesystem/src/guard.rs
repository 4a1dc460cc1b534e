//! The guarded places as they are at the time of one request. Owns the comparison, by name and by
//! identity; must not know how paths are walked.

use std::path::{Path, PathBuf};

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Metadata;

use crate::error::ToolError;

/// Names are compared without case, on every system: a sibling that differs only in case is refused
/// as well, which costs little, and a file system that ignores case gives no way around. The
/// identity covers bind mounts, renames and normal forms of Unicode, for as long as the place
/// exists.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    places: Vec<(Vec<String>, Shield)>,
    /// Folded names that no component of a path may have. `*` at the beginning stands for any.
    names: Vec<String>,
    identities: Vec<((u64, u64), Shield)>,
}

/// What a place is guarded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shield {
    /// No tool may read or change it.
    Protected,
    /// No tool may change it.
    ReadOnly,
    /// The host keeps this one call off it.
    KeptOff,
}

impl Shield {
    /// The refusal, with the path as it was written.
    pub fn refuses(self, path: &str) -> ToolError {
        match self {
            Self::Protected => ToolError::Protected { path: path.to_owned() },
            Self::ReadOnly => ToolError::Fixed { path: path.to_owned() },
            Self::KeptOff => ToolError::KeptOff { path: path.to_owned() },
        }
    }
}

/// What is about to happen to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The thing itself is read or changed.
    Touch,
    /// The thing is removed or replaced with all that is below it, so nothing guarded may lie
    /// there.
    Replace,
}

impl Guard {
    /// Adds one place, relative to the root and without `..`. The empty one is the root with
    /// everything in it.
    pub fn add(&mut self, place: &Path, identity: Option<&Metadata>, shield: Shield) {
        let place = (folded(place), shield);
        if !self.places.contains(&place) {
            self.places.push(place);
        }
        if let Some(metadata) = identity {
            self.identities.push(((metadata.dev(), metadata.ino()), shield));
        }
    }

    /// Keeps off every file and folder of such a name, wherever it lies.
    pub fn keep_off(&mut self, names: &[String]) {
        self.names.extend(names.iter().map(|name| folded_name(name)));
    }

    /// What forbids this to happen to a path, relative to the root and with links resolved.
    pub fn forbids_path(&self, real: &Path, act: Act) -> Option<Shield> {
        if self.places.is_empty() && self.names.is_empty() {
            return None;
        }
        let path = folded(real);
        let is_kept_off = |name: &String| {
            let fits = |known: &String| match known.strip_prefix('*') {
                Some(end) => name.ends_with(end),
                None => name == known,
            };
            self.names.iter().any(fits)
        };
        if path.iter().any(is_kept_off) {
            return Some(Shield::KeptOff);
        }
        let hit = |place: &Vec<String>| {
            path.starts_with(place) || (act == Act::Replace && place.starts_with(path.as_slice()))
        };
        self.places.iter().find(|(place, _)| hit(place)).map(|(_, shield)| *shield)
    }

    /// Whether this is a guarded file or directory under another name.
    pub fn forbids_identity(&self, metadata: &Metadata) -> Option<Shield> {
        let identity = (metadata.dev(), metadata.ino());
        self.identities.iter().find(|(known, _)| *known == identity).map(|(_, shield)| *shield)
    }

    /// Whether identities need to be looked at at all; it saves a system call a directory when
    /// nothing is guarded.
    pub fn has_identities(&self) -> bool {
        !self.identities.is_empty()
    }
}

fn folded(path: &Path) -> Vec<String> {
    let plain: PathBuf = path.components().collect();
    plain.iter().map(|name| folded_name(&name.to_string_lossy())).collect()
}

/// As the loosest file systems compare names (ext4 and f2fs with `casefold`, APFS, HFS+): upper
/// case first, because `ſ` is a small letter of its own and has the same capital as `s`; and
/// without the characters that they pass over.
fn folded_name(name: &str) -> String {
    name.chars()
        .filter(|c| !is_passed_over(*c))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Default ignorable code points (Unicode 16, DerivedCoreProperties).
fn is_passed_over(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_component_and_without_case() {
        let mut guard = Guard::default();
        guard.add(Path::new("a/Home"), None, Shield::Protected);
        for hit in ["a/home", "A/HOME/x", "a/Home/./x", "a/ho\u{200d}me", "a/\u{feff}home"] {
            assert_eq!(
                guard.forbids_path(Path::new(hit), Act::Touch),
                Some(Shield::Protected),
                "{hit}"
            );
        }
        for miss in ["", "a", "a/homes", "home", "b/a/home"] {
            assert_eq!(guard.forbids_path(Path::new(miss), Act::Touch), None, "{miss}");
        }
        assert!(guard.forbids_path(Path::new("a"), Act::Replace).is_some());
        assert!(guard.forbids_path(Path::new("ab"), Act::Replace).is_none());
    }

    /// `SOUL.md` as a file system that folds case may be asked for it: with a long s, and with the
    /// sign for kelvin as a k.
    #[test]
    fn letters_that_fold_to_the_same_are_the_same() {
        let mut guard = Guard::default();
        guard.add(Path::new("SOUL.md"), None, Shield::ReadOnly);
        guard.add(Path::new("key"), None, Shield::Protected);
        assert_eq!(
            guard.forbids_path(Path::new("\u{17f}oul.md"), Act::Touch),
            Some(Shield::ReadOnly)
        );
        assert_eq!(
            guard.forbids_path(Path::new("\u{212a}EY"), Act::Touch),
            Some(Shield::Protected)
        );
    }

    #[test]
    fn a_name_is_kept_off_wherever_it_lies() {
        let mut guard = Guard::default();
        guard.keep_off(&[".git".into(), "AGENTS.md".into()]);
        for hit in [".git", ".GIT/config", "a/.git/hooks/x", "b/agents.md", ".g\u{200d}it"] {
            let found = guard.forbids_path(Path::new(hit), Act::Touch);
            assert_eq!(found, Some(Shield::KeptOff), "{hit}");
        }
        for miss in ["", ".gitignore", "git", "a/AGENTS.md.bak"] {
            assert_eq!(guard.forbids_path(Path::new(miss), Act::Touch), None, "{miss}");
        }
    }

    #[test]
    fn a_whole_root_is_guarded_by_the_empty_place() {
        let mut guard = Guard::default();
        guard.add(Path::new(""), None, Shield::ReadOnly);
        assert_eq!(guard.forbids_path(Path::new("any/file"), Act::Touch), Some(Shield::ReadOnly));
    }
}
