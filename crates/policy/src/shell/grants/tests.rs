//! Which commands can be granted by their program and subcommand, and that nothing beside them is.

use super::*;
use crate::shell::read;

fn words(text: &str) -> Option<String> {
    words_of(&read(text)?).map(|words| words.join(" "))
}

#[test]
fn a_command_is_granted_by_its_program_and_subcommand() {
    for (text, granted) in [
        ("cargo test", "cargo test"),
        ("cargo test --workspace some_test -- --nocapture", "cargo test"),
        ("cargo clippy --all-targets -- -D warnings", "cargo clippy"),
        ("git status --short src", "git status"),
        ("git commit -am 'A plain sentence; with $HOME in it'", "git commit"),
        ("git log --oneline -5 HEAD~1", "git log"),
        ("git log --oneline -5 main..HEAD -- src", "git log"),
        ("git push -u origin topic/one", "git push"),
        ("npm run build -- --watch", "npm run build"),
        ("make -j4", ""),
        ("make test -j4", "make test"),
        ("go test -run 'Test A' -count=1 ./...", "go test"),
    ] {
        assert_eq!(words(text), Some(granted.to_owned()).filter(|text| !text.is_empty()), "{text}");
    }
}

/// Shells, wrappers, unknown options, and what is more than one plain command.
const ELSEWHERE: &[&str] = &[
    "sh -c ls",
    "bash x.sh",
    "python x.py",
    "node x.js",
    "env git status",
    "sudo git status",
    "xargs git status",
    "timeout 5 cargo test",
    "nice cargo test",
    "npx cowsay",
    "ssh host ls",
    "find . -name x",
    "awk 1 x",
    "git",
    "git -c alias.x=y status",
    "git --exec-path=/x status",
    "git -C /x status",
    "git status --exec=x",
    "git fetch --upload-pack=x origin",
    "git fetch ext::sh",
    "git push origin +main",
    "git push origin :main",
    "git push --force",
    "git push --receive-pack=x",
    "git log --output=x",
    "git diff --ext-diff",
    "git diff --output=x",
    "git diff /etc/passwd /etc/hosts",
    "git diff ../a ../b",
    "git show --textconv",
    "git submodule foreach ls",
    "git rebase --exec x",
    "git bisect run x",
    "git config core.pager x",
    "git branch new",
    "git commit --amend",
    "git commit -F /etc/passwd",
    "git add -p",
    "cargo",
    "cargo --config x test",
    "cargo test --config x",
    "cargo test -Zx",
    "cargo +nightly test",
    "cargo test --manifest-path=/x/Cargo.toml",
    "cargo test --target-dir /x",
    "cargo test a b",
    "cargo xtask",
    "cargo clippy -- -C linker=x",
    "cargo clippy --fix",
    "cargo install x",
    "cargo build x",
    "make SHELL=x test",
    "make test SHELL=x",
    "make test other",
    "make -f x test",
    "make --eval=x test",
    "make -C x test",
    "npm run",
    "npm run build --script-shell=x",
    "npm install left-pad",
    "npm exec x",
    "npm --prefix x test",
    "go run x.go",
    "go test -exec x",
    "go test -toolexec=x ./...",
    "go generate",
    "cargo test; ls",
    "cargo test && ls",
    "cargo test | tail",
    "cargo test > x",
    "cargo test $X",
    "X=1 cargo test",
    "./cargo test",
    "/usr/bin/cargo test",
    "'cargo' test",
    "\\cargo test",
    "cargo test *",
    "cargo test &",
];

#[test]
fn whatever_leads_elsewhere_has_no_such_grant() {
    for text in ELSEWHERE.iter().copied() {
        assert_eq!(words(text), None, "{text}");
    }
}
