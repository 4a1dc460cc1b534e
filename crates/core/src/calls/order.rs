//! An owner's own order to one of claw's servers (`/remember`): frozen as it was given, counted as
//! confirmed, and run from its row like a staged action. Must not know commands or doors.

use serde_json::{Value, json};

use super::Calls;
use super::approvals::{self, decide_in};
use super::frozen::Freeze;
use crate::domain::{
    Address, Answer, CallId, CallState, Choice, Origin, OwnServerName, Scope, SessionId, Staged,
    Term, ToolCall, audit_kind, escape,
};
use crate::store::{AuditEntry, CallRow, StagedRow, StoreError, Tx, now_ms};

/// What an owner has ordered.
#[derive(Clone, Debug)]
pub struct Order {
    pub session: SessionId,
    /// Which of claw's own servers: `memory`.
    pub builtin: OwnServerName,
    pub tool: &'static str,
    pub arguments: Value,
    /// In a few words, as the owner gave it.
    pub summary: String,
    /// The owner's own words, or a button of theirs.
    pub origin: Origin,
    /// The principal who gave it.
    pub by: String,
    /// Who hears what came of it.
    pub to: Address,
}

/// An order as rows that are not written yet.
pub struct FrozenOrder {
    row: CallRow,
    staged: StagedRow,
    question: crate::domain::Question,
    approvers: crate::domain::Approvers,
    by: String,
}

impl Calls {
    /// The name in `mcp.json` of one of claw's own servers.
    pub fn own_server(&self, builtin: OwnServerName) -> Option<String> {
        let servers = self.hub.servers().into_iter().filter(|server| !server.disabled);
        servers.map(|server| server.name).find(|name| self.hub.builtin(name) == Some(builtin))
    }

    /// Freezes an order, to be written in the transaction that answers it. The inner error is a
    /// sentence about why it cannot be given.
    pub async fn freeze_order(
        &self,
        order: Order,
    ) -> Result<Result<FrozenOrder, String>, StoreError> {
        let approvers = self.surroundings.approvers.clone();
        if !approvers.include(&order.by) {
            return Ok(Err("Only an owner may order that.".to_owned()));
        }
        if let Some(why) = self.secret_in(&order.arguments) {
            return Ok(Err(format!("Nothing was done: {why}.")));
        }
        let Some(server) = self.own_server(order.builtin) else {
            return Ok(Err(format!("There is no server `{}` in `mcp.json`.", order.builtin)));
        };
        let tool = match self.catalog.tool(&server, order.tool).await {
            Ok(tool) => tool,
            Err(why) => return Ok(Err(format!("Nothing was done: {why}."))),
        };
        let call = ToolCall {
            id: self.free_order_id(order.session)?,
            server,
            tool: order.tool.to_owned(),
            arguments: order.arguments,
            origin: order.origin,
            principal: order.by.clone(),
        };
        if let Some(why) = tool.misfit(&call) {
            return Ok(Err(format!("Nothing was done: {why}.")));
        }
        let freeze = Freeze {
            state: CallState::Waiting,
            pin: &tool.pin,
            env_names: &tool.env_names,
            rule: "order",
            shown: "",
        };
        let row = self.freeze(&call, &freeze);
        let choice = Choice { key: "y".to_owned(), label: "ordered".to_owned(), answer: yes() };
        let staged = Staged::Item {
            summary: escape::visible_multiline(&order.summary),
            group: None,
            number: 1,
            of: 1,
        };
        let expires_ms = now_ms() + self.limits().question_time.as_millis() as i64;
        let why = "its owner has ordered it".to_owned();
        let question =
            approvals::question_about(&call, why, expires_ms, vec![choice], Some(staged))?;
        let summary = self.redactor.redact(&order.summary).into_owned();
        let (list, told) = (call.id.clone(), vec![order.to]);
        let staged = StagedRow { call: call.id, list, number: 1, summary, told };
        Ok(Ok(FrozenOrder { row, staged, question, approvers, by: order.by }))
    }

    /// Named after the moment at which it came.
    fn free_order_id(&self, session: SessionId) -> Result<CallId, StoreError> {
        let mut id = CallId::Order { session, at_ms: now_ms().unsigned_abs() };
        while self.store.read(|tx| tx.call(&id))?.is_some() {
            if let CallId::Order { at_ms, .. } = &mut id {
                *at_ms += 1;
            }
        }
        Ok(id)
    }

    /// The id for a look that an owner has ordered, which needs no frozen row.
    pub fn look_id(&self, session: &SessionId) -> Result<CallId, StoreError> {
        self.free_order_id(session.clone())
    }
}

impl FrozenOrder {
    /// Puts it on the disk, confirmed, and wakes its session.
    pub fn write(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        tx.put_call(&self.row)?;
        tx.add_staged(&self.staged)?;
        tx.add_approval(&self.question, &self.approvers, &self.row.digest)?;
        let arguments: Value = serde_json::from_str(&self.row.arguments)?;
        let received = json!({
            "session": self.question.session,
            "server": self.row.server,
            "tool": self.row.tool,
            "arguments": arguments,
            "origin": self.row.origin,
            "principal": self.row.principal,
            "ordered": true,
        });
        let call = self.row.id.to_string();
        tx.audit(&AuditEntry { kind: audit_kind::RECEIVED, call, body: received })?;
        let decided = decide_in(tx, &self.question.approval, &self.row.id, &yes(), &self.by, None)?;
        decided.map(drop).map_err(|refused| StoreError::Decode(refused.to_string()))
    }
}

fn yes() -> Answer {
    Answer::Allow { term: Term::Once, scope: Scope::Exact }
}
