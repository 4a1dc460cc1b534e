//! The end of a client's call, as its client hears of it: given out once, or that it has to wait.
//! Must not know how a call is driven.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::Serialize;
use tokio::time::Instant;

use super::begin::ClientCall;
use super::drive::Progress;
use super::{ClientRefusal, Clients};
use crate::domain::{ApprovalId, ApprovalState, CallId, Outcome, UnixMillis, escape};
use crate::killpoint;
use crate::store::{ApprovalRow, StoreError, Tx};

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientCallState {
    /// `kept`: it had its end before this request was made.
    Ended { outcome: Outcome, kept: bool },
    /// For the owner's answer. The same request made again takes it up.
    Waiting { questions: Vec<OpenQuestion> },
    /// Still. The same request made again takes it up.
    Running,
}

/// A question that is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenQuestion {
    pub id: ApprovalId,
    /// What the owner is asked, in a few words.
    pub says: String,
    pub expires_at_ms: UnixMillis,
}

impl OpenQuestion {
    pub(super) fn of(row: &ApprovalRow) -> Self {
        let question = &row.question;
        let says = match &question.effect {
            Some(effect) => effect.says.clone(),
            None => escape::visible(&format!("{}/{}", question.server, question.tool)),
        };
        Self { id: row.id.clone(), says, expires_at_ms: row.expires_ms }
    }
}

impl Clients {
    /// Waits for the end of a call, `patience` at most. An end is given out once: the next equal
    /// request begins a new call.
    pub fn end_of<'a>(
        &'a self,
        call: &'a ClientCall,
        patience: Duration,
    ) -> BoxFuture<'a, Result<ClientCallState, ClientRefusal>> {
        Box::pin(async move {
            self.hold_again(call).await?;
            let until = Instant::now() + patience;
            let ended = match self.shared.driving.progress(&call.id()) {
                Some(mut progress) => {
                    let ends = progress
                        .wait_for(|at| matches!(at, Progress::Ended(_) | Progress::LeftBehind));
                    let ended = tokio::time::timeout_at(until, ends).await;
                    match ended {
                        Ok(Ok(at)) => match &*at {
                            Progress::Ended(outcome) => Some(Some((**outcome).clone())),
                            _ => None,
                        },
                        Ok(Err(_)) => Some(None),
                        Err(_) => None,
                    }
                }
                None => self.ends_elsewhere(call, until).await?.then_some(None),
            };
            match ended {
                Some(known) => self.hand_out(call, known).await,
                None => self.not_yet(call).await,
            }
        })
    }

    /// The client does not want it any more. What runs is cut; a question stays open, and the same
    /// request made again takes the call up.
    pub fn cancel(&self, call: &ClientCall) {
        self.shared.driving.cancel(&call.id());
    }

    /// A request that was told to wait may go on waiting.
    async fn hold_again(&self, call: &ClientCall) -> Result<(), ClientRefusal> {
        if !call.is_let_go.load(Ordering::SeqCst) {
            return Ok(());
        }
        let (client, number, me) = (call.client.clone(), call.number, call.me.clone());
        let hold = move |tx: &Tx<'_>| tx.hold_client_call(&client, number, (None, Some(&me)));
        if !self.shared.store.write(hold).await? {
            let text = "another request has taken this call up meanwhile";
            return Err(ClientRefusal::Odd(text.to_owned()));
        }
        call.is_let_go.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Whether a call ends that another process drives, or that has ended.
    async fn ends_elsewhere(
        &self,
        call: &ClientCall,
        until: Instant,
    ) -> Result<bool, ClientRefusal> {
        let id = call.id();
        let mut changes = self.shared.store.changes();
        loop {
            let row = self.shared.store.read(|tx| tx.call(&id))?;
            if row.is_some_and(|row| row.outcome.is_some()) {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            changes.wait_at_most(until.saturating_duration_since(Instant::now())).await;
        }
    }

    async fn hand_out(
        &self,
        call: &ClientCall,
        known: Option<Outcome>,
    ) -> Result<ClientCallState, ClientRefusal> {
        let (client, number, me, id) =
            (call.client.clone(), call.number, call.me.clone(), call.id());
        killpoint::here("client.handed.before");
        let hand = move |tx: &Tx<'_>| {
            let outcome = tx.call(&id)?.and_then(|row| row.outcome);
            Ok(tx.hand_client_call(&client, number, &me)?.then_some(outcome))
        };
        let handed = self.shared.store.write(hand).await?;
        killpoint::here("client.handed.after");
        call.is_let_go.store(true, Ordering::SeqCst);
        self.shared.handed(call);
        match handed.and_then(|outcome| outcome.or(known)) {
            Some(outcome) => Ok(ClientCallState::Ended { outcome, kept: call.had_ended }),
            None => {
                let text = "the end of this call was given to another request of this client";
                Err(ClientRefusal::Odd(text.to_owned()))
            }
        }
    }

    /// From here on the same request takes it up.
    async fn not_yet(&self, call: &ClientCall) -> Result<ClientCallState, ClientRefusal> {
        let (client, number, me, id) =
            (call.client.clone(), call.number, call.me.clone(), call.id());
        killpoint::here("client.told.before");
        let told = move |tx: &Tx<'_>| {
            tx.hold_client_call(&client, number, (Some(&me), None))?;
            question_of(tx, &id)
        };
        // A power loss ends the holder, too, which comes to the same.
        let question = self.shared.store.write_relaxed(told).await?;
        killpoint::here("client.told.after");
        call.is_let_go.store(true, Ordering::SeqCst);
        Ok(match question {
            Some(question) => ClientCallState::Waiting { questions: vec![question] },
            None => ClientCallState::Running,
        })
    }
}

fn question_of(tx: &Tx<'_>, call: &CallId) -> Result<Option<OpenQuestion>, StoreError> {
    let newest = tx.approval_of(call)?.filter(|row| row.state == ApprovalState::Waiting);
    Ok(newest.as_ref().map(OpenQuestion::of))
}
