//! How a verdict is carried out: the one transaction in which a call becomes `started`, the
//! question, the denial. Must not know how a verdict is reached, or how a call is sent.

use serde_json::json;

use super::approvals::is_over;
use super::frozen::{Freeze, is_intact, shown_digest};
use super::grants::CLASS_MUTATING;
use super::record::entry;
use super::{Calls, Denied, Grounds, panic_reason};
use crate::catalog::Tool;
use crate::domain::{
    Answer, ApprovalId, ApprovalState, Approvers, CallId, CallState, DeniedBy, Outcome, Question,
    Scope, Term, ToolCall, Trust, audit_kind, rule_words,
};
use crate::killpoint;
use crate::store::{CallRow, StoreError, Tx, now_ms};

impl Calls {
    /// Freezes the call, checks everything again in the same transaction, and moves it to
    /// `started`. Returns the row that was written, so that what runs is what the store says.
    pub async fn begin(
        &self,
        call: &ToolCall,
        known: Option<&CallRow>,
        tool: &Tool,
        grounds: &Grounds,
    ) -> Result<CallRow, Denied> {
        let freeze = Freeze {
            state: CallState::Approved,
            pin: &tool.pin,
            env_names: &tool.env_names,
            rule: &grounds.rule,
            shown: "",
        };
        let row = match (known, &grounds.approval) {
            (Some(row), Some(_)) => row.clone(),
            (Some(row), None) if row.state == CallState::Started => row.clone(),
            _ => self.freeze(call, &freeze),
        };
        let judged = entry(
            audit_kind::VERDICT,
            call,
            json!({"verdict": "allow", "rule": grounds.rule, "why": grounds.why}),
        );
        let started =
            entry(audit_kind::STARTED, call, json!({"digest": row.digest, "pin": row.pin}));
        let approvers = self.surroundings.approvers.clone();
        let (id, approval, grant) = (row.id.clone(), grounds.approval.clone(), grounds.grant);
        let believed = grounds.believed.clone();
        killpoint::here("gate.started.before");
        let written = self
            .store
            .write(move |tx| {
                if let Err(denied) = may_start(tx, &row, &approvers, approval.as_ref(), grant)? {
                    return Ok(Err(denied));
                }
                if let Some(launch) = &believed
                    && !is_believed(tx, &row.server, launch)?
                {
                    return Ok(changed("the owner does not believe its server's hints any more"));
                }
                tx.put_call(&row)?;
                if row.state != CallState::Started
                    && !tx.move_call(&row.id, CallState::Approved, CallState::Started)?
                {
                    return Ok(changed("it was decided elsewhere at the same moment"));
                }
                // One that is run again has been counted when it was started first.
                if let Some(grant) = grant.filter(|_| row.state != CallState::Started) {
                    tx.count_use(grant)?;
                }
                tx.audit(&judged)?;
                tx.audit(&started)?;
                Ok(Ok(tx.call(&row.id)?))
            })
            .await;
        killpoint::here("gate.started.after");
        match written?? {
            Some(row) if self.is_intact(&row) => Ok(row),
            Some(_) => changed("the stored call is not what was judged"),
            None => failed(format!("the row of the call {id} is gone")),
        }
    }

    /// Freezes the call and its question. The turn is let go; the answer comes back through the
    /// inbox. `None`: a standing answer was given since the call was judged, and decides it.
    pub async fn ask(
        &self,
        call: &ToolCall,
        tool: &Tool,
        grounds: &Grounds,
    ) -> Result<Option<ApprovalId>, StoreError> {
        let mut effect = self.effect(call, tool, grounds).await;
        let question = self.question_about(call, grounds)?;
        self.offer(call, &grounds.rule, &question.choices, &mut effect);
        self.name_job(call, &question.choices, &mut effect)?;
        Self::name_client(call, &question.choices, &mut effect);
        let freeze = Freeze {
            state: CallState::Waiting,
            pin: &tool.pin,
            env_names: &tool.env_names,
            rule: &grounds.rule,
            shown: &shown_digest(&effect)?,
        };
        let row = self.freeze(call, &freeze);
        let question = Question { effect: Some(effect), ..question };
        let approval = question.approval.clone();
        let judged = entry(
            audit_kind::VERDICT,
            call,
            json!({"verdict": "ask", "rule": grounds.rule, "why": grounds.why}),
        );
        let asked =
            entry(audit_kind::ASKED, call, json!({"approval": approval.0, "digest": row.digest}));
        let owner = self.surroundings.approvers.clone();
        let (reach, call) = (self.reach(), call.clone());
        killpoint::here("gate.asked.before");
        let is_asked = self
            .store
            .write(move |tx| {
                if reach.is_settled(tx, &call, &row.rule)? {
                    return Ok(false);
                }
                tx.put_call(&row)?;
                close_question(tx, &row.id, "asked again")?;
                tx.add_approval(&question, &owner, &row.digest)?;
                tx.audit(&judged)?;
                tx.audit(&asked)?;
                Ok(true)
            })
            .await?;
        killpoint::here("gate.asked.after");
        Ok(is_asked.then_some(approval))
    }

    /// A denial is in the audit like everything else; the audit layer writes its end.
    pub fn deny(&self, call: &ToolCall, by: DeniedBy, grounds: &Grounds) -> Outcome {
        let body = json!({"verdict": "deny", "rule": grounds.rule, "why": grounds.why, "by": by});
        let judged = entry(audit_kind::VERDICT, call, body);
        self.store.write_soon(move |tx| tx.audit(&judged));
        Outcome::denied(by, format!("{} ({})", grounds.why, rule_words(&grounds.rule)))
    }

    fn question_about(&self, call: &ToolCall, grounds: &Grounds) -> Result<Question, StoreError> {
        let notes = self.look_of(call).into_iter().map(|note| format!("; NOTE: {note}"));
        let notes: String = notes.collect();
        let why = format!("{} ({}){notes}", grounds.why, rule_words(&grounds.rule));
        let expires_at_ms = now_ms() + self.limits().question_time.as_millis() as i64;
        let mut choices = crate::policy::shape::choices(&self.facts(call, None));
        let of_session =
            |answer: &Answer| matches!(answer, Answer::Allow { term: Term::Session, .. });
        // Where a rule of the owner's asks, such a grant would spare nothing.
        let of_hosts =
            |answer: &Answer| matches!(answer, Answer::Allow { scope: Scope::Hosts { .. }, .. });
        choices.retain(|choice| {
            (call.session().is_some() || !of_session(&choice.answer))
                && (grounds.rule == CLASS_MUTATING || !of_hosts(&choice.answer))
        });
        super::approvals::question_about(call, why, expires_at_ms, choices, None)
    }
}

/// The last look before a call is forwarded, inside the transaction that starts it.
fn may_start(
    tx: &Tx<'_>,
    row: &CallRow,
    owner: &Approvers,
    approval: Option<&ApprovalId>,
    grant: Option<i64>,
) -> Result<Result<(), Denied>, StoreError> {
    if let Some(by) = tx.panic()? {
        return Ok(Err(Denied::new(DeniedBy::StopSwitch, panic_reason(&by))));
    }
    if let Some(session) = row.id.session()
        && tx.stop_queued(session)?
    {
        return Ok(Err(Denied::new(DeniedBy::Stop, "the owner has stopped the turn")));
    }
    if !is_intact(row, owner) {
        return Ok(changed("the stored call is not what was shown"));
    }
    if let Some(grant) = grant
        && !tx.grant_holds(grant)?
    {
        return Ok(changed("the grant that it rested on has just ended; ask again"));
    }
    let Some(id) = approval else {
        close_question(tx, &row.id, "asked again")?;
        return Ok(Ok(()));
    };
    Ok(match tx.approval(id)? {
        Some(found) if found.state != ApprovalState::Approved => {
            Err(Denied::new(DeniedBy::Answer, format!("its question is {}", found.state)))
        }
        Some(found) if found.digest != row.digest => {
            changed("what was approved is not what would run")
        }
        Some(found) if is_over(&found) => {
            Err(Denied::new(DeniedBy::Expiry, "the answer came too long ago"))
        }
        Some(_) => Ok(()),
        None => failed("its question is gone"),
    })
}

/// Whether an owner's answer still says that the hints of this server count.
fn is_believed(tx: &Tx<'_>, server: &str, launch: &str) -> Result<bool, StoreError> {
    let row = tx.trust(server)?;
    Ok(row.is_some_and(|row| row.level == Some(Trust::Hints) && row.launch == launch))
}

fn changed<T>(reason: &str) -> Result<T, Denied> {
    Err(Denied::new(DeniedBy::Changed, reason))
}

fn failed<T>(reason: impl Into<String>) -> Result<T, Denied> {
    Err(Denied::new(DeniedBy::Failure, reason))
}

/// A call that is asked about again (the rules or the tool changed) has one open question, the new
/// one; a call that has started or ended has none.
pub(super) fn close_question(tx: &Tx<'_>, call: &CallId, why: &str) -> Result<(), StoreError> {
    if let Some(open) = tx.approval_of(call)?
        && open.state == ApprovalState::Waiting
    {
        // Somebody answering at this moment loses the compare-and-set, which is right: he saw the
        // old question.
        let _answered_meanwhile = tx.decide(&open.id, ApprovalState::Superseded, None, why)?;
    }
    Ok(())
}
