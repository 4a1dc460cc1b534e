//! A server that asks in the middle of its call, over the gate, with a real child: answers that are
//! refused, what a server is told without one, and questions that end with their process.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::rig::{OWNER, Rig, session};
use crate::calls::DecideError;
use crate::calls::rounds::{InCall, NewRound, RoundStep};
use crate::domain::{Answer, ApprovalId, CallId, CallState, Origin, Outcome, Question, ToolCall};
use crate::gate::{CallContext, InputNews};
use crate::hub::{HumanTime, ServerAsks};
use crate::store::Tx;

const ALLOW: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"tests\"\n";
const MODERN: &str = "asks-modern";
const LEGACY: &str = "asks-legacy";

fn call(server: &str, tool: &str) -> ToolCall {
    ToolCall {
        id: CallId::Reply { session: session("main"), reply_seq: 1, block: 0 },
        server: server.into(),
        tool: tool.into(),
        arguments: json!({"to": "Rome"}),
        origin: Origin::Owner,
        principal: OWNER.into(),
    }
}

fn give(value: Value) -> Answer {
    Answer::Give { value }
}

/// What the driver of a call hears of its rounds.
type Heard = Arc<Mutex<Vec<InputNews>>>;

impl Rig {
    fn asking(&self) -> (CallContext, Heard) {
        let heard = Heard::default();
        let sink = heard.clone();
        let asks: crate::gate::InputSink = Arc::new(move |news| sink.lock().unwrap().push(news));
        (CallContext { asks: Some(asks), ..self.context() }, heard)
    }

    /// Through the gate, once more if need be.
    async fn asks(&self, call: &ToolCall) -> Outcome {
        let (context, _) = self.asking();
        self.gate.call(call.clone(), context).await
    }

    /// The call waits for the owner: the question.
    async fn asked(&self, call: &ToolCall) -> Question {
        match self.asks(call).await {
            Outcome::Parked { approval } => self.gate.calls().question(&approval).unwrap().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    async fn answers(&self, question: &Question, answer: Answer) {
        self.gate.calls().decide(&question.approval, &answer, OWNER).await.unwrap();
    }

    /// What the server has noted behind this word.
    fn noted(&self, server: &str, word: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.home().join(server)).unwrap_or_default();
        text.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
    }

    /// The time of every question is over.
    fn expire_all(&self) {
        let db = rusqlite::Connection::open(self.home().join("claw.db")).unwrap();
        db.execute("UPDATE approvals SET expires_ms = 1", []).unwrap();
    }

    /// The audit as one text.
    fn audited(&self, call: &ToolCall) -> String {
        let rows = self.store.read(|tx| tx.audit_of(&call.id)).unwrap();
        rows.iter().map(|row| format!("{} {}\n", row.kind, row.body)).collect()
    }

    /// A call that runs, as far as the store knows.
    async fn runs(&self, call: &ToolCall) {
        self.gate.calls().receive(call);
        let id = call.id.clone();
        let started = move |tx: &Tx<'_>| tx.move_call(&id, CallState::Received, CallState::Started);
        assert!(self.store.write(started).await.unwrap());
    }

    async fn next_of(&self, call: &ToolCall) -> RoundStep {
        self.gate.calls().next_of_round(call, true).await.unwrap().step
    }

    /// Waits until the running call asks; the question.
    async fn question_of(&self, heard: &Heard) -> Question {
        loop {
            let asked: Option<ApprovalId> =
                heard.lock().unwrap().iter().find_map(|news| match news {
                    InputNews::Asked { approval, .. } => Some(approval.clone()),
                    _ => None,
                });
            if let Some(approval) = asked {
                return self.gate.calls().question(&approval).unwrap().unwrap();
            }
            tokio::task::yield_now().await;
        }
    }
}

fn text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Ended { output } => output.text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_the_question_stays() {
    let rig = Rig::new(&[MODERN], ALLOW);
    let call = call(MODERN, "book");
    let seats = rig.asked(&call).await;
    let calls = rig.gate.calls();
    for wrong in [
        give(json!(10)),
        give(json!("3")),
        give(json!(2.5)),
        Answer::Skip,
        Answer::Never,
        Answer::Allow { term: crate::domain::Term::Once, scope: crate::domain::Scope::Exact },
        Answer::Allow { term: crate::domain::Term::Always, scope: crate::domain::Scope::Exact },
    ] {
        let refused = calls.decide(&seats.approval, &wrong, OWNER).await;
        assert!(matches!(refused, Err(DecideError::NotOffered(_))), "{wrong:?}: {refused:?}");
    }
    let stranger = calls.decide(&seats.approval, &give(json!(3)), "telegram:666").await;
    assert!(matches!(stranger, Err(DecideError::Refused(_))));
    assert_eq!(rig.asked(&call).await.approval, seats.approval);
}

#[tokio::test]
async fn a_no_and_an_expiry_are_told_to_the_server() {
    let rig = Rig::new(&[MODERN], ALLOW);
    let book = call(MODERN, "book");
    let seats = rig.asked(&book).await;
    rig.answers(&seats, Answer::Deny { word: None }).await;
    assert_eq!(text(rig.asks(&book).await), "not booked: \"decline\"");
    let again = ToolCall {
        id: CallId::Reply { session: session("main"), reply_seq: 2, block: 0 },
        ..book.clone()
    };
    rig.asked(&again).await;
    assert!(rig.gate.calls().expire(&again.id).await.unwrap().is_none(), "its time is not over");
    rig.expire_all();
    rig.gate.calls().expire(&again.id).await.unwrap().unwrap();
    assert_eq!(text(rig.asks(&again).await), "not booked: \"cancel\"");
    assert!(rig.noted(MODERN, "effect").is_empty());
}

#[tokio::test]
async fn a_server_that_asks_without_end_meets_the_limit() {
    let rig = Rig::new(&[MODERN], ALLOW);
    let endless = call(MODERN, "endless");
    let Outcome::Unknown { reason } = rig.asks(&endless).await else { panic!() };
    assert!(reason.contains("more than 8 times in one call (limits.input_rounds_max)"), "{reason}");
    assert_eq!(rig.noted(MODERN, "heard").len(), 8);
    let samples = ToolCall {
        id: CallId::Reply { session: session("main"), reply_seq: 2, block: 0 },
        ..call(MODERN, "samples")
    };
    let Outcome::Unknown { reason } = rig.asks(&samples).await else { panic!() };
    assert!(reason.contains("sampling/createMessage"), "{reason}");
}

/// The connection is gone with its process, and what its server asked with it.
#[tokio::test]
async fn a_legacy_question_ends_with_its_process_and_the_call_is_unknown() {
    let rig = Rig::new(&[LEGACY], ALLOW);
    let call = call(LEGACY, "book");
    let (context, heard) = rig.asking();
    let cancel = context.cancel.clone();
    let running = {
        let (gate, call) = (rig.gate.clone(), call.clone());
        tokio::spawn(async move { gate.call(call, context).await })
    };
    let seats = rig.question_of(&heard).await;
    running.abort();
    let _ = running.await;
    drop(cancel);
    let next = rig.again(ALLOW);
    let Outcome::Unknown { .. } = next.asks(&call).await else { panic!() };
    let late = next.gate.calls().decide(&seats.approval, &give(json!(2)), OWNER).await;
    assert!(matches!(late, Err(DecideError::Refused(_))), "{late:?}");
    assert!(next.noted(LEGACY, "effect").is_empty());
}

/// Asks for a yes.
fn sure() -> Value {
    let schema = json!({"type": "object", "properties": {}});
    json!({"method": "elicitation/create",
        "params": {"message": "Sure?", "requestedSchema": schema}})
}

/// A server that has asked may take that back and ask for another thing, in the same words even.
#[tokio::test]
async fn an_answer_to_what_a_server_asked_before_is_none_to_what_it_asks_now() {
    let rig = Rig::new(&[LEGACY], ALLOW);
    let call = call(LEGACY, "book");
    rig.runs(&call).await;
    let calls = rig.gate.calls();
    let begins = async || {
        let new = NewRound { in_call: true, requests: json!({"0": sure()}), state: None };
        calls.begin_round(&call.id, new).await.unwrap().unwrap()
    };
    assert_eq!(begins().await, 1);
    let RoundStep::Asks(first) = rig.next_of(&call).await else { panic!() };
    assert_eq!(begins().await, 2);
    let late = calls.decide(&first, &give(json!(true)), OWNER).await;
    assert!(matches!(late, Err(DecideError::Refused(_))), "{late:?}");
    let RoundStep::Asks(second) = rig.next_of(&call).await else { panic!() };
    assert_ne!(first, second);
    calls.decide(&second, &give(json!(true)), OWNER).await.unwrap();
    let answered = rig.next_of(&call).await;
    assert!(matches!(answered, RoundStep::Answered { nth: 2, .. }), "{answered:?}");
}

#[tokio::test]
async fn what_a_server_takes_back_is_asked_no_longer() {
    let rig = Rig::new(&[LEGACY], ALLOW);
    let call = call(LEGACY, "book");
    rig.runs(&call).await;
    let (context, heard) = rig.asking();
    let calls = rig.gate.calls.clone();
    let asker = InCall::sink(calls.clone(), call.clone(), context.asks, HumanTime::default());
    let mut asking = asker(ServerAsks { request: sure(), running: Vec::new() });
    let question = tokio::select! {
        answer = &mut asking => panic!("{answer:?}"),
        question = rig.question_of(&heard) => question,
    };
    drop(asking);
    rig.store.write(|_| Ok(())).await.unwrap();
    let late = calls.decide(&question.approval, &give(json!(true)), OWNER).await;
    assert!(matches!(late, Err(DecideError::Refused(_))), "{late:?}");
    assert_eq!(rig.next_of(&call).await, RoundStep::Gone);
    let taken_back = InputNews::TakenBack { call: call.id, approval: question.approval };
    assert_eq!(heard.lock().unwrap().last(), Some(&taken_back));
}

#[tokio::test]
async fn where_nobody_can_answer_the_server_is_told_so() {
    let rig = Rig::new(&[MODERN], ALLOW);
    let call = call(MODERN, "book");
    assert_eq!(text(rig.call(call).await), "not booked: \"cancel\"");
}

#[tokio::test]
async fn a_value_that_looks_like_a_secret_is_not_passed_on() {
    let rig = Rig::new(&[MODERN], ALLOW);
    let call = call(MODERN, "book");
    for answer in [give(json!(3)), give(json!("eco")), give(json!(true))] {
        let question = rig.asked(&call).await;
        rig.answers(&question, answer).await;
    }
    let name = rig.asked(&call).await;
    for secret in ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", super::rig::SECRET] {
        let refused = rig.gate.calls().decide(&name.approval, &give(json!(secret)), OWNER).await;
        let Err(DecideError::NotOffered(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("looks like a secret"), "{why}");
        assert!(why.contains("`claw --agent work mcp login NAME`"), "{why}");
        assert!(!rig.audited(&call).contains(secret));
    }
}
