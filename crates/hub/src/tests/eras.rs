//! Both eras, and the ways in which servers receive a first message that they do not know.

use std::time::{Duration, Instant};

use serde_json::json;

use super::rig::{Rig, text};
use crate::{CallEnd, Era, HubError, ServerState};

#[tokio::test]
async fn a_legacy_server() {
    let rig = Rig::new(&["legacy"]);
    assert_eq!(text(rig.call("legacy", "echo", json!({"text": "hi"})).await), "hi");
    // Trap 1: never a modern version in `initialize`.
    assert!(rig.record("legacy").contains(&"initialize with \"2025-11-25\"".to_owned()));
    // Trap 13.
    assert!(rig.record("legacy").contains(&"a client by the name \"claw\"".to_owned()));
    let ServerState::Up { era, protocol, tool_count, .. } = rig.state("legacy") else { panic!() };
    assert_eq!((era, protocol.as_str(), tool_count), (Era::Legacy, "2025-11-25", Some(7)));
    assert_eq!(rig.starts("legacy"), 1);
}

#[tokio::test]
async fn a_modern_server_gets_its_metadata_with_every_request() {
    let rig = Rig::new(&["modern"]);
    assert_eq!(text(rig.call("modern", "echo", json!({"text": "hi"})).await), "hi");
    assert!(!rig.record("modern").contains(&"initialize".to_owned()));
    let tools = rig.hub.tools("modern").await.unwrap();
    assert_eq!(tools.era, Era::Modern);
    assert_eq!(tools.tools.len(), 7, "all pages");
}

/// The example that users copy, through both eras.
#[tokio::test]
async fn a_server_on_rmcp() {
    for era in [Era::Modern, Era::Legacy] {
        let dir = tempfile::TempDir::new().unwrap();
        let rig =
            Rig::from_servers(json!({"greeter": {"command": Rig::greeter()}}), dir, |settings| {
                if era == Era::Legacy {
                    settings.known_eras.insert("greeter".into(), era);
                }
            });
        let tools = rig.hub.tools("greeter").await.unwrap();
        assert_eq!(tools.era, era);
        assert_eq!(
            tools.tool("guests").unwrap().annotations.as_ref().unwrap()["readOnlyHint"],
            true
        );
        assert_eq!(
            text(rig.call("greeter", "greet", json!({"name": "Ann"})).await),
            r#"{"greeting":"Hello, Ann!"}"#
        );
        let CallEnd::Ended(guests, _) = rig.call("greeter", "guests", json!({})).await else {
            panic!()
        };
        assert_eq!(guests.structured, Some(json!({"names": ["Ann"]})));
        for wrong in [json!({"name": ""}), json!({}), json!({"name": 7})] {
            let CallEnd::Ended(output, _) = rig.call("greeter", "greet", wrong).await else {
                panic!()
            };
            assert!(output.is_error, "{output:?}");
        }
        rig.hub.shutdown().await;
        assert!(rig.notices.lock().unwrap().is_empty());
    }
}

/// Trap 2, first half: started again with `initialize`, and the era is remembered for the next
/// life.
#[tokio::test]
async fn a_server_that_exits_on_an_unknown_first_message() {
    let rig = Rig::new(&["exits-on-unknown"]);
    assert_eq!(rig.hub.tools("exits-on-unknown").await.unwrap().era, Era::Legacy);
    assert_eq!(rig.starts("exits-on-unknown"), 2);
    rig.hub.end_all().await;
    rig.hub.tools("exits-on-unknown").await.unwrap();
    assert_eq!(rig.starts("exits-on-unknown"), 3);
}

/// Trap 2, second half: a silent one costs the probe's limit, not 10 s, and no second start.
#[tokio::test]
async fn a_server_that_is_silent_on_the_probe() {
    let rig = Rig::with(&["silent-on-probe"], |settings| {
        settings.probe_timeout = Duration::from_millis(200)
    });
    let begun = Instant::now();
    assert_eq!(rig.hub.tools("silent-on-probe").await.unwrap().era, Era::Legacy);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(rig.starts("silent-on-probe"), 1);
}

#[tokio::test]
async fn a_remembered_era_saves_the_probe_and_a_wrong_one_is_repaired() {
    let rig = Rig::with(&["legacy", "modern"], |settings| {
        settings.known_eras =
            [("legacy".to_owned(), Era::Legacy), ("modern".to_owned(), Era::Legacy)].into();
    });
    assert_eq!(rig.hub.tools("legacy").await.unwrap().era, Era::Legacy);
    assert!(!rig.record("legacy").contains(&"server/discover".to_owned()));
    assert_eq!(rig.hub.tools("modern").await.unwrap().era, Era::Modern);
    assert_eq!(rig.starts("modern"), 2);
}

#[tokio::test]
async fn unusable_and_unknown_servers_are_refused_in_words() {
    let dir = tempfile::TempDir::new().unwrap();
    let rig = Rig::from_servers(
        json!({"r": {"url": "ftp://x"}, "d": {"command": "x", "disabled": true}}),
        dir,
        |_| {},
    );
    assert!(rig.hub.tools("r").await.unwrap_err().to_string().contains("begins with ftp"));
    assert!(matches!(rig.hub.tools("d").await, Err(HubError::Disabled { .. })));
    assert!(matches!(rig.hub.tools("nobody").await, Err(HubError::UnknownServer { .. })));
}
