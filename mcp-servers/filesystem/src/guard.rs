//! The protected places as they are at the time of one request. Owns the comparison, by name and by identity; must not know
//! how paths are walked.

use std::path::{Path, PathBuf};

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Metadata;

/// Names are compared without case, on every system: a sibling that differs only in case is refused as well, which costs
/// little, and a file system that ignores case gives no way around. The identity covers bind mounts, renames and normal
/// forms of Unicode, for as long as the place exists.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    places: Vec<Vec<String>>,
    identities: Vec<(u64, u64)>,
}

/// What is about to happen to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The thing itself is read or changed.
    Touch,
    /// The thing is removed or replaced with all that is below it, so nothing protected may lie there.
    Replace,
}

impl Guard {
    /// Adds one place, relative to the root and without `..`.
    pub fn add(&mut self, place: &Path, identity: Option<&Metadata>) {
        let folded = folded(place);
        if !folded.is_empty() && !self.places.contains(&folded) {
            self.places.push(folded);
        }
        if let Some(metadata) = identity {
            self.identities.push((metadata.dev(), metadata.ino()));
        }
    }

    /// Whether a path, relative to the root and with links resolved, is protected.
    pub fn forbids_path(&self, real: &Path, act: Act) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let path = folded(real);
        self.places
            .iter()
            .any(|place| path.starts_with(place) || (act == Act::Replace && place.starts_with(path.as_slice())))
    }

    /// Whether this is a protected directory under another name.
    pub fn forbids_identity(&self, metadata: &Metadata) -> bool {
        self.identities.contains(&(metadata.dev(), metadata.ino()))
    }

    /// Whether identities need to be looked at at all; it saves a system call a directory when nothing is protected.
    pub fn has_identities(&self) -> bool {
        !self.identities.is_empty()
    }
}

fn folded(path: &Path) -> Vec<String> {
    let plain: PathBuf = path.components().collect();
    plain.iter().map(|name| name.to_string_lossy().to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_component_and_without_case() {
        let mut guard = Guard::default();
        guard.add(Path::new("a/Home"), None);
        for hit in ["a/home", "A/HOME/x", "a/Home/./x"] {
            assert!(guard.forbids_path(Path::new(hit), Act::Touch), "{hit}");
        }
        for miss in ["", "a", "a/homes", "home", "b/a/home"] {
            assert!(!guard.forbids_path(Path::new(miss), Act::Touch), "{miss}");
        }
        assert!(guard.forbids_path(Path::new("a"), Act::Replace));
        assert!(!guard.forbids_path(Path::new("ab"), Act::Replace));
    }
}
