//! How a verdict is reached: the stop switch, hard denies, the pin, the rules, the grants, and the
//! owner's own answer. Must not know how a verdict is carried out.

use super::{Gate, Pass};
use crate::calls::{Grounds, is_over, panic_reason};
use crate::catalog::{Tool, no_tool};
use crate::domain::{ApprovalId, ApprovalState, CallId, CallState, DeniedBy, ToolCall};
use crate::policy::Verdict;
use crate::store::{CallRow, StoreError, now_ms};

/// A call that may run.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    pub(super) tool: Tool,
    pub(super) grounds: Grounds,
}

impl Allowed {
    fn new(tool: Tool, grounds: Grounds) -> Self {
        Self { tool, grounds }
    }
}

/// The rule name for a staged action that changed after it was confirmed.
const STAGED: &str = "builtin.staged";

pub(super) enum Judged {
    Allowed(Allowed),
    Ask(Tool, Grounds),
    /// The question about exactly this call is open already.
    StillWaiting(ApprovalId),
    Denied(DeniedBy, Grounds),
}

/// What the owner's answer about exactly this call comes to.
enum Answered {
    /// There is none that counts.
    No,
    Holds(Box<Judged>),
    /// It was a yes to something that is not so any more: to a difference from a file that has
    /// changed since.
    Outdated,
}

fn denied(by: DeniedBy, rule: &str, why: impl Into<String>) -> Judged {
    Judged::Denied(by, Grounds::new(rule, why))
}

/// The owner's standing "never".
fn never(grant: i64, grounds: Grounds) -> Judged {
    Judged::Denied(DeniedBy::Never { grant }, grounds)
}

/// What was confirmed does not hold any more.
fn changed(why: impl Into<String>) -> Judged {
    denied(DeniedBy::Changed, STAGED, why)
}

impl Gate {
    pub(super) async fn judge(&self, pass: &Pass) -> Result<Judged, StoreError> {
        if let Some(by) = self.store.read(|tx| tx.panic())? {
            return Ok(denied(DeniedBy::StopSwitch, "builtin.panic", panic_reason(&by)));
        }
        let call = &pass.call;
        // What can be said without the server is said before it is started.
        if let Some(denial) = self.calls.hard_deny(call) {
            let why = format!("{}; instead, {}", denial.why, denial.instead);
            let by = DeniedBy::HardDeny { rule: denial.rule.clone() };
            return Ok(denied(by, &denial.rule, why));
        }
        let tool = match self.catalog.tool(&call.server, &call.tool).await {
            Ok(tool) => tool,
            Err(reason) => return Ok(denied(DeniedBy::Request, "builtin.tool", reason)),
        };
        // Nobody is asked about a call that its server would refuse.
        if let Some(why) = tool.misfit(call) {
            let name = format!("{}/{}", call.server, call.tool);
            let why = format!(
                "the arguments do not fit the schema of `{name}`: {why}; send it again with \
                 arguments that fit"
            );
            return Ok(denied(DeniedBy::Request, "builtin.schema", why));
        }
        if let Some(why) = self.calls.misfit_of_variables(call) {
            return Ok(denied(DeniedBy::Request, "builtin.schema", why));
        }
        self.calls.find_out_box(call).await;
        // Nobody is asked about what is closed, either.
        if let Err(why) = self.calls.opened_for(call)? {
            return Ok(denied(DeniedBy::Request, "builtin.opening", why));
        }
        if let Some(judged) = self.by_tap(pass, &tool)? {
            return Ok(judged);
        }
        // What claw does by itself for its owner is no call of a model's.
        if tool.hidden && !matches!(call.id, CallId::Order { .. } | CallId::Jobs { .. }) {
            let why = no_tool(&call.server, &call.tool);
            return Ok(denied(DeniedBy::Request, "builtin.tool", why));
        }
        match self.by_answer(pass, &tool).await? {
            Answered::Holds(judged) => Ok(*judged),
            Answered::No => self.by_policy(pass, tool),
            Answered::Outdated => {
                let mut judged = self.by_policy(pass, tool)?;
                if let Judged::Ask(_, grounds) = &mut judged {
                    grounds.again = true;
                }
                Ok(judged)
            }
        }
    }

    fn by_policy(&self, pass: &Pass, tool: Tool) -> Result<Judged, StoreError> {
        let call = &pass.call;
        let verdict = self.policy().judge(&self.calls.facts(call, tool.hints.destructive));
        let refusal = self.calls.standing_refusal(call)?;
        Ok(match (verdict, refusal) {
            (Verdict::Deny { by, rule, why, instead }, _) => {
                denied(by, &rule, format!("{why}; instead, {instead}"))
            }
            (_, Some((grant, grounds))) => never(grant, grounds),
            (Verdict::Allow { rule, why }, None) => {
                Judged::Allowed(Allowed::new(tool, Grounds::new(rule, why)))
            }
            (Verdict::Ask { rule, why }, None) => match self.calls.leave_for(call, &rule)? {
                Some(leave) => Judged::Allowed(Allowed::new(tool, leave)),
                None => {
                    let others = pass.context.heard_by_others;
                    match self.calls.unasked(call, others, &tool, &rule) {
                        Some(grounds) => Judged::Allowed(Allowed::new(tool, grounds)),
                        None => Judged::Ask(tool, Grounds::new(rule, why)),
                    }
                }
            },
        })
    }

    /// What the owner has said about exactly this call. An answer counts only while everything that
    /// was shown is still so: the tool's pin, the rules, and the frozen row. Otherwise the call is
    /// judged, and asked about, again.
    async fn by_answer(&self, pass: &Pass, tool: &Tool) -> Result<Answered, StoreError> {
        let Some(row) = &pass.row else { return Ok(Answered::No) };
        let approval = self.store.read(|tx| tx.approval_of(&row.id))?;
        // What its server was told in the middle of it is no leave to run it.
        let Some(approval) = approval.filter(|row| row.question.input.is_none()) else {
            return Ok(Answered::No);
        };
        let same = self.still_as_shown(row, &pass.call, tool)
            && approval.digest == row.digest
            && approval.expires_ms > now_ms();
        Ok(match (row.state, approval.state) {
            (CallState::Waiting, ApprovalState::Waiting) if same => {
                Answered::Holds(Box::new(Judged::StillWaiting(approval.id)))
            }
            // One that was started has perhaps changed what was looked at.
            (CallState::Approved, ApprovalState::Approved)
                if same && !self.calls.is_as_shown(row, &approval, &pass.call).await =>
            {
                Answered::Outdated
            }
            (CallState::Approved | CallState::Started, ApprovalState::Approved) if same => {
                let by = approval.decided_by.unwrap_or_default();
                let grounds = Grounds::by_answer(approval.id, format!("{by} allowed it"));
                let verdict =
                    self.policy().judge(&self.calls.facts(&pass.call, tool.hints.destructive));
                Answered::Holds(Box::new(match verdict {
                    Verdict::Deny { by, rule, why, instead } => {
                        denied(by, &rule, format!("{why}; instead, {instead}"))
                    }
                    _ => Judged::Allowed(Allowed::new(tool.clone(), grounds)),
                }))
            }
            _ => Answered::No,
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
            return Ok(Some(denied(DeniedBy::Answer, STAGED, "nobody has confirmed it")));
        }
        // A rule that speaks about it says more than that the rules have changed.
        let verdict = self.policy().judge(&self.calls.facts(&pass.call, tool.hints.destructive));
        if let Verdict::Deny { by, rule, why, .. } = &verdict {
            // The owner reads this, who needs no advice for models.
            return Ok(Some(denied(by.clone(), rule, why)));
        }
        if !self.still_as_shown(row, &pass.call, tool) {
            return Ok(Some(changed(self.what_changed(row, tool))));
        }
        if let Some((grant, grounds)) = self.calls.standing_refusal(&pass.call)? {
            return Ok(Some(never(grant, grounds)));
        }
        Ok(Some(match (approval, verdict) {
            (Some(approval), _) if is_over(&approval) => {
                denied(DeniedBy::Expiry, STAGED, "its time was over before it ran")
            }
            (Some(approval), _)
                if approval.state == ApprovalState::Approved && approval.digest == row.digest =>
            {
                let by = approval.decided_by.unwrap_or_default();
                let grounds = Grounds::by_answer(approval.id, format!("{by} confirmed it"));
                Judged::Allowed(Allowed::new(tool.clone(), grounds))
            }
            (Some(_), _) => changed("what was confirmed is not what would run"),
            // A button has no question: it rests on our policy alone.
            (None, Verdict::Allow { rule, why }) => {
                Judged::Allowed(Allowed::new(tool.clone(), Grounds::new(rule, why)))
            }
            (None, Verdict::Ask { rule, why } | Verdict::Deny { rule, why, .. }) => {
                let by = DeniedBy::Unasked { rule: rule.clone() };
                denied(by, &rule, format!("{why}, and a button asks no question"))
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
            && self.calls.is_intact(row)
    }
}
