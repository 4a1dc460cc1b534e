//! What a client may take in a day of its owner: calls and tokens, counted in the store. Must not
//! know who asks, or what a call does.

use claw_kit::counted::counted;
use futures::future::BoxFuture;
use serde::Serialize;

use super::{ClientRefusal, Clients, Shared};
use crate::config::ServeSection;
use crate::domain::{Address, ClientName, Outbound, OutboundBody, SessionId};
use crate::store::{ClientRow, StoreError, Tx};

/// What a client has used today, and what it may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientBudget {
    pub calls_today: u64,
    pub calls_day_max: u64,
    /// In and out, of its turns.
    pub tokens_today: u64,
    pub tokens_day_max: u64,
}

/// What is in force at one moment.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) day: String,
    pub(super) calls_open_max: u64,
    calls_day_max: u64,
    tokens_day_max: u64,
    /// The first words of a command, for what is said of them.
    claw: String,
}

impl Limits {
    fn of(settings: &ServeSection, day: String, claw: String) -> Self {
        Self {
            day,
            claw,
            calls_open_max: settings.calls_open_max.into(),
            calls_day_max: settings.calls_day_max,
            tokens_day_max: settings.tokens_day_max,
        }
    }

    /// Whether a client may go on: it was not revoked, and its day is not used up.
    pub(super) fn look(
        &self,
        tx: &Tx<'_>,
        client: &ClientName,
    ) -> Result<Result<(), ClientRefusal>, StoreError> {
        let Some(row) = tx.client(client)? else { return Ok(Ok(())) };
        if row.revoked_ms.is_some() {
            return Ok(Err(self.revoked(client)));
        }
        let refused = |what| ClientRefusal::Budget { client: client.clone(), what };
        Ok(self.used_up(&row).map_or(Ok(()), |what| Err(refused(what))))
    }

    /// Why a client is refused that its owner has revoked.
    pub(super) fn revoked(&self, client: &ClientName) -> ClientRefusal {
        ClientRefusal::Revoked { client: client.clone(), claw: self.claw.clone() }
    }

    /// Half a sentence, if one of the limits is met.
    fn used_up(&self, row: &ClientRow) -> Option<String> {
        let (calls, tokens) = row.used_on(&self.day);
        if calls >= self.calls_day_max {
            return Some(format!("{} (serve.calls_day_max)", counted(calls, "call")));
        }
        (tokens >= self.tokens_day_max).then(|| format!("{tokens} tokens (serve.tokens_day_max)"))
    }
}

impl Shared {
    /// The day that it is for the owner.
    pub(super) fn today(&self) -> String {
        jiff::Timestamp::now().to_zoned(self.zone.clone()).date().to_string()
    }

    pub(super) fn limits(&self) -> Limits {
        let claw = self.gate.calls().claw().to_owned();
        Limits::of(&(self.settings)(), self.today(), claw)
    }
}

impl Clients {
    /// What a client has used today.
    pub fn budget(&self, client: &ClientName) -> Result<ClientBudget, ClientRefusal> {
        let limits = self.shared.limits();
        let row = self.shared.store.read(|tx| tx.client(client))?;
        let (calls_today, tokens_today) = row.map_or((0, 0), |row| row.used_on(&limits.day));
        Ok(ClientBudget {
            calls_today,
            calls_day_max: limits.calls_day_max,
            tokens_today,
            tokens_day_max: limits.tokens_day_max,
        })
    }

    /// Whether a client may say something to the agent, which counts as a call of today. To be
    /// asked before a message of its goes into the inbox.
    pub fn may_ask<'a>(
        &'a self,
        client: &'a ClientName,
    ) -> BoxFuture<'a, Result<(), ClientRefusal>> {
        Box::pin(async move {
            let (limits, client) = (self.shared.limits(), client.clone());
            let asked = move |tx: &Tx<'_>| {
                let may = limits.look(tx, &client)?;
                if may.is_ok() {
                    tx.count_client(&client, &limits.day, (1, 0))?;
                }
                Ok(may)
            };
            self.shared.store.write(asked).await?
        })
    }

    /// Tells the owner, once a day, of each client whose day is used up. True if
    /// something was told.
    pub async fn tell_owner(
        &self,
        session: &SessionId,
        to: &Address,
    ) -> Result<bool, ClientRefusal> {
        let limits = self.shared.limits();
        let is_due = |row: &ClientRow| row.told_day != limits.day && limits.used_up(row).is_some();
        if !self.shared.store.read(|tx| tx.clients())?.iter().any(is_due) {
            return Ok(false);
        }
        let (session, to) = (session.clone(), to.clone());
        let tell = move |tx: &Tx<'_>| {
            let mut told = false;
            for row in tx.clients()? {
                let Some(what) = limits.used_up(&row) else { continue };
                if !tx.tell_of_client(&row.name, &limits.day)? {
                    continue;
                }
                let text = format!(
                    "The MCP client “{}” has used today's budget: {what}. It is refused until \
                     midnight, or until you raise the limit in claw.toml.",
                    row.name
                );
                let body = OutboundBody::Notice { text };
                tx.add_outbound(&Outbound { session: session.clone(), to: to.clone(), body })?;
                told = true;
            }
            Ok(told)
        };
        Ok(self.shared.store.write(tell).await?)
    }
}
