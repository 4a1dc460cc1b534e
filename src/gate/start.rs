//! How a verdict is carried out: the one transaction in which a call becomes `started`, the
//! question, the denial. Must not know how a verdict is reached.

use serde_json::json;

use super::Gate;
use super::approvals::is_over;
use super::audit::entry;
use super::chain::Pass;
use super::frozen::{Freeze, digest_of};
use super::judge::{Verdict, panic_reason};
use super::permit::{Permit, Reach};
use super::pinning::Tool;
use crate::domain::{ApprovalId, CallId, CallState, Outcome, Question, escape};
use crate::hub::names::look;
use crate::killpoint;
use crate::store::{CallRow, StoreError, Tx, now_ms};

impl Gate {
    /// Freezes the call, checks everything again in the same transaction, and moves it to
    /// `started`. The permit is made from the row that was written, so what runs is what the store
    /// says. `Err` is the reason for a denial.
    pub(super) async fn start(
        &self,
        pass: &Pass,
        tool: &Tool,
        verdict: &Verdict,
    ) -> Result<Permit, String> {
        let call = &pass.call;
        let freeze = Freeze {
            state: CallState::Approved,
            pin: &tool.pin,
            env_names: &tool.env_names,
            rule: &verdict.rule,
        };
        let row = match (&pass.row, &verdict.approval) {
            (Some(row), Some(_)) => row.clone(),
            (Some(row), None) if row.state == CallState::Started => row.clone(),
            _ => self.freeze(call, &freeze),
        };
        if let Some(denial) = self.policy().hard_deny(&self.facts(call, tool.destructive_hint)) {
            return Err(denial.why);
        }
        // What lies on the disk may have changed since it was judged.
        let reach = verdict.reach;
        if reach != Reach::Box && self.reads_only(call).is_none_or(|now| now.reach != reach) {
            return Err("what the command reads has just changed; send it again".to_owned());
        }
        let judged = entry(
            "verdict",
            call,
            json!({"verdict": "allow", "rule": verdict.rule, "why": verdict.why}),
        );
        let started = entry("started", call, json!({"digest": row.digest, "pin": row.pin}));
        let owner = self.settings.owner.clone();
        let (id, approval, grant) = (row.id.clone(), verdict.approval.clone(), verdict.grant);
        killpoint::here("gate.started.before");
        let written = self
            .store
            .write(move |tx| {
                if let Err(reason) = may_start(tx, &row, &owner, approval.as_ref(), grant)? {
                    return Ok(Err(reason));
                }
                tx.put_call(&row)?;
                if row.state != CallState::Started
                    && !tx.move_call(&row.id, CallState::Approved, CallState::Started)?
                {
                    return Ok(Err("it was decided elsewhere at the same moment".to_owned()));
                }
                tx.audit(&judged)?;
                tx.audit(&started)?;
                Ok(Ok(tx.call(&row.id)?))
            })
            .await;
        killpoint::here("gate.started.after");
        match written {
            Ok(Ok(Some(row))) if row.digest == digest_of(&row, &self.settings.owner) => {
                self.mint(row, reach)
            }
            Ok(Ok(Some(_))) => Err("the stored call is not what was judged".to_owned()),
            Ok(Ok(None)) => Err(format!("the row of the call {id} is gone")),
            Ok(Err(reason)) => Err(reason),
            Err(error) => Err(format!("the start could not be stored: {error}")),
        }
    }

    fn mint(&self, row: CallRow, reach: Reach) -> Result<Permit, String> {
        let arguments = serde_json::from_str(&row.arguments)
            .map_err(|error| format!("the stored arguments: {error}"))?;
        let timeout = self.hub.call_timeout(&row.server).unwrap_or(self.settings.tool_timeout);
        Ok(Permit::mint(row.id, row.server, row.tool, arguments, row.pin, timeout, reach))
    }

    /// Freezes the call and its question. The turn is let go; the answer comes back through the
    /// inbox.
    pub(super) async fn ask(
        &self,
        pass: &Pass,
        tool: &Tool,
        verdict: &Verdict,
    ) -> Result<ApprovalId, StoreError> {
        let call = &pass.call;
        let freeze = Freeze {
            state: CallState::Waiting,
            pin: &tool.pin,
            env_names: &tool.env_names,
            rule: &verdict.rule,
        };
        let row = self.freeze(call, &freeze);
        let question = self.question_about(call, verdict)?;
        let approval = question.approval.clone();
        let judged = entry(
            "verdict",
            call,
            json!({"verdict": "ask", "rule": verdict.rule, "why": verdict.why}),
        );
        let asked = entry("asked", call, json!({"approval": approval.0, "digest": row.digest}));
        let owner = self.settings.owner.clone();
        killpoint::here("gate.asked.before");
        self.store
            .write(move |tx| {
                tx.put_call(&row)?;
                close_question(tx, &row.id, "asked again")?;
                tx.add_approval(&question, &owner, &row.digest)?;
                tx.audit(&judged)?;
                tx.audit(&asked)
            })
            .await?;
        killpoint::here("gate.asked.after");
        Ok(approval)
    }

    /// A denial is in the audit like everything else; the audit layer writes its end.
    pub(super) fn deny(&self, pass: &Pass, verdict: &Verdict) -> Outcome {
        let body = json!({"verdict": "deny", "rule": verdict.rule, "why": verdict.why});
        let judged = entry("verdict", &pass.call, body);
        self.store.write_soon(move |tx| tx.audit(&judged));
        Outcome::Denied { reason: format!("{} ({})", verdict.why, verdict.rule) }
    }

    /// What a person should know of the names in a question, behind the reason.
    fn look_of(&self, call: &crate::domain::ToolCall) -> String {
        let pins = self.store.read(|tx| tx.pins(Some(&call.server))).unwrap_or_default();
        let twin = look::twin(
            &call.tool,
            pins.iter().map(|pin| pin.tool.as_str()).filter(|tool| !tool.is_empty()),
        );
        let twin = twin.map(|twin| {
            format!("the name `{}` looks like `{twin}`, which is another tool", call.tool)
        });
        let notes = [look::note(&call.server), look::note(&call.tool), twin];
        let told =
            notes.into_iter().flatten().map(|note| format!("; NOTE: {}", escape::visible(&note)));
        told.collect()
    }

    fn question_about(
        &self,
        call: &crate::domain::ToolCall,
        verdict: &Verdict,
    ) -> Result<Question, StoreError> {
        let why = format!("{} ({}){}", verdict.why, verdict.rule, self.look_of(call));
        let expires_at_ms = now_ms() + self.now().question_time.as_millis() as i64;
        let choices = crate::policy::shape::choices(&self.facts(call, None));
        super::approvals::question_about(call, why, expires_at_ms, choices, None)
    }
}

/// The last look before a call is forwarded, inside the transaction that starts it.
fn may_start(
    tx: &Tx<'_>,
    row: &CallRow,
    owner: &str,
    approval: Option<&ApprovalId>,
    grant: Option<i64>,
) -> Result<Result<(), String>, StoreError> {
    if let Some(by) = tx.panic()? {
        return Ok(Err(panic_reason(&by)));
    }
    if tx.stop_queued(&row.id.session)? {
        return Ok(Err("the owner has stopped the turn".to_owned()));
    }
    if row.digest != digest_of(row, owner) {
        return Ok(Err("the stored call is not what was shown".to_owned()));
    }
    if let Some(grant) = grant
        && !tx.grant_holds(grant)?
    {
        return Ok(Err("the grant that it rested on has just ended; ask again".to_owned()));
    }
    let Some(id) = approval else {
        close_question(tx, &row.id, "asked again")?;
        return Ok(Ok(()));
    };
    Ok(match tx.approval(id)? {
        Some(found) if found.state != "approved" => Err(format!("its question is {}", found.state)),
        Some(found) if found.digest != row.digest => {
            Err("what was approved is not what would run".to_owned())
        }
        Some(found) if is_over(&found) => Err("the answer came too long ago".to_owned()),
        Some(_) => Ok(()),
        None => Err("its question is gone".to_owned()),
    })
}

/// A call that is asked about again (the rules or the tool changed) has one open question, the new
/// one; a call that has started or ended has none.
pub(super) fn close_question(tx: &Tx<'_>, call: &CallId, why: &str) -> Result<(), StoreError> {
    if let Some(open) = tx.approval_of(call)?
        && open.state == "waiting"
    {
        // Somebody answering at this moment loses the compare-and-set, which is right: he saw the
        // old question.
        let _answered_meanwhile = tx.decide(&open.id, "superseded", None, why)?;
    }
    Ok(())
}
