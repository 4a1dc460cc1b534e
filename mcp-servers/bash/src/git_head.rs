//! Where a working tree of git stands: what its HEAD names, and the commit behind it. Files of git
//! are read as data; git itself is never run. Must not know what is said of it.

use std::path::Path;

use crate::small_file;

const BYTES_MAX: u64 = 4096;
/// Of a name that is said.
const CHARS_MAX: usize = 100;
const REF: &str = "ref: ";
const BRANCH: &str = "refs/heads/";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitHead {
    names: String,
    /// `None` also where it lies among others in one file.
    commit: Option<String>,
}

impl GitHead {
    /// That of the repository at `git`, which is a folder, or a file that names one.
    pub fn of(git: &Path) -> Option<Self> {
        let folder = match small(git) {
            // Where it is relative, then to the folder that holds the file.
            Some(text) => git.parent()?.join(text.strip_prefix("gitdir: ")?),
            None => git.to_owned(),
        };
        let names = small(&folder.join("HEAD"))?;
        let commit = names.strip_prefix(REF).and_then(|name| small(&folder.join(name)));
        Some(Self { names, commit })
    }

    /// The branch, or the commit where it names none.
    pub fn words(&self) -> String {
        let named = self.names.strip_prefix(REF).unwrap_or(&self.names);
        let named = named.strip_prefix(BRANCH).unwrap_or(named);
        named.chars().filter(|c| !c.is_control()).take(CHARS_MAX).collect()
    }
}

/// The text of a small file without its last line end.
fn small(path: &Path) -> Option<String> {
    Some(small_file::read(path, BYTES_MAX)?.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn head_is_a_branch_with_its_commit_or_a_commit() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        fs::create_dir_all(git.join("refs/heads")).unwrap();
        assert_eq!(GitHead::of(&git), None);
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let unborn = GitHead::of(&git).unwrap();
        assert_eq!((unborn.words().as_str(), &unborn.commit), ("main", &None));
        fs::write(git.join("refs/heads/main"), "1111\n").unwrap();
        let born = GitHead::of(&git).unwrap();
        assert_eq!(born.commit.as_deref(), Some("1111"));
        fs::write(git.join("HEAD"), "2222\n").unwrap();
        assert_eq!(GitHead::of(&git).unwrap().words(), "2222");
        let tree = dir.path().join("tree.git");
        fs::write(&tree, format!("gitdir: {}\n", git.display())).unwrap();
        assert_eq!(GitHead::of(&tree), GitHead::of(&git));
        fs::write(&tree, "gitdir: .git\n").unwrap();
        assert_eq!(GitHead::of(&tree), GitHead::of(&git));
    }
}
