//! The handshake of both eras, over every transport.

use std::time::Duration;

use serde_json::{Value, json};

use super::link::{Link, PATIENCE, discovered, initialized};
use crate::era::{Era, LEGACY_PROTOCOL, MODERN_PROTOCOL};
use crate::rpc::{Opening, OpeningError};

pub(super) async fn a_modern_server_is_known_by_its_answer_to_the_probe(link: Link) {
    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        let request = peer.request("server/discover").await;
        let meta = &request["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], MODERN_PROTOCOL);
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "claw");
        let mut result = discovered();
        result["instructions"] = json!("Ask for rows.");
        peer.answer(&request, result).await;
    };
    let (agreement, ()) = tokio::join!(claw.open(Opening::Probe), script);
    let agreement = agreement.unwrap();
    assert_eq!((agreement.era, agreement.protocol.as_str()), (Era::Modern, MODERN_PROTOCOL));
    assert_eq!(agreement.instructions.as_deref(), Some("Ask for rows."));

    // Every later request carries the metadata, too.
    let connection = claw.connect(agreement);
    let script = async {
        let request = peer.request("tools/list").await;
        let meta = &request["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], MODERN_PROTOCOL);
        assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object(), "{request}");
        peer.answer(&request, json!({"resultType": "complete", "tools": []})).await;
    };
    let (tools, ()) = tokio::join!(connection.tools(), script);
    assert_eq!(tools.unwrap().tools.len(), 0);
}

/// -32022 with the revisions that a server says it speaks.
fn speaks(request: &Value, supported: &[&str]) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": supported, "requested": MODERN_PROTOCOL},
    }})
}

pub(super) async fn a_modern_server_that_refuses_a_revision_is_asked_once_more(link: Link) {
    for opening in [Opening::Probe, Opening::Discover] {
        let (mut claw, mut peer) = link.dial().await;
        let script = async {
            let first = peer.request("server/discover").await;
            peer.send(speaks(&first, &[MODERN_PROTOCOL])).await;
            let second = peer.request("server/discover").await;
            assert_ne!(first["id"], second["id"]);
            peer.answer(&second, discovered()).await;
        };
        let (agreement, ()) = tokio::join!(claw.open(opening), script);
        assert_eq!(agreement.unwrap().era, Era::Modern);

        let (mut claw, mut peer) = link.dial().await;
        let script = async {
            for _ in 0..2 {
                let request = peer.request("server/discover").await;
                peer.send(speaks(&request, &[MODERN_PROTOCOL])).await;
            }
        };
        let (refused, ()) = tokio::join!(claw.open(opening), script);
        let Err(OpeningError::Refused(reason)) = refused else { panic!("{refused:?}") };
        assert!(reason.contains("twice"), "{reason}");
    }
}

pub(super) async fn a_list_of_older_or_unknown_revisions_decides(link: Link) {
    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        let request = peer.request("server/discover").await;
        peer.send(speaks(&request, &[LEGACY_PROTOCOL])).await;
        let request = peer.request("initialize").await;
        peer.answer(&request, initialized()).await;
        peer.request("notifications/initialized").await;
    };
    let (agreement, ()) = tokio::join!(claw.open(Opening::Probe), script);
    assert_eq!(agreement.unwrap().era, Era::Legacy);

    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        let request = peer.request("server/discover").await;
        peer.send(speaks(&request, &["2030-01-01"])).await;
    };
    let (refused, ()) = tokio::join!(claw.open(Opening::Probe), script);
    let Err(OpeningError::Refused(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("only protocol 2030-01-01"), "{reason}");
}

pub(super) async fn a_refused_probe_is_followed_by_initialize(link: Link) {
    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        let request = peer.request("server/discover").await;
        peer.refuse(&request, -32601).await;
        let request = peer.request("initialize").await;
        // Trap 1: never a modern revision.
        assert_eq!(request["params"]["protocolVersion"], LEGACY_PROTOCOL);
        assert_eq!(request["params"]["clientInfo"], json!({"name": "claw", "version": "7.7"}));
        // A ping may come before the answer, and gets one.
        peer.send(json!({"jsonrpc": "2.0", "id": "early", "method": "ping"})).await;
        assert_eq!(peer.receive().await.unwrap()["id"], "early");
        peer.answer(&request, initialized()).await;
        peer.request("notifications/initialized").await;
    };
    let (agreement, ()) = tokio::join!(claw.open(Opening::Probe), script);
    let agreement = agreement.unwrap();
    assert_eq!((agreement.era, agreement.protocol.as_str()), (Era::Legacy, LEGACY_PROTOCOL));
}

pub(super) async fn an_unanswered_probe_is_followed_by_initialize(link: Link) {
    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        peer.request("server/discover").await;
        let request = peer.request("initialize").await;
        peer.answer(&request, initialized()).await;
        peer.request("notifications/initialized").await;
    };
    let probe_timeout = Duration::from_millis(50);
    let (agreement, ()) = tokio::join!(claw.open_within(Opening::Probe, probe_timeout), script);
    assert_eq!(agreement.unwrap().era, Era::Legacy);
}

pub(super) async fn a_server_that_ends_at_the_probe_gets_initialize_on_its_next_connection(
    link: Link,
) {
    let (first, second) = Opening::order(None, false);
    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        peer.request("server/discover").await;
        drop(peer);
    };
    let (closed, ()) = tokio::join!(claw.open(first), script);
    assert!(matches!(closed, Err(OpeningError::Closed | OpeningError::Failed(_))), "{closed:?}");
    tokio::time::timeout(PATIENCE, claw.transport.ended().cancelled()).await.unwrap();
    assert!(link.says_why(&claw.transport.end_reason()));

    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        let request = peer.request("initialize").await;
        peer.answer(&request, initialized()).await;
        peer.request("notifications/initialized").await;
    };
    let (agreement, ()) = tokio::join!(claw.open(second), script);
    assert_eq!(agreement.unwrap().era, Era::Legacy);
}

pub(super) async fn a_server_of_another_revision_is_refused_in_words(link: Link) {
    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        let request = peer.request("initialize").await;
        peer.answer(&request, json!({"protocolVersion": "1999-01-01"})).await;
    };
    let (refused, ()) = tokio::join!(claw.open(Opening::Initialize), script);
    let Err(OpeningError::Refused(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("`1999-01-01`") && reason.contains(MODERN_PROTOCOL), "{reason}");
}

pub(super) async fn an_answer_to_the_handshake_has_its_number_as_id(link: Link) {
    let (mut claw, mut peer) = link.dial().await;
    let script = async {
        let mut request = peer.request("initialize").await;
        assert!(request["id"].is_i64(), "{request}");
        request["id"] = json!(request["id"].to_string());
        peer.answer(&request, initialized()).await;
    };
    let (refused, ()) = tokio::join!(claw.open(Opening::Initialize), script);
    let Err(OpeningError::Refused(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("a text"), "{reason}");
}

pub(super) async fn roots_are_declared_and_shown_only_where_the_entry_says_so(link: Link) {
    let shown = json!({"roots": [{"uri": "file:///home/me/my%20work", "name": "my work"}]});
    for roots in [false, true] {
        let (mut claw, mut peer) = link.dial().await;
        claw.roots = roots;
        let script = async {
            let request = peer.request("initialize").await;
            let declared = &request["params"]["capabilities"]["roots"];
            assert_eq!(declared.is_object(), roots, "{request}");
            peer.answer(&request, initialized()).await;
            peer.request("notifications/initialized").await;
        };
        let (agreement, ()) = tokio::join!(claw.open(Opening::Initialize), script);
        let _connection = claw.connect(agreement.unwrap());
        peer.send(json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"})).await;
        let answer = peer.receive().await.unwrap();
        match roots {
            true => assert_eq!(answer["result"], shown, "{answer}"),
            false => assert_eq!(answer["error"]["code"], -32601, "{answer}"),
        }
    }
    // The new revision has them no more.
    let (mut claw, mut peer) = link.dial().await;
    claw.roots = true;
    let script = async {
        let request = peer.request("server/discover").await;
        let meta = &request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert!(meta["roots"].is_null() && meta["elicitation"].is_object(), "{request}");
        peer.answer(&request, discovered()).await;
    };
    let (agreement, ()) = tokio::join!(claw.open(Opening::Discover), script);
    agreement.unwrap();
}
