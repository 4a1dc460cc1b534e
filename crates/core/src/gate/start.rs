//! The start of a call that was judged: the last looks that need no transaction, then the permit,
//! from the row that was written. Must not know how a verdict is reached.

use super::judge::Allowed;
use super::limits::stopped;
use super::{Gate, Pass};
use crate::calls::{Denied, Grounds};
use crate::domain::{DeniedBy, Live, Opening, OwnServerName};
use crate::hub::{CallSource, Opened, OpenedNow, Permit, PermitParts, RoundInput, TaskAt};
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
        let arguments = serde_json::from_str(&row.arguments).map_err(|error| {
            Denied::new(DeniedBy::Failure, format!("the stored arguments: {error}"))
        })?;
        let builtin = self.hub.builtin(&row.server);
        let is_command = builtin == Some(OwnServerName::Bash);
        let source = matches!(builtin, Some(OwnServerName::Memory | OwnServerName::Scheduler))
            .then(|| CallSource {
                origin: row.origin,
                session: row.id.session().cloned(),
                chat: row.id.session().cloned(),
                turn: pass.context.turn.as_ref().map(|turn| turn.seq),
                heard_by_others: pass.context.heard_by_others,
            });
        let timeout = self.hub.call_timeout(&row.server).unwrap_or(self.tool_timeout);
        Ok(self.mint.permit(PermitParts {
            call: row.id,
            server: row.server,
            tool: row.tool,
            arguments,
            pin: row.pin,
            timeout,
            // A link can hide from the judge what a path is; the server sees where it leads.
            keep_off: if grounds.wide { obeyed::NAMES } else { &[] },
            opened: self.opened_now(opened, is_command),
            source,
            input: None,
            task: None,
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
        let timeout = self.hub.call_timeout(&row.server).unwrap_or(self.tool_timeout);
        Ok(self.mint.permit(PermitParts {
            call: row.id,
            server: row.server,
            tool: row.tool,
            arguments: serde_json::from_str(&row.arguments)?,
            pin: row.pin,
            timeout,
            keep_off: &[],
            opened: OpenedNow::nothing(),
            source: None,
            input,
            task,
        }))
    }

    /// It may be closed between this and the moment at which the call is sent.
    fn opened_now(&self, named: Vec<Opening>, is_command: bool) -> OpenedNow {
        if !is_command {
            return OpenedNow::nothing();
        }
        let handed_out = self.handed_out.clone();
        OpenedNow::new(move || Opened {
            services: handed_out.hand_out(&named),
            folders: handed_out.folders(),
        })
    }
}
