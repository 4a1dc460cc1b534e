//! What the calls of MCP clients have of their own: a question names the client that asks, "always"
//! is for that client alone, and all that it has ends when it is revoked. Must not know how a
//! client calls, or doors.

use serde_json::json;

use super::Calls;
use super::stage::{Proposed, StagedList};
use super::start::close_question;
use crate::domain::{
    Address, Answer, CallId, CallOwner, Choice, ClientName, DeniedBy, Effect, Inbound, InboundBody,
    Origin, Outcome, Scope, Term, ToolCall, client_of,
};
use crate::store::{ApprovalRow, AuditEntry, StoreError, Tx};

/// What is proposed by a result is named by the number of its event in a log. A client's call
/// stands in no log: its own number counts, behind any that a log has.
const BEHIND_ANY_LOG: u64 = 1_000_000_000;

const REVOKED: &str = "the owner has revoked the client";

impl Calls {
    /// Says in the question which client asks, and offers "always" for it.
    pub(super) fn name_client(call: &ToolCall, choices: &[Choice], effect: &mut Effect) {
        let Some(client) = client_of(&call.principal) else { return };
        effect.asker = Some(format!("MCP client “{client}” asks"));
        effect.for_client = true;
        let exact = Answer::Allow { term: Term::Always, scope: Scope::Exact };
        effect.offer =
            choices.iter().find(|choice| choice.answer == exact).map(|choice| choice.key.clone());
    }

    /// What this end of a client's call has proposed, frozen, to be written with that end,
    /// as at the end of a turn. A client has no conversation of its owner's, so it is asked
    /// about where the client's calls are; the answer wakes a session that whoever serves
    /// the client keeps going.
    pub fn stage_of_client(&self, call: &CallId, outcome: &Outcome) -> StagedList {
        let (CallId::Client { principal, number }, Outcome::Ended { output }) = (call, outcome)
        else {
            return StagedList::default();
        };
        let session = client_of(principal).and_then(|client| client.staged_session());
        let Some(session) = session.filter(|_| !output.actions.is_empty()) else {
            return StagedList::default();
        };
        let proposed = (0..).zip(&output.actions).map(|(index, proposal)| Proposed {
            source: call.clone(),
            session: session.clone(),
            result_seq: BEHIND_ANY_LOG + number,
            index,
            proposal: proposal.clone(),
        });
        let list = self.stage(proposed.collect(), &[]).unwrap_or_else(|error| {
            tracing::error!(%call, %error, "what a client's call has proposed is not asked about");
            StagedList::default()
        });
        for why in &list.left_out {
            tracing::warn!(%call, why, "what a client's call has proposed");
        }
        list
    }

    /// Refuses a client from now on, in one transaction: its grants end, its questions are closed,
    /// its turns are told to stop. How many grants and questions; `None` if there is no such client
    /// and it had no token.
    pub async fn end_client(
        &self,
        client: &ClientName,
        had_token: bool,
        by: &str,
    ) -> Result<Option<(u64, u64)>, StoreError> {
        let (client, by) = (client.clone(), by.to_owned());
        let end = move |tx: &Tx<'_>| {
            if tx.client(&client)?.is_none() && !had_token {
                return Ok(None);
            }
            tx.add_client(&client)?;
            tx.set_client_revoked(&client, true)?;
            let ended = (end_grants(tx, &client, &by)?, close_questions(tx, &client)?);
            for row in tx.sessions_of_client(&client)? {
                stop_turn(tx, &client, row.name, &by)?;
            }
            let (grants, questions) = ended;
            let body =
                json!({"client": client, "by": by, "grants": grants, "questions": questions});
            tx.audit(&AuditEntry { kind: "client_revoked", call: String::new(), body })?;
            Ok(Some(ended))
        };
        self.store.write(end).await
    }
}

fn end_grants(tx: &Tx<'_>, client: &ClientName, by: &str) -> Result<u64, StoreError> {
    let principal = client.principal();
    let mut ended = 0;
    for grant in tx.grants()?.into_iter().filter(|grant| grant.principal == principal) {
        tx.revoke_grant(grant.id)?;
        let body = json!({"grant": grant.id, "by": by});
        tx.audit(&AuditEntry { kind: "revoked", call: String::new(), body })?;
        ended += 1;
    }
    Ok(ended)
}

/// A call that no log made ends here; one of a turn ends with its turn.
fn close_questions(tx: &Tx<'_>, client: &ClientName) -> Result<u64, StoreError> {
    let principal = client.principal();
    let mut closed = 0;
    let is_theirs = |row: &ApprovalRow| match row.call.owner() {
        CallOwner::Client(of) => of == principal,
        CallOwner::Session(session) => client.has(session),
        CallOwner::Claw => false,
    };
    for row in tx.open_approvals(None)?.into_iter().filter(is_theirs) {
        close_question(tx, &row.call, REVOKED)?;
        closed += 1;
        if !matches!(row.call.owner(), CallOwner::Client(_)) {
            continue;
        }
        let outcome = Outcome::denied(DeniedBy::Stop, REVOKED);
        super::record::end(tx, &row.call, &outcome)?;
    }
    Ok(closed)
}

fn stop_turn(
    tx: &Tx<'_>,
    client: &ClientName,
    session: String,
    by: &str,
) -> Result<(), StoreError> {
    let Ok(session) = crate::domain::SessionId::new(session) else { return Ok(()) };
    if !tx.turn_open(&session)? {
        return Ok(());
    }
    let stop = Inbound {
        session,
        from: Address(format!("gate/{client}")),
        principal: by.to_owned(),
        origin: Origin::Owner,
        body: InboundBody::Stop,
    };
    tx.add_inbound(&stop, u32::MAX)?;
    Ok(())
}
