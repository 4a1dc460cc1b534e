//! The lists of models that providers hand out, and how each refuses a key. Owns both. Must not
//! know claw.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::Wire;

#[derive(Clone, Debug)]
pub struct Listed {
    pub key: String,
    pub names: Vec<String>,
}

impl Listed {
    /// Status and body, if the key is another one. An Ollama has none.
    pub fn refuses(&self, wire: Wire, headers: &HeaderMap) -> Option<(u16, String)> {
        let header = |name: &str| {
            headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        let (given, code, body) = match wire {
            Wire::Anthropic => {
                let body = json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}});
                (header("x-api-key"), 401, body)
            }
            Wire::OpenAi | Wire::Responses => {
                let body = json!({"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}});
                (header("authorization").trim_start_matches("Bearer ").to_owned(), 401, body)
            }
            Wire::Gemini => {
                let details = json!([{"reason": "API_KEY_INVALID"}]);
                let body = json!({"error": {"code": 400, "message": "API key not valid.", "details": details}});
                (header("x-goog-api-key"), 400, body)
            }
            Wire::Ollama => return None,
        };
        (given != self.key).then(|| (code, body.to_string()))
    }

    /// Status and body of a list, if it is asked for where the provider has it.
    pub fn at(&self, wire: Wire, path: &str) -> Option<(u16, String)> {
        let path = path.split('?').next().unwrap_or_default();
        let named = |key: &str, before: &str| -> Vec<Value> {
            self.names.iter().map(|name| json!({key: format!("{before}{name}")})).collect()
        };
        let body = match (wire, path) {
            (Wire::Anthropic | Wire::OpenAi | Wire::Responses, "/v1/models") => {
                json!({"data": named("id", "")})
            }
            (Wire::Gemini, "/v1beta/models") => json!({"models": named("name", "models/")}),
            (Wire::Ollama, "/api/tags") => json!({"models": named("name", "")}),
            _ => return None,
        };
        Some((200, body.to_string()))
    }
}
