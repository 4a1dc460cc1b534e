//! What a server says of a call that it has made a task of, in both spellings: the extension
//! `io.modelcontextprotocol/tasks` of 2026-07-28 (SEP-2663), and the experimental tasks of
//! 2025-11-25. Must not know who allowed the call, the store, or how a task is followed.

mod connections;
mod following;

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{CancelTaskParams, CancelTaskRequest, ClientRequest, ErrorCode, ErrorData};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::Value;
use tokio::time::timeout;

use super::call::CallEnd;
use super::connection::Connection;
use super::permit::Permit;
use super::rpc::ANSWER_TOO_LONG;
use super::rpc::era::{Era, LEGACY_PROTOCOL};

/// A server that wants to be asked more often is not.
const WAIT_MIN: Duration = Duration::from_millis(250);
/// A server that names no pace.
const WAIT_USUAL: Duration = Duration::from_secs(1);
/// A server that wants to be asked more seldom is asked so often all the same: its owner waits.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Until a server has said that it has heard of the end.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a server of 2025-11-25 is asked to keep a task: whoever starts claw again the next
/// morning finds it.
const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);

const ID_BYTES_MAX: usize = 1024;
const WORDS_BYTES_MAX: usize = 1024;

/// The key in `_meta` by which revision 2025-11-25 says to which task a message belongs.
pub(super) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// How a server speaks of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// The server decides by itself which calls it makes a task of.
    Extension,
    /// The call asks for it.
    Revision2025 { can_cancel: bool },
}

impl Spelling {
    /// By what both sides have agreed on. `None`: the server makes no tasks.
    pub(super) fn of(era: Era, protocol: &str, capabilities: &Value) -> Option<Self> {
        let has = |what: &str| capabilities.pointer(what).is_some_and(Value::is_object);
        match era {
            Era::Modern => Some(Self::Extension),
            Era::Legacy if protocol == LEGACY_PROTOCOL && has("/tasks/requests/tools/call") => {
                Some(Self::Revision2025 { can_cancel: has("/tasks/cancel") })
            }
            Era::Legacy => None,
        }
    }
}

/// What a tool of 2025-11-25 says of tasks (`execution.taskSupport`). Whatever else it says means
/// that it makes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskSupport {
    Forbidden,
    Optional,
    Required,
}

impl TaskSupport {
    pub(super) fn of(tool: &Value) -> Self {
        match tool.pointer("/execution/taskSupport").and_then(Value::as_str) {
            Some("required") => Self::Required,
            Some("optional") => Self::Optional,
            _ => Self::Forbidden,
        }
    }
}

/// How long its server is asked to keep the task of a call to this tool; `None` for a call that is
/// no task. Where the tool leaves the choice, a task is worth it only if the server lives on
/// without claw.
pub(super) fn asked_for(connection: &Connection, tool: &Value, call: Duration) -> Option<Duration> {
    let Some(Spelling::Revision2025 { .. }) = connection.tasks else { return None };
    let wanted = match TaskSupport::of(tool) {
        TaskSupport::Required => true,
        TaskSupport::Optional => connection.remote,
        TaskSupport::Forbidden => false,
    };
    wanted.then(|| KEPT_FOR.max(call * 2))
}

/// The id of the task, if a result is a `CreateTaskResult` of 2025-11-25.
pub(super) fn of_2025(result: &Value) -> Option<&str> {
    result.pointer("/task/taskId").and_then(Value::as_str).filter(|_| is_of_2025(result))
}

/// Whether a result is a `CreateTaskResult` of 2025-11-25.
pub(super) fn is_of_2025(result: &Value) -> bool {
    result.get("content").is_none() && result.get("task").is_some_and(Value::is_object)
}

/// The id of the task that the result of a call says it is, in either spelling.
pub(super) fn begun_task(result: &Value) -> Option<&str> {
    let is_task = result.get("resultType").and_then(Value::as_str) == Some("task");
    let task = if is_of_2025(result) { result.get("task")? } else { result };
    let id = task.get("taskId").and_then(Value::as_str)?;
    ((is_task || is_of_2025(result)) && id.len() <= ID_BYTES_MAX).then_some(id)
}

/// Reads the task in a `CreateTaskResult`.
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
    let named = ["pollIntervalMs", "pollInterval"].iter().find_map(|key| task.get(key)?.as_f64());
    let wait = named
        .filter(|ms| *ms >= 0.0)
        .map_or(WAIT_USUAL, |ms| Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(WAIT_MAX));
    wait.clamp(WAIT_MIN, WAIT_MAX)
}

/// Tells a server that nobody waits for its task any more. Whether it has heard so. The permit is
/// used up, and names the task.
pub(super) async fn cancel(connection: &Connection, permit: Permit) -> bool {
    match permit.task() {
        Some(task) => tell_cancelled(connection, &task.id).await,
        None => false,
    }
}

async fn tell_cancelled(connection: &Connection, task: &str) -> bool {
    // What a server has not declared is not sent.
    if connection.tasks == Some(Spelling::Revision2025 { can_cancel: false }) {
        return false;
    }
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

/// Whether the next look may find the task all the same. What both revisions name for a task that
/// is not known is "invalid params"; a server without tasks does not know the method.
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
        assert_eq!(wait_of(&json!({"pollInterval": 3_000})), Duration::from_secs(3));
    }

    #[test]
    fn tasks_of_2025_need_the_word_of_the_server_and_of_the_tool() {
        let of = |protocol: &str, capabilities: Value| {
            Spelling::of(Era::Legacy, protocol, &capabilities)
        };
        let calls = json!({"tools": {"call": {}}});
        let declared = json!({"tasks": {"requests": calls, "cancel": {}}});
        let can_cancel = true;
        assert_eq!(
            of(LEGACY_PROTOCOL, declared.clone()),
            Some(Spelling::Revision2025 { can_cancel })
        );
        assert_eq!(of("2025-06-18", declared), None);
        for odd in [json!({}), json!({"tasks": {}}), json!({"tasks": {"requests": {"tools": {}}}})]
        {
            assert_eq!(of(LEGACY_PROTOCOL, odd.clone()), None, "{odd}");
        }
        let can_cancel = false;
        let silent = json!({"tasks": {"requests": calls}});
        assert_eq!(of(LEGACY_PROTOCOL, silent), Some(Spelling::Revision2025 { can_cancel }));
        let tool =
            |support: Value| TaskSupport::of(&json!({"execution": {"taskSupport": support}}));
        assert_eq!(tool(json!("required")), TaskSupport::Required);
        assert_eq!(tool(json!("optional")), TaskSupport::Optional);
        for none in [json!("forbidden"), json!("Required"), json!(true), Value::Null] {
            assert_eq!(tool(none), TaskSupport::Forbidden);
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
