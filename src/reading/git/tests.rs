//! Repositories as git itself makes them, and what somebody may have put into one.
#![expect(clippy::disallowed_methods, reason = "the repositories of this test are made by git")]

use std::process::Command;

use tempfile::TempDir;

use super::*;

struct Repository {
    dir: TempDir,
}

impl Repository {
    /// With a commit and a remote; `None` where there is no git.
    fn new() -> Option<Self> {
        let repository = Self { dir: TempDir::new().unwrap() };
        fs::create_dir(repository.path("sub")).unwrap();
        repository.git(&["init", "-q"])?;
        for n in 0..20 {
            fs::write(repository.path(&format!("sub/{}", "x".repeat(n + 1))), "").unwrap();
        }
        repository.git(&["add", "."])?;
        repository.git(&["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x"])?;
        repository.git(&["remote", "add", "origin", "https://example.org/x.git"])?;
        Some(repository)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn git(&self, args: &[&str]) -> Option<()> {
        let mut command = Command::new("git");
        command
            .args(args)
            .current_dir(self.path(""))
            .env("HOME", self.path(""))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command.output().ok()?.status.success().then_some(())
    }

    fn is_harmless(&self) -> bool {
        self.is_harmless_in(".")
    }

    fn is_harmless_in(&self, folder: &str) -> bool {
        let workspace = self.path("");
        repository_starts_nothing(&Place::new(&workspace).folder(folder).unwrap())
    }
}

#[test]
fn a_repository_as_git_makes_it_starts_nothing() {
    let Some(repository) = Repository::new() else { return eprintln!("skipped: there is no git") };
    assert!(repository.is_harmless() && repository.is_harmless_in("sub"));
    repository.git(&["checkout", "-q", "--detach"]).unwrap();
    assert!(repository.is_harmless(), "a head without a branch");
}

#[test]
fn what_git_would_start_is_asked_about() {
    let Some(repository) = Repository::new() else { return eprintln!("skipped: there is no git") };
    let config = repository.path(".git/config");
    let before = fs::read_to_string(&config).unwrap();
    for more in [
        "[core]\nfsmonitor = touch x\n",
        "[core]\nhooksPath = hooks\n",
        "[CORE]\n\tPager=x\n",
        "[core] sshCommand = x\n",
        "[core]\nworktree = /etc\n",
        "[filter \"x\"]\nclean = touch x\n",
        "[diff \"x\"]\ntextconv = x\n",
        "[diff]\nexternal = x\n",
        "[include]\npath = x\n",
        "[includeIf \"gitdir:x\"]\npath = x\n",
        "[gpg]\nprogram = x\n",
        "[log]\nshowSignature = true\n",
        "[extensions]\npartialClone = origin\n",
        "[remote \"origin\"]\npromisor = true\n",
        "[remote.origin]\nurl = x\n",
        "[alias]\nstatus = !x\n",
        "[core]\nautocrlf = false \\\nfsmonitor = x\n",
        "[user \"]\n[core]\"]\nname = x\n",
        "nonsense\n",
        "\u{feff}[core]\nfilemode = true\n",
    ] {
        fs::write(&config, format!("{before}{more}")).unwrap();
        assert!(!repository.is_harmless(), "{more}");
        fs::write(&config, &before).unwrap();
        for home in [".gitconfig", ".config/git/config"] {
            let path = repository.path(home);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, more).unwrap();
            assert!(!repository.is_harmless(), "{home}: {more}");
            fs::remove_file(path).unwrap();
        }
    }
    assert!(repository.is_harmless());
}

#[test]
fn what_else_git_would_find_is_asked_about() {
    let Some(repository) = Repository::new() else { return eprintln!("skipped: there is no git") };
    for (name, text) in [
        (".git/hooks/post-index-change", ""),
        (".git/commondir", "../x"),
        ("sub/HEAD", "ref: refs/heads/x"),
        ("sub/.git", "gitdir: ../x"),
    ] {
        let path = repository.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        assert!(!repository.is_harmless_in("sub"), "{name}");
        fs::remove_file(path).unwrap();
    }
    fs::rename(repository.path(".git/refs"), repository.path(".git/away")).unwrap();
    assert!(!repository.is_harmless(), "git would not take it, and look further");
    fs::rename(repository.path(".git/away"), repository.path(".git/refs")).unwrap();
    fs::rename(repository.path(".git"), repository.path("real")).unwrap();
    assert!(!repository.is_harmless(), "there is no repository");
    std::os::unix::fs::symlink("real", repository.path(".git")).unwrap();
    assert!(!repository.is_harmless(), "a link");
}

#[test]
fn a_repository_with_another_one_in_it_is_asked_about() {
    let Some(repository) = Repository::new() else { return eprintln!("skipped: there is no git") };
    let head = fs::read_to_string(repository.path(".git/HEAD")).unwrap();
    let branch = head.trim().trim_start_matches("ref: ");
    let commit = fs::read_to_string(repository.path(".git").join(branch)).unwrap();
    repository
        .git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},zz", commit.trim())])
        .unwrap();
    assert!(!repository.is_harmless());
}

#[test]
fn an_index_that_is_not_understood_is_asked_about() {
    let Some(repository) = Repository::new() else { return eprintln!("skipped: there is no git") };
    let index = repository.path(".git/index");
    let bytes = fs::read(&index).unwrap();
    assert_eq!(names_files_only(&bytes), Some(true));
    // The twenty entries; behind them the cut may fall between two extensions, which changes
    // nothing.
    for length in 0..20 * 72 {
        assert_ne!(names_files_only(&bytes[..length]), Some(true), "cut after {length} bytes");
    }
    repository.git(&["update-index", "--index-version", "4"]).unwrap();
    assert!(!repository.is_harmless(), "names are packed in version 4");
    repository.git(&["update-index", "--index-version", "2"]).unwrap();
    assert!(repository.is_harmless());
    repository.git(&["update-index", "--split-index"]).unwrap();
    assert!(!repository.is_harmless(), "the rest is in another file");
}
