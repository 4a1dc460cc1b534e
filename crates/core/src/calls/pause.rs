//! A question about a turn itself: whether it may go on. It is a row like every other one, under a
//! name that no server has, so that every door shows it and every answer takes the same way. Must
//! not know why it is asked.

use serde_json::{Value, json};

use super::Calls;
use super::approvals::{decide_in, question_about};
use super::frozen::Freeze;
use super::record::{end, entry};
use crate::domain::{
    Answer, ApprovalState, CallId, CallState, Choice, Origin, Outcome, PauseCause, Question, Scope,
    Term, ToolCall, ToolOutput, audit_kind,
};
use crate::store::{ApprovalRow, StoreError, Tx, now_ms};

const SERVER: &str = "claw";
const TOOL: &str = "go_on";

impl Calls {
    /// Asks whether a turn may go on, or finds the question that is open already. `yes` is what the
    /// answer that lets it is called.
    pub async fn ask_to_go_on(
        &self,
        call: &CallId,
        origin: Origin,
        principal: &str,
        details: &Value,
        why: String,
        yes: &str,
    ) -> Result<Question, StoreError> {
        if let Some(open) = self
            .store
            .read(|tx| tx.approval_of(call))?
            .filter(|row| row.state == ApprovalState::Waiting)
        {
            return Ok(open.question);
        }
        let call = ToolCall {
            id: call.clone(),
            server: SERVER.to_owned(),
            tool: TOOL.to_owned(),
            arguments: details.clone(),
            origin,
            principal: principal.to_owned(),
        };
        let row = self.freeze(
            &call,
            &Freeze { state: CallState::Waiting, pin: "", env_names: "", rule: "", shown: "" },
        );
        let expires_at_ms = now_ms() + self.limits().question_time.as_millis() as i64;
        let question = question_about(&call, why, expires_at_ms, choices(yes), None)?;
        let asked = entry(
            audit_kind::ASKED,
            &call,
            json!({"approval": question.approval.0, "digest": row.digest}),
        );
        let (owner, kept) = (self.surroundings.approvers.clone(), question.clone());
        self.store
            .write(move |tx| {
                tx.put_call(&row)?;
                tx.add_approval(&kept, &owner, &row.digest)?;
                tx.audit(&asked)
            })
            .await?;
        Ok(question)
    }

    /// The owner has let the turn go on; with a day, all turns of that day, and so does every other
    /// one that waits for leave to use it.
    pub async fn goes_on(
        &self,
        call: &CallId,
        by: &str,
        day: Option<&str>,
    ) -> Result<(), StoreError> {
        let text = if day.is_some() { "turns go on today" } else { "the turn goes on" };
        let output = ToolOutput { text: text.to_owned(), ..ToolOutput::default() };
        let (call, by) = (call.clone(), by.to_owned());
        let (day, outcome) = (day.map(str::to_owned), Outcome::Ended { output });
        self.store
            .write(move |tx| {
                if let Some(day) = &day {
                    tx.let_day_go_on(day)?;
                    others_go_on(tx, &call, &by)?;
                }
                end(tx, &call, &outcome)
            })
            .await
    }

    /// Whether there is a row of this call.
    pub fn knows(&self, call: &CallId) -> Result<bool, StoreError> {
        Ok(self.store.read(|tx| tx.call(call))?.is_some())
    }
}

/// The same yes answers the questions of all other turns about the day, which wakes their sessions.
fn others_go_on(tx: &Tx<'_>, call: &CallId, by: &str) -> Result<(), StoreError> {
    let open = match tx.open_approvals(None) {
        // A damaged question must not keep this answer from counting.
        Err(error @ StoreError::Unreadable { .. }) => {
            tracing::warn!(%error, "no other turn was let go on today");
            return Ok(());
        }
        open => open?,
    };
    let is_about_the_day = |row: &ApprovalRow| {
        matches!(row.call, CallId::Pause { cause: PauseCause::Budget, .. }) && row.call != *call
    };
    for row in open.into_iter().filter(is_about_the_day) {
        if row.approvers.include(by) {
            // One whose time is over stays closed.
            let _refused = decide_in(tx, &row.id, &row.call, &yes(), by, None)?;
        }
    }
    Ok(())
}

fn yes() -> Answer {
    Answer::Allow { term: Term::Once, scope: Scope::Exact }
}

fn choices(label_of_yes: &str) -> Vec<Choice> {
    let choice = |key: &str, label: &str, answer| Choice {
        key: key.to_owned(),
        label: label.to_owned(),
        answer,
    };
    vec![
        choice("y", label_of_yes, yes()),
        choice("n", "end this turn here", Answer::Deny { word: None }),
    ]
}
