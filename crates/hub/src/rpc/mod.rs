//! JSON-RPC's meaning over any transport: the handshake of both eras, requests and their answers,
//! notifications. Must not know processes, pins, or who calls.

mod asked;
mod bridge;
pub mod era;
mod handshake;
mod roots;
mod server_log;
mod state;

pub(super) use asked::CallAsker;
pub use asked::{AskSink, ServerAsks};
pub(super) use bridge::{
    ANSWER_TOO_LONG, Bridge, CallTag, News, REQUEST_FAILED, REQUEST_REFUSED, TASK_RESULT, in_words,
};
pub(super) use handshake::{Agreement, Introduction, Opening, OpeningError, capabilities, open};
pub(super) use roots::Root;
pub(super) use server_log::{LOG_LINES_MAX, ServerLog};
pub(super) use state::{ProgressSink, RpcState};

/// JSON-RPC's "method not found".
const METHOD_NOT_FOUND: i64 = -32601;

/// The answer to a request of a server that claw does not know, or not now.
fn method_not_found(id: &serde_json::Value, message: &str) -> serde_json::Value {
    let error = serde_json::json!({"code": METHOD_NOT_FOUND, "message": message});
    serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error})
}
