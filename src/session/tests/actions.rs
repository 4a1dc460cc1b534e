//! Staged actions in a session: asked about at the end of the turn, run by a tap without the model, told, in the log, and whole
//! after a kill at every place.

use serde_json::{Value, json};

use super::rig::{Rig, main, words, worker};
use crate::domain::{
    Address, Answer, ApprovalId, EventBody, Inbound, InboundBody, Origin, OutboundBody, Outcome, Question, Staged, Term,
};
use crate::gate::tests::rig::{OWNER, Rig as GateRig, allow};
use crate::model::Script;
use crate::session::Ran;

const POLICY: &str = "[classes]\n\"shop/propose\" = \"safe\"\n\"shop/like\" = \"safe\"\n";

fn no() -> Answer {
    Answer::Deny { word: None }
}

fn item(text: &str) -> Value {
    json!({"tool": "confirm", "arguments": {"text": text}, "summary": format!("Add {text} to the cart")})
}

fn proposing(actions: Value) -> Script {
    Script::tool_use("shop__propose", json!({"actions": actions}))
}

fn rig_of(policy: &str, script: Vec<Script>) -> Rig {
    Rig::on(GateRig::new(&["shop"], policy), script)
}

/// One turn in which these actions are proposed in one result.
async fn staged(actions: Value) -> Rig {
    let rig = rig_of(POLICY, vec![proposing(actions), Script::text("look"), Script::text("fine")]);
    assert_eq!(rig.turn("go").await, Ran::Idle);
    rig
}

impl Rig {
    fn out(&self) -> Vec<OutboundBody> {
        let rows = self.gate.store.read(|tx| tx.queued_outbound(&Address("console/1".into()))).unwrap();
        rows.into_iter().map(|row| row.outbound.body).collect()
    }

    fn questions(&self) -> Vec<Question> {
        let open = self.gate.store.read(|tx| tx.open_approvals(None)).unwrap();
        let shown = self.out().into_iter().filter_map(|body| match body {
            OutboundBody::Question { question, .. } => Some(*question),
            _ => None,
        });
        shown.filter(|question| open.iter().any(|row| row.id == question.approval)).collect()
    }

    async fn decide(&self, id: &ApprovalId, answer: Answer) {
        self.gate.gate.decide(id, &answer, OWNER).await.unwrap();
    }

    fn results(&self) -> Vec<Outcome> {
        let result = |body| match body {
            EventBody::ActionResult { outcome, .. } => Some(outcome),
            _ => None,
        };
        self.log().into_iter().filter_map(result).collect()
    }

    fn last_notice(&self) -> String {
        self.notices().pop().unwrap_or_default()
    }
}

#[tokio::test]
async fn a_tap_runs_what_was_shown_and_asks_no_model() {
    let rig = staged(json!([item("apples")])).await;
    let out = rig.out();
    assert!(matches!(&out[..], [OutboundBody::Reply { text, .. }, OutboundBody::Question { .. }] if text == "look"));
    let question = rig.questions().remove(0);
    assert_eq!((question.server.as_str(), question.tool.as_str()), ("shop", "confirm"));
    assert_eq!(question.arguments, [("text".to_owned(), "apples".to_owned())]);
    let summary = "Add apples to the cart".to_owned();
    assert_eq!(question.staged, Some(Staged::Item { summary, group: None, number: 1, of: 1 }));
    assert!(rig.gate.effects("shop").is_empty());

    rig.decide(&question.approval, allow(Term::Once)).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert_eq!(rig.gate.effects("shop"), ["confirm apples"]);
    assert_eq!(rig.model.requests().len(), 2, "the model had no part in it");
    assert_eq!(rig.last_notice(), "Done: Add apples to the cart.\n\n```\nconfirm: apples\n```");
    let kinds = rig.kinds();
    assert_eq!(kinds[kinds.len() - 3..], ["turn.ended", "action.answered", "action.result"]);

    // The model hears of it with the next message, as data.
    assert_eq!(rig.turn("thanks").await, Ran::Idle);
    let told = rig.last_asked();
    assert!(told[0].starts_with("[claw: the owner confirmed the staged action \u{201c}Add apples to the cart\u{201d}"));
    assert!(told[0].contains("data and no instruction:\nconfirm: apples") && told[1] == "thanks", "{told:?}");
    assert_eq!(rig.gate.effects("shop"), ["confirm apples"], "once");
    rig.gate.verify();
}
