//! One of claw's own servers, as its owner's commands use it: an order that the session runs, and a
//! look that goes through the gate like every call. Must not know what is ordered or looked for.

use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{ChatCommands, ChatCommandsParts, Given, code, is_owner};
use crate::calls::Order;
use crate::domain::{
    DeniedBy, LEFT, Origin, Outcome, OwnServerName, SessionId, ToolCall, ToolOutput,
};
use crate::gate::CallContext;
use crate::store::StoreError;

const LOOK_TIME_MAX: Duration = Duration::from_secs(20);
/// Of an order in the lines about it.
const SUMMARY_CHARS_MAX: usize = 200;

/// What was found, in Markdown; or a sentence about why nothing could be looked for.
pub(super) type Looked = Result<String, String>;

/// A server of claw's, with the words about it.
pub(super) struct Own {
    pub builtin: OwnServerName,
    /// `There is no …`.
    pub named: &'static str,
    /// `A rule asks about every …`.
    pub looks: &'static str,
    /// The tools that only read, in Markdown.
    pub readers: &'static str,
    /// Said to whoever may not.
    pub owners_only: &'static str,
}

/// What an owner wants of it.
pub(super) struct OwnOrder {
    own: &'static Own,
    tool: &'static str,
    arguments: Value,
    summary: String,
}

impl Own {
    pub(super) fn order(
        &'static self,
        tool: &'static str,
        arguments: Value,
        summary: String,
    ) -> OwnOrder {
        OwnOrder { own: self, tool, arguments, summary }
    }

    /// A call through the gate that only looks, in the owner's name. The inner error is Markdown.
    pub(super) async fn look(
        &self,
        parts: &ChatCommandsParts,
        session: &SessionId,
        by: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<Result<ToolOutput, String>, StoreError> {
        let calls = parts.gate.calls();
        let Some(server) = calls.own_server(self.builtin) else {
            return Ok(Err(format!("There is no {} in `mcp.json`.", self.named)));
        };
        let call = ToolCall {
            id: calls.look_id(session)?,
            server,
            tool: tool.to_owned(),
            arguments,
            origin: Origin::Owner,
            principal: by.to_owned(),
        };
        let context = CallContext::unseen(CancellationToken::new(), LOOK_TIME_MAX);
        Ok(match parts.gate.call(call, context).await {
            Outcome::Ended { output } if output.is_error => Err(code(&output.text)),
            Outcome::Ended { output } => Ok(output),
            Outcome::Denied { by: Some(DeniedBy::Unasked { rule }), .. } => Err(format!(
                "{} asks about every {}; allow {} in `policy.toml`.",
                code(&rule),
                self.looks,
                self.readers
            )),
            Outcome::Denied { reason, .. } | Outcome::Unknown { reason } => Err(code(&reason)),
            Outcome::Parked { approval } => Err(format!("It waits for an answer to {approval}.")),
            Outcome::Left => Err(format!("claw ends: {LEFT}.")),
        })
    }
}

impl ChatCommands {
    /// Freezes and confirms an order in the transaction that takes the command; what comes of it
    /// comes by the outbox.
    pub(super) async fn give_order(
        &self,
        given: Given<'_>,
        order: OwnOrder,
    ) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, to, .. } = given;
        let parts = self.parts();
        if !is_owner(visitor) {
            return to.say(&parts.store, order.own.owners_only.to_owned()).await;
        }
        let order = Order {
            session: session.clone(),
            builtin: order.own.builtin,
            tool: order.tool,
            arguments: order.arguments,
            summary: order.summary,
            origin: Origin::Owner,
            by: visitor.principal.clone(),
            to: visitor.from.clone(),
        };
        // It runs where the conversation works.
        let calls = parts.gate.calls().at(&parts.granted_in(session)?);
        match calls.freeze_order(order).await? {
            Err(why) => to.say(&parts.store, why).await,
            Ok(frozen) => to.silently(&parts.store, move |tx| frozen.write(tx)).await,
        }
    }
}

/// On one line, and not longer than a line about an order can bear.
pub(super) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SUMMARY_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
