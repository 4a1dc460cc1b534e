//! An MCP server as a real child process, spoken to in raw JSON-RPC. Owns the wire; must not know
//! the tools.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::SOON;

/// `USER_HZ` is 100 on every Linux.
const TICK_MS: u64 = 10;

pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    replies: HashMap<u64, Value>,
    /// Notifications that came while something else was waited for.
    heard: Vec<Value>,
    next_id: u64,
    modern: bool,
}

impl Server {
    /// Starts it; the first message is the caller's.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
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
        Self {
            child,
            stdin,
            lines,
            replies: HashMap::new(),
            heard: Vec::new(),
            next_id: 1,
            modern: false,
        }
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
        let deadline = Instant::now() + SOON;
        loop {
            if let Some(reply) = self.replies.remove(&id) {
                return reply;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self
                .lines
                .recv_timeout(left)
                .unwrap_or_else(|error| panic!("no reply to {id}: {error}"));
            self.keep(message);
        }
    }

    fn keep(&mut self, message: Value) {
        match message["id"].as_u64() {
            Some(id) => {
                self.replies.insert(id, message);
            }
            None => self.heard.push(message),
        }
    }

    /// The parameters of the next notification of this name that has come or comes.
    pub fn hear(&mut self, method: &str) -> Value {
        let deadline = Instant::now() + SOON;
        loop {
            let found = self.heard.iter().position(|message| message["method"] == method);
            if let Some(place) = found {
                return self.heard.remove(place)["params"].clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self
                .lines
                .recv_timeout(left)
                .unwrap_or_else(|error| panic!("no {method}: {error}"));
            self.keep(message);
        }
    }

    /// Whether a notification of this name has come and was not heard yet.
    pub fn has_heard(&mut self, method: &str) -> bool {
        while let Ok(message) = self.lines.try_recv() {
            self.keep(message);
        }
        self.heard.iter().any(|message| message["method"] == method)
    }

    /// Whether a reply to `id` has come in by now.
    pub fn has_reply(&mut self, id: u64) -> bool {
        while let Ok(message) = self.lines.try_recv() {
            self.keep(message);
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
        self.status("VmRSS:")
    }

    /// The most that it has had in memory so far (Linux).
    pub fn resident_most_kib(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// What the process has computed so far, in itself and in the system for it, to 10 ms (Linux).
    pub fn cpu(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name of the program stands in brackets, and may hold spaces.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<u64>().ok();
        Some(Duration::from_millis((ticks()? + ticks()?) * TICK_MS))
    }

    /// How often threads of the process gave up the CPU of their own accord, since it
    /// began (Linux).
    pub fn switches(&self) -> Option<u64> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?;
        let of = |status: String| -> Option<u64> {
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches:"))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        threads
            .map(|task| of(std::fs::read_to_string(task.ok()?.path().join("status")).ok()?))
            .sum()
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

/// The tools of a server.
pub fn tools(server: &mut Server) -> Vec<Value> {
    server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

/// Which tools of a server are special.
#[derive(Default)]
pub struct Told<'a> {
    /// They change nothing.
    pub readers: &'a [&'a str],
    /// They reach what lies outside of the server.
    pub open_world: &'a [&'a str],
    /// Their optional arguments may be null on purpose, beside being left out.
    pub take_null: &'a [&'a str],
}

/// Every tool says what it does, honestly, in schemas that every host understands.
pub fn assert_described(server: &mut Server, told: &Told<'_>) {
    for tool in tools(server) {
        let name = tool["name"].as_str().unwrap();
        let (reads, open) = (told.readers.contains(&name), told.open_world.contains(&name));
        assert_eq!(tool["annotations"]["readOnlyHint"], json!(reads), "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], json!(open), "{name}");
        assert!(tool["description"].as_str().unwrap().len() > 50 && tool["title"].is_string());
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            jsonschema::meta::validate(&tool[schema]).unwrap();
            let text = tool[schema].to_string();
            assert!(
                !text.contains("uint") && !text.contains("$ref") && !text.contains("$schema"),
                "{name}: {text}"
            );
            let takes_null = told.take_null.contains(&name);
            let may_be_null = schema == "outputSchema" || takes_null;
            assert!(may_be_null || !text.contains("null"), "{name}: {text}");
        }
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}.{argument} has no description");
        }
    }
}

/// Calls fit the input schema of their tools, and results the output schema.
pub fn assert_keeps_to_schemas(server: &mut Server, calls: Vec<(&str, Value)>) {
    let list = tools(server);
    for (name, arguments) in calls {
        let tool = list.iter().find(|tool| tool["name"] == name).unwrap();
        jsonschema::validate(&tool["inputSchema"], &arguments).unwrap();
        let (output, _) = server.ok(name, arguments);
        jsonschema::validate(&tool["outputSchema"], &output)
            .unwrap_or_else(|error| panic!("{name}: {error}: {output}"));
    }
}
