//! Tools that change: withheld until the owner has seen the difference and said yes.

use serde_json::json;

use super::rig::{ALLOW, OWNER, Rig, allow, echo, tool};
use crate::domain::Term;

#[tokio::test]
async fn a_changed_tool_is_withheld_until_it_is_accepted() {
    let rig = Rig::new(&["legacy"], ALLOW);
    assert_eq!(rig.ended(echo(1, "a")).await, "a");
    assert_eq!(rig.ended(tool(2, "change", json!({}))).await, "changed");
    let reason = rig.denied(echo(3, "b")).await;
    assert!(reason.contains("withheld") && reason.contains("claw tools accept legacy"), "{reason}");
    assert_eq!(rig.ended(tool(4, "bare", json!({"text": "c"}))).await, "c", "the others go on");

    let (changes, troubles) = rig.gate.changes(None).await.unwrap();
    assert!(troubles.is_empty());
    assert_eq!((changes.len(), changes[0].tool.as_str()), (1, "echo"));
    assert!(
        changes[0].diff.contains("- Says it again, calm.") && changes[0].diff.contains("+ Says it again, changed.")
    );

    assert!(rig.gate.accept("legacy/echo", OWNER).await.unwrap_err().to_string().contains("claw tools diff"), "unseen");
    rig.gate.shown(&changes).await.unwrap();
    assert_eq!(rig.gate.accept("legacy/echo", OWNER).await.unwrap().len(), 1);
    assert!(rig.gate.accept("legacy", OWNER).await.is_err(), "nothing waits any more");
    assert_eq!(rig.ended(echo(5, "d")).await, "d");
    assert_eq!(rig.effects("legacy"), ["a", "c", "d"]);
    rig.verify();
}

#[tokio::test]
async fn an_approval_does_not_outlive_the_tool_that_was_shown() {
    let rig = Rig::new(&["legacy"], "[[rule]]\ntool = \"change\"\ndecision = \"allow\"\nwhy = \"tests\"\n");
    let asked = rig.parked(echo(1, "a")).await;
    rig.gate.decide(&asked, &allow(Term::Once), OWNER).await.unwrap();
    rig.ended(tool(2, "change", json!({}))).await;
    rig.denied(echo(1, "a")).await;

    let asked = rig.parked(tool(3, "bare", json!({"text": "x"}))).await;
    rig.gate.decide(&asked, &allow(Term::Once), OWNER).await.unwrap();
    assert_eq!(rig.ended(tool(3, "bare", json!({"text": "x"}))).await, "x", "this one did not change");
    assert_eq!(rig.effects("legacy"), ["x"]);
}

/// One process runs a changed server while the other's is still the old one.
#[tokio::test]
async fn processes_with_different_versions_of_a_server_each_hold_to_the_pin() {
    let (one, rounds) = (Rig::new(&["legacy"], ALLOW), 3);
    let two = one.again(ALLOW);
    assert_eq!(two.ended(echo(100, "two")).await, "two");
    one.ended(tool(1, "change", json!({}))).await;
    for n in 0..rounds {
        one.denied(echo(10 + n, "new")).await;
        assert_eq!(two.ended(echo(200 + n, "old")).await, "old");
    }
    one.denied(echo(50, "new")).await;
    one.gate.shown(&one.gate.changes(None).await.unwrap().0).await.unwrap();
    one.gate.accept("legacy", OWNER).await.unwrap();
    assert_eq!(one.ended(echo(51, "new")).await, "new");
    two.denied(echo(300, "old")).await;
    assert_eq!(one.effects("legacy"), ["two", "old", "old", "old", "new"]);
}

#[tokio::test]
async fn what_is_offered_leaves_out_what_is_withheld() {
    let rig = Rig::new(&["legacy", "broken"], ALLOW);
    let offered = rig.gate.offered().await;
    let names: Vec<&str> = offered.specs.iter().map(|spec| spec.name.as_str()).collect();
    assert!(names.contains(&"legacy__echo") && !names.iter().any(|name| name.starts_with("broken")), "{names:?}");
    assert!(offered.notices.iter().any(|notice| notice.contains("broken")), "{:?}", offered.notices);
    assert!(rig.gate.offered().await.notices.is_empty(), "told once");
    assert_eq!(rig.gate.resolve("legacy__echo").await, Some(("legacy".into(), "echo".into())));

    rig.ended(tool(1, "change", json!({}))).await;
    rig.denied(echo(2, "x")).await;
    let later = rig.again(ALLOW);
    let offered = later.gate.offered().await;
    assert!(!offered.specs.iter().any(|spec| spec.name == "legacy__echo"));
    assert!(offered.notices.iter().any(|notice| notice.contains("legacy/echo")), "{:?}", offered.notices);
}
