//! From genai's errors to ours. Owns which status and which words mean what. No text leaves here
//! with a key in it.

use std::time::Duration;

use ::genai::Error as Wrong;
use ::genai::webc::StreamTimeout;
use reqwest::header::HeaderMap;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::openai_wire::{self, Lesson};
use super::receive::silence;
use super::target::Target;
use crate::model::ModelError;
use crate::model::wire_schema::{self, Fitted};

/// A provider's own words are cut here, in characters.
const DETAIL_CHARS_MAX: usize = 300;

pub(super) fn of(error: &Wrong, target: &Target) -> ModelError {
    match error {
        Wrong::HttpError { status, body, headers, .. } => {
            by_status(status.as_u16(), body, headers, target)
        }
        Wrong::WebStream { error, .. } => of_stream(error.as_ref(), target),
        Wrong::ChatResponse { body, .. } => in_stream(body, target),
        Wrong::StreamParse { .. } | Wrong::JsonValueExt(_) | Wrong::SerdeJson(_) => {
            ModelError::transient(format!(
                "a piece of the stream from {} was cut or is no valid JSON",
                target.provider
            ))
        }
        Wrong::RequiresApiKey { .. } | Wrong::NoAuthData { .. } | Wrong::NoAuthResolver { .. } => {
            refused_key(target, "")
        }
        other => ModelError::permanent(format!(
            "the request could not be built: {}",
            clean(&other.to_string(), target)
        )),
    }
}

/// Whether a piece of the stream was no JSON at all.
pub(super) fn is_no_json(error: &Wrong) -> bool {
    matches!(error, Wrong::StreamParse { .. } | Wrong::JsonValueExt(_) | Wrong::SerdeJson(_))
}

/// The tools, by the names under which they are offered, whose definitions a provider refuses with
/// this error.
pub(super) fn blamed(error: &Wrong, fitted: &Fitted) -> Vec<String> {
    let Some((status, body)) = refusal(error) else { return Vec::new() };
    if !matches!(status, 400 | 422) || is_too_long(body) {
        return Vec::new();
    }
    let names =
        wire_schema::blamed(body, &fitted.tools).into_iter().map(|tool| fitted.offered(&tool.name));
    names.flatten().map(str::to_owned).collect()
}

/// How the provider wants its model to be asked, if it refuses with this error for that.
pub(super) fn lesson(error: &Wrong, target: &Target) -> Option<Lesson> {
    let (status, body) = refusal(error)?;
    openai_wire::lesson(status, body, target.wire)
}

fn refusal(error: &Wrong) -> Option<(u16, &str)> {
    let error = match error {
        Wrong::WebStream { error, .. } => error.downcast_ref::<Wrong>()?,
        other => other,
    };
    match error {
        Wrong::HttpError { status, body, .. } => Some((status.as_u16(), body)),
        _ => None,
    }
}

pub(super) fn of_stream(
    error: &(dyn std::error::Error + Send + Sync + 'static),
    target: &Target,
) -> ModelError {
    if let Some(inner) = error.downcast_ref::<Wrong>() {
        return of(inner, target);
    }
    if error.downcast_ref::<StreamTimeout>().is_some() {
        return ModelError::transient(silence(target));
    }
    let Some(http) = error.downcast_ref::<reqwest::Error>() else {
        let detail = clean(&error.to_string(), target);
        return ModelError::transient(format!(
            "the stream from {} broke: {detail}",
            target.provider
        ));
    };
    let detail = clean(&root_cause(http), target);
    if http.is_builder() {
        return ModelError::permanent(format!(
            "the address {} does not work ({detail}): check {}",
            target.base_url, target.address_setting
        ));
    }
    if http.is_connect() {
        return ModelError::transient(format!(
            "{} cannot be reached at {} ({detail}); check the network, and {}",
            target.provider, target.base_url, target.address_setting
        ));
    }
    ModelError::transient(format!("the connection to {} broke: {detail}", target.provider))
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// An error event inside a stream that began well.
pub(super) fn in_stream(body: &Value, target: &Target) -> ModelError {
    let inner = body.get("error").filter(|inner| !inner.is_null()).unwrap_or(body);
    let code =
        inner.get("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let text = body.to_string();
    if let Some(status) =
        code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code))
    {
        return by_status(status, &text, &HeaderMap::new(), target);
    }
    let kind = |key: &str| inner.get(key).and_then(Value::as_str).unwrap_or_default();
    let status = match (kind("type"), kind("code")) {
        ("overloaded_error", _) => 529,
        ("rate_limit_error" | "rate_limit_exceeded", _)
        | (_, "rate_limit_exceeded" | "insufficient_quota") => 429,
        ("authentication_error", _) | (_, "invalid_api_key") => 401,
        ("permission_error", _) => 403,
        ("not_found_error", _) | (_, "model_not_found") => 404,
        ("invalid_request_error", _) | (_, "context_length_exceeded") => 400,
        _ if is_too_long(&text) => 400,
        _ => 500,
    };
    by_status(status, &text, &HeaderMap::new(), target)
}

pub(super) fn by_status(
    status: u16,
    body: &str,
    headers: &HeaderMap,
    target: &Target,
) -> ModelError {
    let who = &target.provider;
    let detail = clean(&message_of(body), target);
    let retry_after = retry_after(headers, body);
    match status {
        400 | 413 | 422 if is_too_long(body) => {
            ModelError::ContextTooLong { model: target.model.clone(), detail }
        }
        413 => ModelError::ContextTooLong { model: target.model.clone(), detail },
        // Gemini's way of refusing a key.
        400 if body.contains("API_KEY_INVALID") || body.contains("API key not valid") => {
            refused_key(target, &detail)
        }
        401 | 403 => refused_key(target, &detail),
        402 => ModelError::permanent(format!("{who} wants to be paid first: {detail}")),
        404 => ModelError::permanent(format!(
            "{who} does not know the model `{}` at {}: check {}, and {} ({detail})",
            target.model, target.base_url, target.model_setting, target.address_setting
        )),
        300..=399 => ModelError::permanent(format!(
            "{who} redirects elsewhere (status {status}), and a key is not carried along: check \
             {}, now {}",
            target.address_setting, target.base_url
        )),
        429 if body.contains("insufficient_quota") => {
            ModelError::permanent(format!("the quota of this key at {who} is used up: {detail}"))
        }
        429 => ModelError::RateLimited { provider: who.clone(), retry_after },
        408 | 409 | 425 | 500..=599 => ModelError::Transient {
            why: format!("{who} answered with status {status}: {detail}"),
            retry_after,
        },
        _ => ModelError::permanent(format!(
            "{who} refused the request with status {status}: {detail}"
        )),
    }
}

/// What must not be used has come: `what` is half a sentence about it.
pub(super) fn malformed(what: &str, target: &Target) -> ModelError {
    let why = format!(
        "{} sent {what}; nothing of that reply was used. Write again to ask once more, or \
         choose another model with /model",
        target.provider
    );
    ModelError::Malformed { why }
}

fn refused_key(target: &Target, detail: &str) -> ModelError {
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    let why = format!(
        "the provider {} refused the key: check {}{detail}",
        target.provider, target.key_setting
    );
    ModelError::KeyRefused { why }
}

/// The wording of each provider for "your request is longer than my window".
fn is_too_long(body: &str) -> bool {
    const WORDS: [&str; 15] = [
        "prompt is too long",
        "exceed context limit",
        "context_length_exceeded",
        "maximum context length",
        "context length",
        "context window",
        "exceeds the maximum number of tokens",
        "maximum prompt length",
        "available context size",
        "exceed_context_size",
        "reduce the length of the messages",
        "too many tokens",
        // OpenAI, where the messages are more than 2,048, however short they are. It says the same
        // of other lists.
        "'messages': array too long",
        "$.messages' is too long",
        "'input': array too long",
    ];
    let body = body.to_ascii_lowercase();
    WORDS.iter().any(|words| body.contains(words))
}

/// The provider's own sentence, wherever it puts it; else the start of the body.
fn message_of(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else { return body.to_owned() };
    // Gemini sometimes wraps its error into a list.
    let value = value.get(0).unwrap_or(&value);
    let at = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    at("/error/message")
        .or_else(|| at("/message"))
        .or_else(|| at("/error"))
        .or_else(|| at("/detail"))
        .unwrap_or_else(|| value.as_str().map_or_else(|| body.to_owned(), str::to_owned))
}

/// One line without control characters and without the key, cut to a readable length.
pub(super) fn clean(text: &str, target: &Target) -> String {
    let mut text = text.to_owned();
    if let Some(key) =
        target.api_key.as_ref().map(|key| key.expose_secret()).filter(|key| !key.is_empty())
    {
        text = text.replace(key, "…");
    }
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    let line = words.join(" ");
    let line = line.trim_end_matches('.');
    if line.is_empty() {
        return "no reason given".to_owned();
    }
    if line.chars().count() <= DETAIL_CHARS_MAX {
        return line.to_owned();
    }
    let head: String = line.chars().take(DETAIL_CHARS_MAX).collect();
    format!("{head}…")
}

/// `retry-after-ms`, then `retry-after` in seconds or as a date (RFC 9110 section 10.2.3), then
/// Gemini's `RetryInfo`.
fn retry_after(headers: &HeaderMap, body: &str) -> Option<Duration> {
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(ms) = header("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1_000.0).ok();
    }
    if let Some(text) = header("retry-after") {
        if let Ok(seconds) = text.parse::<f64>() {
            return Duration::try_from_secs_f64(seconds).ok();
        }
        return until(text, jiff::Timestamp::now());
    }
    let body: Value = serde_json::from_str(body).ok()?;
    let details = body.get(0).unwrap_or(&body).pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

fn until(date: &str, now: jiff::Timestamp) -> Option<Duration> {
    let then = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).ok()?;
    // A date in the past means now.
    Some(Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
