//! Which models a provider offers to a key: the cheapest request that each wire has. Must not know
//! who asks, or why.

use std::time::Duration;

use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::target::{Target, Wire};
use super::{failure, http};
use crate::model::ModelError;

/// The longest wait for the whole list.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest list, in bytes. OpenRouter's has about half a megabyte.
const LIST_BYTES_MAX: usize = 8 << 20;

/// The names, in the provider's order. `None` where the server has no such list.
pub(in crate::model) async fn list(target: &Target) -> Result<Option<Vec<String>>, ModelError> {
    let client = http::client_for(&target.base_url).map_err(|error| {
        ModelError::permanent(format!("no HTTPS client could be built: {error}"))
    })?;
    let key = target.api_key.as_ref().map(|key| key.expose_secret()).unwrap_or_default();
    let base = &target.base_url;
    let request = match target.wire {
        // Anthropic, "List Models".
        Wire::Anthropic => client
            .get(format!("{base}models?limit=1000"))
            .header("x-api-key", key)
            .header("anthropic-version", "2023-06-01"),
        // Gemini API, "models.list".
        Wire::Gemini => {
            client.get(format!("{base}models?pageSize=1000")).header("x-goog-api-key", key)
        }
        // Ollama API, "List Local Models".
        Wire::Ollama => client.get(format!("{base}api/tags")),
        // Without saying whose key it is, OpenRouter lists its models to anybody; this says it.
        Wire::OpenRouter => client.get(format!("{base}key")).bearer_auth(key),
        // OpenAI, "List models", and whoever speaks like it.
        _ if key.is_empty() => client.get(format!("{base}models")),
        _ => client.get(format!("{base}models")).bearer_auth(key),
    };
    let broke = |error: reqwest::Error| failure::of_stream(&error.without_url(), target);
    let answer = request.timeout(LIST_TIMEOUT).send().await.map_err(broke)?;
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let body = bounded(answer).await.map_err(broke)?;
    match status {
        200..=299 => {
            Ok(serde_json::from_str(&body).ok().and_then(|body| names_in(&body, target.wire)))
        }
        404 | 405 | 501 => Ok(None),
        _ => Err(failure::by_status(status, &body, &headers, target)),
    }
}

/// The beginning of a body that is too long is no JSON, and so no list.
async fn bounded(mut answer: reqwest::Response) -> Result<String, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        body.extend_from_slice(&piece);
        if body.len() > LIST_BYTES_MAX {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn names_in(body: &Value, wire: Wire) -> Option<Vec<String>> {
    let (list, name) = match wire {
        Wire::Gemini | Wire::Ollama => (body.get("models")?, "name"),
        Wire::OpenRouter => return None,
        // Together's is a bare list.
        _ => (body.get("data").unwrap_or(body), "id"),
    };
    let names = list.as_array()?.iter().filter_map(|model| model.get(name)?.as_str());
    Some(names.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_as_they_come() {
        let names = |wire, body: &str| names_in(&serde_json::from_str(body).unwrap(), wire);
        let one = |name: &str| Some(vec![name.to_owned()]);
        assert_eq!(names(Wire::OpenAi, r#"{"data":[{"id":"a"}]}"#), one("a"));
        assert_eq!(names(Wire::Together, r#"[{"id":"a"}]"#), one("a"));
        assert_eq!(
            names(Wire::Anthropic, r#"{"data":[{"id":"claude-x","type":"model"}]}"#),
            one("claude-x")
        );
        assert_eq!(
            names(Wire::Gemini, r#"{"models":[{"name":"models/gemini-x"}]}"#),
            one("gemini-x")
        );
        assert_eq!(names(Wire::Ollama, r#"{"models":[{"name":"qwen3:8b"}]}"#), one("qwen3:8b"));
        assert_eq!(names(Wire::OpenRouter, r#"{"data":{"label":"x"}}"#), None);
        assert_eq!(names(Wire::OpenAi, r#"{"ok":true}"#), None);
    }
}
