//! Follows one task over one connection: looks at the pace that the server names, hands on what it
//! asks, fetches the result, and tells the server where nobody waits any longer. A task is never
//! begun again. Must not know who allowed the call, or the store.

use std::ops::ControlFlow;
use std::time::Duration;

use claw_domain::depth::{LEVELS_MAX, is_too_deep};
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, CustomRequest, ErrorCode, ErrorData, GetTaskParams, GetTaskRequest,
    ServerResult, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::{RequestHandle, ServiceError};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    RELATED_TASK, Spelling, WAIT_USUAL, WORDS_BYTES_MAX, is_passing, lost, send, tell_cancelled,
    unknown, wait_of,
};
use crate::call::{CallControl, CallEnd, Stop, stopped};
use crate::connection::Connection;
use crate::output::read_result;
use crate::permit::TaskAt;
use crate::refused::read_failure;
use crate::rpc::{ANSWER_TOO_LONG, CallAsker, REQUEST_FAILED, REQUEST_REFUSED, TASK_RESULT};
use crate::text::cut;

/// The server hears that nobody waits for a result; a full queue must not hold up the end.
const FORGET_TIMEOUT: Duration = Duration::from_millis(250);

/// A task on its way to its end, over as many connections as it takes.
pub(super) struct Way<'a> {
    pub(super) context: &'a CallControl,
    pub(super) tool: &'a str,
    pub(super) task: &'a TaskAt,
    /// The whole time of the call, for the words about it.
    pub(super) limit: Duration,
    pub(super) deadline: Instant,
    /// Until the next look.
    pub(super) wait: Duration,
    /// What the owner has answered to what the task asked, and its server may not have heard.
    pub(super) answers: Map<String, Value>,
    /// What the server said of the task last.
    pub(super) told: String,
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

struct Following<'a, 'w> {
    connection: &'a Connection,
    way: &'a mut Way<'w>,
    /// The keys of the answers that were sent over this connection.
    answered: Map<String, Value>,
    /// The request for the result, which a server of 2025-11-25 answers at the end of the task.
    /// What it asks until then comes with that answer's stream.
    result: Option<RequestHandle<RoleClient>>,
    /// The server has said that the task has failed.
    has_failed: bool,
}

/// Follows a task to its end, or to its next question. `None`: the connection has ended, and the
/// task may go on.
pub(super) async fn follow(connection: &Connection, way: &mut Way<'_>) -> Option<CallEnd> {
    let over = CancellationToken::new();
    let _ends = over.clone().drop_guard();
    let Some(_followed) = connection.state.follow_task(&way.task.id) else {
        return Some(unknown(
            "its server gave it the id of a task of another call that still runs, so that nobody \
             can tell the two apart",
        ));
    };
    let _answers = way.context.ask.clone().map(|sink| {
        let asked = CallAsker { sink, over, tool: way.tool.to_owned() };
        connection.state.answer_for_task(&way.task.id, asked)
    });
    let _progress = connection.state.progress_until_end(&way.task.id);
    let answered = Map::new();
    let mut following = Following { connection, way, answered, result: None, has_failed: false };
    let end = following.run().await;
    if let Some(unwanted) = following.result.take() {
        let _ = timeout(FORGET_TIMEOUT, unwanted.cancel(None)).await;
    }
    match end {
        Ok(end) => Some(end),
        Err(Halt::Left) => Some(CallEnd::Left),
        Err(Halt::Stop(Stop::Ended)) => None,
        Err(Halt::Stop(stop)) => Some(following.give_up(&stop).await),
    }
}

impl Following<'_, '_> {
    async fn run(&mut self) -> Result<CallEnd, Halt> {
        if let Some(end) = self.give_answers().await? {
            return Ok(end);
        }
        loop {
            let next = match self.until_next_look().await? {
                // The result has come meanwhile.
                Some(answer) => self.read_result(answer),
                None => match self.look().await {
                    Ok(raw) => self.read(&raw).await?,
                    Err(Silence::Halt(halt)) => return Err(halt),
                    Err(Silence::Failed) => ControlFlow::Continue(self.later()),
                    Err(Silence::Error(error)) if is_passing(&error) => {
                        ControlFlow::Continue(self.later())
                    }
                    Err(Silence::Error(error)) => ControlFlow::Break(lost(&error)),
                },
            };
            match next {
                ControlFlow::Break(end) => return Ok(end),
                ControlFlow::Continue(wait) => self.way.wait = wait,
            }
        }
    }

    fn later(&self) -> Duration {
        self.way.wait.max(WAIT_USUAL)
    }

    /// Sends what the owner has answered. A server that may not have got it shows its question once
    /// more.
    async fn give_answers(&mut self) -> Result<Option<CallEnd>, Halt> {
        let answers = std::mem::take(&mut self.way.answers);
        if answers.is_empty() {
            return Ok(None);
        }
        let responses = answers.clone().into_iter().collect();
        let params = UpdateTaskParams::new(self.way.task.id.clone(), responses);
        let update = ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(params));
        match self.exchange(update).await {
            Ok(_) => self.answered = answers,
            Err(Silence::Halt(halt)) => return Err(halt),
            Err(Silence::Failed) => {}
            Err(Silence::Error(error)) if is_passing(&error) => {}
            Err(Silence::Error(error)) => return Ok(Some(lost(&error))),
        }
        Ok(None)
    }

    /// Waits for the time of the next look. `Some`: the result has come first.
    async fn until_next_look(&mut self) -> Result<Option<Answered>, Halt> {
        let (wait, mut open) = (self.way.wait, self.result.take());
        let answer = async {
            match &mut open {
                Some(handle) => answer_of(handle).await,
                None => std::future::pending().await,
            }
        };
        let answer = tokio::select! {
            biased;
            halt = halted(self.connection, self.way) => Err(halt),
            answer = answer => return Ok(Some(answer)),
            () = sleep(wait) => Ok(None),
        };
        self.result = open;
        answer
    }

    async fn look(&self) -> Result<Value, Silence> {
        let params = GetTaskParams::new(self.way.task.id.clone());
        self.exchange(ClientRequest::GetTaskRequest(GetTaskRequest::new(params))).await
    }

    /// The end, or how long to wait before the next look. Whatever does not say that it is about
    /// this task says nothing of this call.
    async fn read(&mut self, raw: &Value) -> Result<ControlFlow<CallEnd, Duration>, Halt> {
        let text = |key: &str| raw.get(key).and_then(Value::as_str);
        if text("taskId") != Some(self.way.task.id.as_str()) {
            return Ok(ControlFlow::Break(of_another()));
        }
        if raw.get("inputRequests").is_some_and(is_too_deep) {
            return Ok(ControlFlow::Break(unknown(&format!(
                "its task asks by a form that is nested more than {LEVELS_MAX} levels deep"
            ))));
        }
        if let Some(words) = text("statusMessage").map(|words| cut(words, WORDS_BYTES_MAX))
            && words != self.way.told
        {
            words.clone_into(&mut self.way.told);
            (self.way.context.progress)(words.to_owned());
        }
        let is_of_2025 = matches!(self.connection.tasks, Some(Spelling::Revision2025 { .. }));
        Ok(match text("status") {
            Some("working") => ControlFlow::Continue(wait_of(raw)),
            Some("input_required") if is_of_2025 => {
                self.ask_for_result().await?;
                ControlFlow::Continue(wait_of(raw))
            }
            Some("input_required") => match open_requests(raw, &self.answered) {
                requests if requests.is_empty() => ControlFlow::Continue(wait_of(raw)),
                requests => ControlFlow::Break(CallEnd::InputRequired {
                    requests: Value::Object(requests),
                    state: None,
                }),
            },
            Some(status @ ("completed" | "failed")) if is_of_2025 => {
                self.has_failed = status == "failed";
                self.fetch_result().await?
            }
            Some("completed") => {
                ControlFlow::Break(self.result(raw.get("result").unwrap_or(&Value::Null)))
            }
            Some("failed") => {
                ControlFlow::Break(self.failure(raw.get("error").unwrap_or(&Value::Null)))
            }
            Some("cancelled") => ControlFlow::Break(unknown("its server has cancelled its task")),
            _ => ControlFlow::Break(unknown("its server says of its task what claw does not know")),
        })
    }

    /// What is open already is not asked for again.
    async fn ask_for_result(&mut self) -> Result<(), Halt> {
        if self.result.is_none() {
            let params = json!({"taskId": self.way.task.id});
            let request = CustomRequest::new(TASK_RESULT, Some(params));
            let sent = tokio::select! {
                biased;
                halt = halted(self.connection, self.way) => return Err(halt),
                sent = send(self.connection, ClientRequest::CustomRequest(request)) => sent,
            };
            self.result = Some(sent.map_err(|_| Halt::Stop(Stop::Ended))?);
        }
        Ok(())
    }

    async fn fetch_result(&mut self) -> Result<ControlFlow<CallEnd, Duration>, Halt> {
        self.ask_for_result().await?;
        let Some(mut open) = self.result.take() else {
            return Ok(ControlFlow::Continue(self.later()));
        };
        tokio::select! {
            biased;
            halt = halted(self.connection, self.way) => {
                self.result = Some(open);
                Err(halt)
            }
            answer = answer_of(&mut open) => Ok(self.read_result(answer)),
        }
    }

    /// Reads the answer to `tasks/result`: the result of the call, or its error.
    fn read_result(&self, answer: Answered) -> ControlFlow<CallEnd, Duration> {
        match answer {
            Ok(raw) => {
                let of = raw.get("_meta").and_then(|meta| meta.get(RELATED_TASK)?.get("taskId"));
                let is_ours = of.is_none_or(|of| of.as_str() == Some(self.way.task.id.as_str()));
                ControlFlow::Break(if is_ours { self.result(&raw) } else { of_another() })
            }
            Err(error) if error.code == REQUEST_FAILED => ControlFlow::Continue(self.later()),
            Err(error) if self.has_failed && is_of_server(&error) => {
                ControlFlow::Break(self.failure(&json!(error)))
            }
            Err(error) if is_passing(&error) => ControlFlow::Continue(self.later()),
            Err(error) => ControlFlow::Break(lost(&error)),
        }
    }

    fn result(&self, raw: &Value) -> CallEnd {
        let settings = &self.connection.settings;
        let (bytes_max, file_bytes_max) = (settings.result_bytes_max, settings.file_bytes_max);
        match read_result(raw, self.connection.own, bytes_max, file_bytes_max) {
            CallEnd::Ended(output, beside) => CallEnd::Ended(output, beside),
            _ => unknown("its server says that its task has ended, and gives no result"),
        }
    }

    fn failure(&self, error: &Value) -> CallEnd {
        let bytes_max = self.connection.settings.result_bytes_max;
        read_failure(&self.connection.server, error, bytes_max)
    }

    async fn exchange(&self, request: ClientRequest) -> Result<Value, Silence> {
        let answer = async {
            match send(self.connection, request).await {
                Ok(mut handle) => answer_of(&mut handle).await,
                Err(_) => Err(connection_lost()),
            }
        };
        let answer = tokio::select! {
            biased;
            halt = halted(self.connection, self.way) => return Err(Silence::Halt(halt)),
            answer = answer => answer,
        };
        match answer {
            Ok(raw) => Ok(raw),
            Err(error) if error.code == CONNECTION_LOST => {
                Err(Silence::Halt(Halt::Stop(Stop::Ended)))
            }
            Err(error) if error.code == REQUEST_FAILED => Err(Silence::Failed),
            Err(error) => Err(Silence::Error(error)),
        }
    }

    /// Nobody waits for the task any longer. Whether it had its effect, its server alone knows.
    async fn give_up(&self, stop: &Stop) -> CallEnd {
        let why = match stop {
            Stop::Timeout => out_of_time(self.way.limit),
            Stop::Cancelled | Stop::Ended => {
                "it was stopped while its server worked on it as a task".to_owned()
            }
        };
        let cannot = self.connection.tasks == Some(Spelling::Revision2025 { can_cancel: false });
        match tell_cancelled(self.connection, &self.way.task.id).await {
            true => unknown(&format!("{why}; its server was told to cancel it")),
            false if cannot => unknown(&format!("{why}; its server cannot be told to cancel it")),
            false => unknown(&format!("{why}; its server was told to cancel it, and said nothing")),
        }
    }
}

/// The result of one request, or its error.
type Answered = Result<Value, ErrorData>;

/// Our own code for a request whose connection has ended.
const CONNECTION_LOST: ErrorCode = ErrorCode(i32::MIN + 4);

async fn answer_of(handle: &mut RequestHandle<RoleClient>) -> Answered {
    match (&mut handle.rx).await {
        Ok(Ok(ServerResult::CustomResult(result))) => Ok(result.0),
        Ok(Ok(_)) => Ok(Value::Null),
        Ok(Err(ServiceError::McpError(error))) => Err(error),
        Ok(Err(_)) | Err(_) => Err(connection_lost()),
    }
}

/// And not one of claw's own, by which a request ends without an answer.
fn is_of_server(error: &ErrorData) -> bool {
    ![ANSWER_TOO_LONG, REQUEST_FAILED, REQUEST_REFUSED, CONNECTION_LOST].contains(&error.code)
}

fn connection_lost() -> ErrorData {
    ErrorData::new(CONNECTION_LOST, "the connection has ended", None)
}

async fn halted(connection: &Connection, way: &Way<'_>) -> Halt {
    tokio::select! {
        biased;
        () = way.context.leaves.cancelled() => Halt::Left,
        stop = stopped(connection, way.context, way.deadline) => Halt::Stop(stop),
    }
}

/// What a task asks and has no answer to. A key is used once in the life of a task, and a server
/// may still show one whose answer it has just been given.
fn open_requests(raw: &Value, answered: &Map<String, Value>) -> Map<String, Value> {
    let requests = raw.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    requests
        .filter(|(key, _)| !answered.contains_key(*key))
        .map(|(key, request)| (key.clone(), request.clone()))
        .collect()
}

fn of_another() -> CallEnd {
    unknown("its server was asked about its task and spoke of another")
}

pub(super) fn out_of_time(limit: Duration) -> String {
    format!(
        "its task had no end within {} s (limits.tool_timeout_s, or `timeout` of the server in \
         mcp.json)",
        limit.as_secs_f32()
    )
}
