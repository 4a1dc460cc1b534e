//! A request of a server for input in the middle of a call (`elicitation/create` of the revisions
//! before 2026-07-28): whose call it belongs to, and its answer. Must not know who is asked.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::server_log::ServerLog;
use super::state::RpcState;
use crate::transport::{Escort, Transport};

/// The revisions before 2026-07-28 ask so.
pub(super) const ELICIT: &str = "elicitation/create";

/// JSON-RPC's "invalid request".
const INVALID_REQUEST: i32 = -32600;

type Answering = std::pin::Pin<Box<dyn Future<Output = Value> + Send>>;

/// Takes a request for input (`{"method", "params"}`) and gives its result. Dropping the future
/// takes the question back.
pub type AskSink = Arc<dyn Fn(Value) -> Answering + Send + Sync>;

/// Who answers what the server asks while a call is under way.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) sink: AskSink,
    /// The call has its end, and nobody is asked any more.
    pub(crate) over: CancellationToken,
}

/// Has a request answered by whoever made the one call that is under way. A server that works on
/// several does not say for which it asks, and nobody is asked in a wrong name.
pub(super) fn take(
    state: &Arc<RpcState>,
    transport: &Arc<dyn Transport>,
    log: &mut ServerLog,
    message: &Value,
) {
    let id = message.get("id").cloned().unwrap_or_default();
    let answer = |answer: (&str, Value)| {
        let (kind, value) = answer;
        // A server that is gone needs no answer.
        let _ = transport
            .send(json!({"jsonrpc": "2.0", "id": id.clone(), kind: value}), Escort::default());
    };
    let mut asked = state.asked();
    let calls = state.calls();
    let Some(one) = asked.pop().filter(|_| calls == 1) else {
        return if calls > 1 {
            log.line(
                "[it asks for input while several of its calls run and does not say for which; \
                 claw has cancelled the question]",
            );
            answer(("result", json!({"action": "cancel"})));
        } else {
            let error = json!({"code": INVALID_REQUEST, "message": "no call is under way for which a person could be asked"});
            answer(("error", error));
        };
    };
    let request = json!({"method": ELICIT, "params": message.get("params")});
    let taken_back = state.note_asked(&id);
    let (state, transport) = (state.clone(), transport.clone());
    tokio::spawn(async move {
        let result = tokio::select! {
            biased;
            () = one.over.cancelled() => None,
            () = taken_back.cancelled() => None,
            result = (one.sink)(request) => Some(result),
        };
        state.forget_asked(&id);
        if let Some(result) = result {
            let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
            let _ = transport.send(message, Escort::default());
        }
    });
}

/// The server does not wait for an answer any more.
pub(super) fn taken_back(state: &RpcState, message: &Value) {
    if let Some(id) = message.pointer("/params/requestId") {
        state.take_back_asked(id);
    }
}
