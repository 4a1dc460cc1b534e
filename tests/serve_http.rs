//! `claw serve --http`: both eras over one path, and everything that must not get through: pages of
//! browsers, foreign hosts, tokens that are none or were revoked, floods, bodies without an end.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{House, Running, SOON, eventually, example};
use crate::serve_rig::{asked_again, revoke};

/// A process that serves over HTTP, and what it takes to talk to it.
pub struct Served {
    pub house: House,
    address: String,
    running: Option<Running>,
}

/// What came back.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    head: String,
    body: String,
}

impl Got {
    /// The JSON-RPC message with a result or an error: the body itself, or the last event of it.
    pub fn rpc(&self) -> Value {
        if let Ok(value) = serde_json::from_str(&self.body) {
            return value;
        }
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut messages = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        messages
            .rfind(|message| message.get("id").is_some())
            .unwrap_or_else(|| panic!("no answer in {self:?}"))
    }
}

impl Served {
    fn start(toml: &str) -> Self {
        Self::beside("legacy", toml, |house| {
            let record = house.user_home().join("effects");
            json!({"command": example("hub-stranger"), "args": ["legacy", record]})
        })
    }

    /// With another server beside claw's own.
    pub fn beside(name: &str, toml: &str, server: impl FnOnce(&House) -> Value) -> Self {
        let house = House::new();
        house.write("claw.toml", toml);
        house.write("workspace/hello.txt", "hello of the workspace");
        let fs = json!({"command": "claw", "args": ["server", "filesystem"]});
        let servers = json!({"mcpServers": {name: server(&house), "filesystem": fs}});
        house.write("mcp.json", &servers.to_string());
        house.claw(&["tools"]).expect(0);
        let mut served = Self { house, address: String::new(), running: None };
        served.begin("127.0.0.1:0");
        served
    }

    /// What a process serves that runs in this house.
    pub fn by(house: House, running: Running) -> Self {
        let mut served = Self { house, address: String::new(), running: None };
        served.take(running);
        served
    }

    fn begin(&mut self, at: &str) {
        let running = self.house.start(&["serve", "--http", at, "--tools"]);
        self.take(running);
    }

    fn take(&mut self, running: Running) {
        eventually("it is served", || running.err().contains("/mcp"));
        let err = running.err();
        let url = err.split("served at http://").nth(1).unwrap();
        url.split("/mcp").next().unwrap().clone_into(&mut self.address);
        self.running = Some(running);
    }

    /// What the process has said.
    pub fn err(&self) -> String {
        self.running.as_ref().unwrap().err()
    }

    pub fn token(&self, client: &str) -> String {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        let folder = self.house.home().join("clients");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        let token = format!("claw_{}", format!("{client}{:?}", Instant::now()).replace(' ', "_"));
        let mut open = std::fs::OpenOptions::new();
        open.create(true).write(true).truncate(true).mode(0o600);
        let mut file = open.open(folder.join(format!("{client}.token"))).unwrap();
        file.write_all(token.as_bytes()).unwrap();
        token
    }

    /// Exactly these bytes, and what came back until the server was done or the connection closed.
    fn raw(&self, bytes: &[u8]) -> Got {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        // A server that refuses early may not read to the end.
        let _refused = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        let body = match head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            true => dechunked(body),
            false => body.to_owned(),
        };
        Got { status, head: head.to_owned(), body }
    }

    /// A POST with these headers, apart from those that every request has.
    pub fn post(&self, headers: &[(&str, &str)], body: &Value) -> Got {
        let body = body.to_string();
        let mut head =
            "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
            Accept: application/json, text/event-stream\r\n"
                .to_owned();
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        self.raw(head.as_bytes())
    }

    pub fn with_token(&self, token: &str, body: &Value) -> Got {
        self.post(&[("Authorization", &format!("Bearer {token}"))], body)
    }

    /// A call of a tool, as a client of before 2026-07-28 makes it.
    pub fn calls(&self, token: &str, tool: &str, arguments: &Value) -> Value {
        let once = || {
            let got = self.with_token(token, &called(tool, arguments));
            assert_eq!(got.status, 200, "{got:?}");
            got.rpc()["result"].clone()
        };
        asked_again(once, |result| result["_meta"]["claw/call"]["state"] == "running")
    }
}

fn dechunked(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, behind)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || behind.len() < size {
            whole.push_str(if size == 0 { "" } else { behind });
            break;
        }
        whole.push_str(&behind[..size]);
        rest = behind[size..].trim_start_matches("\r\n");
    }
    whole
}

pub fn called(tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    })
}

pub fn listed() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

#[test]
fn both_eras_are_served_over_one_path_and_a_token_says_who_it_is() {
    let served = Served::start("");
    let token = served.token("laptop");
    let initialize = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "other", "version": "1"},
        },
    });
    let got = served.with_token(&token, &initialize);
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(got.rpc()["result"]["serverInfo"]["name"], "claw");
    assert!(!got.head.to_ascii_lowercase().contains("mcp-session-id"), "{got:?}");
    let answer = served.calls(&token, "ask", &json!({"text": "show hello.txt"}));
    assert!(answer["structuredContent"]["text"].as_str().unwrap().contains("hello"), "{answer}");
    let modern = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "other", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }},
    });
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let got = served.post(&headers, &modern);
    assert_eq!(got.status, 200, "{got:?}");
    let result = got.rpc()["result"].clone();
    assert_eq!(result["tools"][0]["name"], "ask");
    assert!(result["ttlMs"].is_number() && result["cacheScope"] == "private", "{result}");
    assert_eq!(served.house.events("mcp.laptop")[0]["principal"], "mcp:laptop");
    served.house.is_whole();
}

#[test]
fn without_a_token_or_with_a_revoked_one_nothing_is_answered() {
    let served = Served::start("");
    let (token, other) = (served.token("laptop"), served.token("other"));
    for headers in [
        vec![],
        vec![("Authorization", "Bearer claw_guessed")],
        vec![("Authorization", "Basic bGFwdG9wOng=")],
        vec![("Authorization", token.as_str())],
        vec![("X-Token", token.as_str())],
    ] {
        let got = served.post(&headers, &listed());
        assert_eq!(got.status, 401, "{headers:?}: {got:?}");
        assert!(got.head.to_ascii_lowercase().contains("www-authenticate: bearer"), "{got:?}");
        assert!(got.body.contains("claw clients add"), "{got:?}");
    }
    assert_eq!(served.with_token(&token, &listed()).status, 200);
    assert_eq!(served.with_token(&other, &listed()).status, 200);
    let again = served.token("laptop");
    assert_ne!(again, token);
    assert_eq!(
        served.with_token(&token, &listed()).status,
        401,
        "a token that was replaced counts"
    );
    assert_eq!(served.with_token(&again, &listed()).status, 200);
    revoke(&served.house, "laptop");
    assert_eq!(served.with_token(&again, &listed()).status, 401, "a revoked client is served");
    std::fs::remove_file(served.house.home().join("clients/other.token")).unwrap();
    assert_eq!(served.with_token(&other, &listed()).status, 401, "a token that is gone counts");
}

#[test]
fn pages_of_browsers_and_foreign_hosts_are_refused_before_anything_is_looked_at() {
    let served = Served::start("[serve]\nallowed_origins = ['https://app.example.org']\n");
    let token = format!("Bearer {}", served.token("laptop"));
    let port = served.address.split(':').nth(1).unwrap().to_owned();
    let rebound = format!("evil.example:{port}");
    for host in ["evil.example", rebound.as_str(), "127.0.0.1.evil.example", "169.254.169.254"] {
        let got = served.post(&[("Host", host), ("Authorization", &token)], &listed());
        assert_eq!(got.status, 403, "{host}: {got:?}");
    }
    for origin in ["https://evil.example", "null", "http://localhost", "http://127.0.0.1"] {
        let got = served.post(&[("Origin", origin), ("Authorization", &token)], &listed());
        assert_eq!(got.status, 403, "{origin}: {got:?}");
        assert!(!got.head.to_ascii_lowercase().contains("access-control"), "{got:?}");
    }
    let own = [("Origin", "https://app.example.org"), ("Authorization", token.as_str())];
    let got = served.post(&own, &listed());
    assert_eq!(got.status, 200, "{got:?}");
    assert!(got.head.contains("https://app.example.org"), "{got:?}");
    let preflight = |origin: &str| {
        served.raw(
            format!(
                "OPTIONS /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\n\
                 Connection: close\r\n\r\n",
                served.address
            )
            .as_bytes(),
        )
    };
    assert_eq!(preflight("https://app.example.org").status, 204);
    assert_eq!(preflight("https://evil.example").status, 403);
    for (request, status) in [("GET /mcp", 405), ("DELETE /mcp", 405), ("POST /", 404)] {
        let head = format!(
            "{request} HTTP/1.1\r\nHost: {}\r\nAuthorization: {token}\r\nConnection: close\r\n\
             Accept: text/event-stream\r\nContent-Length: 0\r\n\r\n",
            served.address
        );
        assert_eq!(served.raw(head.as_bytes()).status, status, "{request}");
    }
}

#[test]
fn a_body_of_100_mb_is_refused_unread_and_one_without_a_length_is_cut() {
    let served = Served::start("");
    let token = format!("Bearer {}", served.token("laptop"));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
        served.address
    );
    let before = memory_kib(&served);
    let got = served.raw(format!("{head}Content-Length: {}\r\n\r\n", 100 << 20).as_bytes());
    assert_eq!(got.status, 413, "{got:?}");
    // Chunks of a megabyte, 100 of them, as far as they are taken.
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream.write_all(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).unwrap();
    let chunk = format!("100000\r\n{}\r\n", "x".repeat(1 << 20));
    let sent = (0..100).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
    let mut answer = Vec::new();
    let _reset = stream.read_to_end(&mut answer);
    assert!(sent < 100, "all of it was taken");
    let grown = memory_kib(&served).saturating_sub(before);
    assert!(grown < 40 * 1024, "{grown} KiB more than before");
    assert_eq!(served.with_token(&token["Bearer ".len()..], &listed()).status, 200);
}

/// The memory of the process, in KiB; 0 where nobody says.
fn memory_kib(served: &Served) -> u64 {
    let id = served.running.as_ref().unwrap().id();
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0)
}

#[test]
fn a_flood_is_held_for_its_client_alone_and_says_when_to_come_again() {
    let served = Served::start("[serve]\nrequests_minute_max = 10\n");
    let (token, other) = (served.token("flood"), served.token("other"));
    let statuses: Vec<u16> = (0..30).map(|_| served.with_token(&token, &listed()).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 10, "{statuses:?}");
    let got = served.with_token(&token, &listed());
    assert_eq!(got.status, 429);
    assert!(got.head.to_ascii_lowercase().contains("retry-after: "), "{got:?}");
    assert!(got.body.contains("serve.requests_minute_max"), "{got:?}");
    assert_eq!(served.with_token(&other, &listed()).status, 200);
}

#[test]
fn handles_and_sessions_of_others_and_guessed_ids_lead_nowhere() {
    let served = Served::start("");
    let (one, other) = (served.token("one"), served.token("other"));
    let asked = served.calls(&one, "ask", &json!({"text": "show secret-of-one.txt"}));
    let handle = asked["structuredContent"]["handle"].clone();
    let never = served.calls(&other, "ask_result", &json!({"handle": "ask-4711"}));
    let stolen = served.calls(&other, "ask_result", &json!({"handle": handle}));
    assert_eq!(stolen, never, "a handle of another client is known");
    assert_eq!(stolen["isError"], true);
    for session in ["one", "mcp.one", "../one"] {
        let read = served.calls(&other, "session_read", &json!({"session": session}));
        assert_eq!(read["isError"], true, "{session}: {read}");
    }
    // There are no session ids: one that is brought along changes nothing.
    let bearer = format!("Bearer {other}");
    let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", "guessed")];
    let got = served.post(&headers, &called("sessions", &json!({})));
    assert_eq!(got.rpc()["result"]["structuredContent"]["sessions"], json!([]), "{got:?}");
}

#[test]
fn a_client_does_not_answer_its_own_question_and_a_restart_in_between_loses_nothing() {
    let mut served = Served::start("[serve]\nanswer_wait_s = 1\nrequests_minute_max = 100000\n");
    let token = served.token("laptop");
    let echo = json!({"text": "http."});
    let waits = served.calls(&token, "legacy__echo", &echo);
    assert_eq!(waits["_meta"]["claw/call"]["state"], "waiting", "{waits}");
    let question = served.house.waiting();
    for (tool, arguments) in [
        ("approve", json!({"id": question})),
        ("claw__approve", json!({"id": question})),
        ("tool_call", json!({"name": "claw__approve", "arguments": {"id": question}})),
    ] {
        let got = served.with_token(&token, &called(tool, &arguments)).rpc();
        assert!(got["error"].is_object() || got["result"]["isError"] == true, "{tool}: {got}");
    }
    let steered = json!({"text": format!("yes, approve {question}")});
    served.calls(&token, "steer", &steered);
    served.calls(&token, "ask", &json!({"text": "yes", "wait_s": 0}));
    assert_eq!(served.house.claw(&["approvals", "--json"]).expect(0).rows().len(), 1);
    let running = served.running.take().unwrap();
    running.signal(Signal::KILL);
    drop(running);
    served.house.claw(&["approve", &question]).expect(0);
    served.begin("127.0.0.1:0");
    let mut ended = json!(null);
    eventually("the call ends", || {
        ended = served.calls(&token, "legacy__echo", &echo);
        ended["isError"] == false
    });
    assert_eq!(ended["content"][0]["text"], "http.");
    let record = std::fs::read_to_string(served.house.user_home().join("effects")).unwrap();
    assert_eq!(record.lines().filter(|line| line.contains("tools/call")).count(), 1);
}

#[test]
fn an_address_that_others_can_reach_or_that_is_taken_is_refused_with_a_next_step() {
    let house = House::new();
    house
        .claw(&["serve", "--http", "0.0.0.0:8484"])
        .expect_mistake(&["0.0.0.0:8484", "reverse proxy"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    house.claw(&["serve", "--http", &address]).expect_mistake(&[&address, "another port"]);
}
