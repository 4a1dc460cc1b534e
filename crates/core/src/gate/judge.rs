//! How a verdict is reached: the stop switch, hard denies, the pin, the rules, the grants, and the
//! owner's own answer. Must not know how a verdict is carried out.

use super::{Gate, Pass};
use crate::calls::{AnswerNow, AskedAgain, Grounds, TapNow, panic_reason};
use crate::catalog::{Tool, no_tool};
use crate::domain::{ApprovalId, CallId, DeniedBy, ToolCall};
use crate::policy::Verdict;
use crate::store::StoreError;

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

fn denied(by: DeniedBy, rule: &str, why: impl Into<String>) -> Judged {
    Judged::Denied(by, Grounds::new(rule, why))
}

/// The owner's standing "never".
fn never(grant: i64, grounds: Grounds) -> Judged {
    Judged::Denied(DeniedBy::Never { grant }, grounds)
}

impl Gate {
    pub(super) async fn judge(&self, pass: &Pass) -> Result<Judged, StoreError> {
        if let Some(by) = self.calls.stopped_by()? {
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
        match self.calls.answer_now(pass.row.as_ref(), call, &tool).await? {
            AnswerNow::None => self.by_policy(pass, tool),
            AnswerNow::Waits(approval) => Ok(Judged::StillWaiting(approval)),
            AnswerNow::Outdated => self.asked_again(pass, tool, AskedAgain::Changed),
            AnswerNow::Moved => self.asked_again(pass, tool, AskedAgain::Moved),
            AnswerNow::Yes(grounds) => Ok(match self.verdict(call, &tool) {
                Verdict::Deny { by, rule, why, instead } => {
                    denied(by, &rule, format!("{why}; instead, {instead}"))
                }
                _ => Judged::Allowed(Allowed::new(tool, grounds)),
            }),
        }
    }

    fn asked_again(&self, pass: &Pass, tool: Tool, why: AskedAgain) -> Result<Judged, StoreError> {
        let mut judged = self.by_policy(pass, tool)?;
        if let Judged::Ask(_, grounds) = &mut judged {
            grounds.again = Some(why);
        }
        Ok(judged)
    }

    /// What the rules say of a call, whatever was answered.
    fn verdict(&self, call: &ToolCall, tool: &Tool) -> Verdict {
        self.policy().judge(&self.calls.facts(call, tool.hints.destructive))
    }

    fn by_policy(&self, pass: &Pass, tool: Tool) -> Result<Judged, StoreError> {
        let call = &pass.call;
        Ok(match (self.verdict(call, &tool), self.calls.standing_refusal(call)?) {
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

    /// A staged action has its frozen row and its tap, and is never asked about again: where either
    /// does not hold any more, it is not run, and the owner is told why.
    fn by_tap(&self, pass: &Pass, tool: &Tool) -> Result<Option<Judged>, StoreError> {
        let call = &pass.call;
        let Some(tap) = self.calls.tap_now(pass.row.as_ref(), call, tool)? else {
            return Ok(None);
        };
        let (verdict, refusal) = (self.verdict(call, tool), self.calls.standing_refusal(call)?);
        let allowed = |grounds| Judged::Allowed(Allowed::new(tool.clone(), grounds));
        Ok(Some(match (tap, verdict, refusal) {
            (TapNow::None, ..) => denied(DeniedBy::Answer, STAGED, "nobody has confirmed it"),
            // A rule that speaks about it says more than that the rules have changed. The owner
            // reads this, who needs no advice for models.
            (_, Verdict::Deny { by, rule, why, .. }, _) => denied(by, &rule, why),
            (TapNow::Changed(why), ..) => denied(DeniedBy::Changed, STAGED, why),
            (_, _, Some((grant, grounds))) => never(grant, grounds),
            (TapNow::Over, ..) => {
                denied(DeniedBy::Expiry, STAGED, "its time was over before it ran")
            }
            (TapNow::Yes(grounds), ..) => allowed(grounds),
            // A button has no question: it rests on our policy alone.
            (TapNow::Button, Verdict::Allow { rule, why }, None) => {
                allowed(Grounds::new(rule, why))
            }
            (TapNow::Button, Verdict::Ask { rule, why }, None) => {
                let by = DeniedBy::Unasked { rule: rule.clone() };
                denied(by, &rule, format!("{why}, and a button asks no question"))
            }
        }))
    }
}
