//! Matches a call against the owner's standing answers. A grant turns *ask* into *allow* and
//! nothing else; a refusal denies. Must not know rules.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::modes::{self, CommandMode};
use super::{Calls, Grounds, Surroundings};
use crate::domain::{GrantEffect, ToolCall};
use crate::hub::Hub;
use crate::policy::Facts;
use crate::policy::shape::{self, Shape};
use crate::store::{GrantRow, StoreError, Tx};

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
    pub(super) fn is_for(&self, surroundings: &Surroundings) -> bool {
        match &self.workspace {
            Some(given) => Path::new(given) == surroundings.workspace,
            None => surroundings.workspace == surroundings.usual_workspace,
        }
    }
}

/// What decides whether a standing answer covers a call, beside their rows. Owned, so that a
/// transaction on the writer's thread can decide it.
#[derive(Clone)]
pub(super) struct Reach {
    hub: Arc<Hub>,
    surroundings: Surroundings,
    command_mode: Option<Arc<CommandMode>>,
}

impl Reach {
    /// Everything about a call that the shape of a standing answer may depend on.
    fn facts<'a>(&'a self, call: &'a ToolCall) -> Facts<'a> {
        super::facts_of(&self.hub, &self.surroundings, call, None)
    }

    pub(super) fn workspace(&self) -> &Path {
        &self.surroundings.workspace
    }

    /// Whether the mode of a command stands in place of that of the call's session.
    fn is_of_command(&self, call: &ToolCall) -> bool {
        let mode = self.command_mode.as_ref();
        mode.is_some_and(|mode| call.session().is_some_and(|of| mode.is_for(of, &call.principal)))
    }

    /// Whether a standing answer covers this call, which `rule` asks about. An allowance reaches
    /// the origin that it was given for, and those that are trusted more; never a lower one. A mode
    /// and a grant for hosts stand for the question that a class asks, and for no rule of the
    /// owner's.
    pub(super) fn covers(&self, grant: &GrantRow, call: &ToolCall, rule: &str) -> bool {
        let Some(stored) = Stored::read(&grant.shape) else {
            // What was refused is lost, so that all calls of its tool are.
            return grant.effect == GrantEffect::Deny
                && (grant.server.as_str(), grant.tool.as_str()) == (&call.server, &call.tool);
        };
        let names_it = match stored.shape {
            Shape::Mode { .. } => {
                modes::is_mode(grant) && rule == CLASS_MUTATING && !self.is_of_command(call)
            }
            Shape::Files { .. } => grant.server == call.server && grant.tool == EVERY_TOOL,
            Shape::Hosts { .. } if rule != CLASS_MUTATING => false,
            _ => grant.server == call.server && grant.tool == call.tool,
        };
        // What is forbidden in one folder stays forbidden in all, whoever asks.
        let is_for = grant.effect == GrantEffect::Deny
            || (grant.principal == call.principal
                && call.origin >= grant.origin
                && stored.is_for(&self.surroundings));
        names_it
            && is_for
            && grant.session.as_ref().is_none_or(|session| Some(session) == call.session())
            && shape::covers(&stored.shape, &self.facts(call))
    }

    /// The oldest standing answer with this effect that covers the call by itself, not by a mode.
    fn standing(
        &self,
        tx: &Tx<'_>,
        call: &ToolCall,
        effect: GrantEffect,
        rule: &str,
    ) -> Result<Option<GrantRow>, StoreError> {
        let mut rows = tx.grants_for(&call.server, &call.tool)?;
        rows.extend(tx.grants_for(&call.server, EVERY_TOOL)?);
        Ok(rows.into_iter().find(|grant| grant.effect == effect && self.covers(grant, call, rule)))
    }

    /// Whether any standing answer decides this call, which `rule` asks about.
    pub(super) fn is_settled(
        &self,
        tx: &Tx<'_>,
        call: &ToolCall,
        rule: &str,
    ) -> Result<bool, StoreError> {
        let server = call.server.as_str();
        let names = [(server, call.tool.as_str()), (server, EVERY_TOOL), modes::NAME];
        for (server, tool) in names {
            let rows = tx.grants_for(server, tool)?;
            if rows.iter().any(|grant| self.covers(grant, call, rule)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Calls {
    /// For calls that stand open: finds out what the box holds first, because a transaction must
    /// not wait for that.
    pub(super) async fn reach_of_open_calls(&self) -> Reach {
        self.find_out_box_of_open_calls().await;
        self.reach()
    }

    /// For a call that this process has judged.
    pub(super) fn reach(&self) -> Reach {
        Reach {
            hub: self.hub.clone(),
            surroundings: self.surroundings.clone(),
            command_mode: self.command_mode.get().cloned(),
        }
    }

    /// The grant that covers this call, which the rule of this name asks about.
    fn grant_for(&self, call: &ToolCall, rule: &str) -> Result<Option<Grounds>, StoreError> {
        Ok(self.standing(call, GrantEffect::Allow, rule)?.map(|(_, grounds)| grounds))
    }

    /// What lets a call run that the rule of this name asks about: a grant, or the mode of its
    /// session.
    pub fn leave_for(&self, call: &ToolCall, rule: &str) -> Result<Option<Grounds>, StoreError> {
        match self.grant_for(call, rule)? {
            None if rule == CLASS_MUTATING => self.mode_for(call),
            found => Ok(found),
        }
    }

    /// The owner's "never" that covers this call, with its number. It holds whoever asks.
    pub fn standing_refusal(&self, call: &ToolCall) -> Result<Option<(i64, Grounds)>, StoreError> {
        self.standing(call, GrantEffect::Deny, "")
    }

    fn standing(
        &self,
        call: &ToolCall,
        effect: GrantEffect,
        rule: &str,
    ) -> Result<Option<(i64, Grounds)>, StoreError> {
        let found = self.store.read(|tx| self.reach().standing(tx, call, effect, rule))?;
        Ok(found.map(|grant| {
            let grounds = Grounds::new(format!("grant.{}", grant.id), why(&grant));
            let wide = Stored::read(&grant.shape).is_some_and(|stored| stored.shape.is_wide());
            (grant.id, Grounds { grant: Some(grant.id), wide, ..grounds })
        }))
    }
}

/// In place of a tool: the grant is for all file tools of the server. No tool has this name.
pub(super) const EVERY_TOOL: &str = "*";
/// The rule of the question that is asked of every tool that can change something.
pub(super) const CLASS_MUTATING: &str = "class.mutating";

pub(super) fn why(grant: &GrantRow) -> String {
    let effect = match grant.effect {
        GrantEffect::Allow => "the owner has allowed it",
        GrantEffect::Deny => "the owner said never",
    };
    format!("{effect}: {}", grant.says)
}
