//! What is set already, for `claw init`: environment, `claw.toml` and home, read without making
//! anything, also where a bot has nobody to talk to yet. Must not know what is asked.

use std::borrow::Cow;
use std::collections::BTreeMap;

use secrecy::SecretString;

use super::agents::MAIN;
use super::env::Env;
use super::error::ConfigError;
use super::model::ModelSection;
use super::telegram::{self, TelegramSection};
use super::{Home, file, home_of, read_if_there};

/// The variables that go before `[model]`.
const BEFORE_MODEL: [&str; 3] = ["CLAW_AGENT", "CLAW_MODEL", "CLAW_BASE_URL"];

/// A setting, and where it is written.
pub struct Found<T> {
    pub value: T,
    /// The variable, or the key of `claw.toml`.
    pub place: Cow<'static, str>,
    /// From the environment, which goes before `claw.toml`.
    pub is_variable: bool,
}

pub struct Seen {
    pub home: Home,
    pub model: ModelSection,
    pub(super) telegram: TelegramSection,
    pub(super) env: Env,
    /// Of `claw.toml`, if it is there.
    pub(super) text: Option<String>,
}

impl Seen {
    /// # Errors
    /// A `claw.toml` that cannot be read or does not mean anything.
    pub fn load() -> Result<Self, ConfigError> {
        Self::load_from(Env::from_process())
    }

    pub(super) fn load_from(env: Env) -> Result<Self, ConfigError> {
        let home = home_of(&env)?;
        let text = read_if_there(&home.claw_toml())?;
        let place = home.claw_toml().display().to_string();
        let written = file::read(&place, text.as_deref().unwrap_or_default(), &env, MAIN)?.file;
        Ok(Self { home, model: written.model, telegram: written.telegram, env, text })
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

    pub fn bot_token(&self) -> Option<Found<SecretString>> {
        // In the order in which the gateway looks for it.
        let listed = self.telegram.token_from.iter().map(String::as_str);
        let mut variables = std::iter::once("TELEGRAM_BOT_TOKEN").chain(listed);
        let variable = variables
            .find_map(|name| Some((self.env.get(name)?, Cow::Owned(name.to_owned()), true)));
        let written = || {
            Some((self.telegram.token.as_deref()?, Cow::Borrowed("`token` in claw.toml"), false))
        };
        let (text, place, is_variable) = variable.or_else(written)?;
        let value = SecretString::from(text.trim().to_owned());
        (!text.trim().is_empty()).then_some(Found { value, place, is_variable })
    }

    /// Who may talk to the bot. None if nobody is named.
    pub fn allowed_chats(&self) -> Result<Option<Found<Vec<i64>>>, ConfigError> {
        let (value, place, is_variable) = match self.env.get("CLAW_ALLOWED_CHATS") {
            Some(text) => (telegram::ids(text)?, "CLAW_ALLOWED_CHATS", true),
            None => (self.telegram.allowed_chats.clone(), "`allowed_chats` in claw.toml", false),
        };
        Ok((!value.is_empty()).then_some(Found { value, place: place.into(), is_variable }))
    }

    /// Who may decide beside those who may talk: user ids.
    pub fn further_owners(&self) -> &[i64] {
        &self.telegram.owners
    }

    /// The chat that gets what needs a human, if one is written down.
    pub fn notify_chat(&self) -> Option<i64> {
        self.telegram.notify_chat
    }

    /// Where bots are served.
    ///
    /// # Errors
    /// An address that is none.
    pub fn bot_api(&self) -> Result<String, ConfigError> {
        self.telegram.api(&self.env)
    }
}
