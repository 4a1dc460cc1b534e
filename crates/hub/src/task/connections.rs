//! Follows a task over as many connections as it takes: a server that is restarted, a network that
//! is away for a while, a session that is forgotten are no end of what the server works on. Must
//! not know how one connection is used.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use tokio::time::{Instant, sleep};

use super::WAIT_USUAL;
use super::following::{Way, follow, out_of_time};
use crate::call::{CallControl, CallEnd};
use crate::error::{HubError, Nature};
use crate::permit::Permit;
use crate::server::{Server, allowed_tool};

impl Server {
    /// Follows a task to its end, or to its next question. The permit is used up; it names the
    /// task, and may bring the answers to what the task has asked. [`CallEnd::NotForwarded`]: the
    /// server could not be asked about it.
    pub(crate) async fn follow_task(
        self: &Arc<Self>,
        permit: Permit,
        context: CallControl,
    ) -> CallEnd {
        let Some(task) = permit.task() else {
            return not_asked("its permit names no task".to_owned());
        };
        let limit = permit.timeout();
        let deadline = Instant::now() + limit.saturating_sub(task.spent);
        let mut way = Way {
            context: &context,
            tool: permit.tool(),
            task,
            limit,
            deadline,
            wait: task.wait,
            answers: permit.input().map_or_else(Map::new, |input| input.responses.clone()),
            told: String::new(),
        };
        loop {
            let pause = match apart(&way, self.ready()).await {
                Err(end) => return end,
                Ok(Ok((connection, tools))) => {
                    let tool = match allowed_tool(&tools, &permit) {
                        Ok(tool) => tool,
                        Err(reason) => return not_asked(reason),
                    };
                    match follow(&connection, &mut way).await {
                        Some(mut end) => {
                            tool.note_misfit_of(&mut end);
                            self.note_end(&end, connection);
                            return end;
                        }
                        None => WAIT_USUAL,
                    }
                }
                Ok(Err(error)) if error.nature() != Nature::Passing => {
                    return not_asked(error.to_string());
                }
                Ok(Err(error)) => {
                    let text = format!("claw cannot ask about its task and tries again: {error}");
                    (context.progress)(text);
                    match error {
                        HubError::BackingOff { retry_in, .. } => retry_in,
                        _ => WAIT_USUAL,
                    }
                }
            };
            way.wait = Duration::ZERO;
            if let Err(end) = apart(&way, sleep(pause)).await {
                return end;
            }
        }
    }
}

/// What is done while there is no connection. `Err` is the end that comes first.
async fn apart<T>(way: &Way<'_>, work: impl Future<Output = T>) -> Result<T, CallEnd> {
    let context = way.context;
    tokio::select! {
        biased;
        () = context.leaves.cancelled() => Err(CallEnd::Left),
        () = context.cancel.cancelled() => {
            Err(not_asked("it was stopped".to_owned()))
        }
        () = context.human.sleep_until(way.deadline) => Err(not_asked(out_of_time(way.limit))),
        done = work => Ok(done),
    }
}

fn not_asked(reason: String) -> CallEnd {
    CallEnd::NotForwarded { reason }
}
