//! A request of a server for input in the middle of a call (`elicitation/create` of the revisions
//! before 2026-07-28): whose call it belongs to, and its answer. Must not know who is asked.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::state::RpcState;
use crate::task::RELATED_TASK;
use crate::transport::{Escort, Transport};

/// The revisions before 2026-07-28 ask so.
pub(super) const ELICIT: &str = "elicitation/create";

/// JSON-RPC's "invalid request".
const INVALID_REQUEST: i32 = -32600;

type Answering = std::pin::Pin<Box<dyn Future<Output = Option<Value>> + Send>>;

/// Takes what a server asks and gives the result of its request; `None` where nobody can be asked,
/// and another one of its calls may do better. Dropping the future takes the question back.
pub type AskSink = Arc<dyn Fn(ServerAsks) -> Answering + Send + Sync>;

/// What a server asks by a request.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerAsks {
    /// `{"method", "params"}`.
    pub request: Value,
    /// The tools of its calls that run, oldest first, where there are several and it does not say
    /// for which it asks. Empty where that is known.
    pub running: Vec<String>,
}

/// Who answers what the server asks while a call is under way.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) sink: AskSink,
    /// The call has its end, and nobody is asked any more.
    pub(crate) over: CancellationToken,
    /// What was called.
    pub(crate) tool: String,
}

/// What the server gets.
enum Answer {
    Result(Value),
    /// Its question is for nobody.
    Nobody,
    /// All that it can have asked for has its end.
    Over,
}

/// Has a request answered by whoever made the call that it belongs to. A server that works on
/// several calls and does not say for which it asks is answered by whoever made the oldest one, who
/// is told so; when that call ends, by whoever made the next one.
pub(super) fn take(state: &Arc<RpcState>, transport: &Arc<dyn Transport>, message: &Value) {
    let id = message.get("id").cloned().unwrap_or_default();
    let request = json!({"method": ELICIT, "params": message.get("params")});
    let meta = message.pointer("/params/_meta").and_then(|meta| meta.get(RELATED_TASK));
    let task = meta.and_then(|related| related.get("taskId")?.as_str()).map(str::to_owned);
    // Now, and not when the question is asked: what runs later has not asked.
    let running = state.askers();
    let taken_back = state.note_asked(&id);
    let (state, transport) = (state.clone(), transport.clone());
    tokio::spawn(async move {
        let answer = async {
            match &task {
                Some(task) => ask(state.asker_of_task(task).await.into_iter().collect(), &request),
                None => ask(running, &request),
            }
            .await
        };
        let answer = tokio::select! {
            biased;
            () = taken_back.cancelled() => Answer::Over,
            answer = answer => answer,
        };
        state.forget_asked(&id);
        let (kind, value) = match answer {
            Answer::Over => return,
            Answer::Result(result) => ("result", related(result, task)),
            Answer::Nobody => (
                "error",
                json!({"code": INVALID_REQUEST, "message": "no call is under way for which a person could be asked"}),
            ),
        };
        // A server that is gone needs no answer.
        let _ = transport.send(json!({"jsonrpc": "2.0", "id": id, kind: value}), Escort::default());
    });
}

async fn ask(whose: Vec<Asked>, request: &Value) -> Answer {
    let running: Vec<String> = match whose.as_slice() {
        [] | [_] => Vec::new(),
        several => several.iter().map(|one| one.tool.clone()).collect(),
    };
    let mut answer = if whose.is_empty() { Answer::Nobody } else { Answer::Over };
    for one in whose {
        let asks = ServerAsks { request: request.clone(), running: running.clone() };
        tokio::select! {
            biased;
            () = one.over.cancelled() => {}
            result = (one.sink)(asks) => match result {
                Some(result) => return Answer::Result(result),
                None => answer = Answer::Result(json!({"action": "cancel"})),
            },
        }
    }
    answer
}

/// Revision 2025-11-25 wants to have the task's id back.
fn related(mut result: Value, task: Option<String>) -> Value {
    if let (Some(task), Value::Object(_)) = (task, &result) {
        result["_meta"][RELATED_TASK] = json!({"taskId": task});
    }
    result
}

/// The server does not wait for an answer any more.
pub(super) fn taken_back(state: &RpcState, message: &Value) {
    if let Some(id) = message.pointer("/params/requestId") {
        state.take_back_asked(id);
    }
}
