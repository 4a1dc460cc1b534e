//! How a verdict is reached: the stop switch, hard denies, the pin, the rules, the grants, and the
//! owner's own answer. Must not know how a verdict is carried out.

use serde_json::Value;

use super::Gate;
use super::approvals::is_over;
use super::chain::Pass;
use super::frozen::digest_of;
use super::permit::Reach;
use super::pinning::{Tool, no_tool};
use crate::domain::{ApprovalId, CallState, ToolCall};
use crate::policy::{Facts, Verdict as Ruled};
use crate::store::{CallRow, StoreError, now_ms};

/// Why a call may run, is asked about, or is denied. `rule` names a rule, a class, a grant or an
/// approval.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) rule: String,
    pub(super) why: String,
    /// The answer of the owner that it rests on, if it does. Then the frozen row runs, and no
    /// other.
    pub(super) approval: Option<ApprovalId>,
    /// The standing grant that it rests on, if it does. It must still be in force when the call
    /// starts.
    pub(super) grant: Option<i64>,
    /// What the call may open when it runs.
    pub(super) reach: Reach,
}

impl Verdict {
    pub(super) fn new(rule: impl Into<String>, why: impl Into<String>) -> Self {
        Self { rule: rule.into(), why: why.into(), approval: None, grant: None, reach: Reach::Box }
    }
}

/// What a staged action is denied by that is not any more what was confirmed.
const STAGED: &str = "builtin.staged";

pub(super) enum Judged {
    Allowed(Tool, Verdict),
    Ask(Tool, Verdict),
    /// The question about exactly this call is open already.
    StillWaiting(ApprovalId),
    Denied(Verdict),
}

fn denied(rule: &str, why: impl Into<String>) -> Judged {
    Judged::Denied(Verdict::new(rule, why))
}

impl Gate {
    pub(super) async fn judge(&self, pass: &Pass) -> Judged {
        match self.store.read(|tx| tx.panic()) {
            Err(error) => {
                return denied("builtin.store", format!("the store cannot be read: {error}"));
            }
            Ok(Some(by)) => return denied("builtin.panic", panic_reason(&by)),
            Ok(None) => {}
        }
        // What can be said without the server is said before it is started.
        if let Some(denial) = self.policy().hard_deny(&self.facts(&pass.call, None)) {
            return denied(&denial.rule, format!("{}; instead, {}", denial.why, denial.instead));
        }
        let tool = match self.tool(&pass.call.server, &pass.call.tool).await {
            Ok(tool) => tool,
            Err(reason) => return denied("builtin.tool", reason),
        };
        // Nobody is asked about a call that its server would refuse.
        if let Some(why) = tool.misfit(&pass.call) {
            let name = format!("{}/{}", pass.call.server, pass.call.tool);
            let why = format!(
                "the arguments do not fit the schema of `{name}`: {why}; send it again with arguments that fit"
            );
            return denied("builtin.schema", why);
        }
        match self.by_tap(pass, &tool) {
            Err(error) => {
                return denied("builtin.store", format!("the store cannot be read: {error}"));
            }
            Ok(Some(judged)) => return judged,
            Ok(None) if tool.hidden => {
                return denied("builtin.tool", no_tool(&pass.call.server, &pass.call.tool));
            }
            Ok(None) => {}
        }
        match self.by_answer(pass, &tool) {
            Err(error) => {
                return denied("builtin.store", format!("the store cannot be read: {error}"));
            }
            Ok(Some(judged)) => return judged,
            Ok(None) => {}
        }
        self.by_policy(&pass.call, tool)
    }

    fn by_policy(&self, call: &ToolCall, tool: Tool) -> Judged {
        let ruled = self.policy().judge(&self.facts(call, tool.destructive_hint));
        if let Ruled::Deny { rule, why, instead } = &ruled {
            return denied(rule, format!("{why}; instead, {instead}"));
        }
        let refused = match self.standing_refusal(call) {
            Ok(refused) => refused,
            Err(error) => {
                return denied("builtin.store", format!("the store cannot be read: {error}"));
            }
        };
        if let Some(grant) = refused {
            return denied(&grant.rule, grant.why);
        }
        match ruled {
            Ruled::Allow { rule, why } => Judged::Allowed(tool, Verdict::new(rule, why)),
            Ruled::Ask { .. } if let Some(reads) = self.reads_only(call) => {
                Judged::Allowed(tool, reads)
            }
            Ruled::Ask { rule, why } => match self.grant_for(call) {
                Ok(Some(grant)) => Judged::Allowed(tool, grant),
                Ok(None) => Judged::Ask(tool, Verdict::new(rule, why)),
                Err(error) => denied("builtin.store", format!("the store cannot be read: {error}")),
            },
            Ruled::Deny { .. } => denied("builtin.bug", "a denial was not carried out"),
        }
    }

    /// What the owner has said about exactly this call. An answer counts only while everything that
    /// was shown is still so: the tool's pin, the rules, and the frozen row. Otherwise the call is
    /// judged, and asked about, again.
    fn by_answer(&self, pass: &Pass, tool: &Tool) -> Result<Option<Judged>, StoreError> {
        let Some(row) = &pass.row else { return Ok(None) };
        let Some(approval) = self.store.read(|tx| tx.approval_of(&row.id))? else {
            return Ok(None);
        };
        let same = self.still_as_shown(row, &pass.call, tool)
            && approval.digest == row.digest
            && approval.expires_ms > now_ms();
        Ok(match (row.state, approval.state.as_str()) {
            (CallState::Waiting, "waiting") if same => Some(Judged::StillWaiting(approval.id)),
            (CallState::Approved | CallState::Started, "approved") if same => {
                let by = approval.decided_by.unwrap_or_default();
                let mut verdict =
                    Verdict::new(format!("approval.{}", approval.id), format!("{by} allowed it"));
                verdict.approval = Some(approval.id);
                let denial = self.policy().judge(&self.facts(&pass.call, tool.destructive_hint));
                match denial {
                    Ruled::Deny { rule, why, instead } => {
                        Some(denied(&rule, format!("{why}; instead, {instead}")))
                    }
                    _ => Some(Judged::Allowed(tool.clone(), verdict)),
                }
            }
            _ => None,
        })
    }

    /// A staged action has its frozen row and its tap, and is never asked about again: where either
    /// does not hold any more, it is not run, and the owner is told why.
    fn by_tap(&self, pass: &Pass, tool: &Tool) -> Result<Option<Judged>, StoreError> {
        let Some(row) = &pass.row else { return Ok(None) };
        let (staged, approval) =
            self.store.read(|tx| Ok((tx.staged(&row.id)?, tx.approval_of(&row.id)?)))?;
        if staged.is_none() {
            return Ok(None);
        }
        if !matches!(row.state, CallState::Approved | CallState::Started) {
            return Ok(Some(denied(STAGED, "nobody has confirmed it")));
        }
        // A rule that speaks about it says more than that the rules have changed.
        let ruled = self.policy().judge(&self.facts(&pass.call, tool.destructive_hint));
        if let Ruled::Deny { rule, why, .. } = &ruled {
            // The owner reads this, who needs no advice for models.
            return Ok(Some(denied(rule, why)));
        }
        if !self.still_as_shown(row, &pass.call, tool) {
            return Ok(Some(denied(STAGED, self.what_changed(row, tool))));
        }
        if let Some(never) = self.standing_refusal(&pass.call)? {
            return Ok(Some(denied(&never.rule, never.why)));
        }
        Ok(Some(match (approval, ruled) {
            (Some(approval), _) if is_over(&approval) => {
                denied(STAGED, "its time was over before it ran")
            }
            (Some(approval), _)
                if approval.state == "approved" && approval.digest == row.digest =>
            {
                let by = approval.decided_by.unwrap_or_default();
                let mut verdict =
                    Verdict::new(format!("approval.{}", approval.id), format!("{by} confirmed it"));
                verdict.approval = Some(approval.id);
                Judged::Allowed(tool.clone(), verdict)
            }
            (Some(_), _) => denied(STAGED, "what was confirmed is not what would run"),
            // A button has no question: it rests on our policy alone.
            (None, Ruled::Allow { rule, why }) => {
                Judged::Allowed(tool.clone(), Verdict::new(rule, why))
            }
            (None, Ruled::Ask { rule, why } | Ruled::Deny { rule, why, .. }) => {
                denied(&rule, format!("{why}, and a button asks no question"))
            }
        }))
    }

    fn what_changed(&self, row: &CallRow, tool: &Tool) -> String {
        if row.policy_version != self.policy().version() {
            "the rules of policy.toml have changed since it was staged".to_owned()
        } else if row.pin != tool.pin {
            format!("the tool `{}/{}` is not what it was when it was staged", row.server, row.tool)
        } else {
            "who may answer, or the stored call, is not what it was when it was staged".to_owned()
        }
    }

    fn still_as_shown(&self, row: &CallRow, call: &ToolCall, tool: &Tool) -> bool {
        row.policy_version == self.policy().version()
            && row.pin == tool.pin
            && row.server == call.server
            && row.tool == call.tool
            && row.arguments == crate::domain::canonical::canonical_json(&call.arguments)
            && row.digest == digest_of(row, &self.settings.owner)
    }

    pub(super) fn facts<'a>(
        &'a self,
        call: &'a ToolCall,
        destructive_hint: Option<bool>,
    ) -> Facts<'a> {
        Facts {
            server: &call.server,
            builtin: self.hub.builtin(&call.server),
            tool: &call.tool,
            arguments: &call.arguments,
            origin: call.origin,
            destructive_hint,
            confined: **self.settings.confined,
            home: &self.settings.home,
            user_home: &self.settings.user_home,
        }
    }

    pub(super) fn is_idempotent(&self, server: &str, tool: &str) -> bool {
        self.policy().is_idempotent(self.hub.builtin(server), server, tool)
    }
}

pub(super) fn panic_reason(by: &str) -> String {
    format!(
        "the stop switch is on ({by}): no call runs until the owner turns it off with `claw panic off`"
    )
}

/// The `destructiveHint` of a tool's annotations, if it is stated.
pub(super) fn destructive_hint(raw: &Value) -> Option<bool> {
    raw.get("annotations")?.get("destructiveHint")?.as_bool()
}
