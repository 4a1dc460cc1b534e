//! Picks a model from what is there. Owns the order: what was asked for by name, a key, a local
//! server, the demo. Must not read the environment or files itself.

mod chain;
mod error;
mod offered;
mod probe;
mod services;
mod setting;
mod tool_room;
mod trial;
mod windows;

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::SecretString;

use self::services::{SERVICES, Service, value};
use self::setting::key_of;
use super::genai::{GenaiModel, Target, Wire, is_loopback};
use super::{Demo, Model, Retry, RetryPolicy};
use crate::config::TYPED_MODEL;
use crate::config::model::{Agent, ModelSection, ToolChoice};

pub use chain::{Chain, chain};
pub use error::ChooseError;
pub use offered::Choosable;
pub use tool_room::ToolsOfModel;
pub use trial::{Trial, address_of, usual_model};

/// The variables in which keys are looked for.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    SERVICES.iter().flat_map(|service| service.keys.iter().copied())
}

/// The model that will answer, and why it is this one.
pub struct Chosen {
    /// Already wrapped into retries.
    pub model: Arc<dyn Model>,
    /// One sentence for `/status` and `doctor`.
    pub why: String,
    /// Whether it can see images: as `[model] sees_images` says, else as is known of the provider.
    pub sees_images: bool,
    /// The tokens that it takes at once: as `[model] window_tokens` says, else as far as that is
    /// known.
    pub window_tokens: Option<u64>,
    /// Where it is; `None` for the demo.
    pub target: Option<Target>,
}

/// Picks the model. `env` is the process environment; it overrides `section`.
///
/// Asks the network only for a local server, on loopback, and for less than a second.
pub async fn choose(
    section: &ModelSection,
    env: &BTreeMap<String, String>,
    policy: RetryPolicy,
) -> Result<Chosen, ChooseError> {
    choose_of("[model]", section, env, policy).await
}

/// The same for a section that has another name.
async fn choose_of(
    place: &'static str,
    section: &ModelSection,
    env: &BTreeMap<String, String>,
    policy: RetryPolicy,
) -> Result<Chosen, ChooseError> {
    let selection = Selection { policy, ..Selection::new(place, section, env)? };
    match selection.agent {
        Some((agent, ref asked)) => selection.named(agent, asked).await,
        None => selection.found().await,
    }
}

/// What was asked for, and by which setting.
struct Selection<'a> {
    /// The section's name in `claw.toml`.
    place: &'static str,
    section: &'a ModelSection,
    env: &'a BTreeMap<String, String>,
    agent: Option<(Agent, String)>,
    model: Option<(String, String)>,
    base_url: Option<(String, String)>,
    api_key: Option<SecretString>,
    policy: RetryPolicy,
}

impl<'a> Selection<'a> {
    fn new(
        place: &'static str,
        section: &'a ModelSection,
        env: &'a BTreeMap<String, String>,
    ) -> Result<Self, ChooseError> {
        let from_env = value(env, "CLAW_AGENT").map(str::parse::<Agent>).transpose()?;
        // What claw.toml says about one agent must not reach another one, least of all its key.
        let other = matches!((from_env, section.agent), (Some(env), Some(file)) if env != file);
        let file = |text: &Option<String>| text.clone().filter(|_| !other);
        let pick = |variable: &str, text: &Option<String>, key: &str| {
            value(env, variable)
                .map(|text| (text.to_owned(), variable.to_owned()))
                .or_else(|| file(text).map(|text| (text, key_of(place, key))))
        };
        let base_url = pick("CLAW_BASE_URL", &section.base_url, "base_url");
        let agent = from_env
            .map(|agent| (agent, format!("CLAW_AGENT={agent}")))
            .or_else(|| {
                section.agent.map(|agent| (agent, format!("`{place} agent = \"{agent}\"`")))
            })
            .or_else(|| {
                let (url, asked) = base_url.as_ref()?;
                let agent =
                    Service::at(url).map_or(Agent::OpenAiCompatible, |service| service.agent);
                Some((agent, asked.clone()))
            });
        Ok(Self {
            place,
            section,
            env,
            agent,
            model: pick("CLAW_MODEL", &section.model, "model").map(|(name, asked)| {
                let typed = asked == "CLAW_MODEL" && env.contains_key(TYPED_MODEL);
                (name, if typed { TYPED_MODEL.to_owned() } else { asked })
            }),
            base_url,
            api_key: section.api_key.clone().filter(|_| !other),
            policy: RetryPolicy::default(),
        })
    }

    fn model_name(&self) -> Option<String> {
        self.model.as_ref().map(|(name, _)| name.clone())
    }

    async fn named(&self, agent: Agent, asked: &str) -> Result<Chosen, ChooseError> {
        match agent {
            Agent::Demo => Ok(demo(format!("{asked} asks for the built-in demo model."))),
            Agent::Ollama => self.ollama(asked).await,
            Agent::Claude | Agent::Gemini | Agent::OpenAiCompatible => {
                self.provider(agent, asked).await
            }
        }
    }

    async fn provider(&self, agent: Agent, asked: &str) -> Result<Chosen, ChooseError> {
        if let Some((url, setting)) = &self.base_url {
            let known = Service::at(url).filter(|service| service.agent == agent);
            if let Some(service) = known.or_else(|| Service::of(agent)) {
                return self.at_address(service, known.is_some(), url, setting).await;
            }
        }
        let in_family =
            |service: &&Service| self.model.as_ref().is_some_and(|(name, _)| service.makes(name));
        let candidates: Vec<&'static Service> =
            SERVICES.iter().filter(|service| service.agent == agent).collect();
        let with_key: Vec<&'static Service> =
            candidates.iter().copied().filter(|service| service.key(self.env).is_some()).collect();
        let service =
            with_key.iter().copied().find(in_family).or_else(|| with_key.first().copied());
        let first = candidates.first().copied();
        let Some(service) = service.or_else(|| first.filter(|_| self.api_key.is_some())) else {
            return Err(self.no_key(agent, asked, &candidates));
        };
        let model = self.model_name().unwrap_or_else(|| service.model.to_owned());
        let (key, key_setting) = self.key_for(service);
        let why = format!("{asked} asks for {}; the key is from {key_setting}.", service.name);
        Ok(self.real(
            service.wire,
            service.name,
            model,
            service.base_url.to_owned(),
            key,
            key_setting,
            why,
        ))
    }

    /// A provider at an address that a person gave.
    async fn at_address(
        &self,
        service: &'static Service,
        known: bool,
        url: &str,
        setting: &str,
    ) -> Result<Chosen, ChooseError> {
        let wire = if known || service.agent != Agent::OpenAiCompatible {
            service.wire
        } else if url.trim().trim_end_matches('/').ends_with("/responses") {
            Wire::OpenAiResponses
        } else {
            Wire::OpenAi
        };
        let base_url = Target::normal_base_url(wire, url)
            .map_err(|reason| ChooseError::BaseUrl { asked: setting.to_owned(), reason })?;
        let local = reqwest::Url::parse(&base_url)
            .ok()
            .and_then(|url| url.host_str().map(is_loopback))
            .unwrap_or(false);
        let (key, key_setting) = self.key_for(service);
        if key.is_none() && !local {
            let variable = service.keys.first().copied().unwrap_or_default();
            return Err(ChooseError::NoKey {
                asked: setting.to_owned(),
                service: service.name,
                variable,
                setting: self.key("api_key"),
            });
        }
        let own_server = !known && service.agent == Agent::OpenAiCompatible;
        let model = match self.model_name() {
            Some(name) => name,
            None if own_server && local => {
                let root = base_url.strip_suffix("v1/").unwrap_or(&base_url).to_owned();
                match probe::llama_cpp(&root).await {
                    Some(name) => name,
                    None => return Err(self.no_name_at(&root, setting).await),
                }
            }
            None if own_server => {
                return Err(self.no_name(setting));
            }
            None => service.model.to_owned(),
        };
        let name = if own_server { Agent::OpenAiCompatible.as_str() } else { service.name };
        let why = format!("{setting} points to {base_url}.");
        Ok(self.real(wire, name, model, base_url, key, key_setting, why))
    }

    async fn ollama(&self, asked: &str) -> Result<Chosen, ChooseError> {
        let (url, setting) = match &self.base_url {
            Some((url, setting)) => (url.clone(), setting.as_str()),
            None => {
                let host = value(self.env, "OLLAMA_HOST");
                let url = host.map(|host| probe::ollama_host(host).unwrap_or_else(|| host.into()));
                (url.unwrap_or_else(|| probe::OLLAMA.to_owned()), "OLLAMA_HOST")
            }
        };
        let url = Target::normal_base_url(Wire::Ollama, &url)
            .map_err(|reason| ChooseError::BaseUrl { asked: setting.to_owned(), reason })?;
        let model = match self.model_name() {
            Some(name) => name,
            None => match probe::ollama(&url).await {
                Some(Some(name)) => name,
                Some(None) => {
                    let name = self.to_set("CLAW_MODEL", "model", asked);
                    return Err(ChooseError::NoOllamaModel { url, name });
                }
                None => return Err(ChooseError::NoOllama { url, address: setting.to_owned() }),
            },
        };
        let why = format!("{asked} asks for Ollama, which is at {url}.");
        Ok(self.real(
            Wire::Ollama,
            "ollama",
            model,
            url,
            self.api_key.clone(),
            self.key("api_key"),
            why,
        ))
    }

    /// Nothing was asked for by name: a key, a local server, the demo.
    async fn found(&self) -> Result<Chosen, ChooseError> {
        let with_key: Vec<&'static Service> =
            SERVICES.iter().filter(|service| service.key(self.env).is_some()).collect();
        let in_family =
            |service: &&Service| self.model.as_ref().is_some_and(|(name, _)| service.makes(name));
        if let Some(service) =
            with_key.iter().copied().find(in_family).or_else(|| with_key.first().copied())
        {
            let model = self.model_name().unwrap_or_else(|| service.model.to_owned());
            let (key, key_setting) = self.key_for(service);
            let why = format!("{key_setting} is set.");
            let url = service.base_url.to_owned();
            return Ok(self.real(service.wire, service.name, model, url, key, key_setting, why));
        }
        if let Some(chosen) = self.local().await {
            return Ok(chosen);
        }
        if let Some((model, asked)) = &self.model {
            return Err(ChooseError::ModelWithoutProvider {
                asked: asked.clone(),
                model: model.clone(),
                agent: self.to_set("CLAW_AGENT", "agent", asked),
            });
        }
        Ok(demo(
            "No provider's key is set and no local model server was found, so the built-in demo \
             model answers."
                .into(),
        ))
    }

    async fn local(&self) -> Option<Chosen> {
        let host = value(self.env, "OLLAMA_HOST").and_then(probe::ollama_host).filter(|url| {
            reqwest::Url::parse(url)
                .ok()
                .and_then(|url| url.host_str().map(is_loopback))
                .unwrap_or(false)
        });
        let ollama_url = host.unwrap_or_else(|| probe::OLLAMA.to_owned());
        let (ollama, llama) =
            futures::join!(probe::ollama(&ollama_url), probe::llama_cpp(probe::LLAMA_CPP));
        let wanted = self.model_name();
        if let Some(model) = ollama.and_then(|first| wanted.clone().or(first)) {
            let why = format!("An Ollama runs at {ollama_url}.");
            return Some(self.real(
                Wire::Ollama,
                "ollama",
                model,
                ollama_url,
                None,
                self.key("api_key"),
                why,
            ));
        }
        let model = wanted.or(llama.clone()).filter(|_| llama.is_some())?;
        let url = format!("{}v1/", probe::LLAMA_CPP);
        let why = format!("A llama.cpp server runs at {}.", probe::LLAMA_CPP);
        Some(self.real(
            Wire::OpenAi,
            "openai-compatible",
            model,
            url,
            None,
            self.key("api_key"),
            why,
        ))
    }

    fn key_for(&self, service: &Service) -> (Option<SecretString>, String) {
        if let Some(key) = &self.api_key {
            return (Some(key.clone()), self.key("api_key"));
        }
        match service.key(self.env) {
            Some((name, key)) => (Some(SecretString::from(key)), name.to_owned()),
            None => (None, service.keys.first().copied().unwrap_or_default().to_owned()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the one place where a target is put together")]
    fn real(
        &self,
        wire: Wire,
        provider: &str,
        model: String,
        base_url: String,
        api_key: Option<SecretString>,
        key_setting: String,
        why: String,
    ) -> Chosen {
        let mut why = format!("{model} ({provider}): {why}");
        if wire == Wire::Ollama && self.section.tool_choice == ToolChoice::Required {
            why.push_str(
                " `tool_choice = \"required\"` has no effect, because this wire cannot \
                demand a call.",
            );
        }
        let of_setting = |given: &Option<(String, String)>, usual: String| {
            given.as_ref().map_or(usual, |(_, asked)| asked.clone())
        };
        let address = match wire {
            Wire::Ollama if value(self.env, "OLLAMA_HOST").is_some() => "OLLAMA_HOST".to_owned(),
            _ => self.key("base_url"),
        };
        let known = SERVICES.iter().any(|service| service.name == provider && service.sees_images);
        let sees_images = self.section.sees_images.unwrap_or(known);
        let window_tokens = self.section.window_tokens.or_else(|| windows::known(&model));
        let target = Target {
            wire,
            provider: provider.to_owned(),
            model,
            base_url,
            api_key,
            key_setting,
            address_setting: of_setting(&self.base_url, address),
            model_setting: of_setting(&self.model, self.key("model")),
            max_tokens: self.section.max_tokens,
            temperature: self.section.temperature,
            timeout: self.section.timeout(),
            tool_choice: self.section.tool_choice,
        };
        let model = Arc::new(GenaiModel::new(target.clone()));
        Chosen {
            model: Arc::new(Retry::with_policy(model, self.policy)),
            why,
            sees_images,
            window_tokens,
            target: Some(target),
        }
    }
}

fn demo(why: String) -> Chosen {
    let model = Arc::new(Retry::new(Arc::new(Demo)));
    Chosen { model, why, sees_images: false, window_tokens: None, target: None }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
