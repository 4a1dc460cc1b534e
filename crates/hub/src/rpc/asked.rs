//! A request of a server for input in the middle of a call (`elicitation/create` of the revisions
//! before 2026-07-28): whose call it belongs to, and its answer. Must not know who is asked.

use std::sync::Arc;

use claw_domain::depth::{LEVELS_MAX, is_too_deep};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::state::RpcState;
use crate::task::RELATED_TASK;
use crate::transport::{Escort, Transport};

/// The revisions before 2026-07-28 ask so.
pub(super) const ELICIT: &str = "elicitation/create";

/// JSON-RPC's "invalid request".
const INVALID_REQUEST: i32 = -32600;

/// Of one question, in bytes of JSON. A form that a person fills in has a few thousand.
const QUESTION_BYTES_MAX: usize = 256 * 1024;

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
pub(crate) struct CallAsker {
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
    if message.to_string().len() > QUESTION_BYTES_MAX {
        let why = format!("a question may have {QUESTION_BYTES_MAX} bytes, and this one has more");
        return refuse(&**transport, &id, &why);
    }
    if is_too_deep(message) {
        let why = format!("this question is nested more than {LEVELS_MAX} levels deep");
        return refuse(&**transport, &id, &why);
    }
    let request = json!({"method": ELICIT, "params": message.get("params")});
    let meta = message.pointer("/params/_meta").and_then(|meta| meta.get(RELATED_TASK));
    let task = meta.and_then(|related| related.get("taskId")?.as_str()).map(str::to_owned);
    // Now, and not when the question is asked: what runs later has not asked.
    let running = state.askers();
    let Some(taken_back) = state.note_asked(&id) else {
        let why = "a question with this id is open, or too many are: ask again after an answer";
        return refuse(&**transport, &id, why);
    };
    let (state, transport) = (state.clone(), transport.clone());
    claw_kit::task::spawn(async move {
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
        let result = match answer {
            Answer::Over => return,
            Answer::Result(result) => related(result, task),
            Answer::Nobody => {
                let why = "no call is under way for which a person could be asked";
                return refuse(&*transport, &id, why);
            }
        };
        // A server that is gone needs no answer.
        let _ = transport
            .send(json!({"jsonrpc": "2.0", "id": id, "result": result}), Escort::default());
    });
}

/// A server that is gone needs no answer.
fn refuse(transport: &dyn Transport, id: &Value, why: &str) {
    let error = json!({"code": INVALID_REQUEST, "message": why});
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
    let _ = transport.send(answer, Escort::default());
}

async fn ask(whose: Vec<CallAsker>, request: &Value) -> Answer {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, advance};

    use super::*;
    use crate::rpc::state::Pending;
    use crate::transport::Limits;
    use crate::transport::memory::pair;

    const LIMITS: Limits =
        Limits { message_bytes_max: 1 << 26, queue_bytes_max: 1 << 26, requests_max: 8 };

    fn question(id: impl Into<Value>, message: &str) -> Value {
        let params = json!({"message": message});
        json!({"jsonrpc": "2.0", "id": id.into(), "method": ELICIT, "params": params})
    }

    /// A call whose owner never answers.
    fn state_with_call() -> Arc<RpcState> {
        let state = Arc::new(RpcState::default());
        let sink: AskSink = Arc::new(|_| Box::pin(std::future::pending()));
        let asked = CallAsker { sink, over: CancellationToken::new(), tool: "t".to_owned() };
        let pending = Pending { raw: true, progress: None, asked: Some(asked), goes_on: false };
        state.pending().insert(rmcp::model::RequestId::Number(1), pending);
        state
    }

    #[tokio::test]
    async fn questions_of_one_server_are_bounded_in_number_and_in_size() {
        let state = state_with_call();
        let (claw, _receiver, mut peer) = pair(LIMITS);
        let transport: Arc<dyn Transport> = Arc::new(claw);
        for id in 0..20 {
            take(&state, &transport, &question(id, "Sure?"));
        }
        for id in 9..20 {
            let answer = peer.receive().await.unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32600)));
        }
        taken_back(&state, &json!({"params": {"requestId": 0}}));
        take(&state, &transport, &question(1, "the same id"));
        assert_eq!(peer.receive().await.unwrap()["id"], 1);
        take(&state, &transport, &question("new", &"x".repeat(QUESTION_BYTES_MAX)));
        let answer = peer.receive().await.unwrap();
        assert!(answer["error"]["message"].to_string().contains("262144 bytes"), "{answer}");
        let mut deep = question("deep", "Sure?");
        deep["params"]["requestedSchema"] = (0..100).fold(json!(1), |inner, _| json!([inner]));
        take(&state, &transport, &deep);
        let answer = peer.receive().await.unwrap();
        assert!(answer["error"]["message"].to_string().contains("64 levels"), "{answer}");
        // There is room for one again, and it is asked: the next answer is to another one.
        take(&state, &transport, &question("fits", "Sure?"));
        take(&state, &transport, &question("too many", "Sure?"));
        assert_eq!(peer.receive().await.unwrap()["id"], "too many");
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_of_no_task_is_refused_at_once() {
        let state = Arc::new(RpcState::default());
        advance(Duration::from_secs(60)).await;
        let began = Instant::now();
        assert!(state.asker_of_task("t").await.is_none());
        assert_eq!(began.elapsed(), Duration::ZERO);
        // One that was begun is waited for.
        state.note_begun_task("t");
        assert!(state.asker_of_task("t").await.is_none());
        assert_ne!(began.elapsed(), Duration::ZERO);
        for nr in 0..100 {
            state.note_begun_task(&nr.to_string());
        }
        let began = Instant::now();
        assert!(state.asker_of_task("t").await.is_none());
        assert_eq!(began.elapsed(), Duration::ZERO, "the oldest is forgotten");
    }

    #[test]
    fn a_task_is_of_one_call() {
        let state = Arc::new(RpcState::default());
        let first = state.follow_task("t");
        assert!(first.is_some() && state.follow_task("other").is_some());
        assert!(state.follow_task("t").is_none());
        drop(first);
        assert!(state.follow_task("t").is_some());
    }
}
