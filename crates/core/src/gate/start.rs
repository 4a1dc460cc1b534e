//! The start of a call that was judged: the last looks that need no transaction, then the permit,
//! from the row that was written. Must not know how a verdict is reached.

use super::judge::Allowed;
use super::limits::stopped;
use super::{Gate, Pass};
use crate::calls::{Denied, Grounds};
use crate::domain::{DeniedBy, Live, Opening, OwnServerName};
use crate::hub::{OpenedNow, Permit, PermitParts, RoundInput, TaskAt};
use crate::policy::obeyed;
use crate::store::{CallRow, StoreError};
use crate::undo::Changing;

/// Behind a call that may have changed the workspace.
pub(super) async fn ended(changing: Option<Changing>) {
    if let Some(changing) = changing {
        changing.end().await;
    }
}

impl Gate {
    /// The permit for a call that may run, and what ends with the call. The permit is made from the
    /// row that was written, so what runs is what the store says. `Err` is the reason for a denial.
    pub(super) async fn start(
        &self,
        pass: &Pass,
        allowed: &Allowed,
    ) -> Result<(Permit, Option<Changing>), Denied> {
        let (call, Allowed { tool, grounds }) = (&pass.call, allowed);
        let facts = self.calls.facts(call, tool.hints.destructive);
        if let Some(denial) = self.policy().hard_deny(&facts) {
            return Err(Denied::new(DeniedBy::HardDeny { rule: denial.rule }, denial.why));
        }
        // It may have been closed since it was judged.
        let opened = self.calls.opened_for(call)?;
        let opened = opened.map_err(|why| Denied::new(DeniedBy::Request, why))?;
        let changing = if self.policy().may_change_workspace(&facts) {
            self.remember(pass).await?
        } else {
            None
        };
        let permit = match self.calls.begin(call, pass.row.as_ref(), tool, grounds).await {
            Ok(row) => self.permit(pass, row, grounds, opened),
            Err(denied) => Err(denied),
        };
        match permit {
            Ok(permit) => Ok((permit, changing)),
            Err(denied) => {
                ended(changing).await;
                Err(denied)
            }
        }
    }

    /// Remembers the workspace before a call of a turn that may change it. A turn that cannot be
    /// undone goes on, and says so.
    pub(super) async fn remember(&self, pass: &Pass) -> Result<Option<Changing>, Denied> {
        let Some(turn) = &pass.context.turn else { return Ok(None) };
        let (changing, told) = tokio::select! {
            begun = self.snapshots.before_change(turn) => begun,
            () = pass.context.cancel.cancelled() => return Err(stopped()),
        };
        if let Some(text) = told {
            (pass.context.live)(Live::Notice { text });
        }
        Ok(changing)
    }

    fn permit(
        &self,
        pass: &Pass,
        row: CallRow,
        grounds: &Grounds,
        opened: Vec<Opening>,
    ) -> Result<Permit, Denied> {
        let builtin = self.hub.builtin(&row.server);
        let is_told = matches!(builtin, Some(OwnServerName::Memory | OwnServerName::Scheduler));
        let source = is_told.then(|| pass.context.source(&row));
        let parts = self.frozen(row).map_err(|error| {
            Denied::new(DeniedBy::Failure, format!("the stored arguments: {error}"))
        })?;
        Ok(self.mint.permit(PermitParts {
            // A link can hide from the judge what a path is; the server sees where it leads.
            keep_off: if grounds.wide { obeyed::NAMES } else { &[] },
            opened: match builtin {
                Some(OwnServerName::Bash) => self.handed_out.at_its_start(opened),
                _ => OpenedNow::nothing(),
            },
            source,
            ..parts
        }))
    }

    /// The permit for a call that goes on with what its server has asked for, or as its server's
    /// task, from the frozen row: neither changes server, tool or arguments. Claw's own servers,
    /// which are told more, ask nothing and make no tasks.
    pub(super) fn permit_to_go_on(
        &self,
        row: CallRow,
        input: Option<RoundInput>,
        task: Option<TaskAt>,
    ) -> Result<Permit, StoreError> {
        Ok(self.mint.permit(PermitParts { input, task, ..self.frozen(row)? }))
    }

    /// What every permit says: the frozen row, and nothing else.
    fn frozen(&self, row: CallRow) -> Result<PermitParts, serde_json::Error> {
        Ok(PermitParts {
            timeout: self.hub.call_timeout(&row.server).unwrap_or(self.tool_timeout),
            arguments: serde_json::from_str(&row.arguments)?,
            call: row.id,
            server: row.server,
            tool: row.tool,
            pin: row.pin,
            keep_off: &[],
            opened: OpenedNow::nothing(),
            source: None,
            input: None,
            task: None,
        })
    }
}
