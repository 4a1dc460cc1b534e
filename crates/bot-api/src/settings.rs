//! The `[telegram]` section of `claw.toml`, read by the door and by the command line: whose bot it
//! is, who may talk to it, and how it behaves. Must not know who asks.

use std::collections::BTreeSet;

use secrecy::SecretString;
use serde::Deserialize;

use claw_core::config::{
    BotHelp, BotNote, ConfigError, DoorNotes, DoorSection, DoorTexts, Env, MAIN,
};

use crate::domain::telegram_principal;

mod asked;

pub use asked::{ExistingBot, FoundSetting, set_allowed_chats, set_bot_token};

/// Where bots are served, unless `telegram.api` or `CLAW_TELEGRAM_API` says otherwise.
pub(super) const API: &str = "https://api.telegram.org";
/// The largest file that is fetched, unless `telegram.file_bytes_max` says otherwise: what the Bot
/// API hands out at most (Bot API, `getFile`).
const FILE_BYTES_MAX: u64 = 20 << 20;
/// What a Bot API server of one's own may hand out (Bot API, "Using a Local Bot API Server").
const FILE_BYTES_MOST: u64 = 2000 << 20;
/// The most messages that may be given as context.
const CONTEXT_MESSAGES_MOST: u32 = 50;

/// Named in the list of doors.
pub static SECTION: DoorSection = DoorSection {
    name: "telegram",
    own_keys: &["token", "token_from", "allowed_chats", "owners", "notify_chat"],
    in_agent: true,
    secret_variables: &["token_from"],
    bot_help: Some(BotHelp {
        set_up: "set TELEGRAM_BOT_TOKEN (from @BotFather) and CLAW_ALLOWED_CHATS (your numeric \
                 Telegram id)",
        tokens_from: "@BotFather",
    }),
    parse: |texts| TelegramSection::of(texts).map(drop),
    note,
};

/// What the rest of claw has to know of it.
fn note(texts: &DoorTexts) -> Result<DoorNotes, ConfigError> {
    let section = TelegramSection::of(texts)?;
    let (env, agent) = (texts.env(), texts.agent());
    let allowed_source = Some(allowed_source(env, agent));
    let Some(telegram) = section.resolve(env, agent)? else {
        let missing = section.missing(env, agent);
        let bot = missing.map(|why| BotNote { token: Err(why), chat: None });
        return Ok(DoorNotes { allowed_source, bot, ..DoorNotes::default() });
    };
    Ok(DoorNotes {
        secrets: vec![(telegram.token_source, telegram.token.clone())],
        owners: telegram.owners.iter().map(|user| telegram_principal(*user)).collect(),
        allowed_source,
        bot: Some(BotNote { token: Ok(telegram.token), chat: telegram.notify_chat }),
    })
}

/// Where it is written who may talk to the bot, as a person calls it.
fn allowed_source(env: &Env, agent: &str) -> String {
    match env.get("CLAW_ALLOWED_CHATS").filter(|_| agent == MAIN) {
        Some(_) => "CLAW_ALLOWED_CHATS".to_owned(),
        None => format!("claw.toml, {}.allowed_chats", section_of(agent)),
    }
}

/// `[telegram]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelegramSection {
    /// The bot's token, usually `"$TELEGRAM_BOT_TOKEN"`.
    pub token: Option<String>,
    /// Variables that may hold the bot's token; the first that is set counts, and goes before
    /// `token`.
    pub token_from: Vec<String>,
    /// The address of a Bot API server of one's own.
    pub api: Option<String>,
    /// Numeric ids of the chats that may talk: a positive one is a private chat, whose user is an
    /// owner; a negative one is a group, whose members may talk.
    pub allowed_chats: Vec<i64>,
    /// Numeric ids of further users who may decide.
    pub owners: Vec<i64>,
    /// Whether an answer is shown while it is written; yes unless it says `false`.
    pub stream: Option<bool>,
    /// What happens when an unknown user writes.
    pub pairing: Pairing,
    /// Numeric id of the chat that gets what needs a human; else the first owner's private chat.
    pub notify_chat: Option<i64>,
    /// Whether questions of console sessions are put to `notify_chat`, too.
    pub console_questions: bool,
    /// `"off"`: nothing is held back to keep Telegram's limits, for a Bot API server that has none.
    pub pace: PaceSetting,
    /// The largest file that is fetched, in bytes; 1 to 2,097,152,000, default 20 MiB.
    pub file_bytes_max: Option<u64>,
    /// How many messages of a group that were not meant for the bot are given to the model before
    /// one that is; 0 to 50, default 0: then nothing of them is kept.
    pub group_context_messages: u32,
}

/// `telegram.pace`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaceSetting {
    /// As Telegram's documentation asks for.
    #[default]
    Telegram,
    Off,
}

/// `telegram.pairing`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// The owner is told once, with a button that lets them in.
    #[default]
    Ask,
    /// Silence.
    Off,
}

/// The Telegram door as it is meant.
#[derive(Clone, Debug)]
pub struct Telegram {
    pub token: SecretString,
    /// What the token comes from, as a person calls it: a variable, or a key of `claw.toml`.
    pub token_source: String,
    /// Without a slash at its end.
    pub api: String,
    pub allowed_chats: BTreeSet<i64>,
    /// What those come from, as a person calls it: a variable, or a key of `claw.toml`.
    pub allowed_source: String,
    /// Who may talk and decide: user ids.
    pub owners: BTreeSet<i64>,
    /// Whether an answer is shown while it is written. If not, it comes whole, and what the model
    /// says before it acts does not come.
    pub stream: bool,
    pub pairing: Pairing,
    /// Who gets what needs a human; `None` if there is no owner.
    pub notify_chat: Option<i64>,
    pub console_questions: bool,
    /// Whether Telegram's limits are kept before it has to ask for a pause.
    pub pace: bool,
    /// In bytes.
    pub file_bytes_max: u64,
    pub group_context_messages: u32,
}

impl Telegram {
    /// The door of an agent; `None` without a token.
    ///
    /// # Errors
    /// A section that cannot be read, or does not mean anything.
    pub fn of(texts: &DoorTexts) -> Result<Option<Self>, ConfigError> {
        TelegramSection::of(texts)?.resolve(texts.env(), texts.agent())
    }
}

impl TelegramSection {
    /// As it is written.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(texts: &DoorTexts) -> Result<Self, ConfigError> {
        texts.read(SECTION.name)
    }

    /// The token: the main agent's may come from `TELEGRAM_BOT_TOKEN`, anybody's from the variables
    /// that are listed.
    fn token(&self, env: &Env, agent: &str) -> Option<String> {
        self.token_and_source(env, agent).map(|(token, _)| token)
    }

    /// The token, and what it comes from.
    fn token_and_source(&self, env: &Env, agent: &str) -> Option<(String, String)> {
        const USUAL: &str = "TELEGRAM_BOT_TOKEN";
        let variable = |name: &str| env.get(name).map(|token| (token.to_owned(), name.to_owned()));
        let usual = (agent == MAIN).then(|| variable(USUAL)).flatten();
        let listed = || self.token_from.iter().find_map(|name| variable(name));
        let written =
            || Some((self.token.clone()?, format!("{}.token in claw.toml", section_of(agent))));
        let (token, source) = usual.or_else(listed).or_else(written)?;
        let token = token.trim().to_owned();
        (!token.is_empty()).then_some((token, source))
    }

    /// Why there is no bot although one was meant.
    fn missing(&self, env: &Env, agent: &str) -> Option<String> {
        if self.token(env, agent).is_some() {
            return None;
        }
        if !self.token_from.is_empty() {
            return Some(format!(
                "none of {} is set, so there is no token for its bot",
                self.token_from.join(", ")
            ));
        }
        let meant = agent != MAIN && !(self.allowed_chats.is_empty() && self.owners.is_empty());
        meant.then(|| {
            "chats are allowed, and there is no token for its bot (token or token_from)".to_owned()
        })
    }

    /// `None` without a token.
    ///
    /// # Errors
    /// A token without anybody who may talk, an id that is none, an address that is none.
    fn resolve(&self, env: &Env, agent: &str) -> Result<Option<Telegram>, ConfigError> {
        let Some((token, token_source)) = self.token_and_source(env, agent) else {
            return Ok(None);
        };
        let allowed_source = allowed_source(env, agent);
        let written = match env.get("CLAW_ALLOWED_CHATS").filter(|_| agent == MAIN) {
            Some(text) => ids(text)?,
            None => self.allowed_chats.clone(),
        };
        let allowed_chats: BTreeSet<i64> = written.iter().copied().collect();
        if allowed_chats.is_empty() || allowed_chats.contains(&0) {
            return Err(ConfigError::new(
                allowed_source,
                "there is a bot token, and nobody may talk to the bot",
                if agent == MAIN {
                    "List your own numeric Telegram id there, for example \
                     CLAW_ALLOWED_CHATS=123456789"
                } else {
                    "List your own numeric Telegram id there, for example allowed_chats = \
                     [123456789]"
                },
            ));
        }
        let owners: BTreeSet<i64> =
            allowed_chats.iter().chain(&self.owners).copied().filter(|id| *id > 0).collect();
        let api = self.api(env)?;
        if self.notify_chat == Some(0) {
            let next =
                "Write the numeric id of a chat there, or leave it out for the first owner's own";
            return Err(ConfigError::new("claw.toml, telegram.notify_chat", "0 is no chat", next));
        }
        let file_bytes_max = self.file_bytes_max.unwrap_or(FILE_BYTES_MAX);
        within("file_bytes_max", file_bytes_max, 1, FILE_BYTES_MOST)?;
        let group_context_messages = self.group_context_messages;
        within(
            "group_context_messages",
            u64::from(group_context_messages),
            0,
            u64::from(CONTEXT_MESSAGES_MOST),
        )?;
        Ok(Some(Telegram {
            token: SecretString::from(token),
            token_source,
            api,
            allowed_chats,
            allowed_source,
            owners,
            stream: self.stream.unwrap_or(true),
            pairing: self.pairing,
            notify_chat: self.notify_chat.or(written
                .iter()
                .chain(&self.owners)
                .copied()
                .find(|id| *id > 0)),
            console_questions: self.console_questions,
            pace: self.pace == PaceSetting::Telegram,
            file_bytes_max,
            group_context_messages,
        }))
    }
}

impl TelegramSection {
    /// Where bots are served, without a slash at its end.
    fn api(&self, env: &Env) -> Result<String, ConfigError> {
        let (place, api) = match env.get("CLAW_TELEGRAM_API") {
            Some(api) => ("CLAW_TELEGRAM_API", api),
            None => ("claw.toml, telegram.api", self.api.as_deref().unwrap_or(API)),
        };
        let api = api.trim_end_matches('/').to_owned();
        if !api.starts_with("https://") && !api.starts_with("http://") {
            let next = "Write it as http://127.0.0.1:8081 or https://example.org";
            let message = format!("`{api}` is no address of a server");
            return Err(ConfigError::new(place, message, next));
        }
        Ok(api)
    }
}

/// Where an agent's own settings of its bot stand in `claw.toml`.
fn section_of(agent: &str) -> String {
    if agent == MAIN { "telegram".to_owned() } else { format!("agents.{agent}") }
}

fn within(key: &str, value: u64, least: u64, most: u64) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let message = format!("`telegram.{key}` is {value}, and must be from {least} to {most}");
    Err(ConfigError::new("claw.toml, [telegram]", message, "Correct the value"))
}

fn ids(text: &str) -> Result<Vec<i64>, ConfigError> {
    let id = |word: &str| {
        word.parse().map_err(|_| {
            let message = format!("`{word}` is no numeric chat id");
            ConfigError::new(
                "CLAW_ALLOWED_CHATS",
                message,
                "Separate numeric ids by commas; names do not work",
            )
        })
    };
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(id).collect()
}

#[cfg(test)]
mod tests;
