//! What a drive wants to have on the disk next: events, absorbed inbox rows and outbox rows, in one
//! transaction. Must not know when that is.

use std::collections::BTreeMap;

use super::client::ClientSpent;
use super::heartbeat::Noted;
use crate::calls::{NewList, StagedList, modes};
use crate::domain::{Event, Outbound, SessionId, UnixMillis};
use crate::store::{DaySpent, StoreError, Tx};

#[derive(Clone, Debug, Default)]
pub(super) struct PendingRows {
    pub(super) events: Vec<Event>,
    pub(super) absorbed: Vec<i64>,
    pub(super) outbound: Vec<Outbound>,
    /// What models have taken, each with its day.
    pub(super) day_spent: Vec<(String, DaySpent)>,
    /// What is noted of heartbeats, each by its name.
    pub(super) heartbeats: Vec<(String, Noted)>,
    /// What models have taken in turns of clients.
    pub(super) clients: Vec<ClientSpent>,
    /// What tools have proposed and the owner is asked about now.
    pub(super) actions: Vec<StagedList>,
    /// Questions about several calls, which are parked now.
    pub(super) lists: Vec<NewList>,
    /// `/new`: the grants of this session end.
    pub(super) end_session_grants: bool,
    /// An owner has written: whose mode holds on, and until when.
    pub(super) mode_used: Option<(String, UnixMillis)>,
    /// The provider refused the model's key: what a person has to be told, wherever they are.
    pub(super) key_refused: Option<String>,
    /// What the owner knows to be wrong with the persona, by what it is wrong with.
    pub(super) persona_faults: Option<BTreeMap<String, String>>,
}

impl PendingRows {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.absorbed.is_empty()
            && self.outbound.is_empty()
            && self.heartbeats.is_empty()
            && self.actions.is_empty()
            && self.lists.is_empty()
            && !self.end_session_grants
            && self.mode_used.is_none()
            && self.key_refused.is_none()
            && self.persona_faults.is_none()
    }

    pub(super) fn write(&self, session: &SessionId, tx: &Tx<'_>) -> Result<(), StoreError> {
        for event in &self.events {
            tx.append_event(session, event)?;
            if let Some((usage, provider, model)) = event.body.spent() {
                tx.add_usage(session, event.seq, provider, model, usage)?;
            }
        }
        for (day, spent) in &self.day_spent {
            tx.add_day_spent(day, *spent)?;
        }
        self.heartbeats.iter().try_for_each(|(name, noted)| noted.write(name, tx))?;
        self.clients.iter().try_for_each(|spent| spent.write(tx))?;
        self.actions.iter().try_for_each(|list| list.write(tx))?;
        self.lists.iter().try_for_each(|list| list.write(tx))?;
        for id in &self.absorbed {
            tx.mark_absorbed(*id)?;
        }
        for outbound in &self.outbound {
            tx.add_outbound(outbound)?;
        }
        if let Some((principal, until_ms)) = &self.mode_used {
            modes::prolong_in(tx, session, principal, *until_ms)?;
        }
        if self.end_session_grants {
            tx.revoke_session_grants(session)?;
        }
        if let Some(text) = &self.key_refused {
            tx.set_key_refused(&format!("{session}\n{text}"))?;
        }
        if let Some(faults) = &self.persona_faults {
            tx.set_persona_faults(faults)?;
        }
        Ok(())
    }
}
