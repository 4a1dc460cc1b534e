//! What is set already, for `claw init`: environment, `claw.toml` and home, read without making
//! anything, also where a bot has nobody to talk to yet. Must not know what is asked.

use std::collections::BTreeMap;

use super::agents::MAIN;
use super::doors::{DoorSections, DoorTexts};
use super::env::Env;
use super::error::ConfigError;
use super::model::ModelSection;
use super::{Home, file, home_of, read_if_there};

/// The variables that go before `[model]`.
const BEFORE_MODEL: [&str; 3] = ["CLAW_AGENT", "CLAW_MODEL", "CLAW_BASE_URL"];

pub struct ExistingSettings {
    pub home: Home,
    pub model: ModelSection,
    /// What the sections of doors say.
    pub doors: DoorTexts,
    pub(super) env: Env,
    /// Of `claw.toml`, if it is there.
    pub(super) text: Option<String>,
}

impl ExistingSettings {
    /// # Errors
    /// A `claw.toml` that cannot be read or does not mean anything.
    pub fn load(doors: &DoorSections) -> Result<Self, ConfigError> {
        Self::load_from(Env::from_process(), doors)
    }

    /// The same from a given environment.
    pub fn load_from(env: Env, doors: &DoorSections) -> Result<Self, ConfigError> {
        let home = home_of(&env)?;
        let text = read_if_there(&home.claw_toml())?;
        let place = home.claw_toml().display().to_string();
        let source = (place.as_str(), text.as_deref().unwrap_or_default());
        let file::AgentFile { file, doors, .. } = file::read(source, &env, MAIN, doors)?;
        Ok(Self { home, model: file.model, doors, env, text })
    }

    /// The environment as the rooms take it.
    pub fn variables(&self) -> BTreeMap<String, String> {
        self.env.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// The variables that are set and go before whatever `[model]` says.
    pub fn model_variables(&self) -> Vec<&'static str> {
        BEFORE_MODEL.into_iter().filter(|name| self.env.get(name).is_some()).collect()
    }

    /// Whether anything says which model answers, or holds a key in one of `keys`.
    pub fn names_a_model(&self, mut keys: impl Iterator<Item = &'static str>) -> bool {
        let ModelSection { agent, model, base_url, .. } = &self.model;
        let written = agent.is_some() || model.is_some() || base_url.is_some();
        written || !self.model_variables().is_empty() || keys.any(|key| self.env.get(key).is_some())
    }
}
