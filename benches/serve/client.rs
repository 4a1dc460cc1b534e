//! A client on bare JSON lines, so that nothing of a library is measured. Must not know what is
//! measured.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Everything that is waited for must come within this time, however busy the machine is.
const SOON: Duration = Duration::from_secs(120);

/// A process that speaks MCP on its standard streams. It is killed when dropped.
pub struct Client {
    child: Child,
    writes: ChildStdin,
    reads: BufReader<ChildStdout>,
}

impl Client {
    /// `claw serve` with these arguments.
    pub fn start(env: &BTreeMap<&'static str, String>, args: &[&str]) -> Self {
        let program = std::env::var("CLAW_BENCH_PROGRAM")
            .unwrap_or_else(|_| env!("CARGO_BIN_EXE_claw").to_owned());
        Self::of(&program, &[&["serve"], args].concat(), env)
    }

    #[expect(clippy::disallowed_methods, reason = "the whole process is what is measured")]
    pub fn of(program: &str, args: &[&str], env: &BTreeMap<&'static str, String>) -> Self {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(env);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let writes = child.stdin.take().unwrap();
        let reads = BufReader::new(child.stdout.take().unwrap());
        Self { child, writes, reads }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request, and gives its answer. What comes before it is passed over.
    pub fn answer(&mut self, request: &Value) -> Value {
        self.writes.write_all(format!("{request}\n").as_bytes()).unwrap();
        self.writes.flush().unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(self.reads.read_line(&mut line).unwrap(), 0, "the server has gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == request["id"] && message.get("method").is_none() {
                return message;
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // One that has ended cannot be killed any more.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

pub fn initialize() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    })
}

/// As a client asks of 2026-07-28.
pub fn listed() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }},
    })
}

pub fn listed_legacy() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

pub fn called(tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    })
}

/// What nobody else holds and no file backs, in MiB.
pub fn memory_mib(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:")).unwrap_or_default();
    let kib = line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// Waits until a file is there.
pub fn wait_for(path: &Path) {
    let until = Instant::now() + SOON;
    while !path.exists() {
        assert!(Instant::now() < until, "{} does not appear", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// An example's program, built as this benchmark is. `claw-test-kit` builds those of tests alone.
#[expect(clippy::disallowed_methods, reason = "the benchmark builds the program that it needs")]
pub fn example(name: &str) -> PathBuf {
    let bench = std::env::current_exe().unwrap();
    let profile = bench.parent().unwrap().parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--offline", "--release", "--workspace", "--example", name]);
    build.arg("--manifest-path").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    build.arg("--target-dir").arg(profile.parent().unwrap());
    assert!(build.status().unwrap().success());
    profile.join("examples").join(name)
}
