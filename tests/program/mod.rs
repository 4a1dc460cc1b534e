//! Drives the whole program: the real binary, in a home of its own, with nothing of this machine's
//! environment. Owns homes, child processes with deadlines, and what every home must look like
//! afterwards. Must not know what is tested.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

mod commands_box;
pub mod peak;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Everything that is waited for must come within this time, however busy the machine is.
pub const SOON: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// The key that stand-ins for providers are asked with; long enough to be watched for.
pub const KEY: &str = "sk-key-of-the-stand-in-4711";

/// A `claw.toml` by which a model gets the tools of a server that starts, however slow the machine
/// is: a request waits for them no longer than 1.5 s otherwise.
pub const SERVER_WAIT: &str = "[limits]\nserver_wait_ms = 60000\n";

/// Waits until `holds`, and fails if it does not become true.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "it did not come to this: {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A machine's user with a home for claw, and nothing else.
pub struct House {
    dir: TempDir,
    env: BTreeMap<String, String>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// It ended with this code, or the test fails with everything it said.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// A user's mistake: exit code 2, nothing on stdout, one paragraph on stderr that holds all of
    /// these.
    #[track_caller]
    pub fn expect_mistake(self, named: &[&str]) -> Self {
        let ran = self.expect(2);
        assert_eq!(ran.out, "", "{ran:?}");
        assert!(
            ran.err.starts_with("claw: ") && ran.err.trim_end().lines().count() <= 2,
            "no sentence: {ran:?}"
        );
        for name in named {
            assert!(ran.err.contains(name), "`{name}` is not named: {ran:?}");
        }
        ran
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(self.out.trim()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// One object a line.
    pub fn rows(&self) -> Vec<Value> {
        let row = |line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{error} in {line:?}: {self:?}"))
        };
        self.out.lines().map(row).collect()
    }
}

impl House {
    /// With the demo model.
    pub fn new() -> Self {
        Self::bare().with("CLAW_AGENT", "demo")
    }

    /// With nothing at all.
    pub fn bare() -> Self {
        // Not below /tmp, so that nothing in the box is reachable because it is temporary.
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let user = dir.path().join("user");
        fs::create_dir(&user).unwrap();
        let house = Self { dir, env: BTreeMap::new() };
        let path = if cfg!(target_os = "linux") {
            "/usr/bin:/bin"
        } else {
            "/usr/bin:/bin:/usr/local/bin"
        };
        house.with("HOME", user.to_str().unwrap()).with("PATH", path).with("TZ", "UTC")
    }

    /// With a model at `base_url`, on the wire that `agent` means.
    pub fn at(agent: &str, base_url: &str) -> Self {
        let key = match agent {
            "claude" => "ANTHROPIC_API_KEY",
            "gemini" => "GEMINI_API_KEY",
            _ => "OPENAI_API_KEY",
        };
        let house = Self::bare().with("CLAW_AGENT", agent).with("CLAW_MODEL", "model-x");
        house.with("CLAW_BASE_URL", base_url).with(key, KEY)
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The settings of the Telegram door: a bot of a stand-in for the Bot API at `url`, and who may
    /// talk to it.
    pub fn with_bot(self, token: &str, url: &str, allowed: &str) -> Self {
        self.with("TELEGRAM_BOT_TOKEN", token)
            .with("CLAW_TELEGRAM_API", url)
            .with("CLAW_ALLOWED_CHATS", allowed)
    }

    pub fn user_home(&self) -> PathBuf {
        self.dir.path().join("user").canonicalize().unwrap()
    }

    /// Claw's home, which need not be there yet.
    pub fn home(&self) -> PathBuf {
        self.user_home().join(".claw")
    }

    pub fn workspace(&self) -> PathBuf {
        self.home().join("workspace")
    }

    /// Writes a file of claw's home before or between runs.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn in_workspace(&self, name: &str) -> String {
        fs::read_to_string(self.workspace().join(name)).unwrap_or_default()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(claw_test_kit::claw_exe());
        command.args(args).env_clear().envs(&self.env).current_dir(self.user_home());
        command
    }

    pub fn start(&self, args: &[&str]) -> Running {
        Running::new(self.command(args), args)
    }

    /// Starts what [`Self::command`] made, and was changed since.
    pub fn begin(&self, command: Command) -> Running {
        Running::new(command, &["(changed)"])
    }

    /// The gateway, which lets in the chats that `claw.toml` names and no other.
    pub fn start_for_listed_chats(&self) -> Running {
        let mut gateway = self.command(&["gateway"]);
        gateway.env_remove("CLAW_ALLOWED_CHATS");
        self.begin(gateway)
    }

    /// Runs a command to its end, with an empty standard input.
    pub fn claw(&self, args: &[&str]) -> Ran {
        self.start(args).ends()
    }

    pub fn claw_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut running = self.start(args);
        running.types(stdin);
        running.ends()
    }

    /// `ask`, which must park; the id of the one open question.
    #[track_caller]
    pub fn ask_parks(&self, text: &str) -> String {
        self.claw(&["ask", text]).expect(3);
        self.waiting()
    }

    /// The id of the one open question.
    #[track_caller]
    pub fn waiting(&self) -> String {
        let rows = self.claw(&["approvals", "--json"]).expect(0).rows();
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows[0]["id"].as_str().unwrap().to_owned()
    }

    pub fn audit(&self) -> Vec<Value> {
        self.claw(&["audit", "--json", "--limit", "10000"]).expect(0).rows()
    }

    pub fn events(&self, session: &str) -> Vec<Value> {
        self.claw(&["sessions", "show", session, "--json"]).expect(0).rows()
    }

    /// The whole database, opened behind claw's back.
    pub fn db(&self) -> rusqlite::Connection {
        let db = rusqlite::Connection::open(self.home().join("claw.db")).unwrap();
        db.busy_timeout(SOON).unwrap();
        db
    }

    /// What every home must be like when nothing runs: whole audit, logs without gaps that replay,
    /// a result for every tool use of an ended turn, each turn with its end before the next one.
    #[track_caller]
    pub fn is_whole(&self) {
        let verified = self.claw(&["audit", "verify", "--json"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
        let replayed = self.claw(&["sessions", "replay", "--json"]);
        assert_eq!(replayed.code, Some(0), "a log does not replay: {replayed:?}");
        for session in self.claw(&["sessions", "--json"]).expect(0).rows() {
            well_formed(&self.events(session["id"].as_str().unwrap()));
        }
    }
}

/// One session's log: see [`House::is_whole`].
#[track_caller]
pub fn well_formed(events: &[Value]) {
    let mut open_turn = false;
    let mut unanswered: Vec<(u64, u64)> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], index as u64 + 1, "a gap in {events:#?}");
        match event["type"].as_str().unwrap() {
            "turn.started" => {
                assert!(!open_turn, "a turn in a turn: {events:#?}");
                open_turn = true;
            }
            "turn.ended" => {
                assert!(
                    open_turn && unanswered.is_empty(),
                    "{unanswered:?} have no result: {events:#?}"
                );
                open_turn = false;
            }
            "model.reply" => {
                assert!(
                    unanswered.is_empty(),
                    "the model was asked without {unanswered:?}: {events:#?}"
                );
                let blocks = event["blocks"].as_array().unwrap().iter().enumerate();
                let uses = blocks.filter(|(_, block)| block["type"] == "tool_use");
                unanswered.extend(uses.map(|(block, _)| (index as u64 + 1, block as u64)));
            }
            "tool.result" => {
                let call = &event["call"];
                let id = (call["reply_seq"].as_u64().unwrap(), call["block"].as_u64().unwrap());
                let at = unanswered.iter().position(|open| *open == id);
                unanswered.remove(
                    at.unwrap_or_else(|| panic!("a second result for {id:?}: {events:#?}")),
                );
            }
            _ => {}
        }
    }
}

/// The texts of all messages of the user, in the log's order.
pub fn said(events: &[Value]) -> Vec<String> {
    let messages = events.iter().filter(|event| event["type"] == "user.message");
    messages.map(|event| event["blocks"][0]["text"].as_str().unwrap().to_owned()).collect()
}

/// The outcomes of all calls, in the log's order.
pub fn outcomes(events: &[Value]) -> Vec<Value> {
    let results = events.iter().filter(|event| event["type"] == "tool.result");
    results.map(|event| event["outcome"].clone()).collect()
}

/// A child process whose output is read all the time. It is ended with the test.
pub struct Running {
    child: Child,
    what: String,
    out: Stream,
    err: Stream,
}

struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn new(mut from: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = bytes.clone();
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(size @ 1..) = from.read(&mut piece) {
                into.lock().unwrap().extend_from_slice(&piece[..size]);
            }
        });
        Self { bytes, reader: Some(reader) }
    }

    fn text(&self) -> String {
        self.text_behind(0)
    }

    fn text_behind(&self, bytes: usize) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()[bytes..]).into_owned()
    }

    fn whole(&mut self) -> String {
        self.reader.take().map(JoinHandle::join);
        self.text()
    }
}

impl Running {
    fn new(mut command: Command, args: &[&str]) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (out, err) =
            (Stream::new(child.stdout.take().unwrap()), Stream::new(child.stderr.take().unwrap()));
        Self { child, what: format!("{args:?}"), out, err }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes to its standard input. A child that does not read any more is no fault.
    pub fn types(&mut self, bytes: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        let _closed = stdin.write_all(bytes).and_then(|()| stdin.flush());
    }

    pub fn out(&self) -> String {
        self.out.text()
    }

    /// Standard output without its first `bytes`, for whoever looks again and again.
    pub fn out_behind(&self, bytes: usize) -> String {
        self.out.text_behind(bytes)
    }

    pub fn out_bytes(&self) -> usize {
        self.out.bytes.lock().unwrap().len()
    }

    pub fn err(&self) -> String {
        self.err.text()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub fn closes_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Closes its input and waits for its end.
    #[track_caller]
    pub fn ends(mut self) -> Ran {
        self.closes_input();
        let deadline = Instant::now() + SOON;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                Instant::now() < deadline,
                "claw {} does not end; it said {:?} and {:?}",
                self.what,
                self.out.text(),
                self.err.text()
            );
            std::thread::sleep(LOOK_EVERY);
        };
        Ran { code: status.code(), out: self.out.whole(), err: self.err.whole() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a process with this id lives (a zombie does not).
pub fn alive(pid: u32) -> bool {
    let mut ps = Command::new("ps");
    let listed = ps.args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap().stdout;
    !listed.is_empty() && !listed.starts_with(b"Z")
}

/// A process id that a command wrote into a file of the workspace, as it is seen from outside of
/// the command's namespace. `None` until the file is there, and once the process is gone.
pub fn pid_in(file: &Path) -> Option<u32> {
    let text = fs::read_to_string(file).ok()?;
    let inside = text.strip_suffix('\n')?.trim();
    if !cfg!(target_os = "linux") {
        return inside.parse().ok();
    }
    let workspace = file.parent()?.canonicalize().ok()?;
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let numbers =
            status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        numbers.split_whitespace().last() == Some(inside)
            && fs::read_link(format!("/proc/{pid}/cwd"))
                .is_ok_and(|cwd| cwd.starts_with(&workspace))
    })
}

/// An example's program. `cargo test` builds examples, but `cargo test --test NAME` does not.
pub fn example(name: &str) -> PathBuf {
    claw_test_kit::example_exe(name)
}
