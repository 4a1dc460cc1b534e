//! What a command has for itself where the system gives it namespaces: `/tmp`, processes, loopback;
//! and what it leaves alone at level `write`, because other programs obey it on sight.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use claw_kit::obeyed::{Held, TABLE};
use claw_test_kit::skipped;
use common::{House, Server, box_or_skip, eventually};
use serde_json::{Value, json};

/// A server whose commands have namespaces of their own. `None` where the system gives none: then
/// its label says so, and the host asks about each level that it cannot hold.
fn apart(house: &House) -> Option<Server> {
    if !box_or_skip(3) {
        return None;
    }
    let mut server = house.server();
    let label = server.run("true")["box"].as_str().unwrap().to_owned();
    let has = label.ends_with("+mounts");
    if !has {
        skipped(&label);
    }
    has.then_some(server)
}

fn output(result: &Value) -> &str {
    result["structuredContent"]["output"].as_str().unwrap_or_default()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn tmp_is_empty_and_the_commands_own() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let mark = format!("claw-own-tmp-{}", std::process::id());
    let write =
        format!("ls /tmp | grep -c {mark}; echo x > /tmp/{mark} && cat /tmp/{mark}; echo $TMPDIR");
    for level in ["read", "read", "write", "network"] {
        let result = server.at(level, &write);
        assert_eq!(output(&result), "0\nx\n/tmp\n", "{level}: {result}");
        assert!(!Path::new("/tmp").join(&mark).exists(), "{level}");
        if level == "write" {
            server.at("write", &format!("rm /tmp/{mark}"));
        }
    }
    // Modes and programs of its own work there, too.
    let program = "printf '#!/bin/sh\\necho ran' > /tmp/p && chmod 755 /tmp/p && /tmp/p && cp -rp . /tmp/copy";
    assert_eq!(output(&server.at("read", program)), "ran\n");
}

#[test]
fn a_workspace_below_tmp_stays_where_it_is() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    fs::write(house.workspace().join("notes"), "one\n").unwrap();
    for level in ["read", "write", "network"] {
        assert_eq!(output(&server.at(level, "cat \"$PWD/notes\"")), "one\n", "{level}");
    }
    server.at("write", "echo two >> \"$PWD/notes\"");
    assert_eq!(fs::read_to_string(house.workspace().join("notes")).unwrap(), "one\ntwo\n");
    let refused = server.at("read", "echo three >> \"$PWD/notes\"");
    assert!(text(&refused).contains("needs: \"write\""), "{refused}");
}

#[test]
fn a_command_sees_no_other_command() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let mark = format!("sleep 300.{}", std::process::id());
    server.post("tools/call", json!({"name": "start", "arguments": {"command": mark}}));
    let seen = server.at("read", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ps -e -o args 2>&1");
    assert!(!output(&seen).contains("sleep 300"), "{seen}");
    server.at("write", "kill -9 -1");
    let id = server.post("tools/call", json!({"name": "list", "arguments": {}}));
    let jobs = server.answer(id)["result"].take();
    assert_eq!(jobs["structuredContent"]["jobs"][0]["running"], true, "{jobs}");
}

#[test]
fn loopback_is_its_own_and_leads_nowhere() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let out = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    for level in ["read", "write"] {
        let result = server.at(level, &out);
        assert!(output(&result).contains("Connection refused"), "{level}: {result}");
        assert!(text(&result).contains("needs: \"network\""), "{level}: {result}");
        let devices = server.at(level, "tail -n +3 /proc/net/dev | cut -d: -f1");
        assert_eq!(output(&devices).trim(), "lo", "{level}");
        let away = server.at(level, "exec 3<>/dev/tcp/192.0.2.1/80");
        assert!(output(&away).contains("unreachable"), "{level}: {away}");
    }
    assert_eq!(output(&server.at("network", &format!("{out} && echo there"))), "there\n");
    let listens = "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); \
                   c = socket.create_connection(s.getsockname()); print(\"answered\", s.accept()[0].fileno() > 0)'";
    let result = server.at("read", listens);
    if !output(&result).contains("not found") {
        assert_eq!(output(&result), "answered True\n", "{result}");
    }
}

/// Changes the level `write` refuses, each with a file that must stay as it is.
const REFUSED: &[&str] = &[
    "echo x >> AGENTS.md",
    "rm AGENTS.md",
    "mv AGENTS.md other",
    "ln -f notes AGENTS.md",
    "sed -i s/own/x/ sub/CLAUDE.md",
    "echo x > .git/hooks/pre-commit",
    "rm -r .git/hooks",
    "mv .git/hooks .git/h",
    "mv .git other",
    "echo '[alias]' >> .git/config",
    "cp notes .git/config",
    "mv notes .git/config",
    "chmod 777 .git/config",
    "echo x > .vscode/tasks.json",
    "truncate -s 0 .github/workflows/ci.yml",
    "ln AGENTS.md l && echo x >> l",
    "mv sub moved",
];

fn with_what_is_obeyed(house: &House) -> Vec<std::path::PathBuf> {
    let at = house.workspace();
    let files = [
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".git/hooks/pre-push",
        ".git/config",
        ".vscode/settings.json",
        ".github/workflows/ci.yml",
    ];
    fs::write(at.join("notes"), "plain\n").unwrap();
    files
        .map(|name| {
            let path = at.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "own\n").unwrap();
            path
        })
        .to_vec()
}

#[test]
fn level_write_changes_nothing_that_other_programs_obey() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let files = with_what_is_obeyed(&house);
    for command in REFUSED {
        let result = server.at("write", command);
        assert_ne!(result["structuredContent"]["exit_code"], 0, "{command}: {result}");
        for file in &files {
            assert_eq!(fs::read_to_string(file).unwrap(), "own\n", "{command}");
        }
        assert!(!house.workspace().join(".git/hooks/pre-commit").exists(), "{command}");
    }
    let result = server.at("write", "echo x >> .git/config");
    assert!(text(&result).contains("needs: \"network\" may change"), "{result}");
    assert_eq!(
        output(&server.at("write", "echo y >> notes && mkdir .git/objects && echo ok")),
        "ok\n"
    );
    // Who may more, changes it.
    assert_eq!(output(&server.at("network", "echo x >> AGENTS.md && echo ok")), "ok\n");
}

#[test]
fn what_level_write_makes_anew_and_is_obeyed_is_set_aside_and_named() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let at = house.workspace();
    for (command, made) in [
        ("echo x > .envrc", ".envrc"),
        ("mkdir -p .github/workflows; echo x > .github/workflows/a.yml; false", ".github"),
        ("mkdir new; echo x > new/AGENTS.md; kill -9 $$", "new/AGENTS.md"),
        ("ln -s notes .mcp.json", ".mcp.json"),
        ("mkdir -p r/.git/hooks; echo x > r/.git/hooks/pre-commit", "r/.git/hooks"),
    ] {
        let result = server.at("write", command);
        assert!(text(&result).contains(&format!("{made} is now {made}.set-aside")), "{result}");
        assert!(fs::symlink_metadata(at.join(made)).is_err(), "{command}");
        assert!(fs::symlink_metadata(at.join(format!("{made}.set-aside"))).is_ok(), "{command}");
    }
    let result = server.at("write", "echo x > plain");
    assert!(!text(&result).contains("set aside"), "{result}");
    let result = server.at("network", "echo x > .envrc");
    assert!(at.join(".envrc").exists() && !text(&result).contains("set aside"), "{result}");
}

/// Whoever reads it waits for a writer that never comes, or for ever.
#[test]
fn what_cannot_be_read_keeps_nothing_from_being_set_aside() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let at = house.workspace();
    let made = "mkdir '!' big && mkfifo '!/.git' && truncate -s 10G big/.git; \
                mkdir -p r/.git/rebase-merge && mkfifo r/.git/rebase-merge/git-rebase-todo; \
                echo x > AGENTS.md; echo made";
    let result = server.at("write", made);
    assert_eq!(output(&result), "made\n", "{result}");
    for name in ["!/.git", "big/.git", "r/.git/rebase-merge", "AGENTS.md"] {
        assert!(text(&result).contains(&format!("{name} is now {name}.set-aside")), "{result}");
        assert!(fs::symlink_metadata(at.join(name)).is_err(), "{name}: {result}");
    }
}

/// Puts another file in the place of one, as git and editors save.
fn replace(path: &Path, text: &str) {
    let passing = path.with_extension("lock");
    fs::write(&passing, text).unwrap();
    fs::rename(passing, path).unwrap();
}

/// Begins a command of level `write` that goes on when `NAME.go` is there. It runs when this
/// returns.
fn begin(house: &House, server: &mut Server, name: &str, then: &str) -> u64 {
    let waits = format!("touch {name}; until [ -e {name}.go ]; do sleep 0.02; done; {then}");
    let id = server.post_run(json!({"command": waits, "needs": "write"}));
    eventually("the command runs", || house.workspace().join(name).exists());
    id
}

fn end(house: &House, server: &mut Server, name: &str, id: u64) -> Value {
    fs::write(house.workspace().join(format!("{name}.go")), "").unwrap();
    server.answer(id)["result"].take()
}

#[test]
fn what_somebody_else_replaces_meanwhile_is_as_before_and_the_owner_is_told() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    with_what_is_obeyed(&house);
    let at = |name: &str| house.workspace().join(name);
    let text_of = |name: &str| fs::read_to_string(at(name)).unwrap_or_default();
    // With the file the kernel takes its mount away.
    let evil = "echo evil >> .git/config; echo evil > AGENTS.md; echo evil > .envrc";
    let id = begin(&house, &mut server, "one", evil);
    for name in [".git/config", "AGENTS.md"] {
        replace(&at(name), "the owner's\n");
    }
    let result = end(&house, &mut server, "one", id);
    for name in [".git/config", "AGENTS.md"] {
        assert_eq!(text_of(name), "own\n", "{name}: {result}");
        let said = format!("{name} (the new one is {name}.set-aside)");
        let for_owner = result["structuredContent"]["set_aside"].as_str().unwrap();
        assert!(text(&result).contains(&said) && for_owner.contains(&said), "{result}");
    }
    assert!(text_of(".git/config.set-aside").starts_with("the owner's\n"), "{result}");
    assert!(!at(".envrc").exists() && at(".envrc.set-aside").exists(), "{result}");
    let quiet = server.at("write", "echo ok");
    assert_eq!(quiet["structuredContent"]["set_aside"], Value::Null);
}

/// What one command may have written is no "before" for another that began beside it.
#[test]
fn commands_side_by_side_put_back_what_was_there_before_all_of_them() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let config = house.workspace().join(".git/config");
    let aside = house.workspace().join(".git/config.set-aside");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "before\n").unwrap();
    for (round, first_ends_first) in [(0, true), (1, false)] {
        let (one, two) = (format!("one{round}"), format!("two{round}"));
        let first = begin(&house, &mut server, &one, "true");
        replace(&config, "meanwhile\n");
        let second = begin(&house, &mut server, &two, "true");
        let mut ends = [(one, first), (two, second)];
        if !first_ends_first {
            ends.reverse();
        }
        let [(name, id), (last, of_last)] = ends;
        end(&house, &mut server, &name, id);
        let result = end(&house, &mut server, &last, of_last);
        assert_eq!(fs::read_to_string(&config).unwrap(), "before\n", "{result}");
        assert_eq!(fs::read_to_string(&aside).unwrap(), "meanwhile\n", "{result}");
        assert!(!house.workspace().join(".git/config.set-aside-2").exists(), "{result}");
        fs::remove_file(&aside).unwrap();
    }
}

#[test]
fn a_branch_that_is_switched_to_in_part_is_told_as_that() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let made = server.at(
        "network",
        "git init -q -b main . && git config user.name A && git config user.email a@b.c && \
         echo main > AGENTS.md && git add . && git commit -qm one && git branch same && \
         git checkout -q -b ci && mkdir .github && echo x > .github/ci.yml && git add . && \
         git commit -qm two && git checkout -q main && git checkout -q -b feat && \
         echo feat > AGENTS.md && git commit -qam three && git checkout -q main && echo made",
    );
    if output(&made).contains("command not found") {
        skipped("there is no git");
        return;
    }
    assert_eq!(output(&made), "made\n", "{made}");
    for (command, head, why) in [
        ("git checkout feat", "feat", "AGENTS.md': Device or resource busy"),
        ("git checkout feat 2>&1 | cat", "feat", "which changes no file that other programs"),
        ("git checkout ci", "ci", ".github is now .github.set-aside"),
        ("git merge -q ci", "main", ".github is now .github.set-aside"),
    ] {
        let result = server.at("write", command);
        assert_eq!(result["structuredContent"]["exit_code"], 0, "{command}: {result}");
        let half = format!("HEAD is at `{head}` now, and files of it may be missing");
        assert!(text(&result).contains(&half), "{command}: {result}");
        assert!(text(&result).contains(why), "{command}: {result}");
        let back = "git checkout -qf main && rm -rf .github.set-aside && git status --short";
        assert_eq!(output(&server.at("network", back)), "", "{command}");
    }
    let whole = server.at("write", "git checkout -q same && git commit -q --allow-empty -m four");
    assert!(!text(&whole).contains("HEAD is at"), "{whole}");
    // Git cannot note what the new branch follows, and has all of its files.
    let follows = server.at("write", "git checkout -b next --track same");
    assert_eq!(follows["structuredContent"]["exit_code"], 0, "{follows}");
    assert!(output(&follows).contains("config file .git/config"), "{follows}");
    assert!(!text(&follows).contains("HEAD is at"), "{follows}");
    // The owner saves while a command commits: that file is back, and nothing is missing.
    let id = begin(&house, &mut server, "one", "git commit -q --allow-empty -m five");
    replace(&house.workspace().join("AGENTS.md"), "the owner's\n");
    let committed = end(&house, &mut server, "one", id);
    assert!(text(&committed).contains("(the new one is AGENTS.md.set-aside)"), "{committed}");
    assert!(!text(&committed).contains("HEAD is at"), "{committed}");
}

/// Git goes by these although no name in the list gives them away.
#[test]
fn level_write_changes_nothing_that_a_configuration_of_git_names() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let at = house.workspace();
    let held = [
        ".git/modules/libs/foo/config",
        ".git/modules/libs/foo/modules/in/ner/hooks/pre-push",
        ".githooks/pre-commit",
        "tools/git.inc",
        "tools/hooks/post-merge",
        "vendor/foo/.git",
        "dist/old/.git",
    ];
    for path in held.into_iter().chain([".git/modules/libs/foo/HEAD", ".git/config", ".gitmodules"])
    {
        let text = match path {
            ".git/config" => {
                "[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../tools/git.inc\n"
            }
            "tools/git.inc" => "[core]\nhookspath = \"tools/hooks\" # ours\n",
            ".git/modules/libs/foo/config" => "[core]\nworktree = ../../../../vendor/foo\n",
            ".gitmodules" => "[submodule \"old\"]\n\tpath = dist/old\n",
            _ => "own\n",
        };
        fs::create_dir_all(at.join(path).parent().unwrap()).unwrap();
        fs::write(at.join(path), text).unwrap();
    }
    for path in held {
        let before = fs::read_to_string(at.join(path)).unwrap();
        let result = server.at("write", &format!("echo evil >> {path}; rm -f {path}; mv {path} x"));
        assert_eq!(fs::read_to_string(at.join(path)).unwrap(), before, "{path}: {result}");
    }
    // What is named and not there yet is set aside, and what git keeps in a submodule is its own.
    let result = server.at(
        "write",
        "echo x > .githooks/pre-push; mkdir .git/modules/libs/foo/objects && echo made",
    );
    assert!(output(&result).ends_with("made\n"), "{result}");
    assert!(!at.join(".githooks/pre-push").exists(), "{result}");
}

/// Every path of the table, as a file that a command could write.
fn all_that_is_obeyed() -> Vec<String> {
    let below = |name: &str, parts: &[&str]| -> Vec<String> {
        parts.iter().map(|part| format!("{name}/{}", part.replace('*', "one"))).collect()
    };
    TABLE
        .iter()
        .flat_map(|row| match row.held {
            Held::Whole => vec![row.name.to_owned()],
            Held::Parts(parts) => below(row.name, parts),
        })
        .collect()
}

#[test]
fn level_write_neither_changes_nor_makes_anything_of_the_table() {
    let house = House::new();
    let Some(mut server) = apart(&house) else { return };
    let (at, all) = (house.workspace(), all_that_is_obeyed());
    for name in &all {
        let path = at.join("there").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "own\n").unwrap();
    }
    // The text of a command is bounded, so it reads the names.
    fs::write(at.join("names"), all.join("\n") + "\n").unwrap();
    let each = |what: &str| format!("while read -r n; do {what}; done < names");
    let changed = server.at(
        "write",
        &each("(echo x >> there/$n) 2>/dev/null && echo $n; mv there/$n there/x 2>/dev/null && echo $n"),
    );
    assert_eq!(output(&changed), "", "these can be changed: {changed}");
    for name in &all {
        assert_eq!(fs::read_to_string(at.join("there").join(name)).unwrap(), "own\n", "{name}");
    }
    let made = server.at("write", &each("mkdir -p $(dirname new/$n); echo x > new/$n || echo $n"));
    assert_eq!(output(&made), "", "{made}");
    for name in &all {
        assert!(!at.join("new").join(name).exists(), "{name} is there");
    }
    // What leads to a repository in another place is new as well.
    let leads = "mkdir t l evil; echo 'gitdir: ../evil' > t/.git; ln -s ../evil l/.git; git worktree list 2>&1";
    let led = server.at("write", leads);
    for name in ["t/.git", "l/.git"] {
        assert!(text(&led).contains(&format!("{name} is now {name}.set-aside")), "{led}");
    }
    // A link that leads nowhere is no reason to run nothing.
    std::os::unix::fs::symlink("nowhere", at.join("CLAUDE.md")).unwrap();
    assert_eq!(output(&server.at("write", "echo ok")), "ok\n");
    let alive = server.at("write", "echo x > nowhere");
    assert!(text(&alive).contains("CLAUDE.md is now"), "{alive}");
}
