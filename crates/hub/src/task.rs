//! Follows a call that its server has made a task of (`io.modelcontextprotocol/tasks`, SEP-2663):
//! looks at the pace that the server names, hands on what it asks, and tells it where nobody waits
//! any longer. A task is never begun again. Must not know who allowed the call, or the store.

use std::ops::ControlFlow;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, ErrorCode, ErrorData, GetTaskParams,
    GetTaskRequest, ServerResult, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep, timeout};

use super::call::{CallControl, CallEnd, Stop, stopped};
use super::connection::Connection;
use super::output::{read_failure, read_result};
use super::permit::{Permit, TaskAt};
use super::rpc::{ANSWER_TOO_LONG, REQUEST_FAILED};
use super::text::cut;

/// A server that wants to be asked more often is not.
const WAIT_MIN: Duration = Duration::from_millis(250);
/// A server that names no pace.
const WAIT_USUAL: Duration = Duration::from_secs(1);
/// A server that wants to be asked more seldom is asked so often all the same: its owner waits.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Until a server has said that it has heard of the end.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

const ID_BYTES_MAX: usize = 1024;
const WORDS_BYTES_MAX: usize = 1024;

/// Reads a `CreateTaskResult`.
pub(super) fn begun(raw: &Value) -> CallEnd {
    match raw.get("taskId").and_then(Value::as_str) {
        Some(id) if !id.is_empty() && id.len() <= ID_BYTES_MAX => {
            CallEnd::Task { id: id.to_owned(), wait: wait_of(raw) }
        }
        _ => unknown(&format!(
            "the server made a task of the call and named it by nothing, or by more than \
             {ID_BYTES_MAX} bytes"
        )),
    }
}

/// How long to wait before the next look. Zero where there is none.
fn wait_of(task: &Value) -> Duration {
    let named = task.get("pollIntervalMs").and_then(Value::as_f64);
    let wait = named
        .filter(|ms| *ms >= 0.0)
        .map_or(WAIT_USUAL, |ms| Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(WAIT_MAX));
    wait.clamp(WAIT_MIN, WAIT_MAX)
}

/// One task that is followed.
struct Following<'a> {
    connection: &'a Connection,
    context: &'a CallControl,
    task: &'a TaskAt,
    /// The whole time of the call, for the words about it.
    limit: Duration,
    deadline: Instant,
}

/// Why a task is not followed any longer.
enum Halt {
    Stop(Stop),
    /// Claw ends, and goes on with it when it is started again.
    Left,
}

/// Why there is no answer to one request about a task.
enum Silence {
    Halt(Halt),
    /// The exchange failed, and the next one may not.
    Failed,
    /// The server has answered with an error.
    Error(ErrorData),
}

/// Follows a task to its end, or to its next question. The permit is used up; it names the task,
/// and may bring the answers to what the task has asked.
pub(super) async fn follow(
    connection: &Connection,
    permit: Permit,
    context: CallControl,
) -> CallEnd {
    let Some(task) = permit.task() else {
        return CallEnd::NotForwarded { reason: "its permit names no task".to_owned() };
    };
    let limit = permit.timeout();
    let deadline = Instant::now() + limit.saturating_sub(task.spent);
    let following = Following { connection, context: &context, task, limit, deadline };
    let empty = Map::new();
    let answered = permit.input().map_or(&empty, |input| &input.responses);
    match following.to_end(answered).await {
        Ok(end) => end,
        Err(Halt::Left) => CallEnd::Left,
        Err(Halt::Stop(stop)) => following.give_up(stop).await,
    }
}

/// Tells a server that nobody waits for its task any more. Whether it has heard so. The permit is
/// used up, and names the task.
pub(super) async fn cancel(connection: &Connection, permit: Permit) -> bool {
    match permit.task() {
        Some(task) => tell_cancelled(connection, &task.id).await,
        None => false,
    }
}

impl Following<'_> {
    async fn to_end(&self, answered: &Map<String, Value>) -> Result<CallEnd, Halt> {
        if !answered.is_empty() {
            let responses = answered.clone().into_iter().collect();
            let params = UpdateTaskParams::new(self.task.id.clone(), responses);
            let update = ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(params));
            match self.exchange(update).await {
                Ok(_) => {}
                Err(Silence::Halt(halt)) => return Err(halt),
                Err(Silence::Failed) => {
                    return Ok(unknown("the answer did not reach the server that asked for it"));
                }
                Err(Silence::Error(error)) => return Ok(lost(&error)),
            }
        }
        let (mut wait, mut told) = (self.task.wait, String::new());
        loop {
            if !wait.is_zero() {
                tokio::select! {
                    biased;
                    halt = self.halted() => return Err(halt),
                    () = sleep(wait) => {}
                }
            }
            wait = match self.look().await {
                Ok(raw) => match self.read(&raw, answered, &mut told) {
                    ControlFlow::Break(end) => return Ok(end),
                    ControlFlow::Continue(wait) => wait,
                },
                Err(Silence::Halt(halt)) => return Err(halt),
                Err(Silence::Failed) => wait.max(WAIT_USUAL),
                Err(Silence::Error(error)) if is_passing(&error) => wait.max(WAIT_USUAL),
                Err(Silence::Error(error)) => return Ok(lost(&error)),
            };
        }
    }

    async fn halted(&self) -> Halt {
        tokio::select! {
            biased;
            () = self.context.leaves.cancelled() => Halt::Left,
            stop = stopped(self.connection, self.context, self.deadline) => Halt::Stop(stop),
        }
    }

    async fn look(&self) -> Result<Value, Silence> {
        let params = GetTaskParams::new(self.task.id.clone());
        self.exchange(ClientRequest::GetTaskRequest(GetTaskRequest::new(params))).await
    }

    /// The end, or how long to wait before the next look. Whatever does not say that it is about this task says nothing of this call.
    fn read(
        &self,
        raw: &Value,
        answered: &Map<String, Value>,
        told: &mut String,
    ) -> ControlFlow<CallEnd, Duration> {
        let text = |key: &str| raw.get(key).and_then(Value::as_str);
        if text("taskId") != Some(self.task.id.as_str()) {
            return ControlFlow::Break(unknown(
                "its server was asked about its task and spoke of another",
            ));
        }
        if let Some(words) = text("statusMessage").map(|words| cut(words, WORDS_BYTES_MAX))
            && words != told.as_str()
        {
            words.clone_into(told);
            (self.context.progress)(words.to_owned());
        }
        match text("status") {
            Some("working") => ControlFlow::Continue(wait_of(raw)),
            Some("input_required") => match open_requests(raw, answered) {
                requests if requests.is_empty() => ControlFlow::Continue(wait_of(raw)),
                requests => ControlFlow::Break(CallEnd::InputRequired {
                    requests: Value::Object(requests),
                    state: None,
                }),
            },
            Some("completed") => {
                ControlFlow::Break(self.result(raw.get("result").unwrap_or(&Value::Null)))
            }
            Some("failed") => {
                let (server, error) = (&self.connection.server, raw.get("error"));
                let bytes_max = self.connection.settings.result_bytes_max;
                ControlFlow::Break(read_failure(server, error.unwrap_or(&Value::Null), bytes_max))
            }
            Some("cancelled") => ControlFlow::Break(unknown("its server has cancelled its task")),
            _ => ControlFlow::Break(unknown("its server says of its task what claw does not know")),
        }
    }

    fn result(&self, raw: &Value) -> CallEnd {
        let settings = &self.connection.settings;
        let (bytes_max, file_bytes_max) = (settings.result_bytes_max, settings.file_bytes_max);
        match read_result(raw, self.connection.own, bytes_max, file_bytes_max) {
            CallEnd::InputRequired { .. } | CallEnd::Task { .. } => {
                unknown("its server says that its task has ended, and gives no result")
            }
            end => end,
        }
    }

    async fn exchange(&self, request: ClientRequest) -> Result<Value, Silence> {
        let answer = async {
            match send(self.connection, request).await {
                Ok(handle) => handle.await_response().await,
                Err(error) => Err(error),
            }
        };
        let answer = tokio::select! {
            biased;
            halt = self.halted() => return Err(Silence::Halt(halt)),
            answer = answer => answer,
        };
        match answer {
            Ok(ServerResult::CustomResult(result)) => Ok(result.0),
            Ok(_) => Ok(Value::Null),
            Err(ServiceError::McpError(error)) if error.code == REQUEST_FAILED => {
                Err(Silence::Failed)
            }
            Err(ServiceError::McpError(error)) => Err(Silence::Error(error)),
            Err(_) => Err(Silence::Halt(Halt::Stop(Stop::Ended))),
        }
    }

    /// Nobody waits for the task any longer. Whether it had its effect, its server alone knows.
    async fn give_up(&self, stop: Stop) -> CallEnd {
        let why = match stop {
            Stop::Ended => {
                let reason = self.connection.wait_for_end_reason().await;
                return unknown(&format!("its server ended before its task did: {reason}"));
            }
            Stop::Timeout => format!(
                "its task had no end within {} s (limits.tool_timeout_s, or `timeout` of the \
                 server in mcp.json)",
                self.limit.as_secs_f32()
            ),
            Stop::Cancelled => "it was stopped while its server worked on it as a task".to_owned(),
        };
        match tell_cancelled(self.connection, &self.task.id).await {
            true => unknown(&format!("{why}; its server was told to cancel it")),
            false => unknown(&format!("{why}; its server was told to cancel it, and said nothing")),
        }
    }
}

async fn tell_cancelled(connection: &Connection, task: &str) -> bool {
    let params = CancelTaskParams::new(task.to_owned());
    let cancel = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(params));
    let told = async { send(connection, cancel).await?.await_response().await };
    matches!(timeout(CANCEL_TIMEOUT, told).await, Ok(Ok(_)))
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is asked about a task belongs to the call that the permit was made for"
)]
async fn send(
    connection: &Connection,
    request: ClientRequest,
) -> Result<RequestHandle<RoleClient>, ServiceError> {
    connection.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await
}

/// What a task asks and has no answer to. A key is used once in the life of a task, and a server may
/// still show one whose answer it has just been given.
fn open_requests(raw: &Value, answered: &Map<String, Value>) -> Map<String, Value> {
    let requests = raw.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    requests
        .filter(|(key, _)| !answered.contains_key(*key))
        .map(|(key, request)| (key.clone(), request.clone()))
        .collect()
}

/// Whether the next look may find the task all the same. What the revision names for a task that is
/// not known is "invalid params"; a server without tasks does not know the method.
fn is_passing(error: &ErrorData) -> bool {
    !matches!(error.code, ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND | ANSWER_TOO_LONG)
}

/// The words of the server stay out of what its owner is told.
fn lost(error: &ErrorData) -> CallEnd {
    if error.code == ANSWER_TOO_LONG {
        return unknown(
            "what its server said of its task is longer than a message may be \
             (limits.server_message_bytes_max)",
        );
    }
    unknown(&format!("its server does not know its task any more (error {})", error.code.0))
}

fn unknown(reason: &str) -> CallEnd {
    CallEnd::Unknown { reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_names_the_pace_within_bounds() {
        let wait = |interval: Value| wait_of(&json!({"pollIntervalMs": interval}));
        assert_eq!(wait(json!(2_000)), Duration::from_secs(2));
        assert_eq!(wait(json!(0)), WAIT_MIN);
        assert_eq!(wait(json!(u64::MAX)), WAIT_MAX);
        assert_eq!(wait(json!(1e300)), WAIT_MAX);
        for odd in [json!(-1), json!("soon"), Value::Null] {
            assert_eq!(wait(odd), WAIT_USUAL);
        }
    }

    #[test]
    fn a_task_has_an_id_that_can_be_kept() {
        let begun = |id: Value| begun(&json!({"resultType": "task", "taskId": id}));
        assert_eq!(begun(json!("t")), CallEnd::Task { id: "t".into(), wait: WAIT_USUAL });
        for odd in [json!(""), json!(7), json!("t".repeat(ID_BYTES_MAX + 1))] {
            assert!(matches!(begun(odd.clone()), CallEnd::Unknown { .. }), "{odd}");
        }
    }
}
