//! `ask` as a task, for clients that declare the extension: its id is the handle, so it outlives
//! any process. Must not know how a turn goes.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, CancelTaskParams, CreateTaskResult, DetailedTask, ErrorData, GetTaskParams,
    GetTaskResult, JsonObject, Task, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::answer::{Answer, Status, time};
use super::caller::Caller;
use super::handle::{Handle, NoSuchHandle};
use crate::router::Order;

/// How often a client should look.
const POLL_MS: u64 = 2_000;

/// A client that knows tasks is given one after this time.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the client has declared the extension.
pub fn are_known(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|it| it.supports_tasks())
}

/// The result of an `ask` as a task, if it has not ended. Anything else stays as it is.
pub fn of_result(caller: &Caller, result: &CallToolResult) -> Option<CreateTaskResult> {
    let answer = result.structured_content.as_ref()?;
    let is_open = matches!(answer["status"].as_str(), Some("working" | "waiting"));
    let handle: Handle = answer["handle"].as_str().filter(|_| is_open)?.parse().ok()?;
    let words = answer["next"].as_str().map(str::to_owned);
    Some(CreateTaskResult::new(task(caller, handle, TaskStatus::Working, words)?))
}

/// How far a task is.
///
/// # Errors
/// There is none with this id, or it is another client's.
pub fn get(caller: &Caller, params: &GetTaskParams) -> Result<GetTaskResult, ErrorData> {
    let handle = handle(&params.task_id)?;
    let answer = answer(caller, handle)?;
    let (status, payload) = match answer.status {
        Status::Working | Status::Waiting => (TaskStatus::Working, TaskPayload::Working),
        Status::Stopped => (TaskStatus::Cancelled, TaskPayload::Cancelled),
        Status::Done | Status::Failed => {
            (TaskStatus::Completed, TaskPayload::Completed { result: result(&answer)? })
        }
    };
    let task = task(caller, handle, status, answer.next.clone()).ok_or_else(none)?;
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

/// Stops what the agent does for a task. One that has ended stays as it is.
///
/// # Errors
/// There is none with this id, or it is another client's.
pub async fn cancel(caller: &Caller, params: &CancelTaskParams) -> Result<(), ErrorData> {
    let handle = handle(&params.task_id)?;
    if !matches!(answer(caller, handle)?.status, Status::Working | Status::Waiting) {
        return Ok(());
    }
    let session = caller.clients().session_of_ask(&caller.client, handle.inbox_id());
    let session = session.map_err(broken)?.ok_or_else(none)?;
    let door = &caller.serving.door;
    let order = door.shared.context.router.order(&caller.visitor(), &session, Order::Stop).await;
    order.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    door.shared.wake();
    Ok(())
}

fn handle(id: &str) -> Result<Handle, ErrorData> {
    id.parse().map_err(|_: NoSuchHandle| none())
}

fn none() -> ErrorData {
    ErrorData::invalid_params("there is no such task", None)
}

fn broken(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn answer(caller: &Caller, handle: Handle) -> Result<Answer, ErrorData> {
    let (clients, client) = (caller.clients(), &caller.client);
    let session = clients.session_of_ask(client, handle.inbox_id()).map_err(broken)?;
    let session = session.ok_or_else(none)?;
    let state = clients.ask_state(client, handle.inbox_id()).map_err(broken)?.ok_or_else(none)?;
    Ok(Answer::of(handle, client.own_name(&session), state))
}

fn task(
    caller: &Caller,
    handle: Handle,
    status: TaskStatus,
    words: Option<String>,
) -> Option<Task> {
    let sent_ms = caller.clients().message_at(&caller.client, handle.inbox_id()).ok()??;
    let now = time(jiff::Timestamp::now().as_millisecond());
    let mut task = Task::new(handle.to_string(), status, time(sent_ms), now);
    task.poll_interval_ms = Some(POLL_MS);
    task.status_message = words;
    Some(task)
}

/// What the call would have given.
fn result(answer: &Answer) -> Result<JsonObject, ErrorData> {
    let told = super::tools::told(answer, answer.words()).map_err(broken)?;
    match serde_json::to_value(told).map_err(broken)? {
        Value::Object(result) => Ok(result),
        _ => Err(broken("a result is no object")),
    }
}
