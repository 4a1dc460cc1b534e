//! What the servers over HTTP may cost at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream;
use serde_json::json;

use super::server::{HttpServer, stream_of};
use crate::tests::rig::text;

#[tokio::test]
async fn no_more_requests_wait_for_a_server_than_may() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let peak = most.clone();
    let server = HttpServer::start(move |seen| {
        let (now, most) = (now.clone(), most.clone());
        let id = seen.message["id"].clone();
        seen.is("tools/call").then(|| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let answer = stream::once(async move {
                // Others that are on their way come meanwhile.
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
                let content = json!([{"type": "text", "text": "an answer"}]);
                json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}}).to_string()
            });
            stream_of("application/json", answer)
        })
    });
    let rig = server.rig_with(server.url(), |settings| settings.requests_max = 2);
    let calls = (0..12).map(|_| rig.call("x", "echo", json!({})));
    for end in futures::future::join_all(calls).await {
        assert_eq!(text(end), "an answer");
    }
    assert_eq!(peak.load(Ordering::SeqCst), 2);
}
