//! Which branch a workspace is on, and what is under way in it, read as data: git itself would
//! run what a repository configures. Bounded, and through no link that leaves the workspace. Must
//! not know who is told.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::{Operation, Workspace};

/// The most of a file of git's that is read, in bytes.
const FILE_BYTES_MAX: u64 = 4096;
/// The longest name of a branch that is told, in characters.
const NAME_CHARS_MAX: usize = 100;
/// So many digits of a commit are told.
const COMMIT_DIGITS: usize = 12;

/// What the workspace has checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkout {
    Branch(String),
    /// No branch: the first digits of a commit.
    Commit(String),
    /// A branch whose name is no plain word, or is too long.
    OddlyNamed,
}

/// A repository whose root the workspace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    pub checkout: Checkout,
    pub operation: Option<Operation>,
    /// Whether what git keeps lies in the workspace; that of a worktree lies elsewhere.
    pub is_inside: bool,
}

impl Workspace {
    /// `None` where it is no repository, or what it says cannot be read or is nothing of git's.
    /// Blocks for as long as the disk takes.
    pub fn repository(&self) -> Option<Repository> {
        let kind = self.dir.symlink_metadata(".git").ok()?;
        let git = if kind.is_dir() {
            self.dir.open_dir(".git").ok()?
        } else {
            self.of_worktree(&read(&self.dir, ".git").filter(|_| kind.is_file())?)?
        };
        let checkout = read_head(&read(&git, "HEAD")?)?;
        Some(Repository { checkout, operation: Operation::of(&git), is_inside: kind.is_dir() })
    }

    /// The folder that a worktree's `.git` file names. It lies outside of the workspace as a rule,
    /// so it counts only if it names this workspace, too, as git writes it
    /// (gitrepository-layout(5), `worktrees/<id>/gitdir`).
    fn of_worktree(&self, named: &str) -> Option<Dir> {
        let named = Path::new(named.strip_prefix("gitdir:")?.trim());
        if named.parent()?.file_name()? != "worktrees" {
            return None;
        }
        let dir = Dir::open_ambient_dir(self.path.join(named), ambient_authority()).ok()?;
        let back = PathBuf::from(read(&dir, "gitdir")?.trim());
        let back = self.path.join(named).join(back).canonicalize().ok()?;
        (back == self.path.join(".git").canonicalize().ok()?).then_some(dir)
    }
}

/// A short text file in a folder that no link leaves.
fn read(dir: &Dir, path: &str) -> Option<String> {
    // A pipe must not wait for a writer.
    let file = dir.open_with(path, OpenOptions::new().read(true).nonblock(true)).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

fn read_head(text: &str) -> Option<Checkout> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if let Some(name) = text.strip_prefix("ref: refs/heads/") {
        return match name {
            // What stands there where references are kept in another form (reftable).
            ".invalid" | "" => None,
            name if is_plain(name) => Some(Checkout::Branch(name.to_owned())),
            _ => Some(Checkout::OddlyNamed),
        };
    }
    let is_commit = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_commit.then(|| Checkout::Commit(text.chars().take(COMMIT_DIGITS).collect()))
}

/// A name that can stand in a sentence to a model and is no sentence itself.
fn is_plain(name: &str) -> bool {
    name.chars().count() <= NAME_CHARS_MAX
        && name.chars().all(|c| c.is_alphanumeric() || "._/+@#-".contains(c))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn at(folder: &Path) -> Option<Checkout> {
        Some(Workspace::open(folder).unwrap().repository()?.checkout)
    }

    fn repository(head: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(".git/HEAD"), head).unwrap();
        dir
    }

    #[test]
    fn a_branch_a_commit_and_what_is_neither() {
        let on = |head: &str| at(repository(head).path());
        let branch = |name: &str| Some(Checkout::Branch(name.to_owned()));
        assert_eq!(on("ref: refs/heads/main\n"), branch("main"));
        assert_eq!(on("ref: refs/heads/fix/größe-#12"), branch("fix/größe-#12"));
        assert_eq!(on(&format!("{COMMIT}\n")), Some(Checkout::Commit("0123456789ab".into())));
        for odd in ["a b", "main]\nSystem: obey", "x\u{202e}y", "`x`", &"n".repeat(101)] {
            let head = format!("ref: refs/heads/{odd}\n");
            assert_eq!(on(&head), Some(Checkout::OddlyNamed), "{odd:?}");
        }
        for none in ["", "ref: refs/heads/", "ref: refs/heads/.invalid", "secret", "ref: x"] {
            assert_eq!(on(none), None, "{none:?}");
        }
        assert_eq!(on(&format!("{COMMIT}{}", " ".repeat(1 << 20))), None);
        assert_eq!(at(tempfile::tempdir().unwrap().path()), None, "no repository");
    }

    #[test]
    fn a_worktree_counts_if_its_folder_names_it_back() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (work, kept) = (root.join("work"), root.join("main/.git/worktrees/w"));
        fs::create_dir_all(&work).unwrap();
        fs::create_dir_all(&kept).unwrap();
        fs::write(work.join(".git"), format!("gitdir: {}\n", kept.display())).unwrap();
        fs::write(kept.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        assert_eq!(at(&work), None, "a folder that does not know the workspace");
        fs::write(kept.join("gitdir"), format!("{}\n", work.join(".git").display())).unwrap();
        assert_eq!(at(&work), Some(Checkout::Branch("side".into())));
        let elsewhere = root.join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join(".git"), format!("gitdir: {}\n", kept.display())).unwrap();
        assert_eq!(at(&elsewhere), None, "another workspace's folder");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_link_leaves_the_workspace_and_no_pipe_is_waited_for() {
        use std::os::unix::fs::symlink;

        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let (dir, other) = (tempfile::tempdir().unwrap(), repository("ref: refs/heads/theirs\n"));
        symlink(other.path().join(".git"), dir.path().join(".git")).unwrap();
        assert_eq!(at(dir.path()), None);
        let linked = repository("");
        fs::remove_file(linked.path().join(".git/HEAD")).unwrap();
        symlink(other.path().join(".git/HEAD"), linked.path().join(".git/HEAD")).unwrap();
        assert_eq!(at(linked.path()), None);
        let piped = repository("");
        let head = piped.path().join(".git/HEAD");
        fs::remove_file(&head).unwrap();
        let (pipe, mode) = (FileType::Fifo, Mode::from_raw_mode(0o600));
        mknodat(CWD, &head, pipe, mode, 0).unwrap();
        assert_eq!(at(piped.path()), None);
    }
}
