//! Matches a call against the owner's standing answers. A grant turns *ask* into *allow* and
//! nothing else; a refusal denies. Must not know rules.

use super::Gate;
use super::judge::Verdict;
use crate::domain::{Origin, ToolCall};
use crate::policy::shape::{self, Shape};
use crate::store::{GrantRow, StoreError};

impl Gate {
    /// The grant that covers this call, if there is one.
    pub(super) fn grant_for(&self, call: &ToolCall) -> Result<Option<Verdict>, StoreError> {
        self.standing(call, "allow", |grant, call| extends_to(grant, call.origin))
    }

    /// The owner's "never" that covers this call. It holds whoever asks.
    pub(super) fn standing_refusal(&self, call: &ToolCall) -> Result<Option<Verdict>, StoreError> {
        self.standing(call, "deny", |_, _| true)
    }

    fn standing(
        &self,
        call: &ToolCall,
        effect: &str,
        reaches: impl Fn(&GrantRow, &ToolCall) -> bool,
    ) -> Result<Option<Verdict>, StoreError> {
        let rows = self.store.read(|tx| tx.grants_for(&call.server, &call.tool))?;
        let facts = self.facts(call, None);
        let found = rows.into_iter().find(|grant| {
            grant.effect == effect
                && grant.session.as_deref().is_none_or(|session| session == call.session().as_str())
                && (effect == "deny" || grant.principal == call.principal)
                && reaches(grant, call)
                && serde_json::from_str::<Shape>(&grant.shape)
                    .is_ok_and(|shape| shape::covers(&shape, &facts))
        });
        Ok(found.map(|grant| {
            let why = format!("{}: {}", effect_word(&grant), grant.says);
            Verdict { grant: Some(grant.id), ..Verdict::new(format!("grant.{}", grant.id), why) }
        }))
    }
}

fn effect_word(grant: &GrantRow) -> &'static str {
    if grant.effect == "deny" { "the owner said never" } else { "the owner has allowed it" }
}

/// A grant reaches the origin that it was given for, and those that are trusted more; never a lower
/// one.
fn extends_to(grant: &GrantRow, origin: Origin) -> bool {
    serde_json::from_value::<Origin>(serde_json::Value::String(grant.origin.clone()))
        .is_ok_and(|lowest| origin >= lowest)
}
