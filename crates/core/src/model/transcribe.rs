//! Speech to text: one request to an endpoint like OpenAI's (`POST /v1/audio/transcriptions`). Must
//! not know where a recording came from, or what becomes of the text.

use std::sync::OnceLock;

use reqwest::Client;
use reqwest::multipart::{Form, Part};
use secrecy::ExposeSecret as _;
use serde::Deserialize;

use super::genai::client_for;
use crate::config::Transcription;

/// How much of a refusal is told, in characters.
const TOLD_CHARS_MAX: usize = 200;

/// Why there is no text. Each is half a sentence for a person and holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptionError {
    #[error("the transcription server cannot be reached ({0})")]
    Unreachable(String),
    #[error("the transcription server took longer than {0} s")]
    TooSlow(u64),
    #[error("the transcription server said HTTP {code}{detail}")]
    Refused { code: u16, detail: String },
    #[error("the answer of the transcription server holds no text")]
    NoText,
}

impl crate::domain::Blamed for TranscriptionError {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::Broken
    }
}

#[derive(Deserialize)]
struct Answer {
    text: String,
}

/// The endpoint, and a client for it.
pub struct Transcriber {
    to: Transcription,
    /// Built at the first request, like a model's.
    client: OnceLock<Client>,
}

impl Transcriber {
    pub fn new(to: Transcription) -> Self {
        Self { to, client: OnceLock::new() }
    }

    /// What is said in a recording. `name` tells the server its format by the ending.
    pub async fn text(
        &self,
        name: &str,
        mime: &str,
        bytes: Vec<u8>,
    ) -> Result<String, TranscriptionError> {
        let unreachable = |error: reqwest::Error| {
            if error.is_timeout() {
                TranscriptionError::TooSlow(self.to.timeout.as_secs())
            } else {
                // Without the address, which may hold a password.
                TranscriptionError::Unreachable(error.without_url().to_string())
            }
        };
        let part =
            Part::bytes(bytes).file_name(name.to_owned()).mime_str(mime).map_err(unreachable)?;
        let form = Form::new()
            .text("model", self.to.model.clone())
            .text("response_format", "json")
            .part("file", part);
        let mut request = self
            .client()
            .map_err(unreachable)?
            .post(&self.to.url)
            .timeout(self.to.timeout)
            .multipart(form);
        if let Some(key) = &self.to.key {
            request = request.bearer_auth(key.expose_secret());
        }
        let answer = request.send().await.map_err(unreachable)?;
        let status = answer.status();
        let body = answer.text().await.map_err(unreachable)?;
        if !status.is_success() {
            let detail: String = body.trim().chars().take(TOLD_CHARS_MAX).collect();
            let detail = if detail.is_empty() { detail } else { format!(": {detail}") };
            return Err(TranscriptionError::Refused { code: status.as_u16(), detail });
        }
        let answer: Answer = serde_json::from_str(&body).map_err(|_| TranscriptionError::NoText)?;
        let text = answer.text.trim();
        if text.is_empty() { Err(TranscriptionError::NoText) } else { Ok(text.to_owned()) }
    }

    fn client(&self) -> Result<&Client, reqwest::Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = client_for(&self.to.url)?;
        Ok(self.client.get_or_init(|| client))
    }
}
