//! A house to try things in and a raw JSON-RPC client for the real server in it. Owns what every
//! test file shares.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![expect(dead_code, reason = "each test file uses a part of it")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests: to panic is how a test fails"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use claw_test_kit::skipped;
use serde_json::{Value, json};

/// Longer than anything here takes; a test that waits for so long has failed.
pub const PATIENCE: Duration = claw_test_kit::SOON;
pub const SECRET: &str = "TOP-SECRET-4711";

/// A user's home with claw's home and its workspace in it, and a temporary directory beside it.
pub struct House {
    root: tempfile::TempDir,
}

impl House {
    pub fn new() -> Self {
        let house = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(house.workspace()).unwrap();
        fs::create_dir_all(house.tmp()).unwrap();
        fs::write(house.home().join("diary"), SECRET).unwrap();
        fs::write(house.claw_home().join("claw.toml"), SECRET).unwrap();
        fs::write(house.tmp().join("foreign"), SECRET).unwrap();
        house
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    pub fn claw_home(&self) -> PathBuf {
        self.home().join(".claw")
    }

    pub fn workspace(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home/.claw/workspace")
    }

    pub fn tmp(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("tmp")
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-bash"));
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home())
            .env("TMPDIR", self.tmp())
            .env("API_KEY", SECRET)
            .arg("--workspace")
            .arg(self.workspace())
            .arg("--protect")
            .arg(self.claw_home())
            .args(arguments);
        command
    }

    pub fn server(&self) -> Server {
        self.server_with(&[])
    }

    pub fn server_with(&self, arguments: &[&str]) -> Server {
        let mut server = Server::start(self.command(arguments));
        server.open_legacy();
        server
    }
}

pub struct Server {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next_id: u64,
    /// Notifications that came while a response was awaited.
    pub notifications: Vec<Value>,
}

impl Server {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let message = serde_json::from_str(&line.unwrap())
                    .expect("stdout holds nothing but JSON-RPC");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next_id: 1, notifications: Vec::new() }
    }

    pub fn open_legacy(&mut self) -> Value {
        let info = json!({"name": "test", "version": "1"});
        let opening =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        let answer = self.request("initialize", opening);
        self.notify("notifications/initialized", json!({}));
        answer
    }

    pub fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub fn post(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub fn next_message(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("the server says something in time")
    }

    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next_message();
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(id)
    }

    pub fn post_run(&mut self, arguments: Value) -> u64 {
        self.post(
            "tools/call",
            json!({"name": "run", "arguments": widest(arguments), "_meta": {"progressToken": "p"}}),
        )
    }

    /// The `result` of a command at a level.
    pub fn at(&mut self, level: &str, command: &str) -> Value {
        self.call(json!({"command": command, "needs": level}))
    }

    /// The `result` of a call.
    pub fn call(&mut self, arguments: Value) -> Value {
        let id = self.post_run(arguments);
        self.answer(id)["result"].take()
    }

    /// The structured result of a command that ended by itself.
    pub fn run(&mut self, command: &str) -> Value {
        let mut result = self.call(json!({"command": command}));
        assert_eq!(result["isError"], false, "{result:#}");
        result["structuredContent"].take()
    }

    /// Starts a job that ends by itself. Its last result, and all that it wrote: a busy machine has
    /// not always ended it when its start is answered.
    pub fn ended_job(&mut self, arguments: Value) -> (Value, String) {
        let start = json!({"name": "start", "arguments": arguments});
        let mut result = self.request("tools/call", start)["result"].take();
        let written = |result: &Value| {
            result["structuredContent"]["output"].as_str().unwrap_or_default().to_owned()
        };
        let mut output = written(&result);
        while result["structuredContent"]["running"] == true {
            let look = json!({"job": result["structuredContent"]["job"], "wait_s": 60});
            let look = json!({"name": "output", "arguments": look});
            result = self.request("tools/call", look)["result"].take();
            output.push_str(&written(&result));
        }
        (result, output)
    }

    pub fn output(&mut self, command: &str) -> String {
        self.run(command)["output"].as_str().unwrap().to_owned()
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn exit_code(&mut self) -> Option<i32> {
        let mut code = None;
        eventually("the server ends", || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        code.unwrap().code()
    }
}

/// Most tests are about what a command does that may do everything in the box.
pub fn widest(mut arguments: Value) -> Value {
    if let Some(command) = arguments.as_object_mut().filter(|map| map.contains_key("command")) {
        command.entry("needs").or_insert_with(|| json!("network"));
    }
    arguments
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stdin = None;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && self.child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for an effect of another process.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "not in time: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// The process id that a job wrote down, once it is there, as it is seen from outside of the job's
/// namespace.
pub fn pid_in(file: &Path) -> i32 {
    let mut pid = None;
    eventually("a job writes its process id", || {
        let text = fs::read_to_string(file).ok().filter(|text| text.ends_with('\n'));
        let inside = text.and_then(|text| text.trim().parse().ok());
        pid = inside.and_then(|inside| from_outside(inside, file.parent().unwrap()));
        pid.is_some()
    });
    pid.unwrap()
}

/// Who is called `inside` by itself and stands in this workspace; of several the youngest, because
/// each job with a namespace of its own counts from 1.
pub fn from_outside(inside: i32, workspace: &Path) -> Option<i32> {
    if !cfg!(target_os = "linux") {
        return Some(inside);
    }
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let named = pids.filter(|pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let numbers =
            status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        numbers.split_whitespace().last() == Some(&inside.to_string())
            && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(workspace))
    });
    named.max_by_key(|pid| (started(*pid), *pid))
}

/// When a process began, in ticks since the machine did: field 22 of proc_pid_stat(5).
fn started(pid: i32) -> u64 {
    let row = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = row.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().nth(19).and_then(|ticks| ticks.parse().ok()).unwrap_or_default()
}

pub fn alive(pid: i32) -> bool {
    rustix::process::test_kill_process(rustix::process::Pid::from_raw(pid).unwrap()).is_ok()
}

/// A job with a child in its group, a grandchild in a session of its own and one that also lost its
/// parent. Each writes its process id to a file.
#[cfg(target_os = "linux")]
pub const FAMILY: &str = "note() { echo $$ > $1.new; mv $1.new $1; }; export -f note
    bash -c 'note child; exec sleep 300' &
    setsid bash -c 'note session; exec sleep 300' &
    bash -c 'setsid bash -c \"note orphan; exec sleep 300\" & exit' &
    ";

/// Elsewhere only the process group is promised.
#[cfg(not(target_os = "linux"))]
pub const FAMILY: &str = "note() { echo $$ > $1.new; mv $1.new $1; }; export -f note
    for name in child session orphan; do bash -c \"note $name; exec sleep 300\" & done
    ";

pub fn family_of(house: &House) -> Vec<i32> {
    ["child", "session", "orphan"]
        .iter()
        .map(|name| pid_in(&house.workspace().join(name)))
        .collect()
}

/// Whether there is a box to test. Says loudly if not, and that `probe` says so, too.
pub fn box_or_skip(abi_min: u32) -> bool {
    let level = claw_mcp_bash::probe();
    if level.landlock_abi >= abi_min && level.seccomp {
        return true;
    }
    skipped(&format!("needs Landlock ABI {abi_min} and seccomp, but: {level}"));
    assert!(
        level.to_string().starts_with("no box") || level.to_string().contains("not stopped"),
        "{level}"
    );
    false
}

/// The control of a test: the same words in the same place, and no box.
pub fn outside_of_the_box(house: &House, command: &str) -> String {
    let output = Command::new("/bin/bash")
        .args(["-c", command])
        .current_dir(house.workspace())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
