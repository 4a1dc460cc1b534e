//! The levels of the box, tried from inside: what a command can do at each, and what it cannot. The
//! same words at the widest level are the control, and have to get there.
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
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

/// A system file of many lines that everybody may read at the widest level, and what only stands
/// there.
const OUTSIDE: &str = "/etc/login.defs";
const MARK: &str = "PASS_MAX_DAYS";
const TRIES: usize = 60;

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

/// Tells the other thread to stop, however this one ends.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_link_that_is_swapped_while_commands_look_never_leads_outside() {
    if !box_or_skip(3) {
        return;
    }
    let house = house();
    let at = house.workspace();
    let mut server = house.server();
    let ways = [
        ("target", "cat target"),
        (".magic", "file -m .magic notes"),
        ("target", "head -n 3 target; grep -h DAYS target"),
    ];
    for (name, command) in ways {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| swap(&at, name, &stop));
            // A failed look must not leave the other thread at work.
            let _ended = Ended(&stop);
            let mut won = 0;
            for _ in 0..TRIES {
                won += usize::from(server.at("read", command).to_string().contains(MARK));
            }
            // The swap itself works: at the widest level it wins sooner or later.
            let is_there = command
                .split(' ')
                .next()
                .is_some_and(|program| Path::new("/usr/bin").join(program).exists());
            if is_there {
                eventually("the swap wins at the widest level", || {
                    server.output(command).contains(MARK)
                });
            }
            assert_eq!(won, 0, "{command}");
        });
        fs::remove_file(at.join(name)).unwrap();
    }
}

/// Usual commands that only look.
const LOOKS: &[&str] = &[
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
    "id; whoami; ls -l notes | cut -d' ' -f 3",
    "cat <<'END' | tr a-z A-Z\nhello\nEND",
    "for f in *; do [ -f \"$f\" ] && wc -c < \"$f\"; done 2>&1",
    "diff <(sort notes) <(sort folder/more)",
    "x=$(mktemp) && seq 5 > $x && wc -l < $x",
    "awk '{ n += NF } END { print n }' notes folder/more",
    "find . -name more -exec head -n 1 {} +",
    "xargs -n 1 echo < notes",
    "python3 -c 'import os, json; print(json.dumps(sorted(os.listdir())))'",
    "perl -ne 'print if /two/' notes",
    "nproc; uname -s; env | grep -c PATH",
    "tar cf - folder | tar tf -",
    "timeout 5 bash -c 'echo in'",
];

#[test]
fn commands_that_only_look_print_at_level_read_what_they_print_at_the_widest() {
    if !box_or_skip(3) {
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
    let mut commands = LOOKS.to_vec();
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
        let result = server.at("read", command);
        let narrow = &result["structuredContent"];
        assert_eq!(
            (&narrow["exit_code"], &narrow["output"]),
            (&wide["exit_code"], &wide["output"]),
            "{command}"
        );
    }
    let result = server.at("read", "df .");
    assert_eq!(result["structuredContent"]["exit_code"], 0, "{result}");
    assert!(!output(&result).contains("Warning"), "{result}");
}

#[test]
fn a_command_at_level_read_opens_nothing_else_writes_nothing_and_has_no_network() {
    if !box_or_skip(3) {
        return;
    }
    let house = house();
    symlink(OUTSIDE, house.workspace().join("link")).unwrap();
    let mut server = house.server();
    for command in [
        "cat link",
        "cat /etc/login.defs",
        "ls /etc",
        "ls /home /root",
        "echo x > new",
        "echo x >> notes",
        "rm notes",
        "cp /bin/true here",
        "mkdir d",
        "mv notes other",
        "ln -s notes l",
    ] {
        let result = server.at("read", command);
        let refused = ["Permission denied", "Read-only file system"];
        assert!(refused.iter().any(|words| output(&result).contains(words)), "{command}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("needs: \"write\""), "{command}: {text}");
        assert_eq!(result["structuredContent"]["level"], "read", "{result}");
    }
    let result = server.at("read", "exec 3<>/dev/tcp/127.0.0.1/9");
    let refused = ["not permitted", "Connection refused"];
    assert!(refused.iter().any(|words| output(&result).contains(words)), "{result}");
    assert!(server.output("cat link").contains(MARK), "the widest level is another one");
}

#[test]
fn the_tmpdir_of_a_command_that_looks_is_empty_its_own_and_gone_afterwards() {
    let house = house();
    let mut server = house.server();
    // Of what the test has below /tmp the way to the workspace shows.
    let own = "ls -A \"$TMPDIR\" | grep -v '^[.]tmp'; echo x > \"$TMPDIR/own\" && cat \"$TMPDIR/own\"; echo $TMPDIR";
    let (first, second) = (server.at("read", own), server.at("read", own));
    assert!(output(&first).starts_with("x\n") && output(&second).starts_with("x\n"), "{first}");
    for result in [&first, &second] {
        let path = output(result).lines().last().unwrap();
        assert!(path == "/tmp" || !Path::new(path).exists(), "{path}");
        assert!(!Path::new(path).join("own").exists(), "{path}");
    }
    // That of commands that write is shared.
    server.at("write", "echo y > \"$TMPDIR/shared\"");
    assert_eq!(output(&server.at("write", "cat \"$TMPDIR/shared\"")), "y\n");
    assert!(!output(&server.at("read", "ls -A \"$TMPDIR\" \"$TMPDIR/..\"")).contains("shared"));
}

/// Swaps a folder for a link, as a job that may change it can, while commands start at level
/// `write`. Gives what `command` has printed each time.
fn beside_a_swap(server: &mut Server, folder: &Path, to: &Path, command: &str) -> Vec<String> {
    let link = folder.with_file_name("swapped");
    symlink(to, &link).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ended = Ended(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                if renameat_with(CWD, folder, CWD, &link, RenameFlags::EXCHANGE).is_err() {
                    // One of them was set aside at the end of a command.
                    let _ = (fs::create_dir(folder), symlink(to, &link));
                }
            }
        });
        (0..TRIES).map(|_| output(&server.at("write", command)).to_owned()).collect()
    })
}

#[test]
fn a_folder_that_is_swapped_for_a_link_while_a_command_starts_opens_nothing_else() {
    if !box_or_skip(3) {
        return;
    }
    // Not below /tmp, which commands have for themselves.
    let secrets = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::write(secrets.path().join("id"), MARK).unwrap();
    let house = house();
    let homes = house.claw_home().join("homes");
    let arguments = ["--home", &homes.display().to_string()];
    let mut server = house.server_with(&arguments);
    server.at("write", "true");
    let (cache, settings) = (homes.join("home/.cache"), house.workspace().join(".vscode"));
    let command = format!("cat {}/id ~/.cache/id .vscode/id", secrets.path().display());
    fs::create_dir(&settings).unwrap();
    for folder in [cache, settings] {
        let printed = beside_a_swap(&mut server, &folder, secrets.path(), &command);
        assert!(!printed.iter().any(|text| text.contains(MARK)), "{folder:?}: {printed:?}");
    }
}

#[test]
fn a_cache_that_is_swapped_for_the_home_around_it_opens_no_more_without_namespaces_either() {
    if !box_or_skip(3) {
        return;
    }
    let house = house();
    let homes = house.claw_home().join("homes");
    let arguments = ["--home", &homes.display().to_string(), "--without-namespaces"];
    let mut server = house.server_with(&arguments);
    server.at("write", "true");
    let command = "echo x > ~/.gitconfig && echo obeyed";
    let cache = homes.join("home/.cache");
    let printed = beside_a_swap(&mut server, &cache, Path::new("."), command);
    assert!(!printed.iter().any(|text| text.contains("obeyed")), "{printed:?}");
}

/// A command that may change a folder puts a link into the place of one that lies in it.
#[test]
fn a_link_in_the_place_of_an_opened_folder_opens_nothing_else() {
    if !box_or_skip(3) {
        return;
    }
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let outside = outside.path().canonicalize().unwrap();
    let (secrets, project) = (outside.join("secrets"), outside.join("project"));
    fs::create_dir_all(project.join("lib")).unwrap();
    fs::create_dir(&secrets).unwrap();
    fs::write(secrets.join("id"), MARK).unwrap();
    let (all, lib) = (project.display().to_string(), project.join("lib").display().to_string());
    let house = house();
    let mut server = house.server_with(&["--open-write", &all, "--open-read", &lib]);
    assert_eq!(output(&server.at("read", &format!("ls {lib} && echo open"))), "open\n");
    let swap = format!("mv {lib} {lib}.old && ln -s {} {lib} && echo swapped", secrets.display());
    assert_eq!(output(&server.at("write", &swap)), "swapped\n");
    for level in ["read", "write", "network"] {
        let result = server.at(level, &format!("cat {lib}/id {}/id; echo end", secrets.display()));
        assert!(output(&result).ends_with("end\n"), "{level}: {result}");
        assert!(!output(&result).contains(MARK), "{level}: {result}");
    }
}

#[test]
fn what_lies_in_a_folder_that_is_open_for_changes_is_on_no_path() {
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let outside = outside.path().canonicalize().unwrap();
    let bin = outside.join("bin");
    fs::create_dir(&bin).unwrap();
    let all = outside.display().to_string();
    let path = |how: &str| {
        let house = house();
        let mut command = house.command(&[how, &all]);
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        let mut server = Server::start(command);
        server.open_legacy();
        output(&server.at("write", "echo $PATH")).to_owned()
    };
    assert!(path("--open-read").contains(&all), "the control");
    let changed = path("--open-write");
    assert!(!changed.contains(&all) && changed.contains("/usr/bin"), "{changed}");
}

/// A command that runs beside it could put a link into its place before the box is closed.
#[test]
fn the_tmpdir_of_a_command_that_looks_lies_where_no_other_command_writes() {
    let house = house();
    let mut server = house.server_with(&["--without-namespaces"]);
    let of_write = output(&server.at("write", "echo $TMPDIR")).trim().to_owned();
    let of_read = output(&server.at("read", "echo $TMPDIR")).trim().to_owned();
    assert!(of_read.starts_with('/') && of_read != of_write, "{of_read}");
    assert!(!of_read.starts_with(&of_write), "{of_read} lies in {of_write}");
    let around = Path::new(&of_read).parent().unwrap().display().to_string();
    let tries = format!("mkdir {around}/x || mv {around} {around}.moved || ln -s /etc {around}/1");
    for level in ["write", "network"] {
        let result = server.at(level, &tries);
        assert_ne!(result["structuredContent"]["exit_code"], 0, "{result}");
    }
    assert_eq!(output(&server.at("read", "echo x > $TMPDIR/own && cat $TMPDIR/own")), "x\n");
}

#[test]
fn a_command_at_level_write_changes_the_workspace_and_has_no_network() {
    if !box_or_skip(3) {
        return;
    }
    let house = house();
    let mut server = house.server();
    let result = server.at("write", "echo x > new && chmod 600 new && mv new newer && cat newer");
    assert_eq!(output(&result), "x\n", "{result}");
    // Without namespaces there is no socket at all; `networks` tries what there is with them.
    let mut bare = house.server_with(&["--without-namespaces"]);
    let sockets = [
        "exec 3<>/dev/tcp/127.0.0.1/9",
        "exec 3<>/dev/udp/127.0.0.1/9",
        "python3 -c 'import socket; socket.socket(socket.AF_INET6, socket.SOCK_STREAM)'",
        "python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)'",
        "python3 -c 'import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)'",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)'",
    ];
    for command in sockets {
        for level in ["read", "write"] {
            let result = bare.at(level, command);
            assert!(output(&result).contains("not permitted"), "{level} {command}: {result}");
        }
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    assert_eq!(server.output(&connect), "connected\n", "the widest level is another one");
    let result = server.at("write", "curl -sS http://localhost:9 || getent hosts nowhere.invalid || echo 'Could not resolve host'; false");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("needs: \"network\""), "{text}");
}

#[test]
fn a_level_that_there_is_not_runs_nothing() {
    let house = house();
    let mut server = house.server();
    for odd in [json!("root"), json!("READ"), json!(1), json!(["read"]), json!("")] {
        let result = server.call(json!({"command": "touch ran", "needs": odd}));
        assert_eq!(result["isError"], true, "{result}");
        assert!(!house.workspace().join("ran").exists(), "{odd}");
    }
    // Who says nothing gets the least.
    let id =
        server.post("tools/call", json!({"name": "run", "arguments": {"command": "touch ran"}}));
    let result = server.answer(id)["result"].take();
    assert_eq!(result["structuredContent"]["level"], "read", "{result}");
    let id =
        server.post("tools/call", json!({"name": "start", "arguments": {"command": "touch ran"}}));
    server.answer(id);
    assert!(box_or_skip(3).then(|| house.workspace().join("ran").exists()) != Some(true));
}

#[test]
fn a_command_at_level_read_changes_no_mode_owner_or_time_of_a_file() {
    if !box_or_skip(3) {
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
        let result = server.at("read", command);
        assert_eq!(result["structuredContent"]["exit_code"], 1, "{command}: {result}");
        assert_eq!(facts(), before, "{command}");
        assert_eq!(server.run(command)["exit_code"], 0, "widest: {command}");
        server.run("chmod 644 notes; touch -d @2 notes");
        fs::set_permissions(&notes, fs::Permissions::from_mode(before.0)).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(before.3 as u64);
        fs::File::open(&notes).unwrap().set_modified(time).unwrap();
    }
}
