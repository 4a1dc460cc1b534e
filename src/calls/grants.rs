//! Matches a call against the owner's standing answers. A grant turns *ask* into *allow* and
//! nothing else; a refusal denies. Must not know rules.

use super::{Calls, Grounds};
use crate::domain::{GrantEffect, ToolCall};
use crate::policy::shape::{self, Shape};
use crate::store::{GrantRow, StoreError};

impl Calls {
    /// The grant that covers this call, if there is one. It reaches the origin that it was given
    /// for, and those that are trusted more; never a lower one.
    pub fn grant_for(&self, call: &ToolCall) -> Result<Option<Grounds>, StoreError> {
        let found =
            self.standing(call, GrantEffect::Allow, |grant, call| call.origin >= grant.origin)?;
        Ok(found.map(|(_, grounds)| grounds))
    }

    /// The owner's "never" that covers this call, with its number. It holds whoever asks.
    pub fn standing_refusal(&self, call: &ToolCall) -> Result<Option<(i64, Grounds)>, StoreError> {
        self.standing(call, GrantEffect::Deny, |_, _| true)
    }

    fn standing(
        &self,
        call: &ToolCall,
        effect: GrantEffect,
        reaches: impl Fn(&GrantRow, &ToolCall) -> bool,
    ) -> Result<Option<(i64, Grounds)>, StoreError> {
        let rows = self.store.read(|tx| tx.grants_for(&call.server, &call.tool))?;
        let facts = self.facts(call, None);
        let found = rows.into_iter().find(|grant| {
            grant.effect == effect
                && grant.session.as_ref().is_none_or(|session| Some(session) == call.session())
                && (effect == GrantEffect::Deny || grant.principal == call.principal)
                && reaches(grant, call)
                && serde_json::from_str::<Shape>(&grant.shape)
                    .is_ok_and(|shape| shape::covers(&shape, &facts))
        });
        Ok(found.map(|grant| {
            let why = format!("{}: {}", effect_word(&grant), grant.says);
            let grounds = Grounds::new(format!("grant.{}", grant.id), why);
            (grant.id, Grounds { grant: Some(grant.id), ..grounds })
        }))
    }
}

fn effect_word(grant: &GrantRow) -> &'static str {
    match grant.effect {
        GrantEffect::Allow => "the owner has allowed it",
        GrantEffect::Deny => "the owner said never",
    }
}
