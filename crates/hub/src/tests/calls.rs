//! What a call may end in, and that its pin is compared.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::rig::{Rig, SOON, context, eventually, not_forwarded, text, unknown};
use crate::{CallEnd, HubNotice};

#[tokio::test]
async fn a_tool_that_changed_is_not_called() {
    for mode in ["legacy", "modern-changing"] {
        let rig = Rig::new(&[mode]);
        let before = rig.hub.tools(mode).await.unwrap();
        let permit = rig.permit(mode, "echo", json!({"text": "hi"})).await;
        assert_eq!(text(rig.call(mode, "change", json!({})).await), "changed");
        let reason = not_forwarded(rig.hub.call(permit, context()).await);
        assert!(reason.contains("has changed"), "{reason}");
        assert!(!rig.record(mode).contains(&"call \"echo\"".to_owned()));
        let told = rig.notices.lock().unwrap().clone();
        assert_eq!(
            told,
            [HubNotice::ToolsChanged { server: mode.into() }],
            "100 announcements are one piece of news"
        );

        let after = rig.hub.tools(mode).await.unwrap();
        let (old, new) = (before.tool("echo").unwrap(), after.tool("echo").unwrap());
        assert_ne!(old.pin, new.pin);
        let diff = crate::pins::diff(&old.raw, &new.raw);
        assert_eq!(diff, "description:\n- Says it again, calm.\n+ Says it again, changed.\n");
        assert_eq!(before.tool("bare").unwrap().pin, after.tool("bare").unwrap().pin);
        assert_eq!(text(rig.call(mode, "echo", json!({"text": "again"})).await), "again");
    }
}

#[tokio::test]
async fn a_permit_of_another_hub_is_not_forwarded() {
    let (rig, other) = (Rig::new(&["legacy"]), Rig::new(&["legacy"]));
    let permit = other.permit("legacy", "echo", json!({"text": "x"})).await;
    assert!(not_forwarded(rig.hub.call(permit, context()).await).contains("other servers"));
    assert!(!rig.record("legacy").contains(&"tools/call".to_owned()));
    let own = other.permit("legacy", "echo", json!({"text": "x"})).await;
    assert_eq!(text(other.hub.call(own, context()).await), "x");
}

#[tokio::test]
async fn a_wrong_pin_or_an_unknown_tool_is_not_forwarded() {
    let rig = Rig::new(&["legacy"]);
    let wrong = rig.permit_of("legacy", "echo", json!({}), "0000", SOON);
    assert!(not_forwarded(rig.hub.call(wrong, context()).await).contains("has changed"));
    let missing = rig.permit_of("legacy", "nothing", json!({}), "0000", SOON);
    assert!(not_forwarded(rig.hub.call(missing, context()).await).contains("no tool `nothing`"));
    let list = rig.permit("legacy", "echo", json!(["a"])).await;
    assert!(not_forwarded(rig.hub.call(list, context()).await).contains("JSON object"));
    assert!(!rig.record("legacy").contains(&"tools/call".to_owned()));
}

#[tokio::test]
async fn no_answer_in_time_is_unknown_and_the_server_is_told() {
    let rig = Rig::new(&["never"]);
    let permit = rig.permit_for("never", "echo", json!({}), Duration::from_millis(200)).await;
    let reason = unknown(rig.hub.call(permit, context()).await);
    assert!(reason.contains("within 0.2 s"), "{reason}");
    eventually("it is told", || {
        rig.record("never").contains(&"notifications/cancelled".to_owned())
    })
    .await;
}

#[tokio::test]
async fn a_cancel_is_unknown_once_the_call_is_out() {
    let rig = Rig::new(&["never"]);
    let permit = rig.permit("never", "echo", json!({})).await;
    let context = context();
    let (cancel, call) = (context.cancel.clone(), rig.hub.call(permit, context));
    let wait = async {
        eventually("the call arrives", || rig.record("never").contains(&"tools/call".to_owned()))
            .await;
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(call, wait);
    assert!(unknown(end).contains("stopped"));
    eventually("it is told", || {
        rig.record("never").contains(&"notifications/cancelled".to_owned())
    })
    .await;
}

#[tokio::test]
async fn a_cancel_before_that_is_not_forwarded() {
    let rig = Rig::new(&["never"]);
    let permit = rig.permit("never", "echo", json!({})).await;
    let context = context();
    context.cancel.cancel();
    not_forwarded(rig.hub.call(permit, context).await);
    assert!(!rig.record("never").contains(&"tools/call".to_owned()));
}

#[tokio::test]
async fn a_death_in_the_middle_is_unknown_and_the_next_call_starts_again() {
    let rig = Rig::new(&["dies"]);
    let reason = unknown(rig.call("dies", "echo", json!({})).await);
    assert!(reason.contains("status 3") && reason.contains("boom"), "{reason}");
    unknown(rig.call("dies", "echo", json!({})).await);
    assert_eq!(rig.starts("dies"), 2);
    assert_eq!(
        rig.record("dies").iter().filter(|line| *line == "tools/call").count(),
        2,
        "nothing is sent twice"
    );
    eventually("it is told", || {
        rig.notices.lock().unwrap().iter().any(|notice| matches!(notice, HubNotice::Died { .. }))
    })
    .await;
}

#[tokio::test]
async fn an_error_of_the_protocol_is_a_result_for_the_model() {
    let dir = tempfile::TempDir::new().unwrap();
    let rig = Rig::from_servers(
        json!({"s": {"command": Rig::exe(), "args": ["refuses-calls"]}}),
        dir,
        |_| {},
    );
    let CallEnd::Ended(output, _) = rig.call("s", "echo", json!({})).await else { panic!() };
    assert!(output.is_error);
    assert!(
        output.text.contains("-32602") && output.text.contains("unknown tool"),
        "{}",
        output.text
    );
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_end() {
    for era in ["legacy", "modern"] {
        let rig = Rig::new(&[era]);
        let permit = rig.permit(era, "progress", json!({})).await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let mut context = context();
        context.progress = Arc::new(move |text| sink.lock().unwrap().push(text));
        assert_eq!(text(rig.hub.call(permit, context).await), "done");
        assert_eq!(*seen.lock().unwrap(), ["one", "two", "three"], "{era}");
    }
}

#[tokio::test]
async fn parallel_calls_of_one_tool_keep_their_answers() {
    let rig = Rig::new(&["legacy"]);
    let texts: Vec<String> = (0..50).map(|n| n.to_string()).collect();
    let ends = futures::future::join_all(
        texts.iter().map(|n| rig.call("legacy", "echo", json!({"text": n}))),
    )
    .await;
    let answers: Vec<String> = ends.into_iter().map(text).collect();
    assert_eq!(answers, texts);
}
