//! One JSON request to the Bot API and what its answer means. Owns the way there and back for
//! everything but files; must not know what a method does.
//!
//! The payloads and the HTTP client are those of `teloxide-core`, its `send()` is not: it sleeps
//! for ten seconds after every answer from 500 on (`net/request.rs`, `DELAY_ON_SERVER_ERROR`) and
//! reads every result into a type that fails as a whole when Telegram adds something. Whoever asks
//! decides here when to ask again, and reads what it needs.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use teloxide_core::Bot;
use teloxide_core::requests::{HasPayload, Payload};

use super::fault::{Fault, without_address};

/// A message that Telegram has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub message: i64,
    /// By Telegram's clock, in seconds since 1970 (Bot API, "Message", `date`).
    pub at_s: i64,
}

/// Sends a request and gives back `result`.
pub(super) async fn call<R>(bot: &Bot, base: &str, request: &R) -> Result<Value, Fault>
where
    R: HasPayload,
    R::Payload: Serialize,
{
    post(bot, base, R::Payload::NAME, request.payload_ref(), None).await
}

/// The same for a body of our own, and with a time limit of its own.
pub(super) async fn post(
    bot: &Bot,
    base: &str,
    method: &str,
    body: &impl Serialize,
    limit: Option<Duration>,
) -> Result<Value, Fault> {
    let unreachable = |text: String| Fault::Unreachable(without_address(&text));
    let mut request = bot.client().post(format!("{base}/bot{}/{method}", bot.token())).json(body);
    if let Some(limit) = limit {
        request = request.timeout(limit);
    }
    let answer = request.send().await.map_err(|error| unreachable(error.to_string()))?;
    let status = answer.status().as_u16();
    let text = answer.text().await.map_err(|error| unreachable(error.to_string()))?;
    match serde_json::from_str::<Value>(&text) {
        Ok(mut answer) if answer.get("ok") == Some(&Value::Bool(true)) => {
            Ok(answer.get_mut("result").map(Value::take).unwrap_or_default())
        }
        Ok(answer) => Err(refusal(status, &answer)),
        Err(_) if status >= 500 => Err(unreachable(format!("HTTP {status}"))),
        Err(_) => Err(unreachable(format!("its answer is no JSON (HTTP {status})"))),
    }
}

/// What a refusal means, by the code and, for code 400, by the words (Bot API, "Making requests").
fn refusal(status: u16, answer: &Value) -> Fault {
    let code = answer.get("error_code").and_then(Value::as_u64).unwrap_or(u64::from(status));
    if let Some(now) = answer.pointer("/parameters/migrate_to_chat_id").and_then(Value::as_i64) {
        return Fault::Moved(now);
    }
    let said = answer.get("description").and_then(Value::as_str).unwrap_or_default();
    match code {
        401 | 404 => Fault::Token,
        403 => Fault::Forbidden(said.to_owned()),
        409 => Fault::Conflict,
        429 => Fault::Wait(Duration::from_secs(
            answer.pointer("/parameters/retry_after").and_then(Value::as_u64).unwrap_or(1),
        )),
        500.. => Fault::Unreachable(format!("HTTP {code}")),
        _ => Fault::of_words(said.to_owned()),
    }
}

/// The message that a method gave back.
pub(super) fn sent(result: &Value) -> Result<Sent, Fault> {
    let message = result.get("message_id").and_then(Value::as_i64);
    let message =
        message.ok_or_else(|| Fault::Unreachable("its answer has no message".to_owned()))?;
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
        assert_eq!(fault(401, "Unauthorized"), Fault::Token);
        assert_eq!(fault(409, "Conflict: terminated by other getUpdates request"), Fault::Conflict);
        assert!(matches!(fault(403, "Forbidden: user is deactivated"), Fault::Forbidden(_)));
        assert!(matches!(fault(502, "Bad Gateway"), Fault::Unreachable(_)));
        assert!(matches!(fault(400, "Bad Request: chat not found"), Fault::Refused(_)));
        assert!(matches!(fault(400, "Bad Request: can't parse entities: x"), Fault::Formatting(_)));
        assert_eq!(fault(400, "Bad Request: message is not modified: same"), Fault::Unchanged);
        let wait = json!({"ok": false, "error_code": 429, "description": "x", "parameters": {"retry_after": 7}});
        assert_eq!(refusal(429, &wait), Fault::Wait(Duration::from_secs(7)));
    }
}
