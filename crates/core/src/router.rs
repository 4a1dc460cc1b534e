//! Who is it, may they, which session, and is it a message, a command or an answer? Owns the way
//! from a door into claw. Must not know chat wires, turns or MCP.

mod coming;
mod decide_error;
mod leaving;

use std::sync::Arc;

use futures::future::BoxFuture;

pub use crate::catalog::{PinAnswer, TrustAnswer};
use crate::domain::{
    Address, Answer, ApprovalId, Block, Inbound, InboundBody, Named, Origin, Outbound,
    OutboundBody, SessionId, Trust,
};
use crate::gate::Gate;
use crate::mail::{Accepted, AskedQuestion, Mail, MailError};
use crate::store::Tx;
pub use decide_error::DecideError;
pub use leaving::HoldsSecret;

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

impl Order {
    fn body(self) -> InboundBody {
        match self {
            Order::Stop => InboundBody::Stop,
            Order::Compact => InboundBody::Compact,
            Order::Clear => InboundBody::Clear,
            Order::Undo => InboundBody::Undo,
        }
    }
}

fn inbound(visitor: &Visitor, session: &SessionId, body: InboundBody) -> Inbound {
    Inbound {
        session: session.clone(),
        from: visitor.from.clone(),
        principal: visitor.principal.clone(),
        origin: visitor.origin,
        body,
    }
}

/// An error of a few words as a sentence.
pub(crate) fn sentence(words: &str) -> String {
    let mut rest = words.chars();
    let first =
        rest.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", rest.as_str().trim_end_matches('.'))
}

/// What updates of a chat service say, as a message for a session.
#[derive(Clone, Debug, Default)]
pub struct UpdateMessage {
    pub blocks: Vec<Block>,
    /// What its writer has named of tool servers, in words that they have typed themselves.
    pub named: Vec<Named>,
    /// What the person has to know about it, a sentence each.
    pub notices: Vec<String>,
    /// What was overheard at the visitor's place is part of it.
    pub with_overheard: bool,
}

/// A message with all that belongs to it.
#[derive(Clone, Debug)]
pub struct OwnMessage {
    pub blocks: Vec<Block>,
    /// The same for the same message, however often its sender sends it.
    pub mark: Option<String>,
}

/// The way in. Cheap to clone.
#[derive(Clone)]
pub struct Router {
    /// A handle of the store; everything that is no answer goes in by it.
    mail: Mail,
    /// Answers go to its calls. The app ends it.
    gate: Arc<Gate>,
}

impl Router {
    pub fn new(mail: Mail, gate: Arc<Gate>) -> Self {
        Self { mail, gate }
    }

    /// Commits a message. Known secrets in it are replaced before anything is written.
    pub fn message<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        text: &'a str,
    ) -> BoxFuture<'a, Result<i64, MailError>> {
        Box::pin(async move {
            let text = self.cleared_words(text);
            self.submit(visitor, session, InboundBody::message(vec![Block::Text { text }])).await
        })
    }

    /// The same with what its writer has named of tool servers.
    pub fn message_naming<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        text: &'a str,
        named: Vec<Named>,
    ) -> BoxFuture<'a, Result<i64, MailError>> {
        Box::pin(async move {
            let body = self.naming(text, named);
            self.submit(visitor, session, body).await
        })
    }

    fn naming(&self, text: &str, named: Vec<Named>) -> InboundBody {
        let text = self.cleared_words(text);
        let named = named.into_iter().map(|named| self.redacted_name(named)).collect();
        InboundBody::Message { blocks: vec![Block::Text { text }], named }
    }

    /// A mark in the place of a secret has the gate refuse the call.
    fn redacted_name(&self, named: Named) -> Named {
        let redact = |text: String| self.gate.redactor().redact(&text).into_owned();
        match named {
            Named::Resource { server, uri } => Named::Resource { server, uri: redact(uri) },
            Named::Prompt { server, name, arguments } => {
                let arguments = arguments.into_iter().map(|(name, value)| (name, redact(value)));
                Named::Prompt { server, name, arguments: arguments.collect() }
            }
        }
    }

    /// Commits a message, and one with a mark once. Gives back its number in the inbox.
    pub fn own_message<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        message: OwnMessage,
    ) -> BoxFuture<'a, Result<i64, MailError>> {
        Box::pin(async move {
            let blocks =
                message.blocks.into_iter().map(|block| self.redacted_block(block)).collect();
            let inbound = inbound(visitor, session, InboundBody::message(blocks));
            self.submit_marked(inbound, message.mark).await
        })
    }

    fn redacted_block(&self, block: Block) -> Block {
        match block {
            Block::Text { text } => Block::Text { text: self.cleared_words(&text) },
            other => other,
        }
    }

    /// The same, if no turn is open in the session and nothing waits there: the message then begins
    /// a turn. `None` otherwise.
    pub fn message_alone<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        text: &'a str,
        named: Vec<Named>,
    ) -> BoxFuture<'a, Result<Option<i64>, MailError>> {
        Box::pin(async move {
            let body = self.naming(text, named);
            self.mail.submit_alone(inbound(visitor, session, body)).await
        })
    }

    pub fn order<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        order: Order,
    ) -> BoxFuture<'a, Result<i64, MailError>> {
        Box::pin(async move { self.submit(visitor, session, order.body()).await })
    }

    /// Answers a question. Who may is checked by the gate, against the frozen row.
    pub fn answer<'a>(
        &'a self,
        visitor: &'a Visitor,
        id: &'a ApprovalId,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Result<AskedQuestion, DecideError>> {
        Box::pin(async move {
            let answer = self.redacted(answer);
            let row = self.gate.calls().decide(id, &answer, &visitor.principal).await?;
            Ok(AskedQuestion::from(row))
        })
    }

    /// Answers a question by what an update says. The decision, the end of the update and the words
    /// for whoever wrote it, if there are any, are one transaction, so that one message answers at
    /// most once, and never a later question. An answer that does not count is always told.
    pub fn answer_of_update<'a>(
        &'a self,
        visitor: &'a Visitor,
        id: &'a ApprovalId,
        answer: &'a Answer,
        (bot, update): (i64, i64),
        (session, told): (SessionId, Option<String>),
    ) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let answer = self.redacted(answer);
            let to = visitor.from.clone();
            let notice = move |text: String| {
                let body = OutboundBody::Notice { text };
                Outbound { session: session.clone(), to: to.clone(), body }
            };
            let say = notice.clone();
            let finish = move |tx: &Tx<'_>, text: Option<String>| {
                if tx.finish_update(bot, update, "answer")?
                    && let Some(text) = text
                {
                    tx.add_outbound(&say(text))?;
                }
                Ok(())
            };
            let decided = self.gate.calls().decide_with(
                id,
                &answer,
                &visitor.principal,
                move |tx, counted| match counted {
                    Ok(()) => finish(tx, told.clone()),
                    Err(why) => finish(tx, Some(sentence(&why.to_string()))),
                },
            );
            match decided.await.map_err(DecideError::from) {
                Err(DecideError::Failed(error)) => Err(error),
                // Said once: where the transaction has said it, the update is done with.
                Err(why) => {
                    let told = notice(sentence(&why.to_string()));
                    self.mail.answer_update(bot, update, "answer", told).await.map(drop)
                }
                Ok(_) => Ok(()),
            }
        })
    }

    /// Answers a question about tools that have changed, by its id: one compare-and-set.
    pub fn answer_about_pins<'a>(
        &'a self,
        id: &'a str,
        accept: bool,
        principal: &'a str,
    ) -> BoxFuture<'a, Result<PinAnswer, MailError>> {
        Box::pin(
            async move { Ok(self.gate.catalog().answer_about_pins(id, accept, principal).await?) },
        )
    }

    /// Answers the question about a server, by its id: one compare-and-set.
    pub fn answer_about_trust<'a>(
        &'a self,
        id: &'a str,
        level: Trust,
        principal: &'a str,
    ) -> BoxFuture<'a, Result<TrustAnswer, MailError>> {
        Box::pin(
            async move { Ok(self.gate.catalog().answer_about_trust(id, level, principal).await?) },
        )
    }

    fn redacted(&self, answer: &Answer) -> Answer {
        match answer {
            Answer::Deny { word: Some(word) } => {
                Answer::Deny { word: Some(self.cleared_words(word)) }
            }
            other => other.clone(),
        }
    }

    /// Commits updates of a chat service before the service may forget them. Known secrets are
    /// replaced first.
    pub fn keep_updates(
        &self,
        bot: i64,
        updates: Vec<(i64, serde_json::Value)>,
    ) -> BoxFuture<'_, Result<usize, MailError>> {
        Box::pin(async move {
            let redacted = |(id, mut update): (i64, serde_json::Value)| {
                self.clear_login_answers(&mut update);
                self.gate.redactor().redact_json(&mut update);
                (id, update.to_string())
            };
            self.mail.keep_updates(bot, updates.into_iter().map(redacted).collect()).await
        })
    }

    /// Takes in what updates say as one message, once: the updates are done with in the same
    /// transaction.
    pub fn message_of_updates<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        message: UpdateMessage,
        (bot, updates): (i64, &'a [i64]),
    ) -> BoxFuture<'a, Result<bool, MailError>> {
        Box::pin(async move {
            let redact = |text: String| self.gate.redactor().redact(&text).into_owned();
            let blocks =
                message.blocks.into_iter().map(|block| self.redacted_block(block)).collect();
            let named = message.named.into_iter().map(|named| self.redacted_name(named)).collect();
            let inbound = inbound(visitor, session, InboundBody::Message { blocks, named });
            let notice = |text| {
                let body = OutboundBody::Notice { text: redact(text) };
                Outbound { session: session.clone(), to: visitor.from.clone(), body }
            };
            let notices = message.notices.into_iter().map(notice).collect();
            let accepted = Accepted { inbound, notices, forget_overheard: message.with_overheard };
            self.mail.accept_updates(bot, updates, accepted).await
        })
    }

    /// The same for an order.
    pub fn order_of_update<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        order: Order,
        (bot, update): (i64, i64),
    ) -> BoxFuture<'a, Result<bool, MailError>> {
        Box::pin(async move {
            let inbound = inbound(visitor, session, order.body());
            let accepted = Accepted { inbound, notices: Vec::new(), forget_overheard: false };
            self.mail.accept_updates(bot, &[update], accepted).await
        })
    }

    async fn submit(
        &self,
        visitor: &Visitor,
        session: &SessionId,
        body: InboundBody,
    ) -> Result<i64, MailError> {
        self.submit_marked(inbound(visitor, session, body), None).await
    }

    async fn submit_marked(
        &self,
        inbound: Inbound,
        mark: Option<String>,
    ) -> Result<i64, MailError> {
        crate::killpoint::here("router.submit.before");
        let id = match mark {
            Some(mark) => self.mail.submit_once(inbound, mark).await,
            None => self.mail.submit(inbound).await,
        };
        crate::killpoint::here("router.submit.after");
        id
    }
}
