//! What commands find of the user's machine beside the system: programs, a HOME of their own, a
//! name for commits; and that they find nothing that signs in as the user.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use common::{House, SECRET, Server, box_or_skip};
use serde_json::Value;

const LEVELS: [&str; 3] = ["read", "write", "network"];

fn output(result: &Value) -> &str {
    result["structuredContent"]["output"].as_str().unwrap_or_default()
}

/// A program of the user's.
fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    claw_test_kit::write_program(path, text);
}

/// A server that was started with these folders of the home on PATH.
fn server(house: &House, path: &[&str], arguments: &[&str]) -> Server {
    let own: Vec<String> =
        path.iter().map(|name| house.home().join(name).display().to_string()).collect();
    let mut command = house.command(arguments);
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", own.join(":")));
    let mut server = Server::start(command);
    server.open_legacy();
    server
}

#[test]
fn a_program_below_the_users_home_runs_at_every_level_and_cannot_be_changed() {
    let house = House::new();
    let home = house.home();
    program(&home.join(".cargo/bin/hello"), "#!/bin/sh\necho hello from cargo\n");
    program(
        &home.join(".local/share/uv/tools/x/bin/tool"),
        "#!/bin/sh\ncat \"$(dirname \"$(readlink -f \"$0\")\")/../data\"\n",
    );
    fs::write(home.join(".local/share/uv/tools/x/data"), "data of the tool\n").unwrap();
    fs::create_dir_all(home.join(".local/bin")).unwrap();
    symlink("../share/uv/tools/x/bin/tool", home.join(".local/bin/tool")).unwrap();
    let mut server = server(&house, &[".cargo/bin", ".local/bin"], &[]);
    for level in LEVELS {
        let result = server.at(level, "hello && tool");
        assert_eq!(output(&result), "hello from cargo\ndata of the tool\n", "{level}: {result}");
        if box_or_skip(3) {
            for file in [".cargo/bin/hello", ".local/share/uv/tools/x/data"] {
                let path = home.join(file);
                let before = fs::read(&path).unwrap();
                server.at(level, &format!("echo x >> {0}; rm -f {0}", path.display()));
                assert_eq!(fs::read(&path).unwrap(), before, "{level}");
            }
        }
    }
}

/// The list of the credentials that no command reads, with programs beside them on PATH.
#[test]
fn no_credentials_are_readable_at_any_level() {
    if !box_or_skip(3) {
        return;
    }
    let house = House::new();
    let home = house.home();
    let credentials = [
        ".cargo/credentials.toml",
        ".cargo/credentials",
        ".cargo/config.toml",
        ".cargo/git/db/private-1/FETCH_HEAD",
        ".npmrc",
        ".pypirc",
        ".netrc",
        ".git-credentials",
        ".gitconfig",
        ".config/gh/hosts.yml",
        ".config/git/credentials",
        ".ssh/id_ed25519",
        ".ssh/config",
        ".aws/credentials",
        ".docker/config.json",
        ".kube/config",
        ".gnupg/secring.gpg",
        ".local/share/uv/credentials/index",
        ".local/share/keyrings/login.keyring",
        ".m2/settings.xml",
        ".gradle/gradle.properties",
        ".gem/credentials",
        ".config/gcloud/credentials.db",
        ".bash_history",
    ];
    for name in credentials {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        fs::write(home.join(name), SECRET).unwrap();
    }
    for name in [".cargo/bin/a", ".local/bin/uv", "go/bin/b", ".local/share/uv/tools/x/bin/x"] {
        program(&home.join(name), "#!/bin/sh\necho fine\n");
    }
    fs::create_dir_all(home.join(".cargo/registry/cache")).unwrap();
    symlink(home.join(".ssh/id_ed25519"), home.join(".local/bin/key")).unwrap();
    let path = [".cargo/bin", ".local/bin", "go/bin", ".ssh", "", ".config/gh"];
    let mut server = server(&house, &path, &[]);
    for level in LEVELS {
        assert_eq!(output(&server.at(level, "a && b && uv")), "fine\nfine\nfine\n", "{level}");
        for name in credentials.into_iter().chain([".local/bin/key"]) {
            let file = home.join(name);
            assert!(
                fs::read_to_string(&file).unwrap().contains(SECRET),
                "the test itself reads it"
            );
            let result = server.at(level, &format!("cat {} ~/{name}", file.display()));
            assert!(!result.to_string().contains(SECRET), "{level} {name}: {result}");
        }
    }
}

#[test]
fn home_is_a_folder_of_its_own_that_lasts_and_that_a_command_that_looks_cannot_change() {
    let house = House::new();
    let folder = house.claw_home().join("home-of-commands");
    let argument = folder.display().to_string();
    let mut first = server(&house, &[], &["--home", &argument]);
    let said =
        output(&first.at("write", "mkdir -p ~/.cache && echo kept > ~/.cache/x; echo $HOME"))
            .to_owned();
    assert_eq!(said, format!("{argument}/home\n"));
    first.close_stdin();
    first.exit_code();
    let mut second = server(&house, &[], &["--home", &argument]);
    for level in LEVELS {
        let result = second.at(level, "cat ~/.cache/x; env | grep -c \"=$HOME\"");
        assert!(output(&result).starts_with("kept\n"), "{level}: {result}");
    }
    for part in [&folder, &folder.join("home"), &folder.join("told")] {
        assert_eq!(fs::metadata(part).unwrap().permissions().mode() & 0o777, 0o700);
    }
    if box_or_skip(3) {
        let result = second.at("read", "echo x > ~/.cache/x");
        assert!(output(&result).contains("denied") || output(&result).contains("Read-only"));
        second.at("write", "echo x > ~/../told/gitconfig; mv ~ ~/../other; rm -rf ~/../told");
        assert!(folder.join("told/gitconfig").is_file() && folder.join("home").is_dir());
    }
    assert_eq!(fs::read_to_string(folder.join("home/.cache/x")).unwrap(), "kept\n");
    // Nothing of it appears in the workspace.
    assert_eq!(fs::read_dir(house.workspace()).unwrap().count(), 0);
}

#[test]
fn a_home_that_has_grown_too_large_is_emptied_and_the_result_says_so() {
    let house = House::new();
    let argument = house.claw_home().join("homes").display().to_string();
    let limit = ["--home", &argument, "--command-home-bytes-max", "1048576"];
    let mut server = server(&house, &[], &limit);
    let result =
        server.at("write", "head -c 2000000 /dev/zero > ~/.cache/big; mkdir -m 500 ~/go/locked");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("command_home_bytes_max (1 MiB)"), "{text}");
    assert_eq!(
        output(&server.at("write", "ls ~/.cache ~/go; echo no more")).lines().last(),
        Some("no more")
    );
    assert!(!output(&server.at("write", "ls ~/.cache ~/go")).contains("big"));
}

#[test]
fn git_has_the_users_name_and_nothing_else_of_the_users_settings() {
    let house = House::new();
    let has_git = Command::new("git").arg("--version").output().is_ok();
    fs::write(
        house.home().join(".gitconfig"),
        "[user]\n name = Wrong\n email = ada@example.org\n signingkey = ABCDEF\n\
         [include]\n path = more\n[alias]\n hi = !echo aliased\n[credential]\n helper = store\n",
    )
    .unwrap();
    fs::write(house.home().join("more"), "[user]\n name = Ada \\\"L\\\" Lovelace\n").unwrap();
    let mut server = server(&house, &[], &[]);
    let told = output(&server.at("read", "cat \"$GIT_CONFIG_SYSTEM\"")).to_owned();
    if !has_git {
        assert!(told.contains("[user]\n") && !told.contains("Ada"), "{told}");
        return;
    }
    assert!(told.contains("email = \"ada@example.org\"") && !told.contains("ABCDEF"), "{told}");
    let commit =
        "git init -q && git commit -q --allow-empty -m x && git log -1 --format='%an <%ae>'";
    let result = server.at("write", commit);
    assert_eq!(output(&result), "Ada \"L\" Lovelace <ada@example.org>\n", "{result}");
    for (setting, level) in [("alias.hi", "read"), ("credential.helper", "network")] {
        let result = server.at(level, &format!("git config --get {setting}"));
        assert_eq!(output(&result), "", "{result}");
    }
    // The repository's own name goes first, and what a command sets for itself lasts.
    let own = "git config user.name Own && git config --global user.email g@h && \
               git commit -q --allow-empty -m y && git log -1 --format='%an <%ae>'";
    // `.git/config` is obeyed on sight, so that it takes the widest level to change it.
    assert_eq!(output(&server.at("network", own)), "Own <g@h>\n");
}
