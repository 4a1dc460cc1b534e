//! `[memory.embeddings]` in `claw.toml`: where the vectors of notes come from. Owns the keys and
//! which addresses are refused; must not know how an endpoint is asked. What a value such as
//! `$NAME` stands for has been filled in before it gets here.

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer};

/// How the section is named in a sentence and found in the file.
const SECTION: &str = "[memory.embeddings]";
const DIMENSION_MAX: u32 = 65_536;

/// `[memory.embeddings]`. Without `url` notes are found by words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingsSection {
    /// The base address: `https://api.openai.com/v1`, or `http://127.0.0.1:11434` for Ollama.
    pub url: Option<String>,
    /// The model's name as the endpoint knows it.
    pub model: Option<String>,
    /// Usually `"$SOME_VARIABLE"`; an endpoint of one's own may need none. Never printed.
    pub key: Option<EmbeddingsKey>,
    pub form: EmbeddingsForm,
    /// Numbers of a vector; 1 to 65,536. Default: what the model's first answer has.
    pub dimension: Option<u32>,
    #[serde(rename = "use")]
    pub when: EmbeddingsUse,
    /// Also `http://` to another machine, where anybody on the way can read the notes.
    pub allow_http: bool,
}

/// How an endpoint is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingsForm {
    /// `POST …/v1/embeddings`, as OpenAI and most others have it.
    #[default]
    Openai,
    /// `POST …/api/embed`.
    Ollama,
}

/// When vectors take part in a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingsUse {
    /// Where they find more than words alone, tried on the notes themselves.
    #[default]
    Auto,
    Always,
}

/// The key of the endpoint, which no text shows.
#[derive(Clone, Debug)]
pub struct EmbeddingsKey(SecretString);

impl EmbeddingsKey {
    /// For the one process that sends it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl PartialEq for EmbeddingsKey {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for EmbeddingsKey {}

impl<'de> Deserialize<'de> for EmbeddingsKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(deserializer)?.into()))
    }
}

impl EmbeddingsForm {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Ollama => "ollama",
        }
    }
}

impl EmbeddingsUse {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
        }
    }
}

impl EmbeddingsSection {
    /// Where to look in `[memory]`, and what is wrong there.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        match self.fault() {
            Some(fault) => Err(("embeddings", fault)),
            None => Ok(()),
        }
    }

    fn fault(&self) -> Option<String> {
        let is_given =
            |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
        if !is_given(&self.url) {
            let is_empty = *self == Self::default();
            return (!is_empty).then(|| {
                format!("`{SECTION} url` is missing, and without it the other keys do nothing")
            });
        }
        if !is_given(&self.model) {
            return Some(format!(
                "`{SECTION} model` is missing: name the model that gives vectors"
            ));
        }
        let url = self.url.as_deref().unwrap_or_default();
        // It stands on a command line, where every process of the machine can read it.
        let Some((_, rest)) = url.split_once("://").filter(|(scheme, _)| {
            ["http", "https"].contains(&scheme.to_ascii_lowercase().as_str())
        }) else {
            return Some(format!("`{SECTION} url` must start with http:// or https://"));
        };
        let host = rest.split('/').next().unwrap_or_default();
        if host.contains('@') || rest.contains(['?', '#']) {
            return Some(format!(
                "`{SECTION} url` holds a name, a password or a query; write the key as `key`"
            ));
        }
        let dimension = self.dimension.filter(|count| !(1..=DIMENSION_MAX).contains(count))?;
        Some(format!("`{SECTION} dimension` is {dimension}, and must be from 1 to {DIMENSION_MAX}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> EmbeddingsSection {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_whole_section_reads_and_its_key_is_not_printed() {
        let whole = read(
            "url = 'http://127.0.0.1:11434'\nmodel = 'm'\nkey = 'k-123'\nform = 'ollama'\n\
             use = 'always'\ndimension = 384",
        );
        assert_eq!(whole.check(), Ok(()));
        assert_eq!((whole.form.as_str(), whole.when.as_str()), ("ollama", "always"));
        assert!(!format!("{whole:?}").contains("k-123"));
        assert_eq!(EmbeddingsSection::default().check(), Ok(()));
        let other = read(
            "url = 'http://127.0.0.1:11434'\nmodel = 'm'\nkey = 'k-124'\nform = 'ollama'\n\
             use = 'always'\ndimension = 384",
        );
        assert!(whole != other, "another key is another setting");
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_repeated() {
        for (text, expected) in [
            ("model = 'm'", "url` is missing"),
            ("url = 'http://x'", "model` is missing"),
            ("url = 'x'\nmodel = 'm'", "must start with http"),
            ("url = 'https://me:s3cret@x/v1'\nmodel = 'm'", "write the key as `key`"),
            ("url = 'https://x/v1?key=s3cret'\nmodel = 'm'", "write the key as `key`"),
            ("url = 'https://x'\nmodel = 'm'\ndimension = 0", "must be from 1 to 65536"),
        ] {
            let (_, fault) = read(text).check().unwrap_err();
            assert!(fault.contains(expected) && !fault.contains("s3cret"), "{text}: {fault}");
        }
        for text in ["form = 'gemini'", "urll = 'x'"] {
            assert!(toml::from_str::<EmbeddingsSection>(text).is_err(), "{text}");
        }
    }
}
