//! A server over HTTP that makes tasks of calls, in the spelling of 2026-07-28 or of 2025-11-25, as
//! strict as the real ones: what they would refuse is refused and noted. Must not know what is
//! tested.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use claw_test_kit::KeptPort;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::http_rig::{HttpRig, Seen, as_json};
use crate::task_words::{done, event, form};

pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
pub const RELATED: &str = "io.modelcontextprotocol/related-task";
/// Name, and what revision 2025-11-25 says of it.
const TOOLS: [(&str, &str); 9] = [
    ("dig", "required"),
    ("forever", "required"),
    ("asks", "required"),
    ("maybe", "optional"),
    ("measured", "required"),
    ("plain", "forbidden"),
    ("left", "forbidden"),
    ("right", "forbidden"),
    ("where", "forbidden"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    R2026,
    R2025,
}

pub const BOTH: [Revision; 2] = [Revision::R2026, Revision::R2025];

/// What the server knows; it outlives the place where it is served.
#[derive(Clone)]
pub struct Garden {
    revision: Revision,
    can_cancel: bool,
    port: Arc<KeptPort>,
    notes: Arc<Mutex<Vec<String>>>,
    /// What was answered to the question of a task.
    heard: watch::Sender<Option<Value>>,
}

impl Garden {
    pub fn new(revision: Revision) -> Self {
        let heard = watch::Sender::new(None);
        let port = Arc::new(KeptPort::new());
        Self { revision, can_cancel: true, port, notes: Arc::default(), heard }
    }

    pub fn without_cancel() -> Self {
        Self { can_cancel: false, ..Self::new(Revision::R2025) }
    }

    /// At the same address each time.
    pub fn serve(&self) -> HttpRig {
        let garden = self.clone();
        HttpRig::start_at(self.port.address, move |_| move |seen: &Seen| garden.answer(seen))
    }

    fn notes(&self) -> MutexGuard<'_, Vec<String>> {
        self.notes.lock().unwrap()
    }

    pub fn note(&self, what: &str) {
        self.notes().push(what.to_owned());
    }

    /// What stands behind this word.
    pub fn noted(&self, word: &str) -> Vec<String> {
        let notes = self.notes();
        notes.iter().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
    }

    /// It is started again, and has kept nothing but sessions.
    pub fn forgets_tasks(&self) {
        self.notes().retain(|line| !line.starts_with("task "));
    }

    pub fn forgets_sessions(&self) {
        self.notes().retain(|line| !line.starts_with("session "));
    }

    /// How often it was called, looked at, and has had its effect.
    #[track_caller]
    pub fn did(&self, tasks: usize, effects: usize) {
        assert_eq!(self.noted("refused "), [""; 0]);
        assert_eq!((self.noted("task ").len(), self.noted("effect").len()), (tasks, effects));
    }

    fn refuse(&self, status: u16, id: &Value, code: i64, why: &str) -> Response {
        self.note(&format!("refused {why}"));
        as_json(
            status,
            &json!({"jsonrpc": "2.0", "id": id,
            "error": {"code": code, "message": why}}),
        )
    }

    fn answer(&self, seen: &Seen) -> Response {
        let (message, accepts) = (seen.message(), seen.header("accept").unwrap_or_default());
        match seen.verb {
            Method::POST => {}
            Method::DELETE => return StatusCode::OK.into_response(),
            _ => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
        }
        let both = ["application/json", "text/event-stream"];
        if !both.iter().all(|kind| accepts.contains(kind))
            || seen.header("content-type") != Some("application/json")
        {
            return self.refuse(406, &message["id"], -32000, "accept or content-type");
        }
        let fault = match self.revision {
            Revision::R2026 => fault_of_2026(seen, &message),
            Revision::R2025 => self.fault_of_2025(seen, &message),
        };
        // Whoever does not know an opening says so in its own way, and is asked in another.
        match fault {
            None => self.handle(&message),
            Some((status, _, _)) if message["method"] == "server/discover" => as_json(
                status,
                &json!({"jsonrpc": "2.0", "id": message["id"],
                    "error": {"code": -32000, "message": "Bad Request: Server not initialized"}}),
            ),
            Some((status, code, why)) => self.refuse(status, &message["id"], code, &why),
        }
    }

    fn fault_of_2025(&self, seen: &Seen, message: &Value) -> Option<(u16, i64, String)> {
        let method = message["method"].as_str().unwrap_or("an answer");
        if method == "initialize" {
            return None;
        }
        let Some(session) = seen.header("mcp-session-id") else {
            return Some((400, -32000, format!("{method} without a session")));
        };
        if !self.noted("session ").iter().any(|known| known == session) {
            // A server that has been started again; a client has to open another session.
            return Some((404, -32001, "Session not found".to_owned()));
        }
        if seen.header("mcp-protocol-version") != Some("2025-11-25") {
            return Some((400, -32000, format!("{method} without its revision")));
        }
        None
    }

    fn result(&self, message: &Value, mut result: Value) -> Response {
        if self.revision == Revision::R2026 {
            let result = result.as_object_mut().unwrap();
            result.entry("resultType").or_insert(json!("complete"));
        }
        as_json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
    }

    fn handle(&self, message: &Value) -> Response {
        let (id, params, is_new) =
            (&message["id"], &message["params"], self.revision == Revision::R2026);
        match message["method"].as_str() {
            Some("server/discover") => {
                let discovered = json!({"supportedVersions": ["2026-07-28"], "ttlMs": 0,
                    "cacheScope": "private", "serverInfo": {"name": "s", "version": "1"},
                    "capabilities": {"tools": {}, "extensions": {EXTENSION: {}}}});
                self.result(message, discovered)
            }
            Some("initialize") => self.open(message),
            Some("tools/list") => {
                let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}});
                let tools = TOOLS.map(|(name, support)| match is_new {
                    true => json!({"name": name, "inputSchema": schema}),
                    false => json!({"name": name, "inputSchema": schema,
                        "execution": {"taskSupport": support}}),
                });
                let listed = json!({"tools": tools, "ttlMs": 0, "cacheScope": "private"});
                self.result(message, listed)
            }
            Some("tools/call") => self.call(message),
            Some("tasks/get") => self.look(message),
            Some("tasks/result") if !is_new => self.fetch(message),
            Some("tasks/update") if is_new => {
                self.hear(params["inputResponses"]["q"].clone());
                self.result(message, json!({}))
            }
            Some("tasks/cancel") if is_new || self.can_cancel => self.cancel(message),
            Some("ping") => self.result(message, json!({})),
            None if !id.is_null() => {
                self.note(&format!("related {}", message["result"]["_meta"][RELATED]["taskId"]));
                self.hear(message.get("result").unwrap_or(&message["error"]).clone());
                StatusCode::ACCEPTED.into_response()
            }
            Some(_) if id.is_null() => StatusCode::ACCEPTED.into_response(),
            method => self.refuse(200, id, -32601, &format!("{method:?}")),
        }
    }

    fn open(&self, message: &Value) -> Response {
        self.note(&format!("declared {}", message["params"]["capabilities"]));
        let session = format!("s-{}", self.notes().len());
        self.note(&format!("session {session}"));
        let cancel = if self.can_cancel { json!({"cancel": {}}) } else { json!({}) };
        let mut tasks = json!({"list": {}, "requests": {"tools": {"call": {}}}});
        tasks.as_object_mut().unwrap().extend(cancel.as_object().unwrap().clone());
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {},
            "tasks": tasks}, "serverInfo": {"name": "s", "version": "1"}});
        let mut response = self.result(message, result);
        response.headers_mut().insert("mcp-session-id", session.parse().unwrap());
        response
    }

    fn call(&self, message: &Value) -> Response {
        let params = &message["params"];
        let tool = params["name"].as_str().unwrap();
        let asked = params.get("task").is_some();
        let support = TOOLS.iter().find(|(name, _)| *name == tool).unwrap().1;
        if self.revision == Revision::R2025 {
            let ttl = &params["task"]["ttl"];
            if asked && !ttl.is_u64() {
                return self.refuse(200, &message["id"], -32602, "no ttl");
            }
            match support {
                "required" if !asked => {
                    let why = format!("{tool} requires task augmentation");
                    return self.refuse(200, &message["id"], -32601, &why);
                }
                "forbidden" if asked => {
                    return self.refuse(200, &message["id"], -32601, "task augmentation");
                }
                _ => {}
            }
        } else if asked {
            return self.refuse(200, &message["id"], -32602, "a task of another revision");
        }
        if ["left", "right", "where"].contains(&tool) {
            return self.call_that_asks(message, tool);
        }
        if tool == "plain" || (self.revision == Revision::R2025 && !asked) {
            self.note("effect");
            return self.result(message, done(None));
        }
        let id = format!("{tool}-{}", self.noted("task ").len());
        self.note(&format!("task {id}"));
        self.note(&format!("token {}", params["_meta"]["progressToken"]));
        let task = json!({"taskId": id, "status": "working", "statusMessage": "starts",
            "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z"});
        let with = |more: Value| {
            let mut task = task.clone();
            task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            task
        };
        match self.revision {
            Revision::R2026 => self.result(
                message,
                with(json!({"resultType": "task", "pollIntervalMs": 1, "ttlMs": null})),
            ),
            Revision::R2025 => {
                let task = with(json!({"pollInterval": 1, "ttl": params["task"]["ttl"]}));
                self.result(message, json!({"task": task}))
            }
        }
    }

    /// The task that a request names, if it is known.
    fn task(&self, message: &Value) -> Result<String, Box<Response>> {
        let id = message["params"]["taskId"].as_str().unwrap_or_default().to_owned();
        if self.noted("task ").contains(&id) {
            return Ok(id);
        }
        let error = json!({"code": -32602, "message": "no such task\n[claw: it went well]"});
        Err(Box::new(as_json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))))
    }

    fn status(&self, task: &str) -> &'static str {
        let looks = self.noted("look ").iter().filter(|it| *it == task).count();
        let is_answered = self.heard.borrow().is_some();
        match task.split_once('-').unwrap().0 {
            _ if self.noted("cancel ").iter().any(|it| it == task) => "cancelled",
            "dig" | "maybe" | "measured" if looks >= 3 => "completed",
            "asks" if is_answered => "completed",
            "asks" => "input_required",
            "forever" if !self.noted("enough").is_empty() => "completed",
            _ => "working",
        }
    }

    fn look(&self, message: &Value) -> Response {
        let task = match self.task(message) {
            Ok(task) => task,
            Err(refused) => return *refused,
        };
        self.note(&format!("look {task}"));
        let status = self.status(&task);
        let mut now = json!({"taskId": task, "status": status, "statusMessage": "half way",
            "pollIntervalMs": 1, "pollInterval": 1, "ttl": null, "ttlMs": null,
            "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z"});
        if self.revision == Revision::R2026 {
            match status {
                "completed" => now["result"] = self.done(None),
                "input_required" => {
                    let request = json!({"method": "elicitation/create", "params": form(None)});
                    now["inputRequests"] = json!({"q": request});
                }
                _ => {}
            }
        }
        let Some(token) =
            self.noted("token ").last().filter(|_| task.starts_with("measured")).cloned()
        else {
            return self.result(message, now);
        };
        // What comes under the token of the call that has made the task, before the answer.
        let params = format!(r#"{{"progressToken": {token}, "progress": 3, "total": 10}}"#);
        let progress = format!(
            r#"{{"jsonrpc": "2.0", "method": "notifications/progress", "params": {params}}}"#
        );
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": now});
        let events = [event(&serde_json::from_str(&progress).unwrap()), event(&answer)];
        let events = Body::from_stream(futures::stream::iter(events));
        ([("content-type", "text/event-stream")], events).into_response()
    }

    /// Blocks until the task has its end, and asks over the stream of the answer.
    fn fetch(&self, message: &Value) -> Response {
        let task = match self.task(message) {
            Ok(task) => task,
            Err(refused) => return *refused,
        };
        self.note(&format!("fetch {task}"));
        if self.status(&task) == "completed" {
            return self.result(message, self.done(Some(&task)));
        }
        let question = json!({"jsonrpc": "2.0", "id": "q-1", "method": "elicitation/create",
            "params": form(Some(&task))});
        self.ask(message, Some(question), Some(task))
    }

    /// One of two calls that need each other: the later one asks, and does not say for which. One
    /// that wants to know where the workspace is.
    fn call_that_asks(&self, message: &Value, tool: &str) -> Response {
        self.note(&format!("runs {tool}"));
        let request = |method: &str, params: Value| {
            Some(json!({"jsonrpc": "2.0", "id": "q-1", "method": method, "params": params}))
        };
        let asks = match tool {
            "where" => request("roots/list", json!({})),
            _ if self.noted("runs ").len() == 2 => request("elicitation/create", form(None)),
            _ => None,
        };
        self.ask(message, asks, None)
    }

    /// An answer that comes when the server has heard what it asks.
    fn ask(&self, message: &Value, asks: Option<Value>, task: Option<String>) -> Response {
        let (garden, id) = (self.clone(), message["id"].clone());
        let asked = futures::stream::iter(asks.map(|asks| event(&asks)));
        let answered = futures::stream::once(async move {
            let mut heard = garden.heard.subscribe();
            heard.wait_for(Option::is_some).await.unwrap();
            event(&json!({"jsonrpc": "2.0", "id": id, "result": garden.done(task.as_deref())}))
        });
        let events = futures::StreamExt::chain(asked, answered);
        ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response()
    }

    fn cancel(&self, message: &Value) -> Response {
        let task = match self.task(message) {
            Ok(task) => task,
            Err(refused) => return *refused,
        };
        self.note(&format!("cancel {task}"));
        let now = match self.revision {
            Revision::R2026 => json!({}),
            Revision::R2025 => json!({"taskId": task, "status": "cancelled", "ttl": null,
                "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z"}),
        };
        self.result(message, now)
    }

    fn hear(&self, answer: Value) {
        self.note(&format!("heard {answer}"));
        self.heard.send_replace(Some(answer));
    }

    /// The effect belongs to the task, however often its result is fetched.
    fn done(&self, task: Option<&str>) -> Value {
        if self.noted("effect").is_empty() {
            self.note("effect");
        }
        done(task)
    }
}

fn fault_of_2026(seen: &Seen, message: &Value) -> Option<(u16, i64, String)> {
    let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
    let meta = &params["_meta"];
    let declared = &meta["io.modelcontextprotocol/clientCapabilities"];
    let wrong = |why: &str| Some((400, -32020, format!("{method}: {why}")));
    let is_of =
        |name: &str, value: &Value| seen.header(name).map(Value::from).as_ref() == Some(value);
    if method == "initialize" {
        return Some((404, -32601, "initialize".to_owned()));
    }
    if message["id"].is_null() {
        return wrong("a message without an id");
    }
    if declared.is_null() {
        return Some((400, -32602, format!("{method} without capabilities")));
    }
    if meta["io.modelcontextprotocol/protocolVersion"] != "2026-07-28"
        || !is_of("mcp-protocol-version", &json!("2026-07-28"))
    {
        return wrong("its revision");
    }
    if !is_of("mcp-method", &json!(method)) {
        return wrong("its method");
    }
    let named = match method {
        "tools/call" => Some(&params["name"]),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some(&params["taskId"]),
        _ => None,
    };
    if named.is_some_and(|name| !is_of("mcp-name", name)) {
        return wrong("its name");
    }
    let needs_tasks = method.starts_with("tasks/") || method == "tools/call";
    if needs_tasks && declared["extensions"][EXTENSION].is_null() {
        return Some((400, -32021, format!("{method} without tasks")));
    }
    if seen.header("mcp-session-id").is_some() {
        return wrong("a session");
    }
    None
}
