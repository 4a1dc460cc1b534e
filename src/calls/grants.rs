//! Matches a call against the owner's standing answers. A grant turns *ask* into *allow* and
//! nothing else; a refusal denies. Must not know rules.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Calls, Grounds};
use crate::domain::{GrantEffect, ToolCall};
use crate::policy::shape::{self, Shape};
use crate::store::{GrantRow, StoreError};

/// A shape as a grant holds it: with the workspace in which it was given. A grant of before this
/// was kept has none. An older claw passes over it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    #[serde(flatten)]
    pub(super) shape: Shape,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
}

impl Stored {
    pub(super) fn of(shape: Shape, workspace: &Path) -> Self {
        Self { shape, workspace: Some(workspace.display().to_string()) }
    }

    pub(super) fn text(&self) -> Result<String, StoreError> {
        Ok(serde_json::to_string(self)?)
    }

    /// `None` for a shape that this claw does not know, which covers nothing.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Whether it was given where these calls run. What is allowed in one folder says nothing of
    /// another one.
    pub(super) fn is_for(&self, calls: &Calls) -> bool {
        match &self.workspace {
            Some(given) => Path::new(given) == calls.workspace(),
            None => calls.is_usual_workspace(),
        }
    }
}

impl Calls {
    /// The grant that covers this call, if there is one. It reaches the origin that it was given
    /// for, and those that are trusted more; never a lower one.
    pub fn grant_for(&self, call: &ToolCall) -> Result<Option<Grounds>, StoreError> {
        let found =
            self.standing(call, GrantEffect::Allow, |grant, call| call.origin >= grant.origin)?;
        Ok(found.map(|(_, grounds)| grounds))
    }

    /// What lets a call run that the rule of this name asks about: a grant, or the mode of its
    /// session. A mode stands for the question that its class would ask, and for no rule of the
    /// owner's.
    pub fn leave_for(&self, call: &ToolCall, rule: &str) -> Result<Option<Grounds>, StoreError> {
        match self.grant_for(call)? {
            None if rule == CLASS_MUTATING => self.mode_for(call),
            found => Ok(found),
        }
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
                && Stored::read(&grant.shape).is_some_and(|stored| {
                    // What is forbidden in one folder stays forbidden in all.
                    (effect == GrantEffect::Deny || stored.is_for(self))
                        && shape::covers(&stored.shape, &facts)
                })
        });
        Ok(found.map(|grant| {
            let why = format!("{}: {}", effect_word(&grant), grant.says);
            let grounds = Grounds::new(format!("grant.{}", grant.id), why);
            (grant.id, Grounds { grant: Some(grant.id), ..grounds })
        }))
    }
}

/// The rule of the question that is asked of every tool that can change something.
const CLASS_MUTATING: &str = "class.mutating";

fn effect_word(grant: &GrantRow) -> &'static str {
    match grant.effect {
        GrantEffect::Allow => "the owner has allowed it",
        GrantEffect::Deny => "the owner said never",
    }
}
