//! A model as somebody is about to write it down, tried before. Owns what a trial asks; must not
//! know who is told of it.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::Notify;

use super::services::{SERVICES, Service};
use super::{ChooseError, choose};
use crate::config::model::{Agent, ModelSection, ToolChoice};
use crate::domain::{Block, Message, Role};
use crate::model::genai::{GenaiModel, Target, Wire, list};
use crate::model::{Delta, Model as _, ModelError, Request, RetryPolicy};

/// The longest silence of a model that is tried. One on this machine may have to be read from the
/// disk first.
const SILENCE: Duration = Duration::from_secs(120);

/// A model that can be tried.
pub struct Trial {
    target: Target,
}

impl Trial {
    /// What `section` means. Asks nobody. `None` for the demo, which cannot fail.
    pub async fn of(
        section: &ModelSection,
        env: &BTreeMap<String, String>,
    ) -> Result<Option<Self>, ChooseError> {
        let mut section = section.clone();
        if section.model.is_none() {
            // With a name, nobody is asked for one.
            section.model = Some(usual_model(&section).unwrap_or_default().to_owned());
        }
        Ok(choose(&section, env, RetryPolicy::default())
            .await?
            .target
            .map(|target| Self { target }))
    }

    /// The names of the models that are offered; `None` where there is no list.
    pub async fn names(&self) -> Result<Option<Vec<String>>, ModelError> {
        list(&self.target).await
    }

    /// Whether a list is handed out only to a key that is good, or no key is needed.
    pub fn a_list_proves_the_key(&self) -> bool {
        let known = Service::at(&self.target.base_url).is_some();
        known
            || self.target.api_key.is_none()
            || matches!(self.target.wire, Wire::Anthropic | Wire::Gemini)
    }

    /// Whether a list says all that a request would say: it does not where something is set that
    /// the model may refuse.
    pub fn a_list_proves_it(&self) -> bool {
        let is_set = self.target.temperature.is_some() || self.target.max_tokens.is_some();
        self.a_list_proves_the_key() && !is_set
    }

    /// One request, whose answer is not waited for once it has begun. It has the limits that are
    /// set, and no other: where a model thinks first, some providers refuse one of a few tokens,
    /// and some any by this name. It offers no tools, so it cannot demand a call.
    pub async fn ask(&self, model: &str) -> Result<(), ModelError> {
        let target = Target {
            model: model.to_owned(),
            timeout: SILENCE,
            tool_choice: ToolChoice::Auto,
            ..self.target.clone()
        };
        let hello =
            Message { role: Role::User, blocks: vec![Block::Text { text: "Hi".to_owned() }] };
        let request = Request { messages: vec![hello], ..Request::default() };
        let begins = Notify::new();
        let mut sink = |delta: Delta| {
            if matches!(&delta, Delta::Text(text) | Delta::Reasoning(text) if !text.is_empty()) {
                begins.notify_one();
            }
        };
        let model = GenaiModel::new(target);
        tokio::select! {
            replied = model.reply(&request, &mut sink) => replied.map(|_| ()),
            () = begins.notified() => Ok(()),
        }
    }

    /// Whose it is: `claude`, `groq`, `openai-compatible`, …
    pub fn provider(&self) -> &str {
        &self.target.provider
    }

    /// The model that would answer; empty if none is named.
    pub fn model(&self) -> &str {
        &self.target.model
    }
}

/// The model of a known provider that answers if none is named.
pub fn usual_model(section: &ModelSection) -> Option<&'static str> {
    let service = match (&section.base_url, section.agent) {
        (Some(url), agent) => {
            Service::at(url).filter(|service| agent.is_none_or(|agent| service.agent == agent))
        }
        (None, Some(agent)) => Service::of(agent),
        (None, None) => None,
    };
    let elsewhere =
        || section.agent.filter(|agent| *agent != Agent::OpenAiCompatible).and_then(Service::of);
    service.or_else(elsewhere).map(|service| service.model)
}

/// The address of a known provider by its name, such as `openai`.
pub fn address_of(name: &str) -> Option<&'static str> {
    SERVICES.iter().find(|service| service.name == name).map(|service| service.base_url)
}
