//! The `[model]` section of `claw.toml`. Owns its keys and their limits. Must not know providers'
//! defaults or the network; what a value such as `$NAME` stands for has been filled in before it
//! gets here.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

/// Seconds without a byte from a model, unless `timeout_s` says otherwise.
pub const TIMEOUT_S_DEFAULT: u64 = 90;
const TIMEOUT_S_MAX: u64 = 3_600;
const WINDOW_TOKENS: std::ops::RangeInclusive<u64> = 1_000..=100_000_000;
const TEMPERATURE_MAX: f64 = 2.0;

/// Keys of `[model]` that were set for one model: to another they mean something else, or it
/// refuses them.
pub(super) const KEYS_FOR_ONE_MODEL: [&str; 9] = [
    "max_tokens",
    "temperature",
    "window_tokens",
    "sees_images",
    "calls_tools",
    "tool_choice",
    "tool_search",
    "listed_tools_max",
    "listed_tools_percent",
];

/// Which kind of model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Agent {
    Claude,
    /// Any server that speaks OpenAI's chat completions: OpenAI, DeepSeek, Groq, llama.cpp, vLLM, …
    OpenAiCompatible,
    Gemini,
    Ollama,
    Demo,
}

impl Agent {
    pub const ALL: [Self; 5] =
        [Self::Claude, Self::OpenAiCompatible, Self::Gemini, Self::Ollama, Self::Demo];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::OpenAiCompatible => "openai-compatible",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Demo => "demo",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a model decides by itself if it calls a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    #[default]
    Auto,
    /// For small models, which never call one by themselves: until a tool has been called, each
    /// reply has to call one.
    Required,
}

/// Who finds tools where not all are offered at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSearch {
    /// Claw, for a model with a small window or one on this machine whose window is not known; else
    /// the model.
    #[default]
    Auto,
    Model,
    Claw,
    /// Nobody: all tools are offered at once.
    Off,
}

/// A name that is no agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent `{0}`: use one of {names}", names = Agent::ALL.map(Agent::as_str).join(", "))]
pub struct UnknownAgent(pub String);

impl crate::domain::Blamed for UnknownAgent {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::User
    }
}

impl FromStr for Agent {
    type Err = UnknownAgent;
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let wanted = name.trim().to_ascii_lowercase();
        Self::ALL
            .into_iter()
            .find(|agent| agent.as_str() == wanted)
            .ok_or_else(|| UnknownAgent(name.to_owned()))
    }
}

impl TryFrom<String> for Agent {
    type Error = UnknownAgent;
    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

/// `[model]`. Every key may be left out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSection {
    pub agent: Option<Agent>,
    /// The model's name as the provider knows it.
    pub model: Option<String>,
    /// Where the provider listens; needed for servers of one's own.
    pub base_url: Option<String>,
    /// Usually `"$SOME_VARIABLE"`. Never printed.
    #[serde(default, deserialize_with = "secret")]
    pub api_key: Option<SecretString>,
    /// The longest reply, in tokens.
    pub max_tokens: Option<u32>,
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// Seconds without a byte from the model before the attempt counts as broken; 1 to 3600,
    /// default 90.
    pub timeout_s: Option<u64>,
    /// The tokens that the model takes at once; 1000 to 100,000,000. Default: what is
    /// known of it by its name.
    pub window_tokens: Option<u64>,
    /// Whether the model can see images. Default: what is known of the provider's models; no for a
    /// server of one's own.
    pub sees_images: Option<bool>,
    /// Whether the model may be offered tools; default yes. One that may not acts on nothing.
    pub calls_tools: Option<bool>,
    /// `auto` (default) or `required`; the latter not for Ollama, whose wire cannot demand a call.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// Who finds tools where not all are offered at once.
    #[serde(default)]
    pub tool_search: ToolSearch,
    /// `tools.listed_max` for this model.
    pub listed_tools_max: Option<u64>,
    /// `tools.listed_window_percent` for this model.
    pub listed_tools_percent: Option<u64>,
    /// `[[model.fallback]]`: who answers in this order when the model is down. Not inside of
    /// another one.
    #[serde(default)]
    pub fallback: Vec<ModelSection>,
    /// `[model.compaction]`: who writes the summaries of long conversations. Not inside of another
    /// one.
    pub compaction: Option<Box<ModelSection>>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}

/// Who answers, for `[model]`.
pub struct ModelKeys<'a> {
    pub agent: Agent,
    pub base_url: Option<&'a str>,
    pub model: Option<&'a str>,
    pub key: Option<&'a SecretString>,
}

impl ModelKeys<'_> {
    /// Whether it is the model of a section, at the same place.
    pub(super) fn is_of(&self, section: &ModelSection) -> bool {
        let ModelSection { agent, base_url, model, .. } = section;
        (Some(self.agent), self.base_url, self.model)
            == (*agent, base_url.as_deref(), model.as_deref())
    }
}

/// A value outside of its limits. Each text names the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidModelSection {
    #[error("`[model] {0}` is empty: give it a value or remove the line")]
    Empty(&'static str),
    #[error("`[model] base_url` must start with http:// or https://, this is `{0}`")]
    BaseUrl(String),
    #[error("`[model] max_tokens` must be at least 1")]
    MaxTokens,
    #[error("`[model] temperature` must lie between 0 and 2")]
    Temperature,
    #[error("`[model] timeout_s` must lie between 1 and 3600 seconds")]
    Timeout,
    #[error("`[model] window_tokens` must lie between 1000 and 100000000")]
    WindowTokens,
    #[error("`[model] listed_tools_max` must lie between 1 and 10000")]
    ListedTools,
    #[error("`[model] listed_tools_percent` must lie between 1 and 100")]
    ListedToolsPercent,
    #[error("`[model] api_key` needs `agent` beside it, so that it is sent to nobody else")]
    KeyWithoutAgent,
    #[error(
        "`[model] tool_choice = \"required\"` is not possible with `{0}`: choose another agent (a \
         local Ollama also answers as openai-compatible, under /v1), or leave it out"
    )]
    ToolChoice(Agent),
    #[error("`{0}` needs `agent`: one of {names}", names = Agent::ALL.map(Agent::as_str).join(", "))]
    NoAgent(String),
    #[error("`{0}` has a fallback or a compaction of its own: only `[model]` can")]
    Nested(String),
    #[error("`{place}`: {fault}")]
    Inside { place: String, fault: Box<InvalidModelSection> },
}

impl InvalidModelSection {
    /// The key of `[model]` that it is about.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Self::Empty(key) => key,
            Self::BaseUrl(_) => "base_url",
            Self::MaxTokens => "max_tokens",
            Self::Temperature => "temperature",
            Self::Timeout => "timeout_s",
            Self::WindowTokens => "window_tokens",
            Self::ListedTools => "listed_tools_max",
            Self::ListedToolsPercent => "listed_tools_percent",
            Self::KeyWithoutAgent => "api_key",
            Self::ToolChoice(_) => "tool_choice",
            Self::NoAgent(place) | Self::Nested(place) | Self::Inside { place, .. } => {
                if place.contains("fallback") { "fallback" } else { "compaction" }
            }
        }
    }
}

impl crate::domain::Blamed for InvalidModelSection {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::User
    }
}

impl ModelSection {
    /// The same with another answer to who answers. What was set for one model stays with that one.
    pub fn answered_by(&self, answer: &ModelKeys<'_>) -> Self {
        let before = self.clone();
        let kept = match answer.is_of(self) {
            true => before,
            false => Self {
                timeout_s: before.timeout_s,
                fallback: before.fallback,
                compaction: before.compaction,
                ..Self::default()
            },
        };
        Self {
            agent: Some(answer.agent),
            base_url: answer.base_url.map(str::to_owned),
            model: answer.model.map(str::to_owned),
            api_key: answer.key.cloned(),
            ..kept
        }
    }

    /// Checks what the types cannot. Call it once after loading.
    pub fn validate(&self) -> Result<(), InvalidModelSection> {
        let empty =
            |text: &Option<String>| text.as_deref().is_some_and(|text| text.trim().is_empty());
        if empty(&self.model) {
            return Err(InvalidModelSection::Empty("model"));
        }
        if let Some(url) = &self.base_url
            && !(url.starts_with("http://") || url.starts_with("https://"))
        {
            // A URL may carry a password before its `@`; do not repeat it.
            let shown = url.rsplit('@').next().unwrap_or_default();
            return Err(InvalidModelSection::BaseUrl(shown.to_owned()));
        }
        if self.max_tokens == Some(0) {
            return Err(InvalidModelSection::MaxTokens);
        }
        if self.temperature.is_some_and(|t| !(0.0..=TEMPERATURE_MAX).contains(&t)) {
            return Err(InvalidModelSection::Temperature);
        }
        if self.timeout_s.is_some_and(|s| !(1..=TIMEOUT_S_MAX).contains(&s)) {
            return Err(InvalidModelSection::Timeout);
        }
        if self.window_tokens.is_some_and(|tokens| !WINDOW_TOKENS.contains(&tokens)) {
            return Err(InvalidModelSection::WindowTokens);
        }
        if self.listed_tools_max.is_some_and(|tools| !(1..=10_000).contains(&tools)) {
            return Err(InvalidModelSection::ListedTools);
        }
        if self.listed_tools_percent.is_some_and(|percent| !(1..=100).contains(&percent)) {
            return Err(InvalidModelSection::ListedToolsPercent);
        }
        if self.api_key.is_some() && self.agent.is_none() {
            return Err(InvalidModelSection::KeyWithoutAgent);
        }
        if let (ToolChoice::Required, Some(agent @ (Agent::Ollama | Agent::Demo))) =
            (self.tool_choice, self.agent)
        {
            return Err(InvalidModelSection::ToolChoice(agent));
        }
        self.others().try_for_each(|(place, other)| other.validate_as(place))
    }

    /// The sections inside of this one, each with the name that a person knows it by.
    pub fn others(&self) -> impl Iterator<Item = (String, &ModelSection)> {
        let fallback = self.fallback.iter().enumerate();
        let named = fallback
            .map(|(index, section)| (format!("[[model.fallback]] number {}", index + 1), section));
        named.chain(
            self.compaction.iter().map(|section| ("[model.compaction]".to_owned(), &**section)),
        )
    }

    fn validate_as(&self, place: String) -> Result<(), InvalidModelSection> {
        if self.agent.is_none() {
            return Err(InvalidModelSection::NoAgent(place));
        }
        if !self.fallback.is_empty() || self.compaction.is_some() {
            return Err(InvalidModelSection::Nested(place));
        }
        self.validate()
            .map_err(|fault| InvalidModelSection::Inside { place, fault: Box::new(fault) })
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s.unwrap_or(TIMEOUT_S_DEFAULT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    fn parse(text: &str) -> Result<ModelSection, String> {
        let section: ModelSection = toml::from_str(text).map_err(|e| e.to_string())?;
        section.validate().map_err(|e| e.to_string())?;
        Ok(section)
    }

    #[test]
    fn a_whole_section_reads() {
        let section = parse(
            "agent = 'openai-compatible'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:1/v1'\n\
             api_key = 'k-1'\nmax_tokens = 5\ntemperature = 0.5\ntimeout_s = 7",
        )
        .unwrap();
        assert_eq!(section.agent, Some(Agent::OpenAiCompatible));
        assert_eq!(section.api_key.as_ref().unwrap().expose_secret(), "k-1");
        assert_eq!(section.timeout(), Duration::from_secs(7));
        assert!(!format!("{section:?}").contains("k-1"), "a key must not be printed");
        assert_eq!(parse("").unwrap().timeout(), Duration::from_secs(90));
        assert_eq!(parse("").unwrap().tool_choice, ToolChoice::Auto);
        assert_eq!(parse("tool_choice = 'required'").unwrap().tool_choice, ToolChoice::Required);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("agent = 'gpt'", "use one of claude, openai-compatible, gemini, ollama, demo"),
            ("modell = 'x'", "modell"),
            ("model = ' '", "[model] model"),
            ("base_url = 'localhost:1'", "base_url"),
            ("max_tokens = 0", "max_tokens"),
            ("window_tokens = 10", "window_tokens"),
            ("max_tokens = -1", "max_tokens"),
            ("temperature = 3.0", "temperature"),
            ("temperature = nan", "temperature"),
            ("timeout_s = 0", "timeout_s"),
            ("listed_tools_max = 0", "listed_tools_max"),
            ("listed_tools_percent = 101", "listed_tools_percent"),
            ("tool_search = 'always'", "tool_search"),
            ("tool_choice = 'always'", "tool_choice"),
            ("agent = 'ollama'\ntool_choice = 'required'", "not possible with `ollama`"),
            ("api_key = 'k'", "needs `agent`"),
            ("[[fallback]]\nmodel = 'm'", "`[[model.fallback]] number 1` needs `agent`"),
            (
                "[[fallback]]\nagent = 'demo'\n[[fallback]]\nagent = 'demo'\ntimeout_s = 0",
                "number 2`: `[model] timeout_s`",
            ),
            (
                "[compaction]\nagent = 'demo'\n[compaction.compaction]\nagent = 'demo'",
                "only `[model]` can",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!(!parse("base_url = 'ftp://me:pass@host'").unwrap_err().contains("pass"));
    }
}
