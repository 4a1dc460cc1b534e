//! Which clients there are, and the owner's hand on them: a token is made, and a client is revoked.
//! Must not know the command line.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use serde::Serialize;

use super::token::NewToken;
use super::{ClientRefusal, Clients};
use crate::domain::{CallOwner, ClientName, UnixMillis};
use crate::store::{ApprovalRow, AuditEntry};

/// A client as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownClient {
    pub name: ClientName,
    /// `None`: it has a token and has not called yet.
    pub seen_ms: Option<UnixMillis>,
    pub revoked_ms: Option<UnixMillis>,
    /// It can call over HTTP.
    pub has_token: bool,
    pub calls_today: u64,
    pub tokens_today: u64,
    /// Grants in force that are its own.
    pub grants: u64,
    pub open_questions: u64,
}

/// What a client had that was revoked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Revoked {
    pub token: bool,
    pub grants: u64,
    pub questions: u64,
}

impl Clients {
    /// All clients that have ever called or have a token, by name.
    pub fn known(&self) -> Result<Vec<KnownClient>, ClientRefusal> {
        let day = self.shared.today();
        let (rows, grants, open) = self
            .shared
            .store
            .read(|tx| Ok((tx.clients()?, tx.grants()?, tx.open_approvals(None)?)))?;
        let mut tokens = self.shared.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        self.learn(tokens.look());
        let names: BTreeSet<ClientName> =
            rows.iter().map(|row| row.name.clone()).chain(tokens.clients()).collect();
        let known = |name: ClientName| {
            let row = rows.iter().find(|row| row.name == name);
            let (calls_today, tokens_today) = row.map_or((0, 0), |row| row.used_on(&day));
            let principal = name.principal();
            let grants = grants.iter().filter(|grant| grant.principal == principal).count() as u64;
            let open_questions = open.iter().filter(|row| is_asked_by(row, &name)).count() as u64;
            KnownClient {
                seen_ms: row.and_then(|row| row.seen_ms),
                revoked_ms: row.and_then(|row| row.revoked_ms),
                has_token: tokens.has(&name),
                calls_today,
                tokens_today,
                grants,
                open_questions,
                name,
            }
        };
        Ok(names.into_iter().map(known).collect())
    }

    /// Makes a token for a client, and lets one in again that was revoked.
    pub async fn add(&self, client: &ClientName, by: &str) -> Result<NewToken, ClientRefusal> {
        let made = {
            let tokens = self.shared.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            tokens.make(client)
        };
        let token = made
            .map_err(|error| ClientRefusal::Odd(format!("the token cannot be written: {error}")))?;
        self.learn(vec![(format!("token of client {client}"), token.token.clone())]);
        let (client, by) = (client.clone(), by.to_owned());
        self.shared
            .store
            .write(move |tx| {
                tx.add_client(&client)?;
                tx.set_client_revoked(&client, false)?;
                let body = serde_json::json!({"client": client, "by": by});
                tx.audit(&AuditEntry { kind: "client_added", call: String::new(), body })
            })
            .await?;
        Ok(token)
    }

    /// Refuses a client from now on: its token is gone, its grants end, its questions are closed,
    /// and what runs of it is cut. `None`: there is no such client.
    pub async fn revoke(
        &self,
        client: &ClientName,
        by: &str,
    ) -> Result<Option<Revoked>, ClientRefusal> {
        let removed = {
            let tokens = self.shared.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            tokens.remove(client)
        };
        let token = removed
            .map_err(|error| ClientRefusal::Odd(format!("the token cannot be removed: {error}")))?;
        let ended = self.shared.gate.calls().end_client(client, token, by).await?;
        Ok(ended.map(|(grants, questions)| Revoked { token, grants, questions }))
    }

    /// The client that a token belongs to. Its file is looked at anew, so a token that
    /// was taken away is none.
    pub fn client_of_token(&self, token: &str) -> Result<Option<ClientName>, ClientRefusal> {
        let owner = {
            let mut tokens = self.shared.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            self.learn(tokens.look());
            tokens.owner_of(token)
        };
        let Some(client) = owner else { return Ok(None) };
        let row = self.shared.store.read(|tx| tx.client(&client))?;
        Ok(row.is_none_or(|row| row.revoked_ms.is_none()).then_some(client))
    }

    /// Tokens that do not count, and why, a sentence each.
    pub fn token_faults(&self) -> Vec<String> {
        let mut tokens = self.shared.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        self.learn(tokens.look());
        tokens.faults().to_vec()
    }

    fn learn(&self, secrets: Vec<(String, String)>) {
        if let Err(error) = self.shared.gate.redactor().learn(secrets) {
            tracing::error!(%error, "a token of a client is not masked");
        }
    }
}

/// Whether a question is about a call of this client, or of a turn in one of its sessions.
fn is_asked_by(row: &ApprovalRow, client: &ClientName) -> bool {
    match row.call.owner() {
        CallOwner::Client(principal) => *principal == client.principal(),
        CallOwner::Session(session) => client.has(session),
        CallOwner::Claw => false,
    }
}
