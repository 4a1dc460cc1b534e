//! What `claw init` finds of a bot, and what it writes: the section as it is, also where nobody may
//! talk to the bot yet. Must not know what is asked.

use std::borrow::Cow;

use secrecy::SecretString;

use claw_core::config::{ConfigDraft, ConfigError, DoorTexts, Env};

use super::{SECTION, TelegramSection, ids};

/// A setting, and where it is written.
pub struct FoundSetting<T> {
    pub value: T,
    /// The variable, or the key of `claw.toml`.
    pub place: Cow<'static, str>,
    /// From the environment, which goes before `claw.toml`.
    pub is_variable: bool,
}

/// What is set of the main agent's bot.
pub struct ExistingBot<'a> {
    section: TelegramSection,
    env: &'a Env,
}

impl<'a> ExistingBot<'a> {
    /// # Errors
    /// A section that cannot be read.
    pub fn of(texts: &'a DoorTexts) -> Result<Self, ConfigError> {
        Ok(Self { section: TelegramSection::of(texts)?, env: texts.env() })
    }

    pub fn bot_token(&self) -> Option<FoundSetting<SecretString>> {
        // In the order in which the gateway looks for it.
        let listed = self.section.token_from.iter().map(String::as_str);
        let mut variables = std::iter::once("TELEGRAM_BOT_TOKEN").chain(listed);
        let variable = variables
            .find_map(|name| Some((self.env.get(name)?, Cow::Owned(name.to_owned()), true)));
        let written =
            || Some((self.section.token.as_deref()?, Cow::Borrowed("`token` in claw.toml"), false));
        let (text, place, is_variable) = variable.or_else(written)?;
        let value = SecretString::from(text.trim().to_owned());
        (!text.trim().is_empty()).then_some(FoundSetting { value, place, is_variable })
    }

    /// Who may talk to the bot. None if nobody is named.
    ///
    /// # Errors
    /// A variable that lists what is no id.
    pub fn allowed_chats(&self) -> Result<Option<FoundSetting<Vec<i64>>>, ConfigError> {
        let (value, place, is_variable) = match self.env.get("CLAW_ALLOWED_CHATS") {
            Some(text) => (ids(text)?, "CLAW_ALLOWED_CHATS", true),
            None => (self.section.allowed_chats.clone(), "`allowed_chats` in claw.toml", false),
        };
        Ok((!value.is_empty()).then_some(FoundSetting { value, place: place.into(), is_variable }))
    }

    /// Who may decide beside those who may talk: user ids.
    pub fn further_owners(&self) -> &[i64] {
        &self.section.owners
    }

    /// The chat that gets what needs a human, if one is written down.
    pub fn notify_chat(&self) -> Option<i64> {
        self.section.notify_chat
    }

    /// Where bots are served.
    ///
    /// # Errors
    /// An address that is none.
    pub fn bot_api(&self) -> Result<String, ConfigError> {
        self.section.api(self.env)
    }
}

/// Writes whose bot it is from now on.
///
/// # Errors
/// `[telegram]` is no section.
pub fn set_bot_token(draft: &mut ConfigDraft, token: &SecretString) -> Result<(), ConfigError> {
    draft.set_secret(SECTION.name, "token", token)
}

/// Writes who may talk from now on, and nobody beside them: who else could decide or was told goes
/// with those who could talk.
///
/// # Errors
/// `[telegram]` is no section.
pub fn set_allowed_chats(draft: &mut ConfigDraft, ids: &[i64]) -> Result<(), ConfigError> {
    draft.set_numbers(SECTION.name, "allowed_chats", ids)?;
    draft.remove(SECTION.name, "owners")?;
    draft.remove(SECTION.name, "notify_chat")
}
