//! What a client is told of a question to the agent: how far it is, in a form for programs and in
//! words for a model, with the next step. Must not know how it was found out.

use schemars::JsonSchema;
use serde::Serialize;

use super::handle::Handle;
use crate::clients::{AskState, CallOfTurn, OpenQuestion};
use crate::domain::{TurnCallState, TurnEnd};

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Status {
    /// `text` is the answer.
    Done,
    /// The agent works on it. Ask `ask_result` with the handle.
    Working,
    /// The agent's owner has to answer a question first. Ask `ask_result` with the handle.
    Waiting,
    /// A limit or a fault of the model has ended it; `text` says which.
    Failed,
    /// Somebody has stopped it.
    Stopped,
}

/// The structured result of `ask` and `ask_result`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    pub status: Status,
    /// For `ask_result`, `steer` and `interrupt`.
    pub handle: String,
    /// The session that it was asked in; without one in your usual session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What the agent has answered, in Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The calls of tools that the agent has made for it, in order.
    pub calls: Vec<Call>,
    /// Those of them that were refused, and why.
    pub refused: Vec<Refused>,
    /// What the owner was asked and has not answered yet.
    pub questions: Vec<Question>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Tokens>,
    /// It was said while the agent worked on something else, and is answered together with that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Call {
    pub tool: String,
    /// `running`, `waiting`, `ended`, `failed`, `refused` or `unknown`.
    pub state: String,
}

/// A call that was refused.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Refused {
    pub tool: String,
    pub why: String,
}

/// A question to the owner.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Question {
    pub id: String,
    pub says: String,
    /// Without an answer it is closed then.
    pub expires_at: String,
}

/// What models have taken for it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Tokens {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl Question {
    pub fn of(open: &OpenQuestion) -> Self {
        Self {
            id: open.id.to_string(),
            says: open.says.clone(),
            expires_at: time(open.expires_at_ms),
        }
    }
}

/// A moment as everybody reads it (RFC 3339, UTC).
pub fn time(at_ms: i64) -> String {
    let second = at_ms.div_euclid(1000);
    jiff::Timestamp::from_second(second).map(|at| at.to_string()).unwrap_or_default()
}

/// Where the owner was asked, and what the client can do about it.
pub fn owner_is_asked(questions: &[Question]) -> String {
    let says = |question: &Question| format!("“{}” (question {})", question.says, question.id);
    let asked: Vec<String> = questions.iter().map(says).collect();
    format!(
        "The owner of this claw has been asked and has not answered yet: {}. Nobody but the owner \
         can answer, in the chat with claw or with `claw approve ID` on the machine that claw runs \
         on. If you talk to the owner, say so.",
        asked.join("; ")
    )
}

impl Answer {
    /// `own` is what the client calls the session.
    pub fn of(handle: Handle, own: Option<&str>, state: AskState) -> Self {
        let mut answer = Self {
            status: Status::Working,
            handle: handle.to_string(),
            session: own.map(str::to_owned),
            text: None,
            calls: Vec::new(),
            refused: Vec::new(),
            questions: Vec::new(),
            usage: None,
            joined: false,
            next: None,
        };
        match state {
            AskState::Queued => {}
            AskState::Working { calls, .. } => answer.made(&calls),
            AskState::Waiting { questions, calls, .. } => {
                answer.made(&calls);
                answer.status = Status::Waiting;
                answer.questions = questions.iter().map(Question::of).collect();
            }
            AskState::Done { text, end, calls, usage, joined, .. } => {
                answer.made(&calls);
                answer.status = match end {
                    TurnEnd::Answered => Status::Done,
                    TurnEnd::Stopped { .. } => Status::Stopped,
                    TurnEnd::Limit { .. } | TurnEnd::Failed { .. } => Status::Failed,
                };
                let (input_tokens, output_tokens) = (usage.input_tokens, usage.output_tokens);
                answer.usage = Some(Tokens { input_tokens, output_tokens });
                (answer.text, answer.joined) = (Some(text), joined);
            }
        }
        answer.next = answer.next_step();
        answer
    }

    fn made(&mut self, calls: &[CallOfTurn]) {
        let call = |call: &CallOfTurn| Call {
            tool: call.name.clone(),
            state: call.state.as_str().to_owned(),
        };
        self.calls = calls.iter().map(call).collect();
        let refused = calls.iter().filter(|call| call.state == TurnCallState::Refused);
        let why = |call: &CallOfTurn| Refused {
            tool: call.name.clone(),
            why: call.reason.clone().unwrap_or_default(),
        };
        self.refused = refused.map(why).collect();
    }

    fn next_step(&self) -> Option<String> {
        let fetch = format!(
            "Call `ask_result` with the handle `{}` to wait for the answer; do not ask again.",
            self.handle
        );
        match self.status {
            Status::Working => Some(format!("The agent is still working on it. {fetch}")),
            Status::Waiting => Some(format!("{} {fetch}", owner_is_asked(&self.questions))),
            Status::Done | Status::Failed | Status::Stopped => None,
        }
    }

    /// The same in words for a model.
    pub fn words(&self) -> String {
        let mut words = match self.status {
            Status::Done => self.text.clone().unwrap_or_default(),
            Status::Failed => format!("It failed. {}", self.text.as_deref().unwrap_or_default()),
            Status::Stopped => format!("Stopped. {}", self.text.as_deref().unwrap_or_default()),
            Status::Working | Status::Waiting => self.next.clone().unwrap_or_default(),
        };
        for refused in &self.refused {
            words.push_str(&format!(
                "\n\n[The call of {} was refused: {}]",
                refused.tool, refused.why
            ));
        }
        words.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ApprovalId, Usage};

    fn handle() -> Handle {
        Handle::of(12)
    }

    fn call(state: TurnCallState, reason: Option<&str>) -> CallOfTurn {
        CallOfTurn { name: "bash__run".to_owned(), state, reason: reason.map(str::to_owned) }
    }

    #[test]
    fn what_waits_names_the_question_who_answers_and_the_next_call() {
        let question = OpenQuestion {
            id: ApprovalId("q7".to_owned()),
            says: "Deletes notes.txt".to_owned(),
            expires_at_ms: 1_764_000_000_123,
        };
        let calls = vec![call(TurnCallState::Waiting, None)];
        let state = AskState::Waiting { turn_seq: 1, questions: vec![question], calls };
        let answer = Answer::of(handle(), Some("work"), state);
        assert_eq!(answer.status, Status::Waiting);
        assert_eq!(answer.questions[0].expires_at, "2025-11-24T16:00:00Z");
        let words = answer.words();
        for named in ["Deletes notes.txt", "q7", "claw approve", "`ask_result`", "`ask-12`"] {
            assert!(words.contains(named), "{named} is not in {words}");
        }
    }

    #[test]
    fn an_answer_is_its_text_and_what_was_refused_is_named() {
        let state = AskState::Done {
            turn_seq: 1,
            text: "Here it is.".to_owned(),
            end: TurnEnd::Answered,
            calls: vec![
                call(TurnCallState::Ended, None),
                call(TurnCallState::Refused, Some("the owner said no")),
            ],
            usage: Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() },
            joined: false,
        };
        let answer = Answer::of(handle(), None, state);
        assert_eq!(answer.status, Status::Done);
        assert!(answer.next.is_none());
        let words = answer.words();
        assert!(words.starts_with("Here it is.") && words.contains("the owner said no"), "{words}");
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["usage"]["output_tokens"], 3);
        assert_eq!(json["refused"][0]["why"], "the owner said no");
        assert!(json.get("session").is_none() && json.get("joined").is_none());
    }
}
