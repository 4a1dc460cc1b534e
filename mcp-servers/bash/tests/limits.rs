//! What a command may take of the machine. Fork bombs run under a limit that the test itself has
//! set.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "a test starts real processes")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use claw_kit::processes::{self, Process};
use claw_test_kit::skipped;
use common::{House, Server, eventually};
use serde_json::{Value, json};

const BOMB: &str = "bomb() { bomb | bomb & }; bomb; sleep 300";
/// What the test itself allows beyond what the user has.
const CEILING: u64 = 400;

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// What one test starts in the name of this user counts for the others.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A user for whom the kernel counts processes. Root takes one that no other run of these tests has
/// at the same time: what is started there would count here.
fn ordinary_user() -> u32 {
    static TAKEN: OnceLock<(u32, UnixListener)> = OnceLock::new();
    let own = rustix::process::geteuid();
    if !own.is_root() {
        return own.as_raw();
    }
    // The kernel gives the name back when this process has ended.
    let take = |user: u32| {
        let name = format!("claw-test-user-{user}");
        let address = SocketAddr::from_abstract_name(name).unwrap();
        UnixListener::bind_addr(&address).ok().map(|listener| (user, listener))
    };
    TAKEN.get_or_init(|| (64_100..65_000).find_map(take).unwrap()).0
}

/// The words by which a program runs as that user, under a ceiling that the test has set. `None`
/// without util-linux.
fn words_of_ordinary_user() -> Option<Command> {
    let tools = Command::new("sh").args(["-c", "command -v setpriv prlimit"]).output().unwrap();
    if !tools.status.success() {
        skipped("setpriv and prlimit of util-linux are not there");
        return None;
    }
    let mut command = Command::new("prlimit");
    command.arg(format!("--nproc={}", CEILING + tasks_of(ordinary_user())));
    if rustix::process::geteuid().is_root() {
        let id = ordinary_user().to_string();
        command.args(["setpriv", "--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
    }
    Some(command)
}

/// The server as that user.
fn as_ordinary_user(house: &House, arguments: &[&str]) -> Option<Server> {
    let mut command = words_of_ordinary_user()?;
    let server = house.command(arguments);
    // The user needs the way to the program and to the house.
    let program = house.tmp().join("claw-mcp-bash");
    // By a process of its own: what another test forks would hold the new file open for writing.
    let mut copy = Command::new("cp");
    copy.arg(env!("CARGO_BIN_EXE_claw-mcp-bash")).arg(&program);
    assert!(copy.status().unwrap().success());
    if rustix::process::geteuid().is_root() {
        let top = house.tmp().parent().unwrap().to_owned();
        for path in
            [house.home(), house.claw_home(), house.workspace(), house.tmp(), program.clone()]
        {
            chown(path, Some(ordinary_user()), Some(ordinary_user())).unwrap();
        }
        fs::set_permissions(top, fs::Permissions::from_mode(0o755)).unwrap();
    }
    command.arg(program).args(server.get_args()).env_clear();
    command.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut server = Server::start(command);
    server.open_legacy();
    Some(server)
}

/// Processes of that user that are no part of any command; they end with this.
struct Sleepers(Child);

impl Sleepers {
    fn start(count: usize) -> Option<Self> {
        let mut command = words_of_ordinary_user()?;
        let script = format!("for i in $(seq {count}); do sleep 300 & done; wait");
        let child = command.args(["sh", "-c", &script]).process_group(0).spawn().unwrap();
        let sleepers = Self(child);
        // Not all of that user, who may have others at the same time, which come and go.
        let group = i32::try_from(sleepers.0.id()).unwrap();
        let is_own = |process: &Process| process.group == group;
        eventually("they run", || {
            processes::list().iter().filter(|one| is_own(one)).count() > count
        });
        Some(sleepers)
    }
}

impl Drop for Sleepers {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

fn tasks_of(user: u32) -> u64 {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let statuses = entries.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok());
    let row = |status: &str, name: &str| -> Option<u64> {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    };
    let of_user = statuses.filter(|status| row(status, "Uid:") == Some(user.into()));
    of_user.filter_map(|status| row(&status, "Threads:")).sum()
}

#[test]
fn a_fork_bomb_ends_at_its_time_limit_and_is_told_what_held_it() {
    let _alone = alone();
    for arguments in [
        &["--command-processes-max", "120"][..],
        &["--command-processes-max", "120", "--without-namespaces"],
    ] {
        let house = House::new();
        let Some(mut server) = as_ordinary_user(&house, arguments) else { return };
        let started = Instant::now();
        let result = server.call(json!({"command": BOMB, "timeout_s": 8}));
        let took = started.elapsed();
        assert!(took < Duration::from_secs(20), "{took:?}");
        assert_eq!(result["structuredContent"]["timed_out"], true, "{result:#}");
        assert!(text(&result).contains("limit of 120 processes"), "{}", text(&result));
        assert_eq!(server.output("echo next"), "next\n");
    }
}

#[test]
fn what_the_user_has_already_is_no_part_of_what_a_command_may_have() {
    let _alone = alone();
    let Some(_sleepers) = Sleepers::start(130) else { return };
    let house = House::new();
    let arguments = ["--command-processes-max", "120", "--without-namespaces"];
    let mut server = as_ordinary_user(&house, &arguments).unwrap();
    assert_eq!(server.output("for i in $(seq 60); do sleep 1 & done; wait; echo ok"), "ok\n");
}

#[test]
fn a_command_with_too_many_processes_is_killed_where_the_kernel_does_not_count() {
    if !rustix::process::geteuid().is_root() {
        skipped("for an ordinary user the kernel counts");
        return;
    }
    let house = House::new();
    let mut server = house.server_with(&["--command-processes-max", "40"]);
    // Bounded by itself: no bomb.
    let started = Instant::now();
    let result = server
        .call(json!({"command": "for i in $(seq 60); do sleep 300 & done; wait", "timeout_s": 60}));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["timed_out"]),
        (&json!(true), &json!(false))
    );
    assert!(text(&result).contains("command_processes_max"), "{}", text(&result));
    assert_eq!(server.output("echo next"), "next\n");
}

#[test]
fn memory_that_one_process_asks_for_is_refused_and_that_of_many_ends_the_command() {
    let house = House::new();
    let mut server = house.server_with(&["--command-memory-bytes-max", "100000000"]);
    // It asks for all of it at once. One that takes it bit by bit could be seen over the limit
    // together with its shell, and be ended, before the kernel refuses it.
    let one = server.run("dd if=/dev/zero of=/dev/null bs=300M count=1; echo $?");
    assert!(one["output"].as_str().unwrap().contains("memory exhausted"), "{one:#}");
    let started = Instant::now();
    // `tail` keeps what has no line ends.
    let keeps = "{ head -c 60M /dev/zero; sleep 300; } | tail > /dev/null &";
    let many =
        server.call(json!({"command": format!("{keeps} {keeps} {keeps} wait"), "timeout_s": 100}));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(
        (&many["isError"], &many["structuredContent"]["timed_out"]),
        (&json!(true), &json!(false))
    );
    assert!(text(&many).contains("command_memory_bytes_max"), "{}", text(&many));
}

#[test]
fn a_file_that_grows_too_large_ends_its_writer_and_is_told() {
    let house = House::new();
    let mut server = house.server_with(&["--command-file-bytes-max", "1000000"]);
    let result = server.call(json!({"command": "head -c 5M /dev/zero > big"}));
    assert!(text(&result).contains("command_file_bytes_max"), "{}", text(&result));
    assert_eq!(fs::metadata(house.workspace().join("big")).unwrap().len(), 1_000_000);
}

#[test]
fn programs_that_reserve_much_and_use_little_run_under_the_usual_limits() {
    let house = House::new();
    let mut server = house.server();
    let tools = [
        (
            "node",
            "node -e 'console.log(new WebAssembly.Memory({initial: 1, maximum: 65536}).buffer.byteLength)'",
            "65536\n",
        ),
        ("java", "java -version 2>&1 | grep -c Runtime", "1\n"),
        ("go", "go version | grep -c go", "1\n"),
        (
            "python3",
            "python3 -c 'import threading; [threading.Thread(target=int).start() for _ in range(50)]; print(1)'",
            "1\n",
        ),
    ];
    for (tool, command, expected) in tools {
        if server.run(&format!("{tool} -version || {tool} --version"))["exit_code"] != 0 {
            skipped(&format!("{tool} is not on this machine"));
            continue;
        }
        assert_eq!(server.output(command), expected, "{tool}");
    }
    assert_eq!(
        server.output("ulimit -n -u -f -d > limits; grep -c . limits; ulimit -Hn"),
        "4\n65536\n".replace("65536", &hard_limit())
    );
}

/// Of open files: ours, or that of the machine if it is lower.
fn hard_limit() -> String {
    let machine = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    machine.map_or(65_536, |most| most.min(65_536)).to_string()
}

#[test]
fn a_command_that_fills_the_disk_is_ended_and_one_that_takes_little_is_not() {
    let house = House::new();
    // More than any disk has, so that every file system counts as nearly full.
    let all = (1_u64 << 50).to_string();
    let mut server = house.server_with(&["--command-disk-free-bytes-min", &all]);
    // Whoever else fills this disk at that moment counts, so one of many has to come through.
    let small = json!({"command": "echo here > small; cat small; rm small; sleep 0.3"});
    let survives = |server: &mut Server| server.call(small.clone())["isError"] == false;
    assert!(
        (0..40).any(|_| survives(&mut server)),
        "a small file was taken for a large one 40 times"
    );
    // Again and again: whoever else tidies up at the same moment hides one of them.
    let fill = "for i in {1..40}; do head -c 32M /dev/zero > big-$i; sleep 0.3; done; sleep 300";
    let result = server.call(json!({"command": fill}));
    assert_eq!(result["isError"], true, "{result}");
    assert!(
        text(&result).starts_with("killed after")
            && text(&result).contains("command_disk_free_bytes_min"),
        "{result}"
    );
    let mut server = house.server_with(&["--command-disk-free-bytes-min", "0"]);
    assert_eq!(
        server.output("head -c 32M /dev/zero > big; sleep 0.3; echo done; rm big"),
        "done\n"
    );
}
