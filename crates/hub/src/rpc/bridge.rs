//! Between `rmcp`'s client and a [`Transport`]. Owns what `rmcp` leaves to its host: results stay
//! raw JSON (traps 6 and 7: one odd tool must not spoil a list, and pins need unknown fields), an
//! answer that is too long fails its call at once (trap 5), progress arrives in order, and a call
//! knows whether it was sent. Must not know processes or what a tool is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomResult, ErrorCode, ErrorData,
    GetExtensions as _, GetMeta as _, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use serde_json::{Value, json};

use super::asked::{self, CallAsker, ELICIT};
use super::roots::{self, Root};
use super::server_log::ServerLog;
use super::state::{Pending, ProgressSink, RpcState};
use crate::task::{begun_task, of_2025};
use crate::text::cut;
use crate::transport::{Escort, Receive, Received, SendError, Ticket, Transport};

const TOO_LONG: &str =
    "the answer is longer than a message may be (`limits.server_message_bytes_max` in claw.toml)";
/// Our own code for "the answer was too long", far outside of what JSON-RPC reserves.
pub(crate) const ANSWER_TOO_LONG: ErrorCode = ErrorCode(i32::MIN + 1);

/// Our own code for a request that was refused without JSON-RPC.
pub(crate) const REQUEST_REFUSED: ErrorCode = ErrorCode(i32::MIN + 3);

/// Our own code for a request that gets no answer while its connection lasts.
pub(crate) const REQUEST_FAILED: ErrorCode = ErrorCode(i32::MIN + 2);

/// Our bash server's own notification: `{"running": N}`, whenever N has changed.
const BACKGROUND_JOBS: &str = "notifications/claw/background_jobs";

/// Revision 2025-11-25: the result of a task, when there is one.
pub(crate) const TASK_RESULT: &str = "tasks/result";

const LOG_ID_BYTES_MAX: usize = 100;
const PROGRESS_BYTES_MAX: usize = 64 * 1024;

/// Travels with a request that has a permit through `rmcp` to its bridge.
#[derive(Clone)]
pub(crate) struct CallTag {
    pub(crate) progress: ProgressSink,
    /// See [`Escort`].
    pub(crate) mirrored: Vec<(String, String)>,
    pub(crate) ticket: Arc<Ticket>,
    /// Who answers what the server asks meanwhile; `None` where nobody can.
    pub(crate) asked: Option<CallAsker>,
    /// It is a call once more, with answers; its id is none that the first one may have had.
    pub(crate) goes_on: bool,
    /// A task of 2025-11-25 is asked for, which its server keeps for so long.
    pub(crate) task: Option<Duration>,
}

/// Who hears of what a server tells by itself. Both must return at once.
pub(crate) struct News {
    /// Called when a change of the tools is news, see [`RpcState`].
    pub(crate) list_changed: Arc<dyn Fn() + Send + Sync>,
    /// Takes the URI of a resource that has changed.
    pub(crate) updated: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Owned by `rmcp`'s task, which ends when the connection drops its service.
pub(crate) struct Bridge<R> {
    /// The connection's, too, which may end it before.
    transport: Arc<dyn Transport>,
    /// The reading half, which belongs to this alone.
    receiver: R,
    /// Shared with the connection.
    state: Arc<RpcState>,
    /// Counts what the server logs over this connection, and takes so much of it.
    log: ServerLog,
    /// What to call; it holds nothing of this connection alive.
    news: News,
    /// Where the workspace is, if the server may know.
    root: Option<Root>,
    /// Decoded and not yet taken; a batch brings several.
    decoded: VecDeque<ServerJsonRpcMessage>,
}

impl<R: Receive> rmcp::transport::Transport<RoleClient> for Bridge<R> {
    type Error = SendError;

    /// Hands the message over before it returns, so that the order of the messages is the order of
    /// the calls to this function.
    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        std::future::ready(self.hand_over(item))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.decoded.pop_front() {
                return Some(message);
            }
            match self.receiver.receive().await {
                // Revision 2025-03-26 allows batches.
                Received::Message(Value::Array(batch)) => {
                    batch.into_iter().for_each(|message| self.decode(message));
                }
                Received::Message(message) => self.decode(message),
                // Prints to stdout are common among servers; they belong into the log like prints
                // to stderr.
                Received::NoJson(text) => self.log.line(&format!("[no JSON] {text}")),
                Received::TooLong { answers } => self.fail_too_long(answers),
                Received::Refused { answers, reason } => {
                    self.fail(answers, REQUEST_REFUSED, reason)
                }
                Received::Failed { answers, reason } => self.fail(answers, REQUEST_FAILED, reason),
                Received::End => return None,
            }
        }
    }

    async fn close(&mut self) -> Result<(), SendError> {
        self.transport.request_end();
        Ok(())
    }
}

impl<R: Receive> Bridge<R> {
    pub(crate) fn new(
        transport: Arc<dyn Transport>,
        receiver: R,
        state: Arc<RpcState>,
        log: ServerLog,
        news: News,
        root: Option<Root>,
    ) -> Self {
        Self { transport, receiver, state, log, news, root, decoded: VecDeque::new() }
    }

    fn hand_over(&mut self, mut item: ClientJsonRpcMessage) -> Result<(), SendError> {
        let mut tag = None;
        let mut request = None;
        let mut cancelled_later = None;
        match &mut item {
            JsonRpcMessage::Request(sent) => {
                let raw = matches!(
                    sent.request,
                    ClientRequest::CallToolRequest(_)
                        | ClientRequest::ListToolsRequest(_)
                        | ClientRequest::ReadResourceRequest(_)
                        | ClientRequest::ListResourcesRequest(_)
                        | ClientRequest::ListResourceTemplatesRequest(_)
                        | ClientRequest::ListPromptsRequest(_)
                        | ClientRequest::GetPromptRequest(_)
                        | ClientRequest::GetTaskRequest(_)
                        | ClientRequest::UpdateTaskRequest(_)
                        | ClientRequest::CancelTaskRequest(_)
                ) || sent.request.method() == TASK_RESULT;
                tag = sent.request.extensions_mut().remove::<CallTag>();
                let token = sent.request.get_meta().get("progressToken").cloned();
                let progress = token.zip(tag.as_ref().map(|tag| tag.progress.clone()));
                let asked = tag.as_ref().and_then(|tag| tag.asked.clone());
                let goes_on = tag.as_ref().is_some_and(|tag| tag.goes_on);
                let pending = Pending { raw, progress, asked, goes_on };
                request = Some((sent.id.clone(), pending));
            }
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification {
                    let id = cancelled.params.request_id.clone();
                    let given_up = id.as_ref().and_then(|id| self.state.pending().remove(id));
                    cancelled_later = id.filter(|_| given_up.is_some_and(|it| it.goes_on));
                }
            }
            _ => {}
        }
        let mut message = serde_json::to_value(&item)?;
        let id = request.map(|(id, pending)| {
            if pending.goes_on {
                message["id"] = self.state.later_id(&id);
            }
            self.state.pending().insert(id.clone(), pending);
            id
        });
        if let Some(id) = cancelled_later {
            message["params"]["requestId"] = self.state.later_id(&id);
        }
        // `rmcp` knows the tasks of 2026-07-28 alone.
        if let Some(kept) = tag.as_ref().and_then(|tag| tag.task) {
            let ttl_ms = u64::try_from(kept.as_millis()).unwrap_or(u64::MAX);
            message["params"]["task"] = json!({"ttl": ttl_ms});
        }
        let escort = tag.map_or_else(Escort::default, |tag| Escort {
            ticket: Some(tag.ticket),
            mirrored: tag.mirrored,
        });
        let sent = self.transport.send(message, escort);
        if sent.is_err() {
            id.map(|id| self.state.pending().remove(&id));
        }
        sent
    }

    fn decode(&mut self, mut message: Value) {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        match method.as_deref() {
            None => self.decode_answer(&mut message),
            Some("notifications/progress") => self.progress(&message),
            Some("notifications/tools/list_changed") => {
                if self.state.note_list_change() {
                    (self.news.list_changed)();
                }
            }
            Some("notifications/prompts/list_changed") => self.state.note_prompt_change(),
            Some("notifications/resources/updated") => {
                if let Some(uri) = message.pointer("/params/uri").and_then(Value::as_str) {
                    (self.news.updated)(uri);
                }
            }
            Some(ELICIT) if message.get("id").is_some() => {
                asked::take(&self.state, &self.transport, &message);
            }
            // `rmcp` would show an empty list to whoever asks.
            Some(roots::LIST) if message.get("id").is_some() => {
                let answer = roots::answer(self.root.as_ref(), &message["id"]);
                let _ = self.transport.send(answer, Escort::default());
            }
            Some("notifications/cancelled") => asked::taken_back(&self.state, &message),
            Some(BACKGROUND_JOBS) => {
                let running = message.pointer("/params/running").and_then(Value::as_u64);
                if let Some(running) = running.and_then(|running| u32::try_from(running).ok()) {
                    self.state.note_background_jobs(running);
                }
            }
            Some("notifications/message") => {
                let data = message.pointer("/params/data").unwrap_or(&Value::Null);
                let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
                self.log.line(&text);
            }
            Some(_) => match serde_json::from_value(message) {
                Ok(message) => self.decoded.push_back(message),
                Err(error) => {
                    let server = self.log.server();
                    tracing::debug!(server, %error, "a message of no known shape");
                }
            },
        }
    }

    fn decode_answer(&mut self, message: &mut Value) {
        let Some((id, pending)) = self.state.claim(message.get("id")) else {
            let id = message.get("id").unwrap_or(&Value::Null);
            tracing::debug!(server = self.log.server(), %id, "an answer that nobody waits for");
            if let Some(text) = id.as_str() {
                let text = cut(text, LOG_ID_BYTES_MAX);
                self.log.line(&format!(
                    "[dropped: an answer to the id {text:?}; claw sends numbers as ids, and no \
                     text]"
                ));
            }
            return;
        };
        let answer = if let Some(error) = message.get("error") {
            ServerJsonRpcMessage::error(error_data(error), Some(id))
        } else {
            let result = message.get_mut("result").map(Value::take).unwrap_or_default();
            if pending.asked.is_some()
                && let Some(task) = begun_task(&result)
            {
                self.state.note_begun_task(task);
            }
            if let Some(task) = of_2025(&result) {
                self.state.goes_on_as_task(task, pending.progress);
            }
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

    fn progress(&self, message: &Value) {
        let Some(params) = message.get("params") else { return };
        let Some(token) = params.get("progressToken") else { return };
        let Some(sink) = self.state.progress_sink(token) else { return };
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

    fn fail(&mut self, answers: i64, code: ErrorCode, reason: String) {
        let id = RequestId::Number(self.state.own_id(answers));
        if self.state.pending().remove(&id).is_some() {
            let error = ErrorData::new(code, reason, None);
            self.decoded.push_back(ServerJsonRpcMessage::error(error, Some(id)));
        }
    }

    /// Where the id is not known, everything in flight may be the request that it answers.
    fn fail_too_long(&mut self, answers: Option<i64>) {
        let own = answers.map(|id| RequestId::Number(self.state.own_id(id)));
        let mut pending = self.state.pending();
        let ids: Vec<RequestId> = match own {
            Some(id) => pending.remove(&id).map(|_| id).into_iter().collect(),
            None => pending.drain().map(|(id, _)| id).collect(),
        };
        drop(pending);
        self.log.line("[a message of this server was longer than claw reads; it was dropped]");
        for id in ids {
            let error = ErrorData::new(ANSWER_TOO_LONG, TOO_LONG, None);
            self.decoded.push_back(ServerJsonRpcMessage::error(error, Some(id)));
        }
    }
}

/// An error for a human, as the end of a sentence.
pub(crate) fn in_words(error: &ErrorData, bytes_max: usize) -> String {
    let message = cut(&error.message, bytes_max);
    match error.code {
        ANSWER_TOO_LONG | REQUEST_REFUSED | REQUEST_FAILED => message.to_owned(),
        code => format!("{message} (JSON-RPC error {})", code.0),
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
