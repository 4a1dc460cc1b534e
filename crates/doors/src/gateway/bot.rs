//! A bot that is at work, as the gateway and the bots beside it see it. Must not
//! know what it shows.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::chat_door::ChatDoor;
use crate::mail::MailError;

/// One bot with its tasks.
pub trait GatewayBot: Send + Sync {
    /// The agent behind it.
    fn agent(&self) -> &str;

    /// The name under which people find it.
    fn name(&self) -> &str;

    /// Whether what needs a human has a place there.
    fn has_notify_place(&self) -> bool;

    /// Whether this user, by the number of the chat service, is an owner.
    fn has_owner(&self, user: i64) -> bool;

    /// Whether the store behind it answers.
    fn answers(&self) -> Result<(), MailError>;

    /// Tells what needs a human, unless something of its kind was told less than `every_ms` ago.
    /// What cannot be told is in the log.
    fn tell<'a>(&'a self, kind: &'a str, every_ms: i64, text: String) -> BoxFuture<'a, ()>;
}

/// The bot of a door that has no place for what needs a human: that is in the log alone.
pub struct WithoutNotices<D>(pub Arc<D>);

impl<D: ChatDoor> GatewayBot for WithoutNotices<D> {
    fn agent(&self) -> &str {
        &self.0.shared().context.agent
    }

    fn name(&self) -> &str {
        D::NAME
    }

    fn has_notify_place(&self) -> bool {
        false
    }

    fn has_owner(&self, _: i64) -> bool {
        false
    }

    fn answers(&self) -> Result<(), MailError> {
        self.0.shared().context.mail.version().map(drop)
    }

    fn tell<'a>(&'a self, kind: &'a str, _: i64, text: String) -> BoxFuture<'a, ()> {
        tracing::warn!(kind, text, "this door has no place to tell it");
        Box::pin(std::future::ready(()))
    }
}
