//! The `[telegram]` section of `claw.toml`, and the variables that go before it. Must not know the Bot API.

use std::collections::BTreeSet;

use secrecy::SecretString;
use serde::Deserialize;

use super::env::Env;
use super::error::ConfigError;

/// Where bots are served, unless `telegram.api` or `CLAW_TELEGRAM_API` says otherwise.
const API: &str = "https://api.telegram.org";

/// `[telegram]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelegramSection {
    /// The bot's token, usually `"$TELEGRAM_BOT_TOKEN"`.
    pub token: Option<String>,
    /// The address of a Bot API server of one's own.
    pub api: Option<String>,
    /// Numeric ids of the chats that may talk: a positive one is a private chat, whose user is an owner; a negative one is
    /// a group, whose members may talk.
    pub allowed_chats: Vec<i64>,
    /// Numeric ids of further users who may decide.
    pub owners: Vec<i64>,
    /// Whether an answer is shown while it is written; yes unless it says `false`.
    pub stream: Option<bool>,
}

/// The Telegram door as it is meant.
#[derive(Clone, Debug)]
pub struct Telegram {
    pub token: SecretString,
    /// Without a slash at its end.
    pub api: String,
    pub allowed_chats: BTreeSet<i64>,
    /// Who may talk and decide: user ids.
    pub owners: BTreeSet<i64>,
    /// Whether an answer is shown while it is written. If not, it comes whole, and what the model says before it acts does
    /// not come.
    pub stream: bool,
}

impl TelegramSection {
    /// `None` without a token.
    ///
    /// # Errors
    /// A token without anybody who may talk, an id that is none, an address that is none.
    pub(super) fn resolve(&self, env: &Env) -> Result<Option<Telegram>, ConfigError> {
        let token = env.get("TELEGRAM_BOT_TOKEN").map(str::to_owned).or_else(|| self.token.clone());
        let Some(token) = token.filter(|token| !token.trim().is_empty()) else { return Ok(None) };
        let (place, allowed_chats) = match env.get("CLAW_ALLOWED_CHATS") {
            Some(text) => ("CLAW_ALLOWED_CHATS", ids(text)?),
            None => ("claw.toml, telegram.allowed_chats", self.allowed_chats.iter().copied().collect()),
        };
        if allowed_chats.is_empty() || allowed_chats.contains(&0) {
            return Err(ConfigError::new(
                place,
                "there is a bot token, and nobody may talk to the bot",
                "List your own numeric Telegram id there, for example CLAW_ALLOWED_CHATS=123456789",
            ));
        }
        let owners: BTreeSet<i64> = allowed_chats.iter().chain(&self.owners).copied().filter(|id| *id > 0).collect();
        let api = env.get("CLAW_TELEGRAM_API").or(self.api.as_deref()).unwrap_or(API).trim_end_matches('/').to_owned();
        if !api.starts_with("https://") && !api.starts_with("http://") {
            let next = "Write it as http://127.0.0.1:8081 or https://example.org";
            return Err(ConfigError::new("CLAW_TELEGRAM_API", format!("`{api}` is no address of a server"), next));
        }
        let (token, stream) = (SecretString::from(token.trim().to_owned()), self.stream.unwrap_or(true));
        Ok(Some(Telegram { token, api, allowed_chats, owners, stream }))
    }
}

fn ids(text: &str) -> Result<BTreeSet<i64>, ConfigError> {
    let id = |word: &str| {
        word.parse().map_err(|_| {
            let message = format!("`{word}` is no numeric chat id");
            ConfigError::new("CLAW_ALLOWED_CHATS", message, "Separate numeric ids by commas; names do not work")
        })
    };
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(variables: &[(&str, &str)]) -> Result<Option<Telegram>, ConfigError> {
        TelegramSection::default().resolve(&variables.iter().copied().collect())
    }

    #[test]
    fn without_a_token_there_is_no_door() {
        assert!(resolve(&[("CLAW_ALLOWED_CHATS", "1")]).unwrap().is_none());
    }

    #[test]
    fn a_bot_that_nobody_may_talk_to_is_refused() {
        for chats in ["", " , ", "0"] {
            let error = resolve(&[("TELEGRAM_BOT_TOKEN", "1:a"), ("CLAW_ALLOWED_CHATS", chats)]).unwrap_err();
            assert!(error.to_string().contains("nobody may talk"), "{error}");
        }
        let error = resolve(&[("TELEGRAM_BOT_TOKEN", "1:a"), ("CLAW_ALLOWED_CHATS", "@me")]).unwrap_err();
        assert!(error.to_string().contains("`@me` is no numeric chat id"), "{error}");
    }

    #[test]
    fn a_private_chat_is_an_owner_and_a_group_is_not() {
        let env =
            [("TELEGRAM_BOT_TOKEN", "1:a"), ("CLAW_ALLOWED_CHATS", "7, -100123"), ("CLAW_TELEGRAM_API", "http://x/")];
        let telegram = resolve(&env).unwrap().unwrap();
        assert_eq!(telegram.owners.iter().copied().collect::<Vec<_>>(), [7]);
        assert_eq!(telegram.allowed_chats.len(), 2);
        assert_eq!(telegram.api, "http://x");
        assert!(resolve(&[env[0], env[1], ("CLAW_TELEGRAM_API", "x")]).is_err());
    }
}
