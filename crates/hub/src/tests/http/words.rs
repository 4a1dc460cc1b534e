//! What goes wrong with a server over HTTP is said with the next step, and without its token.

use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::server::{HttpServer, TOKEN, rig, status};
use crate::tests::rig::unknown;
use crate::{CallEnd, HubError};

type Said = fn() -> Response;

async fn error_of(answer: Said) -> String {
    let server = HttpServer::start(move |_| Some(answer()));
    let error = server.rig().hub.tools("x").await.unwrap_err();
    assert!(matches!(error, HubError::Connect { .. }), "{error:?}");
    let error = error.to_string();
    assert!(!error.contains(TOKEN), "{error}");
    error
}

#[tokio::test]
async fn each_refusal_says_what_to_do() {
    let page = || ([("content-type", "text/html")], "<html>Log in</html>").into_response();
    let said: Said = || {
        let body = json!({"error": "invalid_token", "error_description": "it is too old"});
        let kind = [("content-type", "application/json")];
        (axum::http::StatusCode::UNAUTHORIZED, kind, body.to_string()).into_response()
    };
    let plain: Said =
        || (axum::http::StatusCode::FORBIDDEN, "only at localhost:3\nand so on").into_response();
    let answers: [(Said, &str); 10] = [
        (plain, "(HTTP 403: only at localhost:3)"),
        (|| status(401), "does not take the token in `headers`"),
        (said, "it is too old"),
        (|| status(403), "refuses access"),
        (|| status(404), "check the path"),
        (|| status(405), "HTTP+SSE"),
        (|| status(429), "try again later"),
        (|| status(500), "a fault of its own"),
        (|| status(502), "cannot reach it"),
        (page, "a web page and not with MCP"),
    ];
    for (answer, part) in answers {
        let error = error_of(answer).await;
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[tokio::test]
async fn a_missing_token_and_an_unset_variable_are_named() {
    let server = HttpServer::start(|_| Some(status(401)));
    let error = rig(json!({"url": server.url()}), |_| {}).hub.tools("x").await.unwrap_err();
    assert!(error.to_string().contains("\"Authorization\": \"Bearer ${TOKEN}\""), "{error}");
    let entry = json!({"url": server.url(), "headers": {"Authorization": "Bearer ${NOT_SET}"}});
    let error = rig(entry, |_| {}).hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("`authorization` holds a variable that is not set"), "{error}");
}

#[tokio::test]
async fn what_is_not_there_or_speaks_otherwise_is_said() {
    let server = HttpServer::usual();
    let gone = server.url();
    let https = gone.replace("http://", "https://");
    let error = rig(json!({"url": https}), |_| {}).hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("does not speak TLS"), "{error}");
    let _nobody = server.end();
    let error = rig(json!({"url": gone}), |_| {}).hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("cannot be reached") && error.contains("refused"), "{error}");
    let entry = json!({"url": "http://no-such-host.invalid/mcp"});
    let error = rig(entry, |settings| {
        settings.lookup =
            std::sync::Arc::new(|_| Box::pin(async { Err(std::io::Error::other("no such name")) }));
    });
    let error = error.hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("`no-such-host.invalid` is not known"), "{error}");
    for (headers, part) in
        [(json!({"a b": "c"}), "name of a header"), (json!({"a": "b\nc"}), "a line broken")]
    {
        let entry = json!({"url": "http://127.0.0.1:1", "headers": headers});
        let error = rig(entry, |_| {}).hub.tools("x").await.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[tokio::test]
async fn a_fault_in_the_middle_of_a_call_is_unknown_and_a_refusal_is_an_answer() {
    for (code, is_unknown) in [(500, true), (502, true), (504, true), (401, false), (429, false)] {
        let server = HttpServer::start(move |seen| seen.is("tools/call").then(|| status(code)));
        let rig = server.rig();
        match rig.call("x", "echo", json!({})).await {
            end if is_unknown => {
                let reason = unknown(end);
                assert!(reason.contains(&format!("HTTP {code}")), "{reason}");
            }
            CallEnd::Ended(output, _) => {
                assert!(output.is_error && output.text.contains(&format!("HTTP {code}")));
            }
            other => panic!("{code}: {other:?}"),
        }
        assert_eq!(server.count("tools/call"), 1);
    }
}
