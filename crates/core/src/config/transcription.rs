//! The `[transcription]` section of `claw.toml`: where speech becomes text. Must not know that
//! server's protocol; what a value such as `$NAME` stands for has been filled in before it gets
//! here.

use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

use super::ConfigError;

/// The longest time that a transcription may take, unless `timeout_s` says otherwise, in seconds.
const TIMEOUT_S_DEFAULT: u64 = 60;
const TIMEOUT_S_MAX: u64 = 600;

/// `[transcription]`. Without `url` voice messages are kept as files and nothing else.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TranscriptionSection {
    /// The whole address of an endpoint like OpenAI's,
    /// `https://api.openai.com/v1/audio/transcriptions`.
    pub url: Option<String>,
    /// The model's name as that server knows it.
    pub model: Option<String>,
    /// Usually `"$SOME_VARIABLE"`; a server of one's own may need none. Never printed.
    #[serde(deserialize_with = "secret")]
    pub key: Option<SecretString>,
    /// Seconds that one transcription may take; 1 to 600, default 60.
    pub timeout_s: Option<u64>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}

/// Where speech becomes text, as it is meant.
#[derive(Clone, Debug)]
pub struct Transcription {
    pub url: String,
    pub model: String,
    pub key: Option<SecretString>,
    pub timeout: Duration,
}

impl TranscriptionSection {
    /// What the section says in the file at `place`; `None` without an address.
    pub(super) fn of_file(&self, place: &str) -> Result<Option<Transcription>, ConfigError> {
        self.resolve().map_err(|message| ConfigError::new(place, message, "Correct the section"))
    }

    /// # Errors
    /// One sentence that names the key.
    fn resolve(&self) -> Result<Option<Transcription>, String> {
        let given = |text: &Option<String>| {
            text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (url, model) = match (given(&self.url), given(&self.model)) {
            (None, None) if self.key.is_none() && self.timeout_s.is_none() => return Ok(None),
            (None, _) => {
                return Err(
                    "`[transcription] url` is missing, and without it the other keys do nothing"
                        .into(),
                );
            }
            (Some(_), None) => {
                return Err(
                    "`[transcription] model` is missing: name the model that listens".into()
                );
            }
            (Some(url), Some(model)) => (url, model),
        };
        if !url.starts_with("https://") && !url.starts_with("http://") {
            // An address may carry a password before its `@`; it is not repeated.
            let shown = url.rsplit('@').next().unwrap_or_default();
            return Err(format!(
                "`[transcription] url` must start with http:// or https://, this is `{shown}`"
            ));
        }
        let timeout_s = self.timeout_s.unwrap_or(TIMEOUT_S_DEFAULT);
        if !(1..=TIMEOUT_S_MAX).contains(&timeout_s) {
            return Err(format!(
                "`[transcription] timeout_s` is {timeout_s}, and must be from 1 to {TIMEOUT_S_MAX}"
            ));
        }
        Ok(Some(Transcription {
            url,
            model,
            key: self.key.clone(),
            timeout: Duration::from_secs(timeout_s),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<Option<Transcription>, String> {
        toml::from_str::<TranscriptionSection>(text).map_err(|error| error.to_string())?.resolve()
    }

    #[test]
    fn a_whole_section_reads_and_nothing_is_nothing() {
        assert!(resolve("").unwrap().is_none());
        let whole =
            resolve("url = 'http://127.0.0.1:1/v1/audio/transcriptions'\nmodel = 'w'\nkey = 'k-1'")
                .unwrap()
                .unwrap();
        assert_eq!((whole.model.as_str(), whole.timeout), ("w", Duration::from_secs(60)));
        assert!(!format!("{whole:?}").contains("k-1"), "a key must not be printed");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("model = 'w'", "`[transcription] url` is missing"),
            ("url = 'http://x'", "`[transcription] model` is missing"),
            ("url = 'x'\nmodel = 'w'", "must start with http"),
            ("url = 'http://x'\nmodel = 'w'\ntimeout_s = 0", "timeout_s"),
            ("urll = 'x'", "urll"),
        ] {
            let error = resolve(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
