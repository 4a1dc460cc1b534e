//! What is to be done in an open round now: the next value that a person is asked for, or the
//! responses if there is none. Must not know how a person is shown a question.

use serde_json::{Map, Value, json};

use super::question::{AskedValue, Read, asked_of};
use super::{Answers, RUNNING, RoundNow, RoundStep};
use crate::calls::Calls;
use crate::calls::record::entry;
use crate::domain::{
    ApprovalId, ApprovalState, Effect, Input, Question, ToolCall, audit_kind, escape,
};
use crate::hub::RoundInput;
use crate::store::{RoundRow, StoreError, new_approval_id, now_ms};

/// How many of the calls that run are named in a question.
const NAMED_MAX: usize = 4;

impl Calls {
    /// Takes the open round of a call as far as it goes without a person. `can_ask` is false where
    /// nobody can answer: then what the server asks is cancelled, and it is told so.
    pub async fn next_of_round(
        &self,
        call: &ToolCall,
        can_ask: bool,
    ) -> Result<RoundNow, StoreError> {
        let mut told = Vec::new();
        loop {
            let Some(round) = self.store.read(|tx| tx.open_round(&call.id))? else {
                return Ok(RoundNow { step: RoundStep::Gone, told });
            };
            let answers = Answers::of(&round)?;
            let empty = Map::new();
            let requests = round.requests.as_object().unwrap_or(&empty);
            let Some((key, request)) =
                requests.iter().find(|(key, _)| !answers.done.contains_key(*key))
            else {
                let input = RoundInput { responses: answers.done, state: round.request_state };
                return Ok(RoundNow { step: RoundStep::Answered { nth: round.nth, input }, told });
            };
            let response = match asked_of(self.claw(), key, request, &answers.fields) {
                Read::Unsupported { method } => {
                    return Ok(RoundNow { step: RoundStep::Unsupported { method }, told });
                }
                Read::Refused { why } => {
                    told.push(refused(call, &why));
                    json!({"action": "decline"})
                }
                Read::Ask(_) if !can_ask => {
                    let who = escape::visible(&format!("{}/{}", call.server, call.tool));
                    told.push(format!(
                        "`{who}` asked something where nobody can answer; claw has cancelled that."
                    ));
                    json!({"action": "cancel"})
                }
                Read::Ask(asked) => match self.ask_input(call, &round, *asked).await? {
                    Some(asks) => return Ok(RoundNow { step: RoundStep::Asks(asks), told }),
                    None => continue,
                },
                Read::Whole(response) => response,
            };
            self.respond(call, &round, &answers.with(key, response.clone()), (key, response))
                .await?;
        }
    }

    /// Notes a whole response, with its row of the audit. Somebody else may have been quicker: what
    /// stands there then is looked at anew.
    async fn respond(
        &self,
        call: &ToolCall,
        round: &RoundRow,
        answers: &Answers,
        (key, mut response): (&str, Value),
    ) -> Result<(), StoreError> {
        self.redactor.redact_json(&mut response);
        let body = json!({"round": round.nth, "request": key, "response": response});
        let (round, answers) = (round.clone(), answers.to_value()?);
        let responded = entry("responded", call, body);
        self.store
            .write(move |tx| match tx.answer_round(&round, &answers)? {
                true => tx.audit(&responded),
                false => Ok(()),
            })
            .await
    }

    /// Asks for one value, or finds the question that is open about it. `None`: the round was
    /// closed meanwhile.
    async fn ask_input(
        &self,
        call: &ToolCall,
        round: &RoundRow,
        asked: AskedValue,
    ) -> Result<Option<ApprovalId>, StoreError> {
        let AskedValue { input, mut effect, mut arguments, choices, says } = asked;
        for argument in &mut arguments {
            argument.1 = self.redactor.redact(&argument.1).into_owned();
        }
        match running_beside(round, &input) {
            // The arguments of one of them would say that it asks for that one.
            Some(running) => doubtful(&call.server, &running, &mut effect),
            None => {
                let of_the_call = crate::calls::shown::shown_arguments(&call.arguments);
                effect.told = of_the_call.iter().map(|it| it.0.clone()).collect();
                arguments.extend(of_the_call);
                // One of the call's own may be called like one of these.
                effect.told.retain(|name| !super::question::NAMES.contains(&name.as_str()));
                let who = format!("{}/{}", call.server, call.tool);
                effect.says = effect.says.replacen("It", &format!("`{}`", plain(&who)), 1);
            }
        }
        self.name_job(call, &[], &mut effect)?;
        Self::name_client(call, &[], &mut effect);
        let question = Question {
            approval: new_approval_id(getrandom::fill)?,
            call: call.id.clone(),
            session: call.session().cloned(),
            server: call.server.clone(),
            tool: call.tool.clone(),
            arguments,
            why: "its server asks in the middle of the call".to_owned(),
            effect: Some(effect),
            expires_at_ms: now_ms() + self.limits().question_time.as_millis() as i64,
            choices,
            staged: None,
            list: None,
            input: Some(input),
        };
        let mut words = json!(says);
        self.redactor.redact_json(&mut words);
        let body = json!({
            "approval": question.approval.0, "round": round.nth, "says": words,
            "field": question.input.as_ref().map(|input| &input.field),
        });
        let asked = entry(audit_kind::ASKED, call, body);
        let (round, owner) = (round.clone(), self.surroundings.approvers.clone());
        self.store
            .write(move |tx| {
                let now = tx.open_round(&round.call)?;
                if now.is_none_or(|now| now.nth != round.nth) {
                    return Ok(None);
                }
                let open = tx.approval_of(&round.call)?;
                let open = open.filter(|row| row.state == ApprovalState::Waiting);
                if let Some(open) = open.filter(|row| is_same(&row.question, &question)) {
                    return Ok(Some(open.id));
                }
                let digest = tx.call(&round.call)?.map(|row| row.digest).unwrap_or_default();
                crate::calls::start::close_question(tx, &round.call, "asked again")?;
                tx.add_approval(&question, &owner, &digest)?;
                tx.audit(&asked)?;
                Ok(Some(question.approval))
            })
            .await
    }
}

/// The tools of the calls that run, where the server does not say for which of them it asks. It
/// cannot write this itself: what it has written stands in `params`.
fn running_beside(round: &RoundRow, input: &Input) -> Option<Vec<String>> {
    let running = round.requests.get(&input.request)?.get(RUNNING).filter(|_| round.in_call)?;
    let tools: Vec<String> = serde_json::from_value(running.clone()).ok()?;
    (tools.len() > 1).then_some(tools)
}

/// Says that nobody knows which call it is about.
fn doubtful(server: &str, running: &[String], effect: &mut Effect) {
    effect.says = effect.says.replacen("It", &format!("`{}`", plain(server)), 1);
    let mut names: Vec<String> = running.iter().map(|tool| plain(tool)).collect();
    names.dedup();
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = running.len();
    // First, because it says what the question is about.
    let says = format!(
        "Asked in one of its {count} running calls ({}{more}); it does not say which",
        names.join(", ")
    );
    effect.notes.insert(0, says);
}

fn plain(name: &str) -> String {
    escape::visible(name).replace('`', "'")
}

/// Whether two questions are about the same value of the same round.
fn is_same(one: &Question, other: &Question) -> bool {
    one.input == other.input && one.arguments == other.arguments
}

/// What the owner reads of a form that nobody is shown.
fn refused(call: &ToolCall, why: &str) -> String {
    let server = escape::visible(&call.server).replace('`', "'");
    let tool = escape::visible(&call.tool).replace('`', "'");
    format!("`{server}` asked in the middle of `{tool}` {why}").replace("SERVER", &server)
}
