//! Forwards one call. The only place in claw that sends `tools/call`, and that reads a
//! stranger's resource or prompt. Must not know who allowed it.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetExtensions as _, RequestMetaObject,
    ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::catalog::ToolEntry;
use super::connection::Connection;
use super::files::ResultFile;
use super::human_time::HumanTime;
use super::method::Method;
use super::needed_page;
use super::output::{read_answer_of, read_result};
use super::refused::{read_error, read_refusal};
use super::rpc::era::Era;
use super::rpc::{
    ANSWER_TOO_LONG, AskSink, CallAsker, CallTag, ProgressSink, REQUEST_FAILED, REQUEST_REFUSED,
};
use super::task;
use super::transport::Ticket;
use super::transport::http::mirror;
use crate::permit::Permit;
use claw_domain::ToolOutput;

/// The key in `_meta` by which our filesystem server is told what a call may not change.
const KEEP_OFF: &str = "claw/keep_off";
/// The owner's services that a command may reach.
const OPENED: &str = "claw/opened";

/// The owner's folders that a command gets beside those of its server.
const FOLDERS: &str = "claw/folders";

/// From whose words a call came; our memory server keeps that with what it is told.
const SOURCE: &str = "claw/source";

/// After a call is given up, the server is notified; a full queue must not hold up the answer.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(250);

/// An answer may still be on its way when the connection has ended.
const LATE_ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// What a call is given besides its permit.
#[derive(Clone)]
pub struct CallControl {
    /// Ends the wait; what was sent by then is unknown.
    pub cancel: CancellationToken,
    /// A task is not followed any longer, and goes on at its server.
    pub leaves: CancellationToken,
    /// Takes the texts of progress notifications, in order. It must return at once.
    pub progress: ProgressSink,
    /// Answers what a server asks by a request while the call runs; `None` where nobody can.
    pub ask: Option<AskSink>,
    /// The time in which it waits for a person, which the time limit of the call leaves out.
    pub human: HumanTime,
}

/// How a call ended, as far as anybody can know.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// The server answered, with a result or with an error. The files that came with it are named
    /// in its text.
    Ended(ToolOutput, Beside),
    /// It certainly never reached the server.
    NotForwarded { reason: String },
    /// It was sent, or a part of it, and there is no readable answer: it may have run.
    Unknown { reason: String },
    /// A modern server asks for input before it goes on (a multi round-trip request), or an older
    /// one for a page that has to be opened first. The call has not ended.
    InputRequired { requests: Value, state: Option<String> },
    /// A modern server goes on with it as a task of this id, which is looked at after `wait`. The
    /// call has not ended.
    Task { id: String, wait: Duration },
    /// Its task goes on at the server, and nobody follows it for now ([`CallControl::leaves`]). The
    /// call has not ended.
    Left,
}

/// What came with a result and is not for the model as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    pub files: Vec<ResultFile>,
    /// `_meta["claw/actions"]`, as the server sent it.
    pub actions: Option<Value>,
}

/// Why nobody waits for an answer any longer.
pub(super) enum Stop {
    Timeout,
    Cancelled,
    Ended,
}

/// Sends the call and waits for its end. The permit is used up. The caller has compared the pin of
/// `tool`; what is asked besides tools has none.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that sends tools/call, and it takes a Permit"
)]
pub(super) async fn forward(
    connection: &Connection,
    permit: Permit,
    context: CallControl,
    tool: Option<&ToolEntry>,
) -> CallEnd {
    let mut request = match request_of(&permit) {
        Ok(request) => request,
        Err(reason) => return CallEnd::NotForwarded { reason },
    };
    let ticket = Arc::new(Ticket::default());
    // Whatever the server still asks when the call has its end, nobody is asked.
    let over = CancellationToken::new();
    let _ends = over.clone().drop_guard();
    let name = permit.tool().to_owned();
    let asked = context.ask.clone().map(|sink| CallAsker { sink, over, tool: name });
    let mirrored = tool.map(|tool| mirror::of_arguments(&tool.input_schema, permit.arguments()));
    let keeps = tool.and_then(|tool| task::asked_for(connection, &tool.raw, permit.timeout()));
    let mirrored = mirrored.unwrap_or_default();
    let (progress, tag_ticket) = (context.progress.clone(), ticket.clone());
    let goes_on = permit.input().is_some();
    let tag = CallTag { progress, mirrored, ticket: tag_ticket, asked, goes_on, task: keeps };
    request.extensions_mut().insert(tag);

    let expected = Expected { method: Method::named(permit.tool()), task: keeps.is_some() };
    let deadline = Instant::now() + permit.timeout();
    let send = connection.peer.send_request_with_option(request, options(&permit));
    let mut handle = tokio::select! {
        biased;
        sent = send => match sent {
            Ok(handle) => handle,
            Err(_) => return ended_before(connection, &ticket).await,
        },
        stop = stopped(connection, &context, deadline) => return give_up(connection, None, stop, &ticket, &permit).await,
    };
    tokio::select! {
        biased;
        answer = &mut handle.rx => match answer {
            Ok(answer) => read_answer(connection, expected, answer, &ticket).await,
            Err(_) => ended_before(connection, &ticket).await,
        },
        stop = stopped(connection, &context, deadline) => {
            give_up(connection, Some(handle), stop, &ticket, &permit).await
        }
    }
}

/// # Errors
/// Why there is none, as the end of a sentence.
fn request_of(permit: &Permit) -> Result<ClientRequest, String> {
    let arguments = match permit.arguments() {
        Value::Object(arguments) => arguments.clone(),
        Value::Null => serde_json::Map::new(),
        _ => return Err("the arguments of a tool must be a JSON object".to_owned()),
    };
    if let Some(method) = Method::named(permit.tool()) {
        let request = method.request(permit.arguments());
        return request.ok_or_else(|| format!("an argument of `{}` is missing", permit.tool()));
    }
    let mut params = CallToolRequestParams::new(permit.tool().to_owned()).with_arguments(arguments);
    if let Some(input) = permit.input().filter(|input| !needed_page::is_round(input)) {
        params.input_responses = Some(input.responses.clone().into_iter().collect());
        params.request_state = input.state.clone();
    }
    Ok(ClientRequest::CallToolRequest(CallToolRequest::new(params)))
}

fn options(permit: &Permit) -> PeerRequestOptions {
    let mut meta = RequestMetaObject::new();
    let opened = permit.opened();
    let told = [
        (KEEP_OFF, json!(permit.keep_off())),
        (OPENED, json!(opened.services)),
        (FOLDERS, json!(opened.folders)),
    ];
    for (name, values) in told {
        if values != json!([]) {
            meta.insert(name.to_owned(), values);
        }
    }
    if let Some(source) = permit.source() {
        meta.insert(SOURCE.to_owned(), json!(source));
    }
    if meta.is_empty() {
        return PeerRequestOptions::no_options();
    }
    PeerRequestOptions::no_options().with_meta(meta)
}

pub(super) async fn stopped(
    connection: &Connection,
    context: &CallControl,
    deadline: Instant,
) -> Stop {
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => Stop::Cancelled,
        () = async {
            connection.transport.ended().cancelled().await;
            tokio::time::sleep(LATE_ANSWER_TIMEOUT).await;
        } => Stop::Ended,
        () = context.human.sleep_until(deadline) => Stop::Timeout,
    }
}

/// What an answer may be.
#[derive(Clone, Copy)]
struct Expected {
    /// It is none to a `tools/call`.
    method: Option<Method>,
    /// A task was asked for, in the way of 2025-11-25.
    task: bool,
}

async fn read_answer(
    connection: &Connection,
    expected: Expected,
    answer: Result<ServerResult, ServiceError>,
    ticket: &Ticket,
) -> CallEnd {
    let bytes_max = connection.settings.result_bytes_max;
    let unknown = |reason: String| CallEnd::Unknown { reason };
    match answer {
        Ok(ServerResult::CustomResult(result)) => {
            let (raw, file_bytes_max) = (&result.0, connection.settings.file_bytes_max);
            match expected.method {
                None if expected.task && task::is_of_2025(raw) => {
                    task::begun(raw.get("task").unwrap_or(&Value::Null))
                }
                None => read_result(raw, connection.own, bytes_max, file_bytes_max),
                Some(method) => read_answer_of(method, raw, bytes_max, file_bytes_max),
            }
        }
        Ok(_) => unknown("the server's answer has an unknown shape".to_owned()),
        Err(ServiceError::McpError(error)) if error.code == ANSWER_TOO_LONG => {
            let limit = connection.settings.line_bytes_max;
            unknown(format!(
                "the server sent a message of more than {limit} bytes \
                 (limits.server_message_bytes_max), which may have been the answer"
            ))
        }
        Err(ServiceError::McpError(error)) if error.code == REQUEST_REFUSED => {
            read_refusal(&connection.server, &error.message)
        }
        Err(ServiceError::McpError(error)) if error.code == REQUEST_FAILED => {
            let reason = error.message;
            match ticket.revoke() {
                true => CallEnd::NotForwarded { reason: reason.into_owned() },
                false => unknown(format!("the exchange ended before it answered: {reason}")),
            }
        }
        Err(ServiceError::McpError(error)) => {
            let (code, message, data) = (error.code.0, &error.message, error.data.as_ref());
            let is_call = connection.era == Era::Legacy && expected.method.is_none();
            let asked =
                is_call.then(|| needed_page::asked_for(code, message, data, bytes_max)).flatten();
            asked.unwrap_or_else(|| read_error(&connection.server, code, message, data, bytes_max))
        }
        Err(ServiceError::TransportSend(error)) if ticket.revoke() => {
            CallEnd::NotForwarded { reason: error.error.to_string() }
        }
        Err(_) => ended_before(connection, ticket).await,
    }
}

/// The connection ended before there was an answer.
pub(super) async fn ended_before(connection: &Connection, ticket: &Ticket) -> CallEnd {
    let end_reason = connection.wait_for_end_reason().await;
    if ticket.revoke() {
        return CallEnd::NotForwarded {
            reason: format!("the server ended before the call was sent: {end_reason}"),
        };
    }
    CallEnd::Unknown { reason: format!("the server ended before it answered: {end_reason}") }
}

async fn give_up(
    connection: &Connection,
    handle: Option<RequestHandle<RoleClient>>,
    stop: Stop,
    ticket: &Ticket,
    permit: &Permit,
) -> CallEnd {
    let why = match stop {
        Stop::Ended => return ended_before(connection, ticket).await,
        Stop::Timeout => format!(
            "there was no answer within {} s (limits.tool_timeout_s, or `timeout` of the server in mcp.json)",
            permit.timeout().as_secs_f32()
        ),
        Stop::Cancelled if ticket.revoke() => {
            return CallEnd::NotForwarded {
                reason: "it was stopped before it was sent".to_owned(),
            };
        }
        Stop::Cancelled => "it was stopped while it ran".to_owned(),
    };
    if ticket.revoke() {
        return CallEnd::NotForwarded { reason: why };
    }
    // On stdio both eras want the notification. A server that does not read will not read it
    // either.
    if let Some(handle) = handle {
        let _ = timeout(CANCEL_TIMEOUT, handle.cancel(Some(why.clone()))).await;
    }
    if connection.end_if_stuck().await {
        return CallEnd::Unknown {
            reason: format!("{why}; the server had stopped reading and was ended"),
        };
    }
    CallEnd::Unknown { reason: why }
}
