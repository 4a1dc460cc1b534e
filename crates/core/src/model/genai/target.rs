//! Where a request goes: wire, address, key, model. Owns what differs between wires by name. Must
//! not know how a target was picked.

use std::fmt;
use std::time::Duration;

use ::genai::adapter::AdapterKind;
use ::genai::chat::ReasoningEffort;
use secrecy::SecretString;

use crate::config::model::ToolChoice;
use crate::model::history::IdRule;

/// The protocol that a provider speaks, with the dialects that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions, as OpenAI and most others speak it.
    OpenAi,
    /// OpenAI Responses, without anything kept there.
    OpenAiResponses,
    DeepSeek,
    Groq,
    Mistral,
    OpenRouter,
    Together,
    Xai,
    /// Gemini `streamGenerateContent`.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

impl Wire {
    pub(super) fn adapter(self) -> AdapterKind {
        match self {
            Self::Anthropic => AdapterKind::Anthropic,
            Self::OpenAi => AdapterKind::OpenAI,
            Self::OpenAiResponses => AdapterKind::OpenAIResp,
            Self::DeepSeek => AdapterKind::DeepSeek,
            Self::Groq => AdapterKind::Groq,
            Self::Mistral => AdapterKind::Mistral,
            Self::OpenRouter => AdapterKind::OpenRouter,
            Self::Together => AdapterKind::Together,
            Self::Xai => AdapterKind::Xai,
            Self::Gemini => AdapterKind::Gemini,
            Self::Ollama => AdapterKind::Ollama,
        }
    }

    /// Whether this is one of OpenAI's two, or a dialect of its chat completions.
    pub(super) fn is_of_openai(self) -> bool {
        !matches!(self, Self::Anthropic | Self::Gemini | Self::Ollama)
    }

    pub(super) fn id_rule(self) -> IdRule {
        match self {
            Self::Anthropic => IdRule::Plain,
            Self::Mistral => IdRule::Nine,
            Self::Gemini | Self::Ollama => IdRule::Any,
            // OpenAI's limit; the others are more patient.
            Self::OpenAi | Self::OpenAiResponses => IdRule::Short(40),
            Self::DeepSeek | Self::Groq | Self::OpenRouter | Self::Together | Self::Xai => {
                IdRule::Short(256)
            }
        }
    }
}

/// Everything about one model at one provider.
#[derive(Clone)]
pub struct Target {
    pub wire: Wire,
    /// The provider's name for people, the log and opaque blocks: `claude`, `openai`, `groq`, …
    pub provider: String,
    pub model: String,
    /// With a trailing slash; see [`Target::normal_base_url`].
    pub base_url: String,
    pub api_key: Option<SecretString>,
    /// What to fix when the key is refused: `ANTHROPIC_API_KEY` or `[model] api_key`.
    pub key_setting: String,
    /// What to fix when the address is wrong: what it comes from, or the key of `claw.toml` that
    /// would change it.
    pub address_setting: String,
    /// What to fix when there is no such model, in the same way.
    pub model_setting: String,
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
    /// The longest silence: until the headers, and between two pieces of the body (heartbeats count
    /// as pieces).
    pub timeout: Duration,
    /// `Required`: see [`super::demand::tool_choice`].
    pub tool_choice: ToolChoice,
}

impl Target {
    /// What the model's name comes from, unless that is the section in `claw.toml`.
    pub fn overridden_by(&self) -> Option<String> {
        (!self.model_setting.starts_with('`')).then(|| self.model_setting.clone())
    }

    /// Brings an address as people write it into the form that the wire needs: a trailing slash,
    /// and the usual version folder where there is no path at all.
    pub fn normal_base_url(wire: Wire, base_url: &str) -> Result<String, String> {
        let mut url = reqwest::Url::parse(base_url.trim()).map_err(|error| error.to_string())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("it must start with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it must not hold a user name or password".to_owned());
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let path = match wire {
            Wire::Ollama => path
                .strip_suffix("/v1")
                .or_else(|| path.strip_suffix("/api"))
                .unwrap_or(&path)
                .to_owned(),
            Wire::Gemini if path.is_empty() => "/v1beta".to_owned(),
            Wire::Gemini => path,
            Wire::Anthropic => path.strip_suffix("/messages").unwrap_or(&path).to_owned(),
            _ => path
                .strip_suffix("/chat/completions")
                .or_else(|| path.strip_suffix("/responses"))
                .unwrap_or(&path)
                .to_owned(),
        };
        let versioned =
            if path.is_empty() && wire != Wire::Ollama { "/v1".to_owned() } else { path };
        url.set_path(&format!("{versioned}/"));
        url.set_fragment(None);
        Ok(url.into())
    }

    /// genai reads an ending such as `-max` or `-high` as a request for effort and takes it off the
    /// name, so that `qwen-max` would ask for `qwen`. On these wires a budget is sent as nothing at
    /// all and leaves the name alone.
    pub(super) fn effort_that_keeps_the_name(&self) -> Option<ReasoningEffort> {
        let reads_endings =
            self.wire.is_of_openai() && ReasoningEffort::from_model_name(&self.model).0.is_some();
        reads_endings.then_some(ReasoningEffort::Budget(0))
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wire, provider, model, base_url, .. } = self;
        write!(f, "Target({wire:?}, {provider}, {model}, {base_url})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them() {
        let normal = |wire, url| Target::normal_base_url(wire, url).unwrap();
        assert_eq!(normal(Wire::OpenAi, "http://localhost:8080"), "http://localhost:8080/v1/");
        assert_eq!(
            normal(Wire::OpenAi, "https://x.example/v1/chat/completions"),
            "https://x.example/v1/"
        );
        assert_eq!(
            normal(Wire::OpenAiResponses, "https://x.example/v1/responses/"),
            "https://x.example/v1/"
        );
        assert_eq!(
            normal(Wire::Groq, "https://api.groq.com/openai/v1"),
            "https://api.groq.com/openai/v1/"
        );
        assert_eq!(
            normal(Wire::Anthropic, "https://api.anthropic.com"),
            "https://api.anthropic.com/v1/"
        );
        assert_eq!(normal(Wire::Gemini, "http://127.0.0.1:9/"), "http://127.0.0.1:9/v1beta/");
        assert_eq!(normal(Wire::Ollama, "http://127.0.0.1:11434/v1"), "http://127.0.0.1:11434/");
        assert_eq!(normal(Wire::Ollama, "http://127.0.0.1:11434"), "http://127.0.0.1:11434/");
        for bad in ["localhost:1", "ftp://x", "http://u:p@x/", "http://", "x"] {
            assert!(Target::normal_base_url(Wire::OpenAi, bad).is_err(), "{bad}");
        }
    }
}
