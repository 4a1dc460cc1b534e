//! The narrow box of a command that its host runs without a question: what it still opens, and what
//! a link that is swapped after the host's look leads to. The same words in the wide box are the
//! control, and have to get there.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{House, Server, box_or_skip, eventually};
use serde_json::{Value, json};

/// A system file of many lines that everybody may read in the wide box, and what only stands there.
const OUTSIDE: &str = "/etc/passwd";
const MARK: &str = "root:";
const TRIES: usize = 60;

fn narrow(server: &mut Server, command: &str, reads: &str) -> Value {
    let meta = json!({"claw/box": {"reads": reads}});
    let id = server.post(
        "tools/call",
        json!({"name": "run", "arguments": {"command": command}, "_meta": meta}),
    );
    server.answer(id)["result"].take()
}

fn output(result: &Value) -> &str {
    result["structuredContent"]["output"].as_str().unwrap_or_default()
}

fn house() -> House {
    let house = House::new();
    let at = house.workspace();
    fs::create_dir(at.join("folder")).unwrap();
    fs::write(at.join("notes"), "one hello\ntwo\n").unwrap();
    fs::write(at.join("folder/more"), "three hello\n").unwrap();
    house
}

/// Swaps `name` between a plain file and a link to the outside, as fast as it can, until told to
/// stop.
fn swap(at: &Path, name: &str, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        fs::write(at.join("plain.new"), "plain\n").unwrap();
        fs::rename(at.join("plain.new"), at.join(name)).unwrap();
        symlink(OUTSIDE, at.join("link.new")).unwrap();
        fs::rename(at.join("link.new"), at.join(name)).unwrap();
    }
}

#[test]
fn a_link_that_is_swapped_while_unasked_commands_run_never_leads_outside() {
    if !box_or_skip("a_link_that_is_swapped_while_unasked_commands_run_never_leads_outside", 3) {
        return;
    }
    let house = house();
    let at = house.workspace();
    let mut server = house.server();
    let ways = [
        ("target", "cat target"),
        (".magic", "file notes"),
        ("target", "head -n 3 target; grep -h : target"),
    ];
    for (name, command) in ways {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| swap(&at, name, &stop));
            let mut won = 0;
            for _ in 0..TRIES {
                won += usize::from(
                    narrow(&mut server, command, "workspace").to_string().contains(MARK),
                );
            }
            // The swap itself works: in the wide box it wins sooner or later.
            let is_there = command
                .split(' ')
                .next()
                .is_some_and(|program| Path::new("/usr/bin").join(program).exists());
            if is_there {
                eventually("the swap wins in the wide box", || {
                    server.output(command).contains(MARK)
                });
            }
            stop.store(true, Ordering::Relaxed);
            assert_eq!(won, 0, "{command}");
        });
        fs::remove_file(at.join(name)).unwrap();
    }
}

#[test]
fn commands_that_only_read_print_in_the_narrow_box_what_they_print_in_the_wide_one() {
    if !box_or_skip(
        "commands_that_only_read_print_in_the_narrow_box_what_they_print_in_the_wide_one",
        3,
    ) {
        return;
    }
    let house = house();
    let at = house.workspace();
    let git = |words: &[&str]| {
        let settings =
            ["-c", "user.email=a@b", "-c", "user.name=a", "-c", "init.defaultBranch=main"];
        Command::new("git")
            .args(settings)
            .args(words)
            .current_dir(&at)
            .output()
            .is_ok_and(|ran| ran.status.success())
    };
    let has_git =
        git(&["init", "-q"]) && git(&["add", "."]) && git(&["commit", "-q", "-m", "first"]);
    fs::write(at.join("notes"), "one hello\ntwo\nmore\n").unwrap();
    let mut commands = vec![
        "cat -n notes | head -n 1",
        "cut -d ' ' -f 1 notes",
        "date -u +%Y",
        "date +%Z",
        "du -s -h folder",
        "echo x; pwd",
        "file notes",
        "find . -maxdepth 1 -name 'n*' -type f",
        "grep -rn hello folder notes",
        "grep -P 'h.l' notes",
        "ls -1 --color=always folder",
        "rg -n hello notes",
        "sed -n 1,2p notes",
        "sort -r notes folder/more",
        "stat -c '%s %n' notes",
        "tail -n 1 notes",
        "uniq -c notes",
        "cd folder && wc -l more",
    ];
    if has_git {
        let of_git = [
            "branch",
            "diff",
            "log --oneline",
            "log -p",
            "rev-parse HEAD",
            "show",
            "status",
            "status --short",
        ];
        commands.extend(of_git.map(|words| &*format!("git {words}").leak()));
    }
    let mut server = house.server();
    for command in commands {
        let wide = server.run(command);
        let result = narrow(&mut server, command, "workspace");
        let narrow = &result["structuredContent"];
        assert_eq!(
            (&narrow["exit_code"], &narrow["output"]),
            (&wide["exit_code"], &wide["output"]),
            "{command}"
        );
    }
    let result = narrow(&mut server, "df .", "workspace-and-processes");
    assert_eq!(result["structuredContent"]["exit_code"], 0, "{result}");
    assert!(!output(&result).contains("Warning"), "{result}");
}

#[test]
fn the_narrow_box_opens_nothing_else_writes_nothing_and_has_no_network() {
    if !box_or_skip("the_narrow_box_opens_nothing_else_writes_nothing_and_has_no_network", 3) {
        return;
    }
    let house = house();
    symlink(OUTSIDE, house.workspace().join("link")).unwrap();
    let mut server = house.server();
    for command in [
        "cat link",
        "cat /etc/passwd",
        "ls /etc",
        "cat /proc/self/status",
        "ls /home /root",
        "echo x > new",
        "echo x >> notes",
        "rm notes",
        "cp /bin/true here",
    ] {
        let result = narrow(&mut server, command, "workspace");
        assert!(output(&result).contains("Permission denied"), "{command}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("It ran without a question"), "{command}: {text}");
    }
    let result = narrow(&mut server, "exec 3<>/dev/tcp/127.0.0.1/9", "workspace");
    assert!(output(&result).contains("not permitted"), "{result}");
    let result =
        narrow(&mut server, "echo x > \"$TMPDIR/own\" && cat \"$TMPDIR/own\"", "workspace");
    assert_eq!(output(&result), "x\n");
    assert!(server.output("cat link").contains(MARK), "the wide box is another one");
    let refused = narrow(&mut server, "cat notes", "home");
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(
        refused["content"][0]["text"].as_str().unwrap().contains("Nothing was run"),
        "{refused}"
    );
}

#[test]
fn the_narrow_box_changes_no_mode_owner_or_time_of_a_file() {
    if !box_or_skip("the_narrow_box_changes_no_mode_owner_or_time_of_a_file", 3) {
        return;
    }
    let house = house();
    let notes = house.workspace().join("notes");
    let facts = || {
        let facts = fs::symlink_metadata(&notes).unwrap();
        (facts.mode(), facts.uid(), facts.gid(), facts.mtime())
    };
    let before = facts();
    let mut server = house.server();
    let owner = format!("chown {}:{} notes", before.1, before.2);
    for command in ["chmod 777 notes", "touch -d @1 notes", "touch -a notes", &owner] {
        let result = narrow(&mut server, command, "workspace");
        assert_eq!(result["structuredContent"]["exit_code"], 1, "{command}: {result}");
        assert_eq!(facts(), before, "{command}");
        assert_eq!(server.run(command)["exit_code"], 0, "wide: {command}");
        server.run("chmod 644 notes; touch -d @2 notes");
        fs::set_permissions(&notes, fs::Permissions::from_mode(before.0)).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(before.3 as u64);
        fs::File::open(&notes).unwrap().set_modified(time).unwrap();
    }
}
