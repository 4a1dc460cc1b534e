//! Where the answer to a command goes, and that it is carried out and answered once. Must not know
//! any command.

use super::daily_digest::without_buttons;
use crate::domain::{Address, Outbound, OutboundBody, SessionId};
use crate::store::{Store, StoreError, Tx};

/// Who gets the answer to a command.
#[derive(Clone, Debug)]
pub enum AnswerTo {
    /// Whoever asked for it gets it back, and shows it.
    Caller,
    /// It goes out by the outbox, in one transaction with the end of the update that brought the
    /// command. Handled again after a kill, such a command has no second effect and no second
    /// answer.
    Update { bot: i64, update: i64, session: SessionId, to: Address },
}

impl AnswerTo {
    /// Says something without an effect.
    pub(super) async fn say(
        &self,
        store: &Store,
        text: String,
    ) -> Result<Option<String>, StoreError> {
        match self {
            Self::Caller => Ok(Some(text)),
            Self::Update { .. } => self.once(store, move |_| Ok(text)).await,
        }
    }

    /// Runs the effect in a transaction. `None`: the answer is in the outbox, or it was there
    /// before.
    pub(super) async fn once(
        &self,
        store: &Store,
        effect: impl FnOnce(&Tx<'_>) -> Result<String, StoreError> + Send + 'static,
    ) -> Result<Option<String>, StoreError> {
        if let Self::Caller = self {
            return store.write(effect).await.map(Some);
        }
        self.body_once(store, move |tx| Ok(OutboundBody::Notice { text: effect(tx)? })).await
    }

    /// The same for an order: what comes of it comes by the outbox, and nothing is said here.
    pub(super) async fn silently(
        &self,
        store: &Store,
        effect: impl FnOnce(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<Option<String>, StoreError> {
        let key = match self {
            Self::Caller => None,
            Self::Update { bot, update, .. } => Some((*bot, *update)),
        };
        let once = move |tx: &Tx<'_>| {
            let is_new = match key {
                None => true,
                Some((bot, update)) => tx.finish_update(bot, update, "command")?,
            };
            if is_new { effect(tx) } else { Ok(()) }
        };
        store.write(once).await.map(|()| None)
    }

    /// The same for an answer that a door may show with buttons.
    pub(super) async fn body_once(
        &self,
        store: &Store,
        effect: impl FnOnce(&Tx<'_>) -> Result<OutboundBody, StoreError> + Send + 'static,
    ) -> Result<Option<String>, StoreError> {
        let Self::Update { bot, update, session, to } = self.clone() else {
            let body = store.write(effect).await?;
            return Ok(Some(without_buttons(&body).into_owned()));
        };
        let once = move |tx: &Tx<'_>| {
            if tx.finish_update(bot, update, "command")? {
                let body = effect(tx)?;
                tx.add_outbound(&Outbound { session, to, body })?;
            }
            Ok(None)
        };
        store.write(once).await
    }
}
