//! What of git's is under way in a repository, by the files that git keeps meanwhile. Must not know
//! who is told.

use cap_std::fs::Dir;

/// What was begun and is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Rebase,
    Merge,
    CherryPick,
    Revert,
    Bisect,
}

/// In the order in which they count: a rebase picks commits (gitrepository-layout(5), and
/// `wt-status.c` of git).
const MARKS: [(&str, Operation); 6] = [
    ("rebase-merge", Operation::Rebase),
    ("rebase-apply", Operation::Rebase),
    ("MERGE_HEAD", Operation::Merge),
    ("CHERRY_PICK_HEAD", Operation::CherryPick),
    ("REVERT_HEAD", Operation::Revert),
    ("BISECT_LOG", Operation::Bisect),
];

impl Operation {
    /// Of the repository whose own folder this is.
    pub(super) fn of(git: &Dir) -> Option<Self> {
        let mut found = MARKS.iter().filter(|(name, _)| git.symlink_metadata(name).is_ok());
        found.next().map(|(_, operation)| *operation)
    }

    /// As a sentence names it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Rebase => "a rebase",
            Self::Merge => "a merge",
            Self::CherryPick => "a cherry-pick",
            Self::Revert => "a revert",
            Self::Bisect => "a bisect",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_under_way_is_known_and_a_rebase_counts_before_its_picks() {
        let dir = tempfile::tempdir().unwrap();
        let git = || Dir::open_ambient_dir(dir.path(), cap_std::ambient_authority()).unwrap();
        assert_eq!(Operation::of(&git()), None);
        for (name, operation) in MARKS.iter().rev() {
            fs::write(dir.path().join(name), "").unwrap();
            assert_eq!(Operation::of(&git()), Some(*operation), "{name}");
        }
    }
}
