//! What may be read from where: paths, links, folders, and programs that only look like the
//! system's.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

const SYSTEM_PATH: &str = "/usr/bin:/bin";

struct Folders {
    dir: TempDir,
}

impl Folders {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let folders = Self { dir };
        fs::create_dir_all(folders.workspace().join("src/deep")).unwrap();
        fs::write(folders.workspace().join("a"), "").unwrap();
        fs::write(folders.dir.path().join("secret"), "").unwrap();
        symlink(folders.dir.path(), folders.workspace().join("out")).unwrap();
        symlink("src", folders.workspace().join("link")).unwrap();
        symlink("nowhere", folders.workspace().join("dangling")).unwrap();
        folders
    }

    fn workspace(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("workspace")
    }

    fn reads(&self, command: &str) -> Option<String> {
        self.reads_in(".", command)
    }

    fn reads_in(&self, cwd: &str, command: &str) -> Option<String> {
        programs(command, cwd, &self.workspace(), SYSTEM_PATH).map(|programs| programs.join(", "))
    }
}

#[test]
fn what_lies_in_the_workspace_is_read() {
    let folders = Folders::new();
    let absolute = format!("cat {}/a", folders.workspace().display());
    for (command, programs) in [
        ("ls", "ls"),
        ("ls -la .", "ls"),
        ("cat a missing src/deep/x ./a", "cat"),
        (absolute.as_str(), "cat"),
        ("ls src | head -5 | grep -v x && echo done || cat -", "ls, head, grep, echo, cat"),
        ("cd src && ls deep && cd deep && pwd", "cd, ls, pwd"),
    ] {
        assert_eq!(folders.reads(command).as_deref(), Some(programs), "{command}");
    }
    assert_eq!(folders.reads_in("src", "ls deep").as_deref(), Some("ls"));
}

#[test]
fn what_lies_outside_is_asked_about() {
    let folders = Folders::new();
    let sibling = format!("cat {}/secret", folders.dir.path().canonicalize().unwrap().display());
    let beside = format!("ls {}2", folders.workspace().display());
    let back = format!("cat {}/../secret", folders.workspace().display());
    for command in [
        "cat /etc/passwd",
        "ls /",
        "ls ..",
        "cat ../secret",
        "cat src/../../secret",
        "cat src/..",
        "cat out/secret",
        "ls out",
        "ls out/",
        "ls ./out/.",
        "cat link/x",
        "cat dangling",
        "cat a/b",
        "grep -r x /etc",
        "find / -name x",
        "find . -newer /etc/x",
        "head -n 5 out/secret",
        "cat a /etc/passwd",
        "ls | cat /etc/passwd",
        "ls; cat ../secret",
        "wc -- ../secret",
        "du out",
        "cat ''",
        &sibling,
        &beside,
        &back,
        "cd .. && ls",
        "cd out && ls",
        "cd link && ls",
        "cd nowhere && ls",
        "cd - && ls",
        "cd && ls",
        "cd a && ls",
        "cd src; cat a",
        "cd src || ls",
        "ls || cd src",
        "cd src | ls",
        "ls | cd src",
        "cd src && ls ..",
        "cd src && cd - && ls",
    ] {
        assert_eq!(folders.reads(command), None, "{command}");
    }
    for cwd in ["..", "out", "link", "nowhere", "/etc", "a", ""] {
        assert_eq!(folders.reads_in(cwd, "ls"), None, "{cwd}");
    }
}

#[test]
fn only_the_systems_own_programs_are_started() {
    let folders = Folders::new();
    let own = folders.dir.path().join("bin");
    fs::create_dir(&own).unwrap();
    symlink("/usr/bin/head", own.join("head")).unwrap();
    fs::copy("/usr/bin/head", own.join("wc")).unwrap();
    fs::write(own.join("cat"), "no program: nobody may execute it").unwrap();
    let path = format!("relative::{}:/usr/bin:/bin", own.display());
    let is = |name: &str| program::is_the_systems(name, &path, &folders.workspace());
    assert!(is("ls") && is("cat"));
    assert!(!is("head") && !is("wc"), "the first one of that name is somebody else's");
    assert!(!is("no-such-program") && !program::is_the_systems("ls", "", &folders.workspace()));
    // A workspace that holds the system's programs makes them anybody's.
    assert!(!program::is_the_systems("ls", SYSTEM_PATH, Path::new("/usr")));
}

#[test]
fn what_a_reader_opens_unnamed_is_no_link() {
    let folders = Folders::new();
    let workspace = folders.workspace();
    // The look at the disk alone, whether or not this machine has the programs.
    let plain = |program: &str, paths: &[&str]| {
        let place = Place::new(&workspace).folder(".").unwrap();
        hidden::is_plain(program, &place, paths)
    };
    assert!(
        plain("file", &["a"])
            && plain("rg", &[])
            && plain("rg", &["src", "a"])
            && plain("cat", &["a"])
    );
    for name in [".magic", ".magic.mgc"] {
        symlink("/etc/passwd", workspace.join(name)).unwrap();
        assert!(!plain("file", &["a"]) && plain("cat", &["a"]), "{name}");
        fs::remove_file(workspace.join(name)).unwrap();
    }
    for folder in ["", "src", "src/deep"] {
        for name in [".ignore", ".gitignore", ".rgignore", ".git"] {
            let path = workspace.join(folder).join(name);
            symlink("/etc/passwd", &path).unwrap();
            assert!(!plain("rg", &[]) && !plain("rg", &["src/deep"]), "{}", path.display());
            fs::remove_file(&path).unwrap();
            if name != ".git" {
                fs::write(&path, "x").unwrap();
                assert!(plain("rg", &[]), "a plain file is fine: {}", path.display());
                fs::remove_file(&path).unwrap();
            }
        }
    }
    fs::create_dir_all(workspace.join(".git/info")).unwrap();
    assert!(plain("rg", &["src"]));
    symlink("/etc/passwd", workspace.join(".git/info/exclude")).unwrap();
    assert!(!plain("rg", &["src"]));
    fs::remove_dir_all(workspace.join(".git")).unwrap();
    fs::write(workspace.join(".gitconfig"), "[core]\nexcludesFile = /etc/passwd\n").unwrap();
    assert!(!plain("rg", &[]));
}
