//! Status 200 without a single frame: a login page of a network, a proxy's words, an error object
//! in the place of a stream. Owns the second look that tells which, because `genai` passes over
//! what is no frame. Must not know turns.

use std::time::Duration;

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::target::{Target, Wire};
use super::{failure, http};
use crate::domain::escape::visible;
use crate::model::ModelError;

/// The longest wait for the second look.
const LOOK_TIMEOUT: Duration = Duration::from_secs(20);
/// As much of the body as is read, in bytes.
const BODY_BYTES_MAX: usize = 64 << 10;
/// As much of it as is told, in characters.
const TOLD_CHARS_MAX: usize = 160;

/// Asks the same address for nothing (no message, so no model runs) and says what answers there.
/// `None` if that is as it should be: a refusal, or a stream.
pub(super) async fn look(target: &Target) -> Option<ModelError> {
    let client = http::client_for(&target.base_url).ok()?;
    let key = target.api_key.as_ref().map(|key| key.expose_secret()).unwrap_or_default();
    let (base, model) = (&target.base_url, &target.model);
    let body = json!({"model": model, "messages": [], "max_tokens": 1, "stream": true});
    let request = match target.wire {
        Wire::Anthropic => client
            .post(format!("{base}messages"))
            .header("x-api-key", key)
            .header("anthropic-version", "2023-06-01")
            .json(&body),
        Wire::Gemini => client
            .post(format!("{base}models/{model}:streamGenerateContent?alt=sse"))
            .header("x-goog-api-key", key)
            .json(&json!({"contents": []})),
        Wire::Ollama => {
            client.post(format!("{base}api/chat")).json(&json!({"model": model, "messages": []}))
        }
        Wire::OpenAiResponses => client
            .post(format!("{base}responses"))
            .bearer_auth(key)
            .json(&json!({"model": model, "input": [], "stream": true})),
        _ => client.post(format!("{base}chat/completions")).bearer_auth(key).json(&body),
    };
    let mut answer = request.timeout(LOOK_TIMEOUT).send().await.ok()?;
    if !answer.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        body.extend_from_slice(&piece);
        if body.len() > BODY_BYTES_MAX {
            break;
        }
    }
    what_is(&String::from_utf8_lossy(&body), target)
}

/// What a body is that holds no frame.
pub(super) fn what_is(body: &str, target: &Target) -> Option<ModelError> {
    let body = body.trim_start_matches('\u{feff}').trim();
    let is_stream =
        body.starts_with("data:") || body.starts_with("event:") || body.starts_with(':');
    if body.is_empty() || is_stream {
        return None;
    }
    let (who, base, setting) = (&target.provider, &target.base_url, &target.address_setting);
    if body.starts_with('<') {
        let words = told(&text_of_page(body), target);
        return Some(ModelError::permanent(format!(
            "an HTML page answers at {base} where {who} should: {words}. Check whether this \
             network or a proxy wants a login first, and {setting}"
        )));
    }
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        let words = told(body, target);
        return Some(ModelError::permanent(format!(
            "at {base} something answers that does not speak like {who}: {words}. Check {setting}"
        )));
    };
    let error = value.get("error").or_else(|| value.pointer("/0/error"));
    if error.is_some_and(|error| !error.is_null()) {
        return Some(failure::in_stream(value.get(0).unwrap_or(&value), target));
    }
    if value.get("done").is_some() || value.get("model").is_some() && target.wire == Wire::Ollama {
        return None;
    }
    let words = told(&value.to_string(), target);
    Some(ModelError::permanent(format!(
        "{who} answered with a JSON object in the place of a stream: {words}. Check {setting}, \
         now {base}"
    )))
}

/// The first words, quoted, with everything visible that could hide.
fn told(text: &str, target: &Target) -> String {
    let line = visible(&failure::clean(text, target));
    let head: String = line.chars().take(TOLD_CHARS_MAX).collect();
    let more = if head.len() < line.len() { "…" } else { "" };
    format!("“{head}{more}”")
}

/// What a person would read of a page: no tags, no scripts, no styles.
fn text_of_page(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let hidden = ["script", "style"].into_iter().find(|name| {
            tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        rest = match hidden {
            Some(name) => {
                let end = tag.to_ascii_lowercase().find(&format!("</{name}")).unwrap_or(tag.len());
                tag.get(end..).unwrap_or_default()
            }
            None => tag.split_once('>').map_or("", |(_, rest)| rest),
        };
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_by_its_words() {
        let page = "<!DOCTYPE html><html><head><title>Hotel WiFi</title><style>a{b:c}</style><script>x('<p>')</script></head>\
                    <body><h1>Please sign in</h1></body></html>";
        let words: Vec<String> = text_of_page(page).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), "Hotel WiFi Please sign in");
    }
}
