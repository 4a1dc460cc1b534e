//! The transport between `rmcp` and one child: JSON-RPC lines, both ways. Owns what `rmcp`'s own
//! stdio transport leaves to its host: results stay raw JSON (traps 6 and 7: one odd tool must not
//! spoil a list, and pins need unknown fields), an overlong answer fails its call at once (trap 5),
//! progress arrives in order, and a call knows whether it was sent. Must not know processes or what
//! a tool is.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomResult, ErrorCode, ErrorData,
    GetMeta as _, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::AsyncRead;

use crate::hub::settings::LogSink;
use crate::hub::transport::lines::{Line, LineReader};
use crate::hub::transport::outbox::Outbox;

/// Our own code for "the answer was too long", far outside of what JSON-RPC reserves.
pub(in crate::hub) const ANSWER_TOO_LONG: ErrorCode = ErrorCode(i32::MIN + 1);

/// Takes the text of a progress notification.
pub(in crate::hub) type ProgressSink = Arc<dyn Fn(String) + Send + Sync>;

/// Travels with a `tools/call` through `rmcp` down to the wire.
#[derive(Clone)]
pub(in crate::hub) struct CallTag {
    pub(in crate::hub) progress: ProgressSink,
    pub(in crate::hub) ticket: Arc<Ticket>,
}

/// Whether a call may still be sent, and whether it was. Settled once, so that "not forwarded" is
/// certain.
#[derive(Debug, Default)]
pub(in crate::hub) struct Ticket(AtomicU8);

impl Ticket {
    const OPEN: u8 = 0;
    const SENT: u8 = 1;
    const REVOKED: u8 = 2;

    fn send(&self) -> bool {
        self.0.compare_exchange(Self::OPEN, Self::SENT, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// The queue did not take the call after all.
    fn undo(&self) {
        self.0.store(Self::REVOKED, Ordering::SeqCst);
    }

    /// True if the call was not sent and never will be.
    pub(in crate::hub) fn revoke(&self) -> bool {
        match self.0.compare_exchange(Self::OPEN, Self::REVOKED, Ordering::SeqCst, Ordering::SeqCst)
        {
            Ok(_) => true,
            Err(state) => state == Self::REVOKED,
        }
    }
}

/// What the transport and its connection share.
#[derive(Default)]
pub(in crate::hub) struct Wire {
    /// Requests without an answer, by our id.
    pending: Mutex<HashMap<RequestId, Pending>>,
    /// Goes up with every `notifications/tools/list_changed`.
    list_changes: AtomicU64,
    /// Somebody has seen a list since the last change was told: a server that repeats itself is not
    /// news, and neither is one that is still setting itself up.
    change_is_news: AtomicBool,
    /// Jobs that the server runs in the background, as it said last.
    background_jobs: AtomicU32,
}

struct Pending {
    /// The result is wanted as it came.
    raw: bool,
    progress: Option<(Value, ProgressSink)>,
}

impl Wire {
    pub(in crate::hub) fn list_changes(&self) -> u64 {
        self.list_changes.load(Ordering::SeqCst)
    }

    /// The tools were listed, so the next change is news.
    pub(in crate::hub) fn note_listed(&self) {
        self.change_is_news.store(true, Ordering::SeqCst);
    }

    pub(in crate::hub) fn background_jobs(&self) -> u32 {
        self.background_jobs.load(Ordering::Relaxed)
    }

    /// Whether a call or a list is still unanswered, and wanted.
    pub(in crate::hub) fn has_calls(&self) -> bool {
        self.pending().values().any(|pending| pending.raw)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<RequestId, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Our bash server's own notification: `{"running": N}`, whenever N has changed.
const BACKGROUND_JOBS: &str = "notifications/claw/background_jobs";

/// Of one child, by way of stdout.
pub(in crate::hub) const LOG_LINES_MAX: usize = 1000;
const LOG_LINE_BYTES_MAX: usize = 8 * 1024;
const LOG_ID_BYTES_MAX: usize = 100;
const PROGRESS_BYTES_MAX: usize = 64 * 1024;

/// The longest head of `text` within `bytes_max` that keeps characters whole.
pub(in crate::hub) fn cut(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|index| text.is_char_boundary(*index));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

pub(in crate::hub) struct StdioTransport<R> {
    pub(in crate::hub) server: String,
    pub(in crate::hub) lines: LineReader<R>,
    pub(in crate::hub) outbox: Outbox,
    pub(in crate::hub) wire: Arc<Wire>,
    pub(in crate::hub) log: LogSink,
    /// How many more of its lines reach the log.
    pub(in crate::hub) log_lines_left: usize,
    /// Called after `wire.list_changes` went up, once until the next list.
    pub(in crate::hub) on_list_changed: Arc<dyn Fn() + Send + Sync>,
    /// Decoded and not yet taken; a batch brings several.
    pub(in crate::hub) decoded: VecDeque<ServerJsonRpcMessage>,
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleClient> for StdioTransport<R> {
    type Error = io::Error;

    /// Queues before it returns, so that the order of the lines is the order of the calls to this
    /// function.
    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(self.queue(item))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.decoded.pop_front() {
                return Some(message);
            }
            match self.lines.next().await {
                Line::Whole => self.read_line(),
                Line::TooLong => self.fail_pending(),
                Line::End => return None,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outbox.close();
        Ok(())
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> StdioTransport<R> {
    fn queue(&mut self, mut item: ClientJsonRpcMessage) -> io::Result<()> {
        let mut tag = None;
        let mut registered = None;
        match &mut item {
            JsonRpcMessage::Request(request) => {
                let raw = matches!(
                    request.request,
                    ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_)
                );
                if let ClientRequest::CallToolRequest(call) = &mut request.request {
                    tag = call.extensions.remove::<CallTag>();
                }
                let token = request.request.get_meta().get("progressToken").cloned();
                let progress = token.zip(tag.as_ref().map(|tag| tag.progress.clone()));
                registered = Some((request.id.clone(), Pending { raw, progress }));
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                {
                    cancelled.params.request_id.as_ref().map(|id| self.wire.pending().remove(id));
                }
            }
            _ => {}
        }
        let line = serde_json::to_vec(&item)?;
        let id = registered.map(|(id, pending)| {
            self.wire.pending().insert(id.clone(), pending);
            id
        });
        let allowed = tag.as_ref().is_none_or(|tag| tag.ticket.send());
        let queued = if allowed {
            self.outbox.push(line)
        } else {
            Err(io::Error::other("the call was given up"))
        };
        if queued.is_err() {
            if let Some(tag) = &tag {
                tag.ticket.undo();
            }
            id.map(|id| self.wire.pending().remove(&id));
        }
        queued
    }

    fn read_line(&mut self) {
        match self.lines.json() {
            None => {}
            // Revision 2025-03-26 allows batches.
            Some(Ok(Value::Array(batch))) => {
                batch.into_iter().for_each(|message| self.decode(message))
            }
            Some(Ok(message)) => self.decode(message),
            // Prints to stdout are common among servers; they belong into the log like prints to
            // stderr.
            Some(Err(_)) => {
                let text: String =
                    String::from_utf8_lossy(self.lines.line()).chars().take(200).collect();
                self.log_line(&format!("[no JSON on stdout] {text}"));
            }
        }
    }

    fn decode(&mut self, mut message: Value) {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        match method.as_deref() {
            None => self.decode_answer(&mut message),
            Some("notifications/progress") => self.progress(&message),
            Some("notifications/tools/list_changed") => {
                self.wire.list_changes.fetch_add(1, Ordering::SeqCst);
                if self.wire.change_is_news.swap(false, Ordering::SeqCst) {
                    (self.on_list_changed)();
                }
            }
            Some(BACKGROUND_JOBS) => {
                let running = message.pointer("/params/running").and_then(Value::as_u64);
                if let Some(running) = running.and_then(|running| u32::try_from(running).ok()) {
                    self.wire.background_jobs.store(running, Ordering::Relaxed);
                }
            }
            Some("notifications/message") => {
                let data = message.pointer("/params/data").unwrap_or(&Value::Null);
                let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
                self.log_line(&text);
            }
            Some(_) => match serde_json::from_value(message) {
                Ok(message) => self.decoded.push_back(message),
                Err(error) => {
                    tracing::debug!(server = %self.server, %error, "a message of no known shape")
                }
            },
        }
    }

    fn decode_answer(&mut self, message: &mut Value) {
        let Some((id, pending)) = self.claim(message.get("id")) else {
            let id = message.get("id").unwrap_or(&Value::Null);
            tracing::debug!(server = %self.server, %id, "an answer that nobody waits for");
            if let Some(text) = id.as_str() {
                let text = cut(text, LOG_ID_BYTES_MAX);
                self.log_line(&format!(
                    "[dropped: an answer to the id {text:?}; claw sends numbers as ids, and no text]"
                ));
            }
            return;
        };
        let answer = if let Some(error) = message.get("error") {
            ServerJsonRpcMessage::error(error_data(error), Some(id))
        } else {
            let result = message.get_mut("result").map(Value::take).unwrap_or_default();
            let typed = if pending.raw {
                None
            } else {
                serde_json::from_value::<ServerResult>(result.clone()).ok()
            };
            ServerJsonRpcMessage::response(
                typed.unwrap_or(ServerResult::CustomResult(CustomResult(result))),
                id,
            )
        };
        self.decoded.push_back(answer);
    }

    fn log_line(&mut self, text: &str) {
        match self.log_lines_left {
            0 => return,
            1 => (self.log)(&self.server, "[claw drops further lines of this server]"),
            _ => (self.log)(&self.server, cut(text, LOG_LINE_BYTES_MAX)),
        }
        self.log_lines_left -= 1;
    }

    /// Takes the request that an answer belongs to. The text "7" is not the number 7 (JSON-RPC 2.0,
    /// section 5).
    fn claim(&self, id: Option<&Value>) -> Option<(RequestId, Pending)> {
        let number = id?.as_i64()?;
        self.wire.pending().remove_entry(&RequestId::Number(number))
    }

    fn progress(&self, message: &Value) {
        let Some(params) = message.get("params") else { return };
        let Some(token) = params.get("progressToken") else { return };
        let sink = {
            let pending = self.wire.pending();
            let mut sinks = pending.values().filter_map(|pending| pending.progress.as_ref());
            sinks.find(|(wanted, _)| wanted == token).map(|(_, sink)| sink.clone())
        };
        let Some(sink) = sink else { return };
        let text = match params.get("message").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => match (params.get("progress"), params.get("total")) {
                (Some(done), Some(total)) if !total.is_null() => format!("{done}/{total}"),
                (Some(done), _) => done.to_string(),
                (None, _) => return,
            },
        };
        sink(cut(&text, PROGRESS_BYTES_MAX).to_owned());
    }

    /// An overlong line cannot be read, so its id is not known: everything in flight may be the one
    /// that it answers.
    fn fail_pending(&mut self) {
        let ids: Vec<RequestId> = self.wire.pending().drain().map(|(id, _)| id).collect();
        self.log_line("[a message of this server was longer than claw reads; it was dropped]");
        for id in ids {
            let error = ErrorData::new(ANSWER_TOO_LONG, "the answer was too long", None);
            self.decoded.push_back(ServerJsonRpcMessage::error(error, Some(id)));
        }
    }
}

/// Reads an error leniently: a code that is no number or a missing message is no reason to lose the
/// answer.
fn error_data(error: &Value) -> ErrorData {
    let code = error
        .get("code")
        .and_then(Value::as_i64)
        .and_then(|code| i32::try_from(code).ok())
        .unwrap_or(-32000);
    let message = match error.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => error.to_string(),
    };
    ErrorData::new(ErrorCode(code), message, error.get("data").cloned())
}
