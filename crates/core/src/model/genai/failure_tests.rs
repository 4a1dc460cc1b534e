//! Tests of the mapping of errors.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::json;

use super::{by_status, in_stream, until};
use crate::model::ModelError;
use crate::model::genai::{Target, Wire};

fn target() -> Target {
    Target {
        wire: Wire::Anthropic,
        provider: "claude".into(),
        model: "claude-x".into(),
        base_url: "https://api.example/v1/".into(),
        api_key: Some("sk-secret-1".to_owned().into()),
        key_setting: "ANTHROPIC_API_KEY".into(),
        address_setting: "CLAW_BASE_URL".into(),
        model_setting: "CLAW_MODEL".into(),
        max_tokens: None,
        temperature: None,
        timeout: Duration::from_secs(90),
        tool_choice: Default::default(),
    }
}

fn status(code: u16, body: &str) -> ModelError {
    by_status(code, body, &HeaderMap::new(), &target())
}

fn headed(code: u16, name: &'static str, value: &str) -> ModelError {
    let mut headers = HeaderMap::new();
    headers.insert(name, HeaderValue::from_str(value).unwrap());
    by_status(code, "", &headers, &target())
}

#[test]
fn each_status_names_what_to_fix() {
    for (code, words) in [(404, "CLAW_MODEL"), (301, "CLAW_BASE_URL"), (422, "422")] {
        let error = status(code, "{}");
        assert!(
            matches!(&error, ModelError::Permanent { why } if why.contains(words)),
            "{code}: {error}"
        );
    }
    for code in [401, 403] {
        let error = status(code, "{}");
        assert!(
            matches!(&error, ModelError::KeyRefused { why } if why.contains("ANTHROPIC_API_KEY")),
            "{code}: {error}"
        );
    }
    for code in [408, 409, 425, 500, 502, 503, 504, 529] {
        assert!(matches!(status(code, ""), ModelError::Transient { .. }), "{code}");
    }
    let gemini = r#"{"error":{"code":400,"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    assert!(status(400, gemini).to_string().contains("ANTHROPIC_API_KEY"));
}

#[test]
fn each_wording_of_too_long_is_known() {
    for body in [
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
        r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","code":"context_length_exceeded"}}"#,
        r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        r#"{"error":{"message":"Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2051 instead.","type":"invalid_request_error","param":"messages","code":"array_above_max_length"}}"#,
        r#"{"error":{"message":"'$.messages' is too long. Maximum length is 2048, but got 4968 items.","type":"invalid_request_error"}}"#,
    ] {
        assert!(matches!(status(400, body), ModelError::ContextTooLong { .. }), "{body}");
    }
    assert!(matches!(status(413, "big"), ModelError::ContextTooLong { .. }));
    let tools = r#"{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.","param":"tools","code":"array_above_max_length"}}"#;
    for body in ["bad schema", tools] {
        assert!(matches!(status(400, body), ModelError::Permanent { .. }), "{body}");
    }
}

#[test]
fn retry_after_in_all_its_forms() {
    let wait = |error| match error {
        ModelError::RateLimited { retry_after, .. } | ModelError::Transient { retry_after, .. } => {
            retry_after
        }
        other => panic!("{other}"),
    };
    assert_eq!(wait(headed(429, "retry-after", "7")), Some(Duration::from_secs(7)));
    assert_eq!(wait(headed(503, "retry-after", "2")), Some(Duration::from_secs(2)));
    assert_eq!(wait(headed(429, "retry-after-ms", "150")), Some(Duration::from_millis(150)));
    assert_eq!(wait(headed(429, "retry-after", "-3")), None);
    assert_eq!(wait(headed(429, "retry-after", "1e300")), None);
    assert_eq!(
        wait(headed(429, "retry-after", "Sat, 21 Nov 2015 10:00:00 GMT")),
        Some(Duration::ZERO)
    );
    let info = r#"{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}"#;
    assert_eq!(wait(status(429, info)), Some(Duration::from_secs(34)));
    assert_eq!(wait(status(429, "slow down")), None);
    let now = "2026-11-21T10:00:00Z".parse().unwrap();
    assert_eq!(until("Sat, 21 Nov 2026 10:01:30 GMT", now), Some(Duration::from_secs(90)));
    assert!(matches!(
        status(429, r#"{"error":{"code":"insufficient_quota"}}"#),
        ModelError::Permanent { .. }
    ));
}

#[test]
fn errors_inside_a_stream() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert!(matches!(in_stream(&overloaded, &target()), ModelError::Transient { .. }));
    let limited = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}});
    assert!(matches!(in_stream(&limited, &target()), ModelError::RateLimited { .. }));
    let unavailable = json!({"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}});
    assert!(matches!(in_stream(&unavailable, &target()), ModelError::Transient { .. }));
    let key = json!({"message": "x", "code": "invalid_api_key"});
    assert!(in_stream(&key, &target()).to_string().contains("ANTHROPIC_API_KEY"));
    assert!(
        matches!(in_stream(&json!("boom"), &target()), ModelError::Transient { why, .. } if why.contains("boom"))
    );
}

#[test]
fn no_text_holds_the_key() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-secret-1. \u001b[31mFind yours\n at x"}}"#;
    let text = status(401, body).to_string();
    assert!(
        !text.contains("sk-secret-1") && !text.contains('\u{1b}') && !text.contains('\n'),
        "{text}"
    );
    assert!(status(500, &"x".repeat(5_000)).to_string().chars().count() < 400);
    assert!(!format!("{:?}", target()).contains("sk-secret-1"));
}
