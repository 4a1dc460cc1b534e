//! The providers that claw knows by name. Owns their variables, addresses and default models. Must
//! not know how one is picked.

use std::collections::BTreeMap;

use crate::config::model::Agent;
use crate::model::genai::Wire;

/// A provider on the network.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Service {
    pub name: &'static str,
    pub agent: Agent,
    pub wire: Wire,
    /// Where a key is looked for, in this order; the first is named in errors.
    pub keys: &'static [&'static str],
    pub base_url: &'static str,
    /// Current in November 2026; `CLAW_MODEL` names another.
    pub model: &'static str,
    /// How the names of its own models begin; used when a model is named and several keys are set.
    pub families: &'static [&'static str],
    /// Whether all its usual models can see images. A request with an image that a model cannot see
    /// is refused as a whole.
    pub sees_images: bool,
}

/// In the order in which keys are looked for.
pub(super) const SERVICES: [Service; 9] = [
    Service {
        name: "claude",
        agent: Agent::Claude,
        wire: Wire::Anthropic,
        keys: &["ANTHROPIC_API_KEY"],
        base_url: "https://api.anthropic.com/v1/",
        model: "claude-sonnet-5",
        families: &["claude"],
        sees_images: true,
    },
    Service {
        name: "openai",
        agent: Agent::OpenAiCompatible,
        wire: Wire::OpenAi,
        keys: &["OPENAI_API_KEY"],
        base_url: "https://api.openai.com/v1/",
        model: "gpt-5.4-mini",
        families: &["gpt", "o1", "o3", "o4", "chatgpt"],
        sees_images: true,
    },
    Service {
        name: "gemini",
        agent: Agent::Gemini,
        wire: Wire::Gemini,
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_url: "https://generativelanguage.googleapis.com/v1beta/",
        model: "gemini-3.8-flash",
        families: &["gemini", "gemma"],
        sees_images: true,
    },
    Service {
        name: "deepseek",
        agent: Agent::OpenAiCompatible,
        wire: Wire::DeepSeek,
        keys: &["DEEPSEEK_API_KEY"],
        base_url: "https://api.deepseek.com/v1/",
        model: "deepseek-flash",
        families: &["deepseek"],
        sees_images: false,
    },
    Service {
        name: "groq",
        agent: Agent::OpenAiCompatible,
        wire: Wire::Groq,
        keys: &["GROQ_API_KEY"],
        base_url: "https://api.groq.com/openai/v1/",
        model: "openai/gpt-oss-120b",
        families: &[],
        sees_images: false,
    },
    Service {
        name: "openrouter",
        agent: Agent::OpenAiCompatible,
        wire: Wire::OpenRouter,
        keys: &["OPENROUTER_API_KEY", "OPEN_ROUTER_API_KEY"],
        base_url: "https://openrouter.ai/api/v1/",
        model: "openrouter/auto",
        families: &[],
        sees_images: false,
    },
    Service {
        name: "xai",
        agent: Agent::OpenAiCompatible,
        wire: Wire::Xai,
        keys: &["XAI_API_KEY"],
        base_url: "https://api.x.ai/v1/",
        model: "grok-4.5",
        families: &["grok"],
        sees_images: true,
    },
    Service {
        name: "mistral",
        agent: Agent::OpenAiCompatible,
        wire: Wire::Mistral,
        keys: &["MISTRAL_API_KEY"],
        base_url: "https://api.mistral.ai/v1/",
        model: "mistral-large-latest",
        families: &["mistral", "ministral", "magistral", "codestral"],
        sees_images: false,
    },
    Service {
        name: "together",
        agent: Agent::OpenAiCompatible,
        wire: Wire::Together,
        keys: &["TOGETHER_API_KEY"],
        base_url: "https://api.together.xyz/v1/",
        model: "openai/gpt-oss-120b",
        families: &[],
        sees_images: false,
    },
];

impl Service {
    /// The first key that is set, with the name of its variable.
    pub(super) fn key<'a>(
        &self,
        env: &'a BTreeMap<String, String>,
    ) -> Option<(&'static str, &'a str)> {
        self.keys.iter().find_map(|name| Some((*name, value(env, name)?)))
    }

    /// The main service of an agent: the one that is meant when nothing else is said.
    pub(super) fn of(agent: Agent) -> Option<&'static Self> {
        SERVICES.iter().find(|service| service.agent == agent)
    }

    /// The service that lives at this address.
    pub(super) fn at(base_url: &str) -> Option<&'static Self> {
        let host = |text: &str| {
            reqwest::Url::parse(text).ok().and_then(|url| url.host_str().map(str::to_owned))
        };
        let wanted = host(base_url)?;
        SERVICES.iter().find(|service| host(service.base_url).as_ref() == Some(&wanted))
    }

    pub(super) fn makes(&self, model: &str) -> bool {
        self.families.iter().any(|family| model.starts_with(family))
    }
}

/// A variable that is set to nothing counts as not set.
pub(super) fn value<'a>(env: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    env.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
}
