//! What is different in a turn of an MCP client: its own budget of a day, which is looked at before
//! each request to a model, that a revoked client goes on with nothing, and that its turns are its
//! own. Must not know how a client calls.

use super::drive::Drive;
use super::worker::SessionError;
use crate::domain::{ClientName, EventBody, client_of, client_of_session};
use crate::store::{InboxRow, StoreError, Tx};

/// Tokens of a client on a day.
#[derive(Clone, Debug)]
pub(super) struct ClientSpent {
    pub(super) client: ClientName,
    pub(super) day: String,
    pub(super) tokens: u64,
}

/// What keeps a model from working for a client.
pub(super) struct ClientLimit {
    /// As the log has it.
    name: &'static str,
    /// As half a sentence.
    pub(super) why: &'static str,
    /// As it ends a turn.
    text: String,
}

impl ClientSpent {
    pub(super) fn write(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        tx.count_client(&self.client, &self.day, (0, self.tokens))
    }
}

impl Drive<'_> {
    /// The client for whom a model works now: that of the open turn; of a summary between two
    /// turns, that of the session.
    pub(super) fn client(&self) -> Option<ClientName> {
        match self.log.open_turn() {
            Some(turn) => client_of(turn.principal),
            None => client_of_session(&self.session),
        }
    }

    /// Whether the client's own budget, or that it was revoked, keeps the model from being asked.
    /// That ends the turn and says so.
    pub(super) async fn client_stops(&mut self) -> Result<bool, SessionError> {
        if self.client().is_none() {
            return Ok(false);
        }
        // What was taken in this turn is counted on the disk.
        self.flush_now().await?;
        let Some(ClientLimit { name, text, .. }) = self.client_limit()? else { return Ok(false) };
        self.push(EventBody::LimitReached { limit: name.to_owned(), text });
        Ok(true)
    }

    /// What keeps the model from being asked for the client, by what is on the disk.
    pub(super) fn client_limit(&self) -> Result<Option<ClientLimit>, SessionError> {
        let Some(client) = self.client() else { return Ok(None) };
        let Some(row) = self.worker.store.read(|tx| tx.client(&client))? else { return Ok(None) };
        if row.revoked_ms.is_some() {
            let text = format!("The owner has revoked the client `{client}`.");
            let why = "the owner has revoked the client";
            return Ok(Some(ClientLimit { name: "clients.revoked", why, text }));
        }
        let most = self.settings.serve.tokens_day_max;
        let (_, used) = row.used_on(&self.settings.budget.today());
        let text = || {
            format!(
                "The client `{client}` has used today's budget: {used} of {most} tokens \
                 (serve.tokens_day_max). It goes on after midnight, or after the owner has raised \
                 the limit in claw.toml."
            )
        };
        let why = "the client has used today's budget";
        Ok((used >= most).then(|| ClientLimit { name: "serve.tokens_day_max", why, text: text() }))
    }

    /// No client speaks in a turn that somebody else has begun: what it takes is its own.
    pub(super) fn client_may_join(&self, row: &InboxRow) -> bool {
        client_of(&row.inbound.principal).is_none()
            || self.turn().principal == row.inbound.principal
    }
}
