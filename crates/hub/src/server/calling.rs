//! A call to one server, by its permit: the connection is opened if need be, the pin is compared,
//! and the call is forwarded; and the word that nobody waits for a task any more. Must not know how
//! a server starts.

use std::sync::Arc;

use claw_domain::ToolOutput;
use serde_json::Value;
use tokio::time::timeout;

use super::Server;
use crate::call::{Beside, CallControl, CallEnd, forward};
use crate::catalog::{ServerTools, ToolEntry};
use crate::connection::Connection;
use crate::method::Method;
use crate::needed_page;
use crate::permit::Permit;
use crate::start::Way;
use crate::task;

impl Server {
    /// Starts the server if need be, compares the pin, forwards. `permit.timeout()` bounds the
    /// start and the call each.
    pub(crate) async fn call(self: &Arc<Self>, permit: Permit, context: CallControl) -> CallEnd {
        let not_forwarded = |reason: String| CallEnd::NotForwarded { reason };
        if permit.task().is_some() {
            return Box::pin(self.follow_task(permit, context)).await;
        }
        if let Some(end) = needed_page::stays_refused(&permit, self.settings.result_bytes_max) {
            return end;
        }
        let (connection, tools) = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return not_forwarded("it was stopped before it was sent".to_owned()),
            ready = timeout(permit.timeout(), self.ready()) => match ready {
                Ok(Ok(ready)) => ready,
                Ok(Err(error)) => return not_forwarded(error.to_string()),
                Err(_) => return not_forwarded("the server was not ready in time".to_owned()),
            },
        };
        if let Some(method) = Method::named(permit.tool()) {
            return self.ask(&connection, method, permit, context).await;
        }
        let tool = match allowed_tool(&tools, &permit) {
            Ok(tool) => tool,
            Err(reason) => return not_forwarded(reason),
        };
        let mut end = forward(&connection, permit, context, Some(tool)).await;
        tool.note_misfit_of(&mut end);
        self.note_end(&end, connection);
        end
    }

    /// Tells the server of a task that nobody waits for any more. Whether it has heard so.
    /// `may_start`: a process may be started for it.
    pub(crate) async fn cancel_task(self: &Arc<Self>, permit: Permit, may_start: bool) -> bool {
        if !may_start && matches!(self.way(), Ok(Way::Process(_))) {
            let up = self.slot.lock().await.up.clone();
            let Some(up) = up.filter(|up| !up.is_dead()) else { return false };
            return task::cancel(&up, permit).await;
        }
        match self.connection().await {
            Ok(connection) => task::cancel(&connection, permit).await,
            Err(_) => false,
        }
    }

    /// Asks for something besides a tool. What the permit was made for is this server, as it was
    /// started then: what it has to say of a resource may change at any time.
    async fn ask(
        &self,
        connection: &Arc<Connection>,
        method: Method,
        permit: Permit,
        context: CallControl,
    ) -> CallEnd {
        if connection.launch_pin != permit.pin() {
            let reason = "the launch command of the server has changed since it was allowed";
            return CallEnd::NotForwarded { reason: reason.to_owned() };
        }
        let end = match method {
            Method::ListResources => list_resources(connection, &permit, context).await,
            Method::ReadResource | Method::GetPrompt => {
                forward(connection, permit, context, None).await
            }
        };
        self.note_end(&end, connection.clone());
        end
    }

    pub(crate) fn note_end(&self, end: &CallEnd, connection: Arc<Connection>) {
        match end {
            CallEnd::Ended(..)
            | CallEnd::InputRequired { .. }
            | CallEnd::Task { .. }
            | CallEnd::Left => self.health().note_success(),
            CallEnd::Unknown { .. } if !connection.is_dead() => {
                claw_kit::task::spawn(connection.end_if_busy());
            }
            CallEnd::Unknown { .. } | CallEnd::NotForwarded { .. } => {}
        }
    }
}

/// The tool that a permit names, as it was allowed.
///
/// # Errors
/// Why there is none, in words.
pub(crate) fn allowed_tool<'a>(
    tools: &'a ServerTools,
    permit: &Permit,
) -> Result<&'a ToolEntry, String> {
    let Some(tool) = tools.tool(permit.tool()) else {
        let (server, tool) = (permit.server(), permit.tool());
        return Err(format!("the server `{server}` has no tool `{tool}` (any more)"));
    };
    if tool.pin != permit.pin() {
        return Err(format!("the tool `{}` has changed since the call was allowed", permit.tool()));
    }
    Ok(tool)
}

/// Nothing of the call's words is sent; what cannot be listed has changed nothing.
async fn list_resources(connection: &Connection, permit: &Permit, context: CallControl) -> CallEnd {
    let search = permit.arguments().get("search").and_then(Value::as_str).unwrap_or_default();
    let limit = permit.timeout();
    let listed = tokio::select! {
        biased;
        () = context.cancel.cancelled() => Err("it was stopped".to_owned()),
        listed = timeout(limit, connection.resources(search)) => listed.unwrap_or_else(|_| {
            Err(format!(
                "it did not answer within {} s (limits.tool_timeout_s, or `timeout` of the server in \
                 mcp.json)",
                limit.as_secs_f32()
            ))
        }),
    };
    let output = listed.unwrap_or_else(|why| ToolOutput {
        text: format!("The server `{}` did not list its resources: {why}.", connection.server),
        is_error: true,
        ..ToolOutput::default()
    });
    CallEnd::Ended(output, Beside::default())
}
