//! A question about a turn itself: whether it may go on. It is a row like every other one, under a
//! name that no server has, so that every door shows it and every answer takes the same way. Must
//! not know why it is asked.

use serde_json::{Value, json};

use super::Calls;
use super::approvals::question_about;
use super::frozen::Freeze;
use super::record::{end, entry};
use crate::domain::{
    Answer, ApprovalState, CallId, CallState, Choice, Origin, Outcome, Question, Scope, Term,
    ToolCall, ToolOutput, audit_kind,
};
use crate::store::{StoreError, now_ms};

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

    /// The owner has let the turn go on; with a day, all turns of that day.
    pub async fn goes_on(&self, call: &CallId, day: Option<&str>) -> Result<(), StoreError> {
        let text = if day.is_some() { "turns go on today" } else { "the turn goes on" };
        let output = ToolOutput { text: text.to_owned(), ..ToolOutput::default() };
        let (call, day, outcome) =
            (call.clone(), day.map(str::to_owned), Outcome::Ended { output });
        self.store
            .write(move |tx| {
                day.iter().try_for_each(|day| tx.let_day_go_on(day))?;
                end(tx, &call, &outcome)
            })
            .await
    }

    /// Whether there is a row of this call.
    pub fn knows(&self, call: &CallId) -> Result<bool, StoreError> {
        Ok(self.store.read(|tx| tx.call(call))?.is_some())
    }
}

fn choices(yes: &str) -> Vec<Choice> {
    let choice = |key: &str, label: &str, answer| Choice {
        key: key.to_owned(),
        label: label.to_owned(),
        answer,
    };
    let allow = Answer::Allow { term: Term::Once, scope: Scope::Exact };
    vec![choice("y", yes, allow), choice("n", "end this turn here", Answer::Deny { word: None })]
}
