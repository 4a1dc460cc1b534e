//! The written form of `claw.toml`: its sections, and their reading with every `$NAME` filled in. Must not know where the
//! file is, or what the rooms do with their settings.

use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use super::env::Env;
use super::error::ConfigError;
use super::expand::Expander;
use super::limits::Limits;
use super::model::ModelSection;
use super::prices::Prices;
use super::retention::Retention;
use super::telegram::TelegramSection;
use super::toml_fault;
use super::tools::{Tools, ToolsSection};
use super::transcription::TranscriptionSection;

/// When the console uses colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

/// `[console]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConsoleSection {
    pub color: Color,
}

impl Default for ConsoleSection {
    fn default() -> Self {
        Self { color: Color::Auto }
    }
}

/// `[redact]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RedactSection {
    /// Further values that must not leave, usually as `"$NAME"`. Taken while expanding.
    #[serde(rename = "extra")]
    _extra: Vec<String>,
}

/// A whole `claw.toml`. Every key may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ClawToml {
    pub(super) model: ModelSection,
    pub(super) prices: Prices,
    pub(super) limits: Limits,
    pub(super) retention: Retention,
    pub(super) tools: ToolsSection,
    pub(super) console: ConsoleSection,
    pub(super) telegram: TelegramSection,
    pub(super) transcription: TranscriptionSection,
    #[serde(rename = "redact")]
    _redact: RedactSection,
    pub(super) workspace: Option<String>,
    /// IANA name of the zone that the owner lives in; the system's if it is left out.
    pub(super) time_zone: Option<String>,
}

/// What a file says, and the secrets that it names.
pub(super) struct Written {
    pub(super) file: ClawToml,
    pub(super) secrets: Vec<(String, String)>,
    pub(super) tools: Tools,
}

/// Reads the text of a `claw.toml`. `place` is the file's name for errors.
pub(super) fn read(place: &str, text: &str, env: &Env) -> Result<Written, ConfigError> {
    let wrong = |error: toml::de::Error| {
        let fault = toml_fault::fault(text, &error);
        let place = fault.line.map_or(place.to_owned(), |line| format!("{place}, line {line}"));
        ConfigError::new(place, fault.message, "Correct the line and start again")
    };
    let mut table = DeTable::parse(text).map_err(wrong)?;
    let mut expander = Expander { env, place, text, secrets: Vec::new() };
    expander.table(table.get_mut(), "")?;
    let secrets = expander.secrets;
    let file = ClawToml::deserialize(Deserializer::from(table)).map_err(wrong)?;
    let out_of_range = |message: String, key: &str| {
        let line = text.lines().position(|line| line.trim_start().starts_with(key));
        let place = line.map_or(place.to_owned(), |line| format!("{place}, line {}", line + 1));
        ConfigError::new(place, message, "Correct the value and start again")
    };
    file.limits.check().and_then(|()| file.retention.check()).map_err(|(key, message)| out_of_range(message, key))?;
    let tools = file.tools.resolve().map_err(|(key, message)| out_of_range(message, key))?;
    file.model
        .validate()
        .map_err(|error| ConfigError::new(place, error.to_string(), "Correct the value and start again"))?;
    let wrong_price = |message| ConfigError::new(place, message, "Correct the value and start again");
    file.prices.check().map_err(wrong_price)?;
    Ok(Written { file, secrets, tools })
}
