//! One request to the Bot API and what its answer means. Owns the way there and back for everything
//! but downloads; must not know what a method does.
//!
//! The payloads are those of `teloxide-core`, its client and its `send()` are not: they would bring
//! a second HTTP and TLS stack along, and `send()` sleeps for ten seconds after every answer from
//! 500 on (`net/request.rs`, `DELAY_ON_SERVER_ERROR`) and reads every result into a type that fails
//! as a whole when Telegram adds something. Whoever asks decides here when to ask again, and reads
//! what it needs.

use std::time::Duration;

use reqwest::RequestBuilder;
use reqwest::multipart::{Form, Part};
use serde::Serialize;
use serde_json::{Map, Value};
use teloxide_core::requests::Payload;

use super::client::Bot;
use super::fault::{ApiFault, NoAnswer, without_address};

/// An upload may take this long.
const UPLOAD_TIME: Duration = Duration::from_secs(600);

/// A message that Telegram has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub message: i64,
    /// By Telegram's clock, in seconds since 1970 (Bot API, "Message", `date`).
    pub at_s: i64,
}

/// Sends a request and gives back `result`.
pub(super) async fn call<P: Payload + Serialize>(
    bot: &Bot,
    request: &P,
) -> Result<Value, ApiFault> {
    post(bot, P::NAME, request, None).await
}

/// The same for a body of our own, and with a time limit of its own.
pub(super) async fn post(
    bot: &Bot,
    method: &str,
    body: &impl Serialize,
    limit: Option<Duration>,
) -> Result<Value, ApiFault> {
    let request = bot.post(method).json(body);
    send(limit.into_iter().fold(request, RequestBuilder::timeout)).await
}

/// Sends a file in the field `name` with other fields beside it (Bot API, "Sending files"): texts
/// as they are, anything else as JSON.
pub(super) async fn upload(
    bot: &Bot,
    method: &str,
    fields: Map<String, Value>,
    name: &'static str,
    file: Part,
) -> Result<Value, ApiFault> {
    let mut form = Form::new().part(name, file);
    for (field, value) in fields {
        form = match value {
            Value::Null => form,
            Value::String(text) => form.text(field, text),
            other => form.text(field, other.to_string()),
        };
    }
    send(bot.post(method).multipart(form).timeout(UPLOAD_TIME)).await
}

async fn send(request: RequestBuilder) -> Result<Value, ApiFault> {
    let answer = request.send().await.map_err(unanswered)?;
    let status = answer.status().as_u16();
    let text = answer.text().await.map_err(unanswered)?;
    match serde_json::from_str::<Value>(&text) {
        Ok(mut answer) if answer.get("ok") == Some(&Value::Bool(true)) => {
            Ok(answer.get_mut("result").map(Value::take).unwrap_or_default())
        }
        Ok(answer) => Err(refusal(status, &answer)),
        Err(_) if status >= 500 => Err(ApiFault::Unreachable(failed(status.into()))),
        Err(_) => {
            let why = format!("its answer is no JSON (HTTP {status})");
            let is_taken = (200..300).contains(&status);
            Err(ApiFault::Unreachable(if is_taken {
                NoAnswer::unknown(why)
            } else {
                NoAnswer::undone(why)
            }))
        }
    }
}

/// Without a connection nothing was sent.
fn unanswered(error: reqwest::Error) -> ApiFault {
    let why = without_address(&error.to_string());
    ApiFault::Unreachable(if error.is_connect() {
        NoAnswer::undone(why)
    } else {
        NoAnswer::unknown(why)
    })
}

/// An answer with a code from 500 on. By 504 a proxy says that it has waited in vain (RFC 9110).
fn failed(code: u64) -> NoAnswer {
    let why = format!("HTTP {code}");
    if code == 504 { NoAnswer::unknown(why) } else { NoAnswer::undone(why) }
}

/// What a refusal means, by the code and, for code 400, by the words (Bot API, "Making requests").
fn refusal(status: u16, answer: &Value) -> ApiFault {
    let code = answer.get("error_code").and_then(Value::as_u64).unwrap_or(u64::from(status));
    if let Some(now) = answer.pointer("/parameters/migrate_to_chat_id").and_then(Value::as_i64) {
        return ApiFault::Moved(now);
    }
    let said = answer.get("description").and_then(Value::as_str).unwrap_or_default();
    match code {
        401 | 404 => ApiFault::Token,
        403 => ApiFault::Forbidden(said.to_owned()),
        409 => ApiFault::Conflict,
        429 => ApiFault::Wait(Duration::from_secs(
            answer.pointer("/parameters/retry_after").and_then(Value::as_u64).unwrap_or(1),
        )),
        500.. => ApiFault::Unreachable(failed(code)),
        _ => ApiFault::of_words(said.to_owned()),
    }
}

/// The message that a method gave back.
pub(super) fn sent(result: &Value) -> Result<Sent, ApiFault> {
    let message = result.get("message_id").and_then(Value::as_i64);
    let message = message
        .ok_or_else(|| ApiFault::Unreachable(NoAnswer::unknown("its answer has no message")))?;
    Ok(Sent { message, at_s: result.get("date").and_then(Value::as_i64).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_is_told_by_its_code() {
        let fault = |code: u16, said: &str| {
            refusal(code, &json!({"ok": false, "error_code": code, "description": said}))
        };
        assert_eq!(fault(401, "Unauthorized"), ApiFault::Token);
        assert_eq!(
            fault(409, "Conflict: terminated by other getUpdates request"),
            ApiFault::Conflict
        );
        assert!(matches!(fault(403, "Forbidden: user is deactivated"), ApiFault::Forbidden(_)));
        for (code, may_be_done) in [(500, false), (502, false), (504, true)] {
            let ApiFault::Unreachable(why) = fault(code, "Bad Gateway") else { panic!("{code}") };
            assert_eq!(why.may_be_done(), may_be_done, "{code}");
        }
        assert!(matches!(fault(400, "Bad Request: chat not found"), ApiFault::Refused(_)));
        assert!(matches!(
            fault(400, "Bad Request: can't parse entities: x"),
            ApiFault::Formatting(_)
        ));
        assert_eq!(fault(400, "Bad Request: message is not modified: same"), ApiFault::Unchanged);
        let wait = json!({"ok": false, "error_code": 429, "description": "x", "parameters": {"retry_after": 7}});
        assert_eq!(refusal(429, &wait), ApiFault::Wait(Duration::from_secs(7)));
    }
}
