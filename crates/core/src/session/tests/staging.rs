//! What the tests of staged actions begin with: a server that proposes, a turn in which it has, and
//! what is open, out and in the log of it.

use serde_json::{Value, json};

use super::rig::{BOUNDS, Rig, main};
use crate::domain::{
    Address, Answer, ApprovalId, EventBody, OutboundBody, Outcome, Question, Staged,
};
use crate::gate::tests::rig::{OWNER, Rig as GateRig};
use crate::model::Script;
use crate::session::Ran;
use crate::turn::replay::replay;

pub(super) const POLICY: &str = "[classes]\n\"shop/propose\" = \"safe\"\n\"shop/like\" = \"safe\"\n\"shop/change\" = \"safe\"\n";

pub(super) fn no() -> Answer {
    Answer::Deny { word: None }
}

pub(super) fn item(text: &str) -> Value {
    json!({"tool": "confirm", "arguments": {"text": text}, "summary": format!("Add {text} to the cart")})
}

pub(super) fn proposing(actions: Value) -> Script {
    Script::tool_use("shop__propose", json!({"actions": actions}))
}

fn rig_of(policy: &str, script: Vec<Script>) -> Rig {
    Rig::on(GateRig::new(&["shop"], policy), script)
}

/// One turn in which these actions are proposed in one result.
pub(super) async fn staged(actions: Value) -> Rig {
    let rig = rig_of(POLICY, vec![proposing(actions), Script::text("look"), Script::text("fine")]);
    assert_eq!(rig.turn("go").await, Ran::Idle);
    rig
}

impl Rig {
    pub(super) fn out(&self) -> Vec<OutboundBody> {
        let rows =
            self.gate.store.read(|tx| tx.queued_outbound(&Address("console/1".into()))).unwrap();
        rows.into_iter().map(|row| row.outbound.body).collect()
    }

    pub(super) fn questions(&self) -> Vec<Question> {
        let open = self.gate.store.read(|tx| tx.open_approvals(None)).unwrap();
        let shown = self.out().into_iter().filter_map(|body| match body {
            OutboundBody::Question { question, .. } => Some(*question),
            _ => None,
        });
        shown.filter(|question| open.iter().any(|row| row.id == question.approval)).collect()
    }

    /// The ids of all questions that went out, also of those that are answered.
    pub(super) fn questions_asked(&self) -> Vec<ApprovalId> {
        let question = |body| match body {
            OutboundBody::Question { question, .. } => Some(question.approval),
            _ => None,
        };
        self.out().into_iter().filter_map(question).collect()
    }

    pub(super) async fn decide(&self, id: &ApprovalId, answer: Answer) {
        self.gate.gate.calls().decide(id, &answer, OWNER).await.unwrap();
    }

    pub(super) fn results(&self) -> Vec<Outcome> {
        let result = |body| match body {
            EventBody::ActionResult { outcome, .. } => Some(*outcome),
            _ => None,
        };
        self.log().into_iter().filter_map(result).collect()
    }

    /// The one question that is open and has these words.
    pub(super) fn open(&self, words: &str) -> ApprovalId {
        let found = self.questions().into_iter().find(|question| {
            let summary = match question.staged.as_ref().unwrap() {
                Staged::Item { summary, .. } => summary.clone(),
                Staged::All { .. } => "all".to_owned(),
                Staged::Buttons { .. } => "buttons".to_owned(),
            };
            summary.contains(words)
        });
        found.unwrap_or_else(|| panic!("no open question about {words}")).approval
    }

    /// The log replays, and the audit is unbroken.
    pub(super) fn is_whole(&self) {
        self.gate.verify();
        let events = self.gate.store.read(|tx| tx.events_from(&main(), 1)).unwrap();
        assert_eq!(replay(&main(), events, &BOUNDS).difference, None);
    }

    pub(super) fn last_notice(&self) -> String {
        self.notices().pop().unwrap_or_default()
    }
}
