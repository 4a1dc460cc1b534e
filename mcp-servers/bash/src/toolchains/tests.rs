//! What is found in homes that are made for it, and what is not given of them.

use std::os::unix::fs::symlink;

use super::*;

/// A user's home with programs in it, and a workspace.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.folder("work");
        home
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn folder(&self, name: &str) -> PathBuf {
        fs::create_dir_all(self.at(name)).unwrap();
        self.at(name)
    }

    fn file(&self, name: &str) -> PathBuf {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), "x").unwrap();
        self.at(name)
    }

    fn link(&self, name: &str, to: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        symlink(self.at(to), self.at(name)).unwrap();
    }

    fn find(&self, path: &[&str]) -> Toolchains {
        self.find_with(path, &|_| None)
    }

    fn find_with(&self, path: &[&str], variable: &dyn Fn(&str) -> Option<OsString>) -> Toolchains {
        Toolchains::find(&Surroundings {
            path: env::join_paths(path.iter().map(|name| self.at(name))).unwrap(),
            home: Some(self.path()),
            writable: &[self.at("work")],
            protect: &[self.at(".claw")],
            variable,
        })
    }

    /// What is given, named from the home on.
    fn given(&self, found: &Toolchains) -> Vec<String> {
        let name = |path: &PathBuf| path.strip_prefix(self.path()).unwrap().display().to_string();
        found.readable.iter().map(name).collect()
    }
}

#[test]
fn a_link_is_followed_to_where_the_system_follows_it() {
    let home = Home::new();
    home.file("opt/tool/bin/real");
    home.link("alternatives", "opt/tool");
    let bin = home.folder("bin");
    for (name, to) in [
        ("plain", "beside"),
        ("beside", "../opt/tool/bin/real"),
        ("through-a-folder", "../alternatives/bin/real"),
        ("up-again", "../alternatives/bin/../bin/./real"),
        ("to-a-folder", "../alternatives"),
        ("dangling", "../opt/none/real"),
        ("gone", "no-such"),
        ("loop", "loop"),
        ("round", "round-2"),
        ("round-2", "round"),
        ("parent", ".."),
        ("root", "/"),
    ] {
        symlink(to, bin.join(name)).unwrap();
    }
    symlink(home.at("bin/through-a-folder"), bin.join("absolute")).unwrap();
    let (path, home_path) = (OsString::new(), home.path());
    let around = Surroundings {
        path,
        home: Some(home_path),
        writable: &[],
        protect: &[],
        variable: &|_| None,
    };
    let mut search = Search::new(&around);
    let mut files = 0;
    for entry in fs::read_dir(&bin).unwrap() {
        let link = entry.unwrap().path();
        let by_system = link.canonicalize().ok().filter(|real| real.is_file());
        files += usize::from(by_system.is_some());
        let ours = search.end_of(link.clone()).filter(|real| real.is_file());
        assert_eq!(ours, by_system, "{}", link.display());
    }
    assert_eq!(files, 5);
}

#[test]
fn rust_comes_with_its_toolchains_and_crates_and_without_its_tokens() {
    let home = Home::new();
    home.file(".cargo/bin/rustup");
    home.link(".cargo/bin/cargo", ".cargo/bin/rustup");
    home.file(".cargo/credentials.toml");
    home.file(".cargo/config.toml");
    home.file(".rustup/toolchains/stable/bin/cargo");
    home.file(".rustup/settings.toml");
    home.folder(".cargo/registry/cache");
    let found = home.find(&[".cargo/bin"]);
    let given = [".cargo/bin", ".cargo/registry", ".rustup/settings.toml", ".rustup/toolchains"];
    assert_eq!(home.given(&found), given);
    let shared: Vec<_> = found.shared.iter().map(|part| part.to.display().to_string()).collect();
    let below = [".rustup/toolchains", ".rustup/settings.toml", ".cargo/registry/cache"];
    assert_eq!(shared, below);
    assert_eq!(found.search, [home.at(".cargo/bin")]);
}

#[test]
fn a_link_is_followed_to_where_the_program_and_its_libraries_are() {
    let home = Home::new();
    home.file("sdk/node-20/bin/node");
    home.file("sdk/node-20/lib/node_modules/npm/bin/npm-cli.js");
    home.file("sdk/node-20/etc/npmrc");
    home.link("sdk/node-20/bin/npm", "sdk/node-20/lib/node_modules/npm/bin/npm-cli.js");
    home.link(".local/bin/node", "sdk/node-20/bin/node");
    home.link(".local/bin/npm", "sdk/node-20/bin/npm");
    home.file(".local/share/keyrings/login.keyring");
    let found = home.find(&[".local/bin"]);
    let given = [".local/bin", "sdk/node-20/bin/node", "sdk/node-20/lib"];
    assert_eq!(home.given(&found), given);
}

#[test]
fn the_tools_of_uv_come_with_their_pythons_and_without_its_credentials() {
    let home = Home::new();
    home.file(".local/share/uv/tools/pytest/bin/pytest");
    home.file(".local/share/uv/python/cpython-3.12/bin/python3");
    home.file(".local/share/uv/credentials/one");
    home.link(".local/bin/pytest", ".local/share/uv/tools/pytest/bin/pytest");
    let found = home.find(&[".local/bin"]);
    let given = home.given(&found);
    assert!(given.contains(&".local/share/uv/python".to_owned()), "{given:?}");
    assert!(given.iter().any(|path| ".local/share/uv/tools/pytest/bin/pytest".starts_with(path)));
    assert!(!given.iter().any(|path| ".local/share/uv/credentials".starts_with(path)), "{given:?}");
    assert_eq!(found.shared.len(), 1);
}

#[test]
fn a_manager_that_path_does_not_lead_to_is_not_given() {
    let home = Home::new();
    home.folder(".nvm/versions/node/v20/bin");
    home.folder(".pyenv/shims");
    home.file("bin/tool");
    assert_eq!(home.given(&home.find(&["bin"])), ["bin"]);
    let found = home.find(&["bin", ".nvm/versions/node/v20/bin"]);
    assert!(home.given(&found).contains(&".nvm/versions".to_owned()), "{found:?}");
    let told: Vec<_> = found.variables.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    assert_eq!(told, ["NVM_DIR"]);
}

#[test]
fn what_is_too_wide_writable_missing_or_closed_is_left_out_and_said() {
    let home = Home::new();
    for name in ["work/bin", ".ssh/bin", ".config/gh/bin", ".claw/bin"] {
        home.folder(name);
    }
    home.link("bin/key", ".ssh/id");
    home.file(".ssh/id");
    let path =
        ["", "work/bin", ".ssh/bin", ".config", ".config/gh/bin", ".claw/bin", "gone", "bin"];
    let found = home.find(&path);
    let why: Vec<_> = found.left_out.iter().map(|(_, why)| *why).collect();
    use LeftOut::{Closed, Home as Whole, Missing, Writable};
    assert_eq!(why, [Whole, Writable, Closed, Closed, Closed, Closed, Missing]);
    assert_eq!(home.given(&found), ["bin"]);
    assert_eq!(found.search, [home.at("bin")]);
}

/// Whatever PATH and the variables say, nothing that is given holds a place of credentials or lies
/// in one.
#[test]
fn no_path_and_no_variable_gives_a_place_of_credentials() {
    let home = Home::new();
    for name in credentials::CREDENTIALS {
        home.file(&format!("{name}/bin/tool"));
    }
    home.link("bin/tool", ".ssh/bin/tool");
    let mut path: Vec<String> = vec!["bin".into(), ".local/bin".into(), ".cargo/bin".into()];
    for name in credentials::CREDENTIALS {
        path.push((*name).to_owned());
        path.push(format!("{name}/bin"));
        path.extend(Path::new(name).ancestors().skip(1).map(|dir| dir.display().to_string()));
    }
    for manager in MANAGERS {
        home.file(&format!("{}/bin/tool", manager.default));
        path.push(format!("{}/bin", manager.default));
        path.push(manager.default.to_owned());
    }
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    for root in ["", ".ssh", ".cargo", ".config/gh", ".claw", ".local/share"] {
        let value = home.at(root).into_os_string();
        let found = home.find_with(&path, &|_| Some(value.clone()));
        assert!(!found.readable.is_empty());
        for given in &found.readable {
            let closed = credentials::below(&home.path());
            let hit = closed.iter().find(|closed| credentials::overlap(given, closed));
            assert_eq!(hit, None, "{root}: {}", given.display());
        }
    }
}

#[test]
fn a_java_and_a_go_are_given_whole_where_a_variable_or_path_names_them() {
    let home = Home::new();
    home.file("jdk/bin/java");
    home.file("jdk/conf/security/java.policy");
    home.file("go-1.22/bin/go");
    home.file("go-1.22/VERSION");
    home.folder("go-1.22/pkg/tool");
    home.folder("go/pkg/mod/cache/download");
    let java = home.at("jdk").into_os_string();
    let found =
        home.find_with(&["go-1.22/bin"], &|name| (name == "JAVA_HOME").then(|| java.clone()));
    assert_eq!(home.given(&found), ["go/pkg/mod", "go-1.22", "go-1.22/bin", "jdk"]);
    let proxy = found.variables.iter().find(|(name, _)| name == "GOPROXY").unwrap();
    let store = home.at("go/pkg/mod/cache/download");
    let expected = format!("file://{},https://proxy.golang.org,direct", store.display());
    assert_eq!(proxy.1.to_str().unwrap(), expected);
}
