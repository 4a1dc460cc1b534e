//! JSON-RPC's meaning over any transport: the handshake of both eras, requests and their answers,
//! notifications. Must not know processes, pins, or who calls.

mod asked;
mod bridge;
pub mod era;
mod handshake;
mod server_log;
mod state;

pub use asked::AskSink;
pub(super) use asked::Asked;
pub(super) use bridge::{
    ANSWER_TOO_LONG, Bridge, CallTag, News, REQUEST_FAILED, REQUEST_REFUSED, in_words,
};
pub(super) use handshake::{Agreement, Opening, OpeningError, capabilities, open};
pub(super) use server_log::{LOG_LINES_MAX, ServerLog};
pub(super) use state::{ProgressSink, RpcState};
