//! Questions to a human and their answers. A decision is one compare-and-set by any process; it
//! wakes the owner of the call. Must not know doors.

use std::path::Path;

use serde_json::{Value, json};

use super::grants::{EVERY_TOOL, Reach, Stored};
use super::modes::NewMode;
use super::settle::settle;
use super::wake::wake;
use super::{Calls, job};
use crate::domain::{
    Answer, ApprovalId, ApprovalState, CallId, CallState, Choice, DeniedBy, GrantEffect, Outcome,
    Question, Staged, Term, ToolCall, UnixMillis, audit_kind, client_of, escape, job_of,
    may_answer_about,
};
use crate::killpoint;
use crate::policy::shape::{self, Shape};
use crate::store::{
    ApprovalRow, AuditEntry, CallRow, DecideRefused, NewGrant, StoreError, Tx, new_approval_id,
    now_ms,
};

/// What an answer leaves behind for later calls, and for other questions that are open.
pub(super) struct Standing {
    given: Given,
    reach: Reach,
}

enum Given {
    Grant(NewGrant),
    Mode(Box<NewMode>),
}

impl Standing {
    pub(super) fn mode(mode: NewMode, reach: Reach) -> Self {
        Self { given: Given::Mode(Box::new(mode)), reach }
    }

    /// The number of the grant that it becomes, which the mode `ask` needs none of, and its words.
    fn give_in(&self, tx: &Tx<'_>) -> Result<(Option<i64>, Value), StoreError> {
        let (id, effect, says) = match &self.given {
            Given::Grant(grant) => (Some(tx.add_grant(grant)?), grant.effect, grant.says.as_str()),
            Given::Mode(mode) => (mode.set_in(tx)?, GrantEffect::Allow, mode.says()),
        };
        Ok((id, json!({"id": id, "effect": effect, "says": says})))
    }
}

/// What is written in one transaction with an answer; it hears whether the answer counted.
pub trait WithDecision:
    FnOnce(&Tx<'_>, Result<(), &DecideRefused>) -> Result<(), StoreError> + Send + 'static
{
}

impl<F> WithDecision for F where
    F: FnOnce(&Tx<'_>, Result<(), &DecideRefused>) -> Result<(), StoreError> + Send + 'static
{
}

/// How long "10 minutes" is.
const TEN_MINUTES_MS: i64 = 10 * 60 * 1000;
/// How long a tap may wait for its turn.
const TAP_WAITS_MS: i64 = 15 * 60 * 1000;

/// Why an answer did not count. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    #[error(transparent)]
    Refused(#[from] DecideRefused),
    #[error("{0}")]
    NotOffered(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl crate::domain::Blamed for DecideError {
    fn blame(&self) -> crate::domain::Blame {
        match self {
            Self::Refused(refused) => refused.blame(),
            Self::NotOffered(_) => crate::domain::Blame::User,
            Self::Store(error) => error.blame(),
        }
    }
}

impl Calls {
    /// Answers a question: waiting → approved or denied, once, with its grant, its audit row and
    /// the wake-up of the call's owner in the same transaction.
    pub async fn decide(
        &self,
        id: &ApprovalId,
        answer: &Answer,
        by: &str,
    ) -> Result<ApprovalRow, DecideError> {
        self.decide_with(id, answer, by, |_, _| Ok(())).await
    }

    /// The same in one transaction with what `with` writes.
    /// What was staged is not answered in this way.
    pub async fn decide_with(
        &self,
        id: &ApprovalId,
        answer: &Answer,
        by: &str,
        with: impl WithDecision,
    ) -> Result<ApprovalRow, DecideError> {
        let Some((approval, row)) = self.store.read(|tx| found(tx, id))? else {
            return Err(DecideRefused::NotFound(id.0.clone()).into());
        };
        if !approval.approvers.include(by) || !may_answer_about(by, &approval.call) {
            return Err(DecideRefused::NotYours { by: by.to_owned() }.into());
        }
        if approval.question.staged.is_some() {
            return self.decide_staged(approval, answer, by).await;
        }
        let is_here = row.cwd.is_empty() || Path::new(&row.cwd) == self.workspace();
        if let Some(input) = approval.question.input.clone() {
            // On the heap, as rare as it is.
            return Box::pin(self.decide_input(approval, input, answer, by, with)).await;
        }
        if approval.question.list.is_some() {
            return match is_here {
                true => self.decide_list(approval, row, answer, by, with).await,
                false => {
                    let there = self.at(Path::new(&row.cwd));
                    there.decide_list(approval, row, answer, by, with).await
                }
            };
        }
        // A grant holds where the call was asked about, whoever takes the answer.
        let grant = match is_here {
            true => self.grant_of(&approval, &row, answer).await?,
            false => {
                let there = self.at(Path::new(&row.cwd));
                there.grant_of(&approval, &row, answer).await?
            }
        };
        let (id, answer, by) = (id.clone(), answer.clone(), by.to_owned());
        killpoint::here("gate.decided.before");
        let decided = self
            .store
            .write(move |tx| {
                let decided = decide_in(tx, &id, &row.id, &answer, &by, grant.as_ref())?;
                with(tx, decided.as_ref().map(|_| ()))?;
                Ok(decided)
            })
            .await?;
        killpoint::here("gate.decided.after");
        Ok(decided?)
    }

    /// The standing grant or refusal that an answer asks for, checked against the call that was
    /// shown.
    pub(super) async fn grant_of(
        &self,
        approval: &ApprovalRow,
        row: &CallRow,
        answer: &Answer,
    ) -> Result<Option<Standing>, DecideError> {
        let (effect, scope, term) = match answer {
            Answer::Allow { term: Term::Once, .. } | Answer::Deny { .. } => return Ok(None),
            Answer::Press { .. } | Answer::Pick { .. } | Answer::Give { .. } | Answer::Skip => {
                return Err(DecideError::NotOffered(format!(
                    "the question {} has no buttons, numbers or values of its own",
                    approval.id
                )));
            }
            Answer::Allow { term, scope } => (GrantEffect::Allow, scope.clone(), *term),
            Answer::Never => (GrantEffect::Deny, crate::domain::Scope::Exact, Term::Always),
        };
        let call = call_of_row(row)?;
        let session = match (term, call.session()) {
            (Term::Session, None) => {
                let text = "no session waits for this call, so nothing can be allowed for one";
                return Err(DecideError::NotOffered(text.to_owned()));
            }
            (Term::Session, session) => session.cloned(),
            _ => None,
        };
        self.find_out_box_of_open_calls().await;
        let facts = self.facts(&call, None);
        let offered = Shape::of(&scope, &facts);
        if let Some(Shape::Mode { mode }) = offered {
            let session = session.ok_or_else(|| {
                DecideError::NotOffered("a mode is for a session; use `--for session`".to_owned())
            })?;
            let of_mode = self.new_mode(mode, &session, &row.principal, Some(&approval.id)).await?;
            return Ok(Some(Standing::mode(of_mode, self.reach_of_open_calls().await)));
        }
        let tool = match offered {
            Some(Shape::Files { .. }) => EVERY_TOOL.to_owned(),
            _ => row.tool.clone(),
        };
        // To look again how far something is: not where files change or something wider is offered.
        let is_term_offered = term != Term::TenMinutes
            || approval.question.choices.iter().any(|choice| choice.answer == *answer);
        let Some(shape) = offered.filter(|_| is_term_offered) else {
            return Err(DecideError::NotOffered(format!(
                "an answer of that kind is not offered for {}/{}; `{} approvals {}` shows each \
                 that is",
                row.server,
                row.tool,
                self.claw(),
                approval.id
            )));
        };
        let says = says_of(&shape, row);
        let says = match (job_of(&row.principal), client_of(&row.principal)) {
            (Some((job, _)), _) => format!("{}: {says}", job::called(job)),
            (None, Some(client)) => format!("MCP client {client}: {says}"),
            (None, None) => says,
        };
        let given = Given::Grant(NewGrant {
            effect,
            principal: row.principal.clone(),
            session,
            server: row.server.clone(),
            tool,
            shape: Stored::of(shape, self.workspace()).text()?,
            origin: row.origin,
            says,
            expires_ms: (term == Term::TenMinutes).then(|| now_ms() + TEN_MINUTES_MS),
            approval: approval.id.0.clone(),
        });
        Ok(Some(Standing { given, reach: self.reach_of_open_calls().await }))
    }

    /// The question with this id, if it is still open.
    pub fn question(&self, id: &ApprovalId) -> Result<Option<Question>, StoreError> {
        let found = self.store.read(|tx| tx.approval(id))?;
        Ok(found.filter(|row| row.state == ApprovalState::Waiting).map(|row| row.question))
    }

    /// Which call a question is about.
    pub fn call_of(&self, id: &ApprovalId) -> Result<Option<CallId>, StoreError> {
        Ok(self.store.read(|tx| tx.approval(id))?.map(|row| row.call))
    }

    /// How a question was closed without an answer: `expired` or `superseded`. `None` while it is
    /// open, and when it was answered.
    pub fn closed(&self, id: &ApprovalId) -> Result<Option<ApprovalState>, StoreError> {
        let found = self.store.read(|tx| tx.approval(id))?;
        Ok(found
            .map(|row| row.state)
            .filter(|state| matches!(state, ApprovalState::Expired | ApprovalState::Superseded)))
    }

    /// Closes the question of a call if its time is over.
    pub async fn expire(&self, call: &CallId) -> Result<Option<ApprovalId>, StoreError> {
        const STATE: ApprovalState = ApprovalState::Expired;
        let due = |row: &ApprovalRow| row.expires_ms <= now_ms();
        let newest = self.store.read(|tx| tx.approval_of(call))?;
        match newest.filter(|row| row.state == ApprovalState::Waiting && due(row)) {
            None => return Ok(None),
            Some(row) if row.question.input.is_some() => {
                return Box::pin(self.expire_input(call)).await;
            }
            Some(_) => {}
        }
        let call = call.clone();
        killpoint::here("gate.closed.before");
        let closed = self
            .store
            .write(move |tx| {
                let Some(approval) = tx.approval_of(&call)?.filter(due) else { return Ok(None) };
                if tx.decide(&approval.id, STATE, None, STATE.as_str())?.is_err() {
                    return Ok(None);
                }
                let reason = "nobody answered the question in time";
                tx.end_call(&call, &Outcome::denied(DeniedBy::Expiry, reason))?;
                let body = json!({"approval": approval.id.0, "answer": STATE});
                tx.audit(&AuditEntry { kind: audit_kind::ANSWERED, call: call.to_string(), body })?;
                Ok(Some(approval.id))
            })
            .await;
        killpoint::here("gate.closed.after");
        closed
    }
}

/// Whether nothing may run any more by this answer. A tap on something staged came in time, or it
/// would not have counted; what runs by it may have to wait for the step in hand.
pub(super) fn is_over(approval: &ApprovalRow) -> bool {
    let tapped = approval.decided_ms.filter(|_| approval.question.staged.is_some());
    let last =
        tapped.map_or(approval.expires_ms, |at_ms| approval.expires_ms.max(at_ms + TAP_WAITS_MS));
    last <= now_ms()
}

pub(super) fn found(
    tx: &Tx<'_>,
    id: &ApprovalId,
) -> Result<Option<(ApprovalRow, CallRow)>, StoreError> {
    let Some(approval) = tx.approval(id)? else { return Ok(None) };
    let row = tx
        .call(&approval.call)?
        .ok_or_else(|| StoreError::Decode(format!("the call {} is gone", approval.call)))?;
    Ok(Some((approval, row)))
}

pub(super) fn decide_in(
    tx: &Tx<'_>,
    id: &ApprovalId,
    call: &CallId,
    answer: &Answer,
    by: &str,
    standing: Option<&Standing>,
) -> Result<Result<ApprovalRow, DecideRefused>, StoreError> {
    let allowed = matches!(answer, Answer::Allow { .. });
    let state = if allowed { ApprovalState::Approved } else { ApprovalState::Denied };
    let approval = match tx.decide(id, state, Some(answer), by)? {
        Ok(approval) => approval,
        Err(refused) => return Ok(Err(refused)),
    };
    if allowed {
        tx.move_call(call, CallState::Waiting, CallState::Approved)?;
    } else {
        tx.end_call(call, &Outcome::denied(DeniedBy::Answer, denial(answer)))?;
    }
    let mut body = json!({"approval": id.0, "answer": answer, "by": by, "digest": approval.digest});
    let given = standing.map(|standing| standing.give_in(tx)).transpose()?;
    if let (Some((_, told)), Value::Object(map)) = (&given, &mut body) {
        map.insert("grant".to_owned(), told.clone());
    }
    tx.audit(&AuditEntry { kind: audit_kind::ANSWERED, call: call.to_string(), body })?;
    wake(tx, &approval, Some(answer), by)?;
    if let (Some(standing), Some((grant, _))) = (standing, given) {
        settle(tx, &standing.reach, grant, answer, by)?;
    }
    Ok(Ok(approval))
}

/// What a grant of this shape covers, in words.
fn says_of(shape: &Shape, row: &CallRow) -> String {
    match shape {
        // A mode says itself what it is for, and no answer offers an opening.
        Shape::Mode { mode } => format!("mode {mode}"),
        Shape::Opening { opening } => opening.to_string(),
        Shape::Folder { path, .. } => path.clone(),
        Shape::Exact { .. } => {
            let shown = escape::visible(&row.arguments);
            format!("{}/{} with exactly these arguments: {shown}", row.server, row.tool)
        }
        Shape::Below { path } => {
            format!("{}/{} for any path at or below {path}", row.server, row.tool)
        }
        Shape::Files { path } => shape::says_files(path),
        Shape::Hosts { hosts } => shape::says_hosts(hosts),
        Shape::Command { words, needs, hosts } => {
            format!(
                "{}/{} for {}",
                row.server,
                row.tool,
                shape::says_command(words, *needs, hosts.as_deref())
            )
        }
    }
}

fn denial(answer: &Answer) -> String {
    match answer {
        Answer::Deny { word: Some(word) } => format!("the owner said no: {word}"),
        Answer::Never => "the owner said no, and never again with these arguments".to_owned(),
        _ => "the owner said no".to_owned(),
    }
}

/// A call as it was frozen.
pub(super) fn call_of_row(row: &CallRow) -> Result<ToolCall, StoreError> {
    Ok(ToolCall {
        id: row.id.clone(),
        server: row.server.clone(),
        tool: row.tool.clone(),
        arguments: serde_json::from_str(&row.arguments)?,
        origin: row.origin,
        principal: row.principal.clone(),
    })
}

/// A new question about a call, with everything that is shown of it.
pub(super) fn question_about(
    call: &ToolCall,
    why: String,
    expires_at_ms: UnixMillis,
    choices: Vec<Choice>,
    staged: Option<Staged>,
) -> Result<Question, StoreError> {
    Ok(Question {
        approval: new_approval_id(getrandom::fill)?,
        call: call.id.clone(),
        session: call.session().cloned(),
        server: call.server.clone(),
        tool: call.tool.clone(),
        arguments: super::shown::shown_arguments(&call.arguments),
        why,
        effect: None,
        expires_at_ms,
        choices,
        staged,
        list: None,
        input: None,
    })
}
