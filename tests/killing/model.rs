//! The model: an HTTP stand-in on the OpenAI-compatible wire whose answer is a function of the
//! conversation it is sent and of nothing else, so that a resumed turn gets the same answers. It
//! refuses and counts every malformed history. Must not know kills.
//!
//! A task is `TASK name [a,b|c]`: first the calls a and b side by side, then c, then
//! `ANSWER:name;`, with links to the files that were made, and behind that many lines
//! `LINE:name:number;` if the name ends with `L`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use axum::routing::any;
use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};

use super::effects::{call_of, id_in};
use super::kept::made_path;
use super::look::Look;
use super::remembered;
use crate::wires::{Call, Turn, openai};

/// What claw writes that wants a summary.
const ASKS_FOR_SUMMARY: &str = "Summarise the conversation so far";
/// Before the name of a task in a summary.
const KNOWS: &str = "KNOWN:";
/// About 8,000 characters in all.
const LONG_LINES: usize = 110;

pub struct StandIn {
    pub base_url: String,
    shared: Arc<Shared>,
    server: tokio::task::JoinHandle<()>,
}

struct Shared {
    db: PathBuf,
    requests: Mutex<Vec<Value>>,
    faults: Mutex<Vec<String>>,
}

impl StandIn {
    /// `db` is where the messages must be before the model is asked about them.
    pub async fn start(db: PathBuf) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared { db, requests: Mutex::default(), faults: Mutex::default() });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let base_url = format!("http://{}/v1/", listener.local_addr()?);
        let app = Router::new().fallback(any(answer)).with_state(shared.clone());
        let server = tokio::spawn(async move {
            axum::serve(listener, app).await.expect("the stand-in serves until it is dropped");
        });
        Ok(Self { base_url, shared, server })
    }

    /// Every history that a provider would have refused, or that told the model something that was
    /// not so.
    pub fn faults(&self) -> Vec<String> {
        self.shared.faults.lock().expect("no panic holds it").clone()
    }

    pub fn requests(&self) -> Vec<Value> {
        self.shared.requests.lock().expect("no panic holds it").clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let checked =
        openai::check(uri.path(), &headers, &body).and_then(|()| truthful(&shared, &body));
    shared.requests.lock().expect("no panic holds it").push(body.clone());
    if let Err(fault) = checked {
        shared.faults.lock().expect("no panic holds it").push(fault.clone());
        let refusal = json!({"error": {"message": fault}}).to_string();
        return Response::builder()
            .status(400)
            .body(Body::from(refusal))
            .expect("a plain response");
    }
    let frames = openai::frames(&summary(&body).unwrap_or_else(|| reply(&body)));
    let pieces = stream::iter(frames).then(|frame| async move {
        // A stream takes a moment, so that a kill can come in the middle of it.
        tokio::time::sleep(std::time::Duration::from_micros(300)).await;
        Ok::<_, std::io::Error>(Bytes::from(frame))
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Body::from_stream(pieces)).expect("a streamed response")
}

/// What is well-formed and wrong all the same: a result that is no result, or a message that a kill
/// could still lose.
fn truthful(shared: &Shared, body: &Value) -> Result<(), String> {
    for message in messages(body).iter().filter(|message| message["role"] == "tool") {
        if text(message).contains("No result yet") {
            return Err(format!(
                "the tool use {} was sent without its result",
                message["tool_call_id"]
            ));
        }
    }
    let look =
        Look::open(&shared.db).map_err(|error| format!("the store cannot be read: {error}"))?;
    let mut seen = BTreeSet::new();
    for task in tasks(body) {
        if !look.has_message(&task.name).map_err(|error| error.to_string())? {
            return Err(format!(
                "the model was asked about {} before the message was on the disk",
                task.name
            ));
        }
        if !seen.insert(task.name.clone()) {
            return Err(format!("the message {} is in the history twice", task.name));
        }
    }
    Ok(())
}

struct Task {
    name: String,
    steps: Vec<Vec<String>>,
}

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Without what claw lists and quotes of an earlier part of the conversation.
fn own_words(text: &str) -> String {
    let told = |line: &&str| !line.starts_with("- ") && !line.starts_with("> ");
    text.lines().filter(told).collect::<Vec<_>>().join("\n")
}

fn tasks(body: &Value) -> Vec<Task> {
    let said = messages(body)
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| own_words(&text(message)))
        .collect::<Vec<_>>()
        .join("\n");
    let task = |part: &str| {
        let (name, rest) = part.split_once(" [")?;
        let (steps, _) = rest.split_once(']')?;
        let steps = steps
            .split('|')
            .map(|step| step.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect());
        Some(Task { name: name.to_owned(), steps: steps.collect() })
    };
    said.split("TASK ").skip(1).filter_map(task).collect()
}

/// What a model says that is asked to summarise: the names of all tasks that it was sent, those of
/// earlier summaries among them.
fn summary(body: &Value) -> Option<Turn> {
    let said = text(messages(body).iter().rfind(|message| message["role"] == "user")?);
    said.contains(ASKS_FOR_SUMMARY).then(|| {
        let names: Vec<String> =
            known(body).into_iter().map(|name| format!("{KNOWS}{name};")).collect();
        let newest = tasks(body).pop().map(|task| task.name);
        let fact = newest.filter(|_| said.contains(remembered::ASKS_FOR_FACTS));
        let fact = fact.map(|name| remembered::fact(&name)).unwrap_or_default();
        Turn::text(&format!("So far: {}{fact}", names.join(" ")))
    })
}

/// The tasks that a request tells of, in words of its own or of a summary.
pub fn known(body: &Value) -> BTreeSet<String> {
    let said = messages(body).iter().map(text).collect::<Vec<_>>().join("\n");
    let summarised = said.split(KNOWS).skip(1).filter_map(|rest| rest.split_once(';'));
    let mut names: BTreeSet<String> = summarised.map(|(name, _)| name.to_owned()).collect();
    names.extend(tasks(body).into_iter().map(|task| task.name));
    names
}

/// The next step of the first unfinished task; when all are done, the answer to every unanswered
/// one.
fn reply(body: &Value) -> Turn {
    let assistant: Vec<&Value> =
        messages(body).iter().filter(|message| message["role"] == "assistant").collect();
    let answers: String = assistant.iter().map(|message| text(message)).collect();
    let called: BTreeSet<String> = assistant
        .iter()
        .flat_map(|message| message["tool_calls"].as_array().cloned().unwrap_or_default())
        .filter_map(|call| {
            serde_json::from_str::<Value>(call["function"]["arguments"].as_str()?).ok()
        })
        .filter_map(|arguments| id_in(&arguments).map(str::to_owned))
        .collect();
    let open: Vec<Task> =
        tasks(body).into_iter().filter(|task| !answers.contains(&answer_to(&task.name))).collect();
    for step in open.iter().flat_map(|task| &task.steps) {
        let calls: Vec<Call> =
            step.iter().filter(|id| !called.contains(*id)).map(|id| call(id)).collect();
        if !calls.is_empty() {
            return Turn::calls(&calls);
        }
    }
    Turn::text(&open.iter().map(answer_in_full).collect::<Vec<_>>().join("\n\n"))
}

/// Some answers are longer than a message of a chat service may be.
fn answer_in_full(task: &Task) -> String {
    let name = &task.name;
    let lines = if name.ends_with('L') { LONG_LINES } else { 0 };
    let line = |number| {
        format!("\nLINE:{name}:{number}; so that this answer needs more than one message.")
    };
    let made = task.steps.iter().flatten().filter(|id| id.starts_with("make-"));
    let links: String = made.map(|id| format!(" [{id}]({})", made_path(id))).collect();
    format!("{}{links}{}", answer_to(name), (1..=lines).map(line).collect::<String>())
}

/// What the person must get to see once the task is done.
pub fn answer_to(task: &str) -> String {
    format!("ANSWER:{task};")
}

fn call(id: &str) -> Call {
    let (tool, arguments) = call_of(id);
    Call::new(&format!("c-{id}"), tool, &arguments.to_string())
}
