//! An MCP server that may be killed at any moment, spoken to in raw JSON-RPC, one request after
//! another. Owns the wire; must not know the tools, or who kills it.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// It lives until it is killed, or [`Mortal::end`].
pub struct Mortal {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Mortal {
    /// Starts it and shakes hands, if it lives as long as that.
    pub fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, stdin, stdout, next_id: 0 };
        let about = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        if server.send("initialize", &about) {
            server.result();
        }
        server
    }

    /// Sends a request. False: the server is gone.
    pub fn send(&mut self, method: &str, parameters: &Value) -> bool {
        let id = self.next_id;
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        writeln!(self.stdin, "{message}").is_ok()
    }

    /// The result of the oldest request that has none. `None`: the server died before the whole of
    /// it was out.
    pub fn result(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).ok()?;
        let line = line.strip_suffix('\n')?;
        Some(serde_json::from_str::<Value>(line).unwrap()["result"].clone())
    }

    /// Calls a tool, which must not fail, and gives its structured content.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Option<Value> {
        let asked = json!({"name": tool, "arguments": arguments});
        let result = if self.send("tools/call", &asked) { self.result()? } else { return None };
        assert_eq!(result["isError"], false, "{tool}: {result}");
        Some(result["structuredContent"].clone())
    }

    /// At once, wherever it is.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Closes its input, which ends one that lives, and waits for its end.
    pub fn end(self) {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        child.wait().unwrap();
    }
}
