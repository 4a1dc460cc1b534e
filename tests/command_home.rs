//! The HOME of commands through the whole program: what programs obey there on sight is not changed
//! by a command at level `write`, so that no later one, which may do more, runs what it has left.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::program::{House, outcomes};
use crate::shell_folder::{ALLOW, done, house, printed, runs, whole};

/// Each leaves a file in HOME that a program obeys as soon as it is there, and says nothing of it.
const LEAVE: &[&str] = &[
    "echo 'touch obeyed' > ~/.bashrc",
    "echo 'touch obeyed' > ~/.profile",
    "git config --global alias.st '!touch obeyed'",
    "mkdir -p ~/.config/git && echo '[alias]\nst = !touch obeyed' > ~/.config/git/config",
    "echo 'script-shell = ./x' > ~/.npmrc",
    "mkdir -p ~/.cargo && echo '[build]\nrustc-wrapper = \"./x\"' > ~/.cargo/config.toml",
    "mkdir -p ~/.cargo/bin && echo x > ~/.cargo/bin/cargo-fmt",
    "mkdir -p ~/.gradle/init.d && echo x > ~/.gradle/init.d/x.gradle",
    "echo x > ~/.cache/x && mv ~/.cache/x ~/.inputrc",
    "echo x > ~/.cache/x && ln ~/.cache/x ~/.vimrc",
    "mv ~/.cache ~/.config",
    "rmdir ~/go && ln -s . ~/go",
    "ln -s .. ~/.cache/up && echo x > ~/.cache/up/.zshrc",
    "d=$(python3 -c 'import site; print(site.getusersitepackages())' || echo ~/.local/lib/p) && \
     mkdir -p \"$d\" && echo 'open(\"obeyed\", \"w\")' > \"$d/usercustomize.py\"",
];
/// Programs that would act by one of them.
const ACT: &str = "bash -ic true; bash -lc true; git st; python3 -c pass; true";

fn at(level: &str, command: &str) -> Value {
    json!({"command": command, "needs": level})
}

/// Every file in the HOME of commands outside of the places for caches.
fn left_in(house: &House) -> Vec<PathBuf> {
    let homes = fs::read_dir(house.home().join("command-homes")).unwrap();
    let mut waiting: Vec<PathBuf> = homes.map(|home| home.unwrap().path().join("home")).collect();
    let mut files = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let (path, kind) = entry.map(|e| (e.path(), e.file_type().unwrap())).unwrap();
            let of_caches = [".cache", "go", ".package-cache", ".package-cache-mutate"];
            match path.file_name().unwrap().to_str().unwrap() {
                name if of_caches.contains(&name) => assert!(!kind.is_symlink(), "{path:?}"),
                _ if kind.is_dir() => waiting.push(path),
                _ => files.push(path),
            }
        }
    }
    files
}

#[test]
fn what_a_command_at_write_leaves_in_home_is_run_by_no_later_one() {
    let leave = LEAVE.iter().map(|command| runs(&[at("write", command)]));
    let act = [runs(&[at("network", ACT)]), done()];
    let (house, model) = house(ALLOW, leave.chain(act));
    if !house.is_boxed() {
        return;
    }
    house.claw(&["ask", "go"]).expect(0);
    let told = outcomes(&house.events("main"));
    assert_eq!(told.len(), LEAVE.len() + 1, "{told:?}");
    for (command, outcome) in LEAVE.iter().zip(&told) {
        let code = outcome["output"]["structured"]["exit_code"].as_i64().unwrap();
        assert_ne!(code, 0, "{command}: {outcome}");
    }
    let said = told[0]["output"]["text"].as_str().unwrap();
    assert!(said.contains("changes of HOME only caches"), "{said}");
    assert!(said.contains(".bashrc is not one"), "{said}");
    assert!(!house.workspace().join("obeyed").exists());
    assert_eq!(left_in(&house), Vec::<PathBuf>::new());
    whole(&house, &model);
}

#[test]
fn caches_are_written_at_write_and_a_command_that_somebody_allowed_changes_the_rest() {
    let (house, model) = house(
        ALLOW,
        [
            runs(&[at(
                "write",
                "mkdir -p ~/.cargo/registry/src ~/go/pkg && echo kept | tee ~/.cache/a ~/go/pkg/b",
            )]),
            runs(&[at(
                "network",
                "cat ~/.cache/a && echo '[alias]' > ~/.gitconfig && rm -r ~/.cache && echo changed",
            )]),
            // What is gone is there again.
            runs(&[at("write", "echo again > ~/.cache/a; cat ~/.cache/a ~/.gitconfig")]),
            runs(&[at("read", "cat ~/.cache/a")]),
            done(),
        ],
    );
    if !house.is_boxed() {
        return;
    }
    house.claw(&["ask", "go"]).expect(0);
    assert_eq!(printed(&house, "main"), ["kept", "kept\nchanged", "again\n[alias]", "again"]);
    whole(&house, &model);
}
