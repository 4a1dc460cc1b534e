//! What a server asks a person in the middle of its call: one value at a time. Owns which values
//! there are and how a typed answer is read; must not know doors, rounds, or how a form is sent.

mod form;
mod secrets;
mod typed;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use form::{Form, FormField, InvalidForm, form_of};

/// The longest text that is taken where the form names no limit, in characters.
pub const TEXT_CHARS_MAX: u64 = 4_000;

/// One value that a server asks for. Every string in it that is shown is already made visible by
/// [`crate::escape`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The request of the round, by the key that the server has given it. Not shown.
    pub request: String,
    /// The property of the form that is answered; empty where the request has none. Not shown.
    pub field: String,
    /// What the form calls the value, for a person.
    pub label: String,
    /// Whether the form cannot do without it.
    pub required: bool,
    pub kind: InputKind,
}

/// What fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InputKind {
    /// A form without a value: only whether.
    Confirm,
    /// A page that the owner opens by hand; claw never does.
    Page,
    Boolean,
    Number {
        /// Without a fraction.
        whole: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    Text {
        /// In characters.
        min: u64,
        max: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<TextFormat>,
    },
    /// One of these.
    Choice {
        options: Vec<InputOption>,
    },
    /// Some of these.
    Several {
        options: Vec<InputOption>,
        min: u64,
        max: u64,
    },
}

/// The formats that a form may name (revision 2025-11-25, "StringSchema").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

/// What claw's own buttons and answers are called, in small letters and without signs.
const OWN_WORDS: &[&str] = &[
    "decline",
    "deny",
    "no",
    "n",
    "nein",
    "cancel",
    "stop",
    "skip",
    "leaveitout",
    "yes",
    "y",
    "ja",
    "ok",
    "done",
    "showall",
    "allow",
    "allowonce",
    "abort",
    "abbrechen",
    "back",
    "close",
];

/// One possible value, and what its server calls it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputOption {
    pub value: String,
    pub label: String,
}

impl InputOption {
    /// Its name as the words of somebody else.
    pub fn quoted(&self) -> String {
        format!("“{}”", self.label)
    }

    /// What its button is called. Its number stands before a name that claw's own buttons have.
    pub fn button(&self, number: u32) -> String {
        match is_own_word(&self.label) {
            true => format!("Option {number}: {}", self.quoted()),
            false => self.quoted(),
        }
    }
}

/// Whether a text is what claw's own buttons and answers are called, signs and letter case aside.
fn is_own_word(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    plain.is_empty() || OWN_WORDS.contains(&plain.as_str())
}

impl Input {
    /// Whether the values are a few that a server has named.
    pub fn has_options(&self) -> bool {
        matches!(self.kind, InputKind::Choice { .. } | InputKind::Several { .. })
    }

    /// Whether the answer is typed, and not one of a few.
    pub fn is_typed(&self) -> bool {
        matches!(
            self.kind,
            InputKind::Number { .. } | InputKind::Text { .. } | InputKind::Several { .. }
        )
    }

    /// Whether any words at all fit, so that an answer cannot be told from a message.
    pub fn takes_any_text(&self) -> bool {
        matches!(self.kind, InputKind::Text { format: None, .. })
    }

    /// What is wanted, as the end of a sentence: `a whole number from 1 to 10`.
    pub fn wants(&self) -> String {
        match &self.kind {
            InputKind::Confirm => "a yes".to_owned(),
            InputKind::Page => "your word that you have been there".to_owned(),
            InputKind::Boolean => "yes or no".to_owned(),
            InputKind::Number { whole, min, max } => {
                let noun = if *whole { "a whole number" } else { "a number" };
                format!("{noun}{}", between(*min, *max))
            }
            InputKind::Text { format: Some(format), .. } => format.wants().to_owned(),
            InputKind::Text { min, max, format: None } => match (*min, *max) {
                (0 | 1, TEXT_CHARS_MAX..) => "some words".to_owned(),
                (0 | 1, 1) => "at most 1 character".to_owned(),
                (0 | 1, max) => format!("at most {max} characters"),
                (min, TEXT_CHARS_MAX..) => format!("at least {min} characters"),
                (min, max) if min == max => format!("exactly {min} characters"),
                (min, max) => format!("{min} to {max} characters"),
            },
            InputKind::Choice { options } => format!("a number from 1 to {}", options.len()),
            InputKind::Several { options, min, max } => {
                let count = match (*min, *max >= options.len() as u64) {
                    (0, true) => "numbers".to_owned(),
                    (1, true) => "at least 1 number".to_owned(),
                    (min, true) => format!("at least {min} numbers"),
                    (0, false) if *max == 1 => "at most 1 number".to_owned(),
                    (0, false) => format!("at most {max} numbers"),
                    (1, false) if *max == 1 => "1 number".to_owned(),
                    (min, false) => format!("{min} to {max} numbers"),
                };
                format!("{count} from 1 to {}, with blanks between", options.len())
            }
        }
    }

    /// A value as a person reads it.
    pub fn shown(&self, value: &Value) -> String {
        let named = |value: &str| match &self.kind {
            InputKind::Choice { options } | InputKind::Several { options, .. } => {
                let option = options.iter().find(|option| option.value == value);
                option.map_or_else(|| crate::escape::visible(value), InputOption::quoted)
            }
            _ => crate::escape::visible(value),
        };
        match value {
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::Array(items) if items.is_empty() => "none of them".to_owned(),
            Value::Array(items) => {
                let items = items.iter().filter_map(Value::as_str).map(named);
                items.collect::<Vec<_>>().join(", ")
            }
            Value::String(text) => named(text),
            other => other.to_string(),
        }
    }
}

impl TextFormat {
    fn wants(self) -> &'static str {
        match self {
            Self::Email => "an address of mail",
            Self::Uri => "a URL, such as https://example.org",
            Self::Date => "a date, such as 2026-12-24",
            Self::DateTime => "a date and time, such as 2026-12-24T18:30:00Z",
        }
    }
}

fn between(min: Option<f64>, max: Option<f64>) -> String {
    match (min, max) {
        (None, None) => String::new(),
        (Some(min), None) => format!(" of at least {min}"),
        (None, Some(max)) => format!(" of at most {max}"),
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
    }
}
