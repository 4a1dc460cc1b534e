//! Who is it, may they, which session, and is it a message, a command or an answer? Owns the way from a door into the
//! house. Must not know chat wires, turns or MCP.

use std::sync::Arc;

use crate::domain::{Address, Answer, ApprovalId, Block, Inbound, InboundBody, Origin, SessionId};
use crate::gate::{DecideError, Gate};
use crate::mail::Mail;
use crate::store::{ApprovalRow, StoreError};

/// Somebody at a door, as the door has proven it.
#[derive(Clone, Debug)]
pub struct Visitor {
    pub from: Address,
    /// For example `console:uid:1000`.
    pub principal: String,
    pub origin: Origin,
}

/// What a person may tell a session, apart from messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Stop,
    Compact,
    Clear,
    Undo,
}

/// The way in. Cheap to clone.
#[derive(Clone)]
pub struct Router {
    mail: Mail,
    gate: Arc<Gate>,
}

impl Router {
    pub fn new(mail: Mail, gate: Arc<Gate>) -> Self {
        Self { mail, gate }
    }

    /// Commits a message. Known secrets in it are replaced before anything is written.
    pub async fn message(&self, visitor: &Visitor, session: &SessionId, text: &str) -> Result<i64, StoreError> {
        let text = self.gate.redactor().redact(text).into_owned();
        self.submit(visitor, session, InboundBody::Message { blocks: vec![Block::Text { text }] }).await
    }

    pub async fn order(&self, visitor: &Visitor, session: &SessionId, order: Order) -> Result<i64, StoreError> {
        let body = match order {
            Order::Stop => InboundBody::Stop,
            Order::Compact => InboundBody::Compact,
            Order::Clear => InboundBody::Clear,
            Order::Undo => InboundBody::Undo,
        };
        self.submit(visitor, session, body).await
    }

    /// Answers a question. Who may is checked by the gate, against the frozen row.
    pub async fn answer(
        &self,
        visitor: &Visitor,
        id: &ApprovalId,
        answer: &Answer,
    ) -> Result<ApprovalRow, DecideError> {
        let answer = match answer {
            Answer::Deny { word: Some(word) } => {
                Answer::Deny { word: Some(self.gate.redactor().redact(word).into_owned()) }
            }
            other => other.clone(),
        };
        self.gate.decide(id, &answer, &visitor.principal).await
    }

    async fn submit(&self, visitor: &Visitor, session: &SessionId, body: InboundBody) -> Result<i64, StoreError> {
        let inbound = Inbound {
            session: session.clone(),
            from: visitor.from.clone(),
            principal: visitor.principal.clone(),
            origin: visitor.origin,
            body,
        };
        crate::killpoint::here("router.submit.before");
        let id = self.mail.submit(inbound).await;
        crate::killpoint::here("router.submit.after");
        id
    }
}
