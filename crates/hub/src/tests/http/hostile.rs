//! Servers that want what is not theirs: other addresses, memory, time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::server::{HttpServer, TOKEN, event, rig, status, stream_of, then_silence};
use crate::tests::rig::{Rig, text, unknown};
use crate::{CallEnd, HubSettings};

fn led_to(to: String) -> axum::response::Response {
    (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response()
}

fn refused(end: CallEnd) -> String {
    match end {
        CallEnd::Ended(output, _) if output.is_error => output.text,
        other => panic!("{other:?}"),
    }
}

/// Whatever the hub has said to anybody.
fn all_said(rig: &Rig, error: &str) -> String {
    let log = rig.log.lock().unwrap().join("\n");
    format!("{error}\n{log}\n{:?}", rig.notices.lock().unwrap())
}

#[tokio::test]
async fn a_redirect_to_another_server_gives_it_nothing() {
    let other = HttpServer::usual();
    let elsewhere = other.url();
    for to in [
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        elsewhere.clone(),
        elsewhere.replace("http://127.0.0.1", "http://localhost"),
        elsewhere.replace("http://", "//"),
        elsewhere.replace("http://", "https://"),
        "file:///etc/passwd".to_owned(),
    ] {
        let led = to.clone();
        let server = HttpServer::start(move |_| Some(led_to(led.clone())));
        let rig = server.rig();
        let error = rig.hub.tools("x").await.unwrap_err().to_string();
        assert!(error.contains("does not follow") && error.contains(&to), "{error}");
        assert!(!all_said(&rig, &error).contains(TOKEN), "{error}");
    }
    assert_eq!(other.seen().len(), 0, "nothing has come there");
}

#[tokio::test]
async fn a_redirect_of_the_same_server_is_followed_but_not_by_a_call() {
    let server = HttpServer::start(|seen| {
        let leads = seen.path == "/mcp" && seen.verb == axum::http::Method::POST;
        leads.then(|| led_to("/mcp/".to_owned()))
    });
    let rig = server.rig();
    assert_eq!(text(rig.call("x", "echo", json!({"text": "once"})).await), "once");
    assert_eq!(server.effects(), ["once"]);

    let server = HttpServer::start(|seen| {
        (seen.is("tools/call") && seen.path == "/mcp").then(|| led_to("/mcp/".to_owned()))
    });
    let rig = server.rig();
    let said = refused(rig.call("x", "echo", json!({"text": "never"})).await);
    assert!(said.contains("sends claw on to /mcp/"), "{said}");
    assert_eq!((server.count("tools/call"), server.effects().len()), (1, 0));

    let server = HttpServer::start(|_| Some(led_to("/mcp".to_owned())));
    let error = server.rig().hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("in circles"), "{error}");
}

#[tokio::test]
async fn a_name_is_judged_by_the_address_that_is_connected_to() {
    let server = HttpServer::usual();
    let url = format!("http://rebind.example:{}/mcp", server.address().port());
    let asked = Arc::new(AtomicUsize::new(0));
    let lookup = |asked: Arc<AtomicUsize>| {
        move |settings: &mut HubSettings| {
            settings.lookup = Arc::new(move |host| {
                assert_eq!(host, "rebind.example");
                asked.fetch_add(1, Ordering::SeqCst);
                let here = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
                Box::pin(async move { Ok(vec![here]) })
            });
        }
    };
    let hostile = server.rig_with(url.clone(), lookup(asked.clone()));
    let error = hostile.hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("127.0.0.1") && error.contains("\"private_hosts\""), "{error}");
    assert_eq!(server.seen().len(), 0);
    assert!(asked.load(Ordering::SeqCst) > 0);

    let named = json!({"url": url, "private_hosts": ["rebind.example"]});
    let named = rig(named, lookup(asked));
    assert_eq!(named.hub.tools("x").await.unwrap().tools.len(), 1);
}

#[tokio::test]
async fn an_endless_answer_ends_at_the_limit_and_the_call_is_unknown() {
    for kind in ["application/json", "text/event-stream"] {
        let pulled = Arc::new(AtomicUsize::new(0));
        let count = pulled.clone();
        let server = HttpServer::start(move |seen| {
            let count = count.clone();
            seen.is("tools/call").then(|| {
                let piece = "x".repeat(10_000);
                stream_of(
                    kind,
                    stream::repeat(piece).inspect(move |_| {
                        count.fetch_add(10_000, Ordering::SeqCst);
                    }),
                )
            })
        });
        let rig = server.rig_with(server.url(), |settings| settings.line_bytes_max = 100_000);
        let reason = unknown(rig.call("x", "echo", json!({})).await);
        assert!(reason.contains("more than 100000 bytes"), "{reason}");
        let most = 100_000 + 16 * 1024 * 1024;
        assert!(pulled.load(Ordering::SeqCst) < most, "the rest stays with the server");
        // The connection is as good as new.
        assert_eq!(rig.hub.tools("x").await.unwrap().tools.len(), 1);
        assert_eq!(server.count("tools/call"), 1);
    }
}

#[tokio::test]
async fn an_answer_that_drips_is_given_up() {
    for kind in ["application/json", "text/event-stream"] {
        let server = HttpServer::start(move |seen| {
            seen.is("tools/list").then(|| {
                let drop = stream::unfold((), |()| async {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    Some((" ".to_owned(), ()))
                });
                stream_of(kind, drop)
            })
        });
        let limit = |settings: &mut HubSettings| {
            settings.startup_timeout = Duration::from_millis(700);
        };
        let rig = server.rig_with(server.url(), limit);
        let error = rig.hub.tools("x").await.unwrap_err().to_string();
        assert!(error.contains("did not answer within 0.7 s"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_never_finishes_its_head_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.try_write(b"HTTP/1.1 200 OK\r\nx: ");
            kept.push(stream);
        }
    });
    let limit = |settings: &mut HubSettings| {
        settings.startup_timeout = Duration::from_millis(700);
    };
    let error = rig(json!({"url": url}), limit).hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("did not answer within 0.7 s"), "{error}");
}

#[tokio::test]
async fn a_head_without_an_end_is_an_error() {
    let server = HttpServer::start(|seen| {
        seen.is("initialize").then(|| {
            let mut response = status(200);
            let value = "x".repeat(2 * 1024 * 1024).parse().unwrap();
            response.headers_mut().insert("x-long", value);
            response
        })
    });
    assert!(server.rig().hub.tools("x").await.is_err());
}

#[tokio::test]
async fn the_first_session_counts_whatever_a_server_says_later() {
    let server = HttpServer::start(|seen| {
        seen.is("tools/list").then(|| {
            let mut response = seen.result(json!({"tools": [{"name": "echo"}]}));
            response.headers_mut().insert("mcp-session-id", "of-somebody-else".parse().unwrap());
            response
        })
    });
    let rig = server.rig();
    assert_eq!(text(rig.call("x", "echo", json!({"text": "hi"})).await), "hi");
    let call = server.seen().into_iter().find(|seen| seen.is("tools/call")).unwrap();
    assert_eq!(call.session(), Some("session-1"));
}

#[tokio::test]
async fn a_stream_of_noise_is_no_answer_and_its_answer_counts() {
    let server = HttpServer::start(|seen| {
        seen.is("tools/call").then(|| {
            let id = seen.message["id"].as_i64().unwrap();
            let answer = |id: Value, text: &str| {
                let content = json!([{"type": "text", "text": text}]);
                json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}})
            };
            let pieces = vec![
                "event: endpoint\ndata: /messages\n\n".to_owned(),
                "what is this\n\ndata: no json\n\n".to_owned(),
                event("1", &answer(json!(id + 1), "of another request")),
                event("2", &answer(json!(id.to_string()), "a text as id")),
                event("3", &answer(json!(id), "the answer")),
            ];
            stream_of("text/event-stream", then_silence(pieces))
        })
    });
    let rig = server.rig();
    assert_eq!(text(rig.call("x", "echo", json!({})).await), "the answer");
    let log = rig.log.lock().unwrap().join("\n");
    assert!(log.contains("[no JSON] no json"), "{log}");
}

#[tokio::test]
async fn a_compressed_answer_is_neither_asked_for_nor_unpacked() {
    // The head of what `gzip` makes.
    const GZIP: [u8; 12] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0];
    let server = HttpServer::start(|seen| {
        seen.is("tools/call").then(|| {
            let kind = [("content-type", "application/json"), ("content-encoding", "gzip")];
            (kind, GZIP.to_vec()).into_response()
        })
    });
    let rig = server.rig();
    let reason = unknown(rig.call("x", "echo", json!({})).await);
    assert!(reason.contains("broken JSON"), "{reason}");
    for seen in server.seen() {
        let asked = seen.headers.get("accept-encoding");
        assert!(asked.is_none_or(|asked| asked == "identity"), "{asked:?}");
    }
}
