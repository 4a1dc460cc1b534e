//! What a tool may propose and what not, and who decides about it how often.

use serde_json::{Value, json};

use super::rig::{OWNER, Rig, allow, session};
use crate::calls::{DecideError, Proposed};
use crate::domain::{
    Answer, ApprovalState, Approvers, CallId, Origin, Outcome, Staged, Term, ToolCall, ToolOutput,
};
use crate::store::DecideRefused;

const POLICY: &str = "[classes]\n\"shop/propose\" = \"safe\"\n\"shop/like\" = \"safe\"\n\"shop/change\" = \"safe\"\n";

fn shop(n: u64, tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: CallId::Reply { session: session("main"), reply_seq: n, block: 0 },
        server: "shop".into(),
        tool: tool.into(),
        arguments,
        origin: Origin::Owner,
        principal: OWNER.into(),
    }
}

async fn proposed(rig: &Rig, n: u64, actions: Value) -> ToolOutput {
    match rig.call(shop(n, "propose", json!({"actions": actions}))).await {
        Outcome::Ended { output } => output,
        other => panic!("{other:?}"),
    }
}

fn item() -> Value {
    json!({"tool": "confirm", "arguments": {"text": "a"}, "summary": "Add a"})
}

fn item_with(key: &str, value: Value) -> Value {
    let mut item = item();
    item[key] = value;
    item
}

/// Stages what a call proposed, as the session does; the ids of the questions.
async fn staged(rig: &Rig, n: u64, actions: Value) -> Vec<crate::domain::ApprovalId> {
    let output = proposed(rig, n, actions).await;
    assert!(!output.is_error, "{}", output.text);
    let source = shop(n, "propose", json!({})).id;
    let all = (0..).zip(output.actions).map(|(index, proposal)| Proposed {
        source: source.clone(),
        session: session("main"),
        result_seq: 100 + n,
        index,
        proposal,
    });
    let list = rig.gate.calls().stage(all.collect(), &[]).unwrap();
    let questions = list.questions.iter().map(|question| question.approval.clone()).collect();
    rig.store.write(move |tx| list.write(tx)).await.unwrap();
    questions
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_when_it_is_proposed() {
    let rules = "[[rule]]\ntool = \"like\"\nargs.text = \"no\"\ndecision = \"deny\"\nwhy = \"not that\"\n\
                 [[rule]]\ntool = \"like\"\nargs.text = \"button\"\norigin = \"button\"\ndecision = \"ask\"\nwhy = \"taps ask\"\n";
    let rig = Rig::new(&["shop"], &format!("{rules}{POLICY}"));
    let like = |text: &str| json!({"tool": "like", "arguments": {"text": text}, "label": "Like"});
    for (n, (actions, says)) in (1..).zip([
        (json!("x"), "is not a list"),
        (json!([7]), "proposed action 1 is refused: invalid type"),
        (json!([item(), {"arguments": {}}]), "proposed action 2 is refused: missing field `tool`"),
        (json!([item_with("tool", json!("nothing"))]), "there is no tool `nothing` on the server `shop`"),
        (json!([item_with("tool", json!("legacy/echo"))]), "there is no tool `legacy/echo` on the server `shop`"),
        (json!([item_with("arguments", json!([1]))]), "its `arguments` are not an object"),
        (json!([item_with("arguments", json!({"t": "x".repeat(16 * 1024)}))]), "and may have 16384"),
        (json!([item_with("arguments", json!({"t": "@OWN"}))]), "the secret OWN"),
        (json!([item_with("arguments", json!({"t": "@MARK"}))]), "in place of a secret"),
        (json!([item_with("label", json!("x".repeat(33)))]), "its `label` has 33 characters, and must have 1 to 32"),
        (json!([item_with("cancel_label", json!(" "))]), "its `cancel_label`"),
        (json!([item_with("summary", json!("x".repeat(501)))]), "its `summary` has 501"),
        (json!([item_with("group", json!("x".repeat(65)))]), "its `group` has 65"),
        (json!([item_with("ttl_s", json!(9))]), "its `ttl_s` is 9, and must be from 10 to 604800 seconds"),
        (json!([item_with("ttl_s", json!(604_801))]), "its `ttl_s`"),
        (json!(vec![item(); 11]), "11 proposed actions are refused: a turn may stage 10 (limits.staged_actions_max)"),
        (json!([item(), like("no")]), "proposed action 2 is refused: not that (the rule policy.toml"),
        (
            json!([like("button")]),
            "a button that asks no question, and those are only for tools that run without one: taps ask",
        ),
        (json!([{"tool": "confirm", "label": "Add"}]), "(claw's default for changes)"),
    ]) {
        let output = proposed(&rig, n, actions).await;
        assert!(output.is_error && output.actions.is_empty(), "{says}: {output:?}");
        assert!(output.text.contains(says), "{says}: {}", output.text);
        assert!(output.text.starts_with("in the cart\n\n[claw: the call has run, but "), "{}", output.text);
        assert!(output.text.ends_with("Nothing of this result was staged.]"), "all or nothing: {}", output.text);
    }
    let good =
        proposed(&rig, 100, json!([item_with("summary", json!("Add @OWN")), like("yes")])).await;
    assert!(!good.is_error && good.actions.len() == 2, "{good:?}");
    assert_eq!(good.actions[0].summary.as_deref(), Some("Add [redacted:OWN]"));
    assert!(proposed(&rig, 101, json!([])).await.actions.is_empty());
    let twice = rig.again_with(POLICY, |settings| settings.catalog.tools = only_propose());
    assert!(
        proposed(&twice, 102, json!([item()])).await.text.contains("there is no tool `confirm`")
    );
    // Behind everything that is queued.
    rig.store.write(|_| Ok(())).await.unwrap();
    rig.verify();
}

/// Our own configuration leaves one tool there.
fn only_propose() -> crate::config::Tools {
    crate::config::Tools::of(&[], &["shop/propose"])
}

#[tokio::test]
async fn a_tool_that_has_changed_is_not_proposed() {
    let rig = Rig::new(&["shop"], POLICY);
    assert!(!proposed(&rig, 1, json!([item()])).await.is_error);
    rig.ended(shop(2, "change", json!({}))).await;
    let output = proposed(&rig, 3, json!([item()])).await;
    assert!(output.is_error && output.text.contains("withheld"), "{}", output.text);
}

#[tokio::test]
async fn a_hidden_tool_is_reached_by_a_tap_and_by_nothing_else() {
    let rig =
        Rig::new(&["shop"], "[[rule]]\nserver = \"shop\"\ndecision = \"allow\"\nwhy = \"tests\"\n");
    assert_eq!(
        rig.denied(shop(1, "confirm", json!({"text": "x"}))).await,
        "the server `shop` has no tool `confirm` now (claw's list of tools)"
    );
    let question = staged(&rig, 2, json!([item()])).await.remove(0);
    let call = rig.gate.calls().call_of(&question).unwrap().unwrap();
    assert!(
        matches!(rig.gate.act(&call, rig.context()).await.unwrap(), Outcome::Denied { reason, .. } if reason.contains("nobody has confirmed it"))
    );
    assert!(rig.effects("shop").is_empty());
}

#[tokio::test]
async fn whoever_decides_first_decides_and_only_what_was_offered() {
    let rig = Rig::new(&["shop"], POLICY);
    let questions = staged(&rig, 1, json!([item(), item()])).await;
    let [one, two, all] = &questions[..] else { panic!("{questions:?}") };
    let decide = |id, answer: Answer, by: &'static str| {
        let gate = rig.gate.clone();
        async move { gate.calls().decide(id, &answer, by).await }
    };
    let refused = decide(one, allow(Term::Once), "telegram:666").await;
    assert!(matches!(refused, Err(DecideError::Refused(DecideRefused::NotYours { .. }))));
    for wrong in [
        allow(Term::Always),
        Answer::Never,
        Answer::Deny { word: Some("w".into()) },
        Answer::Press { index: 0 },
    ] {
        for id in &questions {
            assert!(
                matches!(decide(id, wrong.clone(), OWNER).await, Err(DecideError::NotOffered(_))),
                "{wrong:?}"
            );
        }
    }
    let (yes, no) = (allow(Term::Once), Answer::Deny { word: None });
    decide(one, no.clone(), OWNER).await.unwrap();
    // Two processes at once, one about all and one about the last.
    let (other, third) = (rig.again(POLICY), rig.again(POLICY));
    let (a, b) = tokio::join!(
        other.gate.calls().decide(all, &yes, OWNER),
        third.gate.calls().decide(two, &no, OWNER)
    );
    assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
    let states =
        questions.iter().map(|id| rig.store.read(|tx| tx.approval(id)).unwrap().unwrap().state);
    let states: Vec<_> = states.map(ApprovalState::as_str).collect();
    assert!(
        states == ["denied", "approved", "approved"]
            || states == ["denied", "denied", "superseded"],
        "{states:?}"
    );
    assert!(rig.store.read(|tx| tx.grants()).unwrap().is_empty(), "no grant ever comes of it");
    // Behind everything that is queued.
    rig.store.write(|_| Ok(())).await.unwrap();
    rig.verify();
}

/// What was frozen before ids said who made the call has digests over the ids of that time. A
/// person who is asked still says yes to that, and to nothing else.
#[tokio::test]
async fn what_was_staged_under_an_earlier_id_runs_when_it_is_confirmed() {
    let rig = Rig::new(&["shop"], POLICY);
    let [one, two] =
        staged(&rig, 1, json!([item(), item()])).await[..2].to_vec().try_into().unwrap();
    let spoilt = |row: &crate::store::CallRow, id: &str| {
        crate::calls::digest_under(id, row, &Approvers::parse(OWNER))
    };
    let db = rusqlite::Connection::open(rig.home().join("claw.db")).unwrap();
    for (question, id) in [(&one, "main:101:0"), (&two, "main:101:7")] {
        let call = rig.gate.calls().call_of(question).unwrap().unwrap();
        let digest = spoilt(&rig.row(&call).await, id);
        let of = [digest, call.to_string()];
        assert_eq!(
            db.execute("UPDATE calls SET digest = ?1 WHERE id = ?2", of.clone()).unwrap(),
            1
        );
        assert_eq!(db.execute("UPDATE approvals SET digest = ?1 WHERE call = ?2", of).unwrap(), 1);
        rig.gate.calls().decide(question, &allow(Term::Once), OWNER).await.unwrap();
    }
    let act = async |question| {
        let call = rig.gate.calls().call_of(question).unwrap().unwrap();
        rig.gate.act(&call, rig.context()).await.unwrap()
    };
    assert!(matches!(act(&one).await, Outcome::Ended { .. }));
    assert!(matches!(act(&two).await, Outcome::Denied { .. }), "the id of another action");
}

#[tokio::test]
async fn a_button_that_our_rules_no_longer_call_safe_is_not_run() {
    let rig = Rig::new(&["shop"], POLICY);
    let questions = staged(&rig, 1, json!([{"tool": "like", "label": "Like"}])).await;
    assert!(matches!(
        rig.gate.calls().question(&questions[0]).unwrap().unwrap().staged,
        Some(Staged::Buttons { group: None })
    ));
    rig.gate.calls().decide(&questions[0], &Answer::Press { index: 0 }, OWNER).await.unwrap();
    let tapped =
        rig.gate.calls().tapped(&questions[0], Some(&Answer::Press { index: 0 })).unwrap().unwrap();
    let strict = rig.again("[classes]\n\"shop/propose\" = \"safe\"\n");
    let outcome = strict.gate.act(&tapped.call, strict.context()).await.unwrap();
    assert!(
        matches!(&outcome, Outcome::Denied { reason, .. } if reason.contains("have changed since")),
        "{outcome:?}"
    );
    assert!(rig.effects("shop").is_empty());
}

/// Items of one group stand together, each list has its own question, and each row what the person
/// saw.
#[tokio::test]
async fn groups_stand_together() {
    let rig = Rig::new(&["shop"], POLICY);
    let named = |text: &str, group: Option<&str>| json!({"tool": "confirm", "arguments": {"text": text}, "summary": text, "group": group, "label": "Do <it>\u{202e}"});
    let actions =
        json!([named("a", Some("g")), named("b", None), named("c", Some("g")), named("d", None)]);
    let questions = staged(&rig, 1, actions).await;
    let shown: Vec<_> =
        questions.iter().map(|id| rig.gate.calls().question(id).unwrap().unwrap()).collect();
    let order: Vec<_> =
        shown[..4].iter().map(|question| question.arguments[0].1.as_str()).collect();
    assert_eq!(order, ["a", "c", "b", "d"]);
    assert_eq!(shown[0].choices[0].label, "Do <it>\\u{202e}", "what cannot be seen is spelled out");
    assert_eq!(shown[4].choices[0].label, "✅ Confirm all 4");
    assert_eq!(shown[4].arguments[1], ("2".to_owned(), "c  shop/confirm".to_owned()));
    assert_eq!((shown[4].server.as_str(), shown[4].tool.as_str()), ("claw", "staged_all"));
}
