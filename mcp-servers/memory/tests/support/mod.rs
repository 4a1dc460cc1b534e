//! A real child process spoken to in raw JSON-RPC. Owns the wire; must not know the tools.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![allow(dead_code, clippy::allow_attributes, reason = "each test program uses a part of it")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Long enough for a busy machine; only a broken server waits for it.
const REPLY_TIME_MAX: Duration = Duration::from_secs(60);

pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    replies: HashMap<u64, Value>,
    next_id: u64,
    modern: bool,
}

/// A folder of notes below a temporary directory.
pub struct Room {
    pub temp: tempfile::TempDir,
    pub notes: PathBuf,
}

impl Room {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let notes = temp.path().canonicalize().unwrap().join("memory");
        std::fs::create_dir(&notes).unwrap();
        Self { temp, notes }
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.notes.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.notes.join(path)).unwrap()
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.notes.join(path)).unwrap();
    }

    pub fn start(&self) -> Server {
        let mut server = Server::spawn(&self.notes, &[]);
        server.initialize("2025-11-25");
        server
    }

    /// What `--check` says, and whether it found the index equal to the files.
    pub fn check(&self) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"))
            .arg("--notes")
            .arg(&self.notes)
            .arg("--check")
            .output()
            .unwrap();
        assert!(output.stdout.is_empty());
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    }
}

impl Server {
    pub fn spawn(notes: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"))
            .arg("--notes")
            .arg(notes)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                // A line that is not JSON is printing on stdout: the channel breaks and the test
                // fails.
                let value: Value = serde_json::from_str(&line.unwrap()).unwrap();
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, replies: HashMap::new(), next_id: 1, modern: false }
    }

    pub fn initialize(&mut self, version: &str) -> Value {
        let parameters = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let reply = self.request("initialize", parameters);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        reply
    }

    /// From here on every request carries the metadata of 2026-07-28.
    pub fn be_modern(&mut self) {
        self.modern = true;
    }

    pub fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and gives its id.
    pub fn begin(&mut self, method: &str, mut parameters: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        if self.modern {
            parameters["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        id
    }

    pub fn end(&mut self, id: u64) -> Value {
        let deadline = Instant::now() + REPLY_TIME_MAX;
        loop {
            if let Some(reply) = self.replies.remove(&id) {
                return reply;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self
                .lines
                .recv_timeout(left)
                .unwrap_or_else(|error| panic!("no reply to {id}: {error}"));
            if let Some(id) = message["id"].as_u64() {
                self.replies.insert(id, message);
            }
        }
    }

    /// Whether a reply to `id` has come in by now.
    pub fn has_reply(&mut self, id: u64) -> bool {
        while let Ok(message) = self.lines.try_recv() {
            if let Some(id) = message["id"].as_u64() {
                self.replies.insert(id, message);
            }
        }
        self.replies.contains_key(&id)
    }

    pub fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.begin(method, parameters);
        self.end(id)
    }

    pub fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The `result` of a call, whether it is an error or not.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        let reply = self.end(id);
        assert!(reply.get("error").is_none(), "{reply}");
        reply["result"].clone()
    }

    /// The structured result and the text of a call that must succeed.
    pub fn ok(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], json!(false), "{result}");
        (result["structuredContent"].clone(), text_of(&result))
    }

    /// The message of a call that must fail.
    pub fn err(&mut self, tool: &str, arguments: Value) -> String {
        let shown = arguments.to_string();
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], json!(true), "{tool} {shown} gave {result}");
        text_of(&result)
    }

    /// What the process has in memory now (Linux).
    pub fn resident_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// Closes standard input and waits for the end.
    pub fn close(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().map(|block| block["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n---\n")
}
