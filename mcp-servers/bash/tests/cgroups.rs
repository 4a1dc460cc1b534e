//! A command in a cgroup of its own, where a service manager gives one to an ordinary user. Fork
//! bombs run under a limit that the test itself has set, too.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "a test starts real processes")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use std::fs;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use claw_test_kit::skipped;
use common::{House, Server, eventually};
use serde_json::{Value, json};

const BOMB: &str = "bomb() { bomb | bomb & }; bomb; sleep 300";
/// What the test itself allows, in processes of the user.
const CEILING: u32 = 3000;

/// The words by which a program gets a delegated scope of its own. `None` where there is nobody who
/// delegates.
fn delegated() -> Option<Command> {
    let scope = |program: &[&str]| {
        let mut command = Command::new("systemd-run");
        command.args(["--user", "--scope", "--quiet", "--collect", "-p", "Delegate=memory pids"]);
        command.arg("--").args(program);
        command
    };
    let there = "d=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup); test -w $d && \
                 grep -w memory $d/cgroup.controllers | grep -qw pids";
    if !scope(&["sh", "-c", there]).output().is_ok_and(|tried| tried.status.success()) {
        skipped("no `systemd --user` here that delegates memory and processes");
        return None;
    }
    Some(scope(&["prlimit", &format!("--nproc={CEILING}")]))
}

fn server(house: &House, arguments: &[&str]) -> Option<Server> {
    let mut command = delegated()?;
    let server = house.command(arguments);
    // The manager's address is for systemd-run alone; the server clears what commands get.
    command.arg(server.get_program()).args(server.get_args());
    command.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut server = Server::start(command);
    server.open_legacy();
    Some(server)
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn the_supervisor_makes_the_leaf_and_the_box_keeps_the_command_out_of_it() {
    let house = House::new();
    // Plain files in the place of the kernel's, so that this needs no cgroups.
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir(tree.path().join("main")).unwrap();
    let open = fs::File::open(tree.path()).unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    let descriptor = open.as_raw_fd().to_string();
    let mut server = house.server_with(&[
        "--without-namespaces",
        "--cgroup-fd",
        &descriptor,
        "--cgroup-home",
        "main",
        "--command-processes-max",
        "99",
    ]);
    let folder = {
        let mut folders = fs::read_dir(tree.path()).unwrap().flatten().map(|entry| entry.path());
        folders.find(|path| !path.ends_with("main")).unwrap()
    };
    let leaf = folder.join("command-1");
    // Its own 1000 is the line on which the shell says that it ends.
    let command = format!(
        "for f in {0}/pids.max {0}/cgroup.procs {1}/main/cgroup.procs; do echo 7 > $f && echo changed; done; \
         ls /proc/self/fd | grep -vx 1000 | wc -l",
        leaf.display(),
        tree.path().display()
    );
    let ran = server.run(&format!("{{ {command}; }} 2> /dev/null"));
    if !ran["box"].as_str().unwrap().contains("landlock") {
        skipped("without Landlock nothing keeps a command out");
        return;
    }
    assert_eq!(ran["output"], "4\n", "nothing changed, and nothing of the server is open: {ran:#}");
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    assert_eq!(text(&leaf.join("pids.max")), "99");
    assert_eq!(text(&leaf.join("cgroup.procs")), "0", "the supervisor, before the shell");
    assert_eq!(text(&tree.path().join("main/cgroup.procs")), "0", "and out again");
}

/// The cgroup of a command, as the command itself sees it.
fn own_cgroup(server: &mut Server) -> PathBuf {
    let path = server.output("sed -n s/^0:://p /proc/self/cgroup");
    Path::new("/sys/fs/cgroup").join(path.trim().trim_start_matches('/'))
}

#[test]
fn a_fork_bomb_in_a_cgroup_ends_at_once_and_is_told_what_held_it() {
    let house = House::new();
    let Some(mut server) = server(&house, &["--command-processes-max", "120"]) else { return };
    let began = Instant::now();
    let result = server.call(json!({"command": BOMB, "timeout_s": 100}));
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
    assert_eq!(result["structuredContent"]["timed_out"], false, "{result:#}");
    let told = text(&result);
    assert!(told.contains("limit of 120 processes") && told.contains("was killed"), "{told}");
    assert_eq!(server.output("echo next"), "next\n");
}

#[test]
fn memory_over_the_limit_ends_the_whole_command_in_a_cgroup() {
    let house = House::new();
    let arguments = ["--command-memory-bytes-max", "100000000"];
    let Some(mut server) = server(&house, &arguments) else { return };
    // `tail` keeps what has no line ends. The shell would go on behind it, if it were let.
    let hog = "head -c 300M /dev/zero | tail > /dev/null; echo went on; sleep 300";
    let result = server.call(json!({"command": hog, "timeout_s": 100}));
    let told = text(&result);
    assert!(told.starts_with("killed after"), "{told}");
    assert!(told.contains("limit of 100000000 bytes of memory"), "{told}");
    assert_eq!(result["structuredContent"]["output"], "", "{result:#}");
    assert_eq!(server.output("echo next"), "next\n");
}

#[test]
fn a_command_cannot_change_its_cgroup_and_none_is_left_behind_it() {
    let house = House::new();
    let Some(mut server) = server(&house, &["--command-processes-max", "120"]) else { return };
    let first = own_cgroup(&mut server);
    let second = own_cgroup(&mut server);
    assert_ne!(first, second, "each command has its own");
    let folder = second.parent().unwrap().to_owned();
    assert_eq!(first.parent(), Some(folder.as_path()));
    let ways_out = "d=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup); cat $d/pids.max; \
                    for f in $d/pids.max $d/memory.max; do echo max > $f && echo changed $f; done; \
                    for d in $d/../../main $d/..; do echo 0 > $d/cgroup.procs && echo left; done; \
                    mkdir $d/below && echo made; cat $d/pids.max";
    let ran = server.run(&format!("{{ {ways_out}; }} 2> /dev/null"));
    assert_eq!(ran["output"], "120\n", "{ran:#}");
    // Background jobs, too, and both are gone with what they started.
    let job = server.request(
        "tools/call",
        json!({"name": "start", "arguments": {"command": "setsid sleep 777 & sleep 777", "needs": "write"}}),
    );
    eventually(&format!("it has a group: {job}"), || {
        fs::read_dir(&folder).unwrap().flatten().any(|entry| entry.path().is_dir())
    });
    let stop = json!({"name": "stop", "arguments": {"job": 1}});
    server.request("tools/call", stop);
    let left: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name())
        .collect();
    assert!(left.is_empty(), "{left:?}");
    drop(server);
}
