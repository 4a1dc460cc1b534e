//! Keeps the values of known secrets out of text that leaves: log, store, prompt, chat. Used at
//! sinks only, never on data on its way to a tool: a call that holds a secret or a mark is denied
//! instead. Must not know where secrets come from.
//!
//! A value is found as it is and as it looks in base64 (at any offset), URL-encoded, and inside a
//! JSON string. Values under [`SECRET_BYTES_MIN`] bytes are ignored: masking `true` or `1234`
//! everywhere would ruin text and hide nothing.

mod forms;
mod stream;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::{Map, Value};

pub use stream::StreamRedactor;

use crate::domain::secret::SECRET_BYTES_MIN;

const MARK_START: &str = "[redacted:";

/// Up to so many bytes of patterns the finder may be the fastest one, which takes some hundred
/// bytes of memory for each of them. The one for more takes a few.
const FAST_BYTES_MAX: usize = 16 * 1024;

/// The known secrets could not be compiled; there are too many or they are too long.
#[derive(Debug, thiserror::Error)]
#[error(
    "the known secrets cannot be watched for: {0}. Remove some of them from the environment or \
     from `[redact]`."
)]
pub struct RedactError(#[from] aho_corasick::BuildError);

impl crate::domain::Blamed for RedactError {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::User
    }
}

/// Finds and masks the known secrets. Cheap to clone; all clones learn together.
#[derive(Clone)]
pub struct Redactor {
    /// Replaced whole when more secrets become known. Held for an instant, except while a finder is
    /// built.
    known: Arc<RwLock<Arc<Known>>>,
}

#[derive(Default)]
struct Known {
    /// `None` where there are no secrets.
    finder: Option<AhoCorasick>,
    /// What each pattern of the finder is, and the mark that takes its place.
    patterns: Vec<Pattern>,
}

#[derive(Clone)]
struct Pattern {
    text: String,
    name: String,
    mark: String,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("patterns", &self.known().patterns.len())
            .finish_non_exhaustive()
    }
}

impl Redactor {
    /// From names and values. Of equal values the first name counts.
    pub fn new(secrets: impl IntoIterator<Item = (String, String)>) -> Result<Self, RedactError> {
        let redactor = Self { known: Arc::default() };
        redactor.learn(secrets)?;
        Ok(redactor)
    }

    /// Adds secrets. Those that are known stay known: what they protected may still be on its way.
    ///
    /// # Errors
    /// All of them together cannot be compiled; then nothing has changed.
    pub fn learn(
        &self,
        secrets: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), RedactError> {
        let secrets: Vec<(String, String)> = secrets.into_iter().collect();
        // Tokens come here with each request that they go with, and are nearly always known.
        if self.known().lacks(&secrets).is_empty() {
            return Ok(());
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut patterns = known.patterns.clone();
        patterns.extend(known.lacks(&secrets));
        let bytes: usize = patterns.iter().map(|pattern| pattern.text.len()).sum();
        let kind = (bytes > FAST_BYTES_MAX).then_some(AhoCorasickKind::ContiguousNFA);
        let mut finder = AhoCorasick::builder();
        finder.match_kind(MatchKind::LeftmostLongest).kind(kind);
        let texts = patterns.iter().map(|pattern| &pattern.text);
        let finder = Some(finder.build(texts)?);
        *known = Arc::new(Known { finder, patterns });
        Ok(())
    }

    fn known(&self) -> Arc<Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `text` with every known secret replaced by `[redacted:NAME]`.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.known();
        let Some(finder) = &known.finder else { return Cow::Borrowed(text) };
        let mut out = String::new();
        let mut copied = 0;
        for found in finder.find_iter(text) {
            out.push_str(text.get(copied..found.start()).unwrap_or_default());
            out.push_str(known.mark(found.pattern()));
            copied = found.end();
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Every string, key and number of a value. Keys that become equal are told apart by a number.
    pub fn redact_json(&self, value: &mut Value) {
        if self.known().finder.is_none() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.redact(text) {
                    *text = masked;
                }
            }
            Value::Number(number) => {
                if let Cow::Owned(masked) = self.redact(&number.to_string()) {
                    *value = Value::String(masked);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Value::Object(map) => {
                let mut masked = Map::new();
                for (key, mut inner) in std::mem::take(map) {
                    self.redact_json(&mut inner);
                    let key = self.redact(&key).into_owned();
                    let mut unique = key.clone();
                    let mut count = 1;
                    while masked.contains_key(&unique) {
                        count += 1;
                        unique = format!("{key} {count}");
                    }
                    masked.insert(unique, inner);
                }
                *map = masked;
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The name of a known secret that the value holds, in any of the forms, in a string, a key or
    /// a number.
    pub fn contains_secret(&self, value: &Value) -> Option<String> {
        self.known().named_in_json(value).map(str::to_owned)
    }

    /// The name of a known secret that these bytes hold, in any of the forms.
    pub fn secret_in(&self, bytes: &[u8]) -> Option<String> {
        self.known().named_in(bytes).map(str::to_owned)
    }
}

impl Known {
    /// The patterns of these secrets that it does not have, each once.
    fn lacks(&self, secrets: &[(String, String)]) -> Vec<Pattern> {
        let mut lacking: Vec<Pattern> = Vec::new();
        for (name, value) in secrets {
            let value = value.trim();
            if value.len() < SECRET_BYTES_MIN {
                continue;
            }
            for text in forms::of(value) {
                let mut all = self.patterns.iter().chain(&lacking);
                if !all.any(|pattern| pattern.text == text) {
                    let mark = format!("{MARK_START}{name}]");
                    lacking.push(Pattern { text, name: name.clone(), mark });
                }
            }
        }
        lacking
    }

    fn named_in(&self, bytes: &[u8]) -> Option<&str> {
        let found = self.finder.as_ref()?.find(bytes)?;
        self.patterns.get(found.pattern().as_usize()).map(|pattern| pattern.name.as_str())
    }

    fn named_in_json(&self, value: &Value) -> Option<&str> {
        match value {
            Value::String(text) => self.named_in(text.as_bytes()),
            Value::Number(number) => self.named_in(number.to_string().as_bytes()),
            Value::Array(items) => items.iter().find_map(|item| self.named_in_json(item)),
            Value::Object(map) => map.iter().find_map(|(key, inner)| {
                self.named_in(key.as_bytes()).or_else(|| self.named_in_json(inner))
            }),
            Value::Null | Value::Bool(_) => None,
        }
    }

    fn mark(&self, pattern: aho_corasick::PatternID) -> &str {
        self.patterns.get(pattern.as_usize()).map_or("[redacted]", |pattern| &pattern.mark)
    }
}

/// Whether the value holds a mark that `redact` makes: writing it somewhere would destroy what it
/// stands for.
pub fn contains_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MARK_START),
        Value::Array(items) => items.iter().any(contains_mark),
        Value::Object(map) => {
            map.iter().any(|(key, inner)| key.contains(MARK_START) || contains_mark(inner))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The text with a gap where each mark was: for words that are looked for, where a mark finds
/// nothing.
pub fn without_marks(text: &str) -> String {
    let mut parts = text.split(MARK_START);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push(' ');
        out.push_str(part.split_once(']').map_or("", |(_, behind)| behind));
    }
    out
}

#[cfg(test)]
mod tests;
