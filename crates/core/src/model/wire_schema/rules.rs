//! What each wire takes as a tool, as far as its provider says so or refuses otherwise. Owns the
//! table. Must not know how a definition is made to fit.

use crate::model::genai::Wire;

/// The characters of a name: of a tool, or of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameRule {
    /// ASCII letters, digits, `_`, `-`; 1 to 64.
    Plain,
    /// The same, and `.`.
    Dotted,
    /// ASCII letters, digits, `_`, no digit in front; 1 to 64.
    Identifier,
    /// Like `Plain`, but with a letter or `_` in front.
    Lettered,
    /// Whatever a JSON object may have as a key.
    Any,
}

/// The longest name that a rule other than [`NameRule::Any`] takes, in characters.
pub(super) const NAME_CHARS_MAX: usize = 64;

impl NameRule {
    pub(super) fn takes(self, name: &str) -> bool {
        self == Self::Any
            || ((1..=NAME_CHARS_MAX).contains(&name.len())
                && name.chars().all(|c| self.takes_char(c))
                && name.chars().next().is_some_and(|first| self.takes_first(first)))
    }

    pub(super) fn takes_char(self, c: char) -> bool {
        let more = match self {
            Self::Any => return true,
            Self::Identifier => "_",
            Self::Plain | Self::Lettered => "_-",
            Self::Dotted => "_-.",
        };
        c.is_ascii_alphanumeric() || more.contains(c)
    }

    fn takes_first(self, c: char) -> bool {
        match self {
            Self::Identifier | Self::Lettered => c.is_ascii_alphabetic() || c == '_',
            _ => true,
        }
    }
}

/// What a wire takes.
#[derive(Debug)]
pub(super) struct Rules {
    /// The most tools in one request.
    pub tools_max: Option<usize>,
    /// The longest description of a tool, in characters.
    pub description_chars_max: Option<usize>,
    pub tool_name: NameRule,
    pub property_name: NameRule,
    /// Keywords that are kept, beside those that make the structure.
    pub keywords: &'static [&'static str],
    /// Values of `format` that are kept.
    pub formats: &'static [&'static str],
    /// `type` is one word; several become an `anyOf`, and so does none.
    pub one_type: bool,
    /// `const`, `oneOf` and values of `enum` that are neither text nor number are unknown.
    pub narrow_values: bool,
}

/// JSON Schema 2020-12, sections 6 and 9, as far as every reader of it agrees.
const KEYWORDS: &[&str] = &[
    "title",
    "enum",
    "const",
    "default",
    "examples",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// JSON Schema 2020-12, section 7.3. Rust's `uint64` and the like are none of them.
const FORMATS: &[&str] = &[
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "uuid",
    "regex",
    "json-pointer",
];

/// OpenAI, chat completions and Responses, functions that are not strict. What it refuses is not
/// documented but answered: 128 tools (`array_above_max_length`), 1,024 characters
/// (`string_above_max_length`), objects without `properties`, arrays without `items`, combinators
/// at the top (`invalid_function_parameters`).
const OPENAI: Rules = Rules {
    tools_max: Some(128),
    description_chars_max: Some(1024),
    tool_name: NameRule::Plain,
    property_name: NameRule::Any,
    keywords: KEYWORDS,
    formats: FORMATS,
    one_type: false,
    narrow_values: false,
};

/// Groq, DeepSeek and xAI document 128 functions; none of the dialects documents a limit for
/// descriptions.
const CHAT_COMPLETIONS: Rules = Rules { description_chars_max: None, ..OPENAI };

/// Anthropic, Messages: draft 2020-12, no `oneOf`, `allOf`, `anyOf` at the top, property keys of
/// the pattern `^[a-zA-Z0-9_.-]{1,64}$`.
const ANTHROPIC: Rules = Rules {
    tools_max: None,
    description_chars_max: None,
    property_name: NameRule::Dotted,
    ..OPENAI
};

/// Gemini, `FunctionDeclaration.parametersJsonSchema`, with the keywords that are documented for
/// `responseJsonSchema`. The older field `parameters` takes almost the same, so what is sent fits
/// both where it can.
const GEMINI: Rules = Rules {
    tools_max: Some(512),
    description_chars_max: None,
    tool_name: NameRule::Lettered,
    property_name: NameRule::Identifier,
    keywords: &["title", "enum", "minimum", "maximum", "minItems", "maxItems", "format"],
    formats: &["date-time"],
    one_type: true,
    narrow_values: true,
};

/// Ollama reads a definition into types of its own, which know objects and words as they are here.
const OLLAMA: Rules = Rules { tools_max: None, description_chars_max: None, ..OPENAI };

pub(super) fn of(wire: Wire) -> &'static Rules {
    match wire {
        Wire::OpenAi | Wire::OpenAiResponses | Wire::OpenRouter => &OPENAI,
        Wire::DeepSeek | Wire::Groq | Wire::Mistral | Wire::Together | Wire::Xai => {
            &CHAT_COMPLETIONS
        }
        Wire::Anthropic => &ANTHROPIC,
        Wire::Gemini => &GEMINI,
        Wire::Ollama => &OLLAMA,
    }
}

/// Keywords that rule something out, beside [`KEYWORDS`], and that no wire takes.
const RULING: [&str; 18] = [
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentEncoding",
    "contentMediaType",
    "prefixItems",
    "additionalItems",
];

/// Whether a keyword rules something out. One that a wire does not know is quoted to the model
/// then; all others only describe.
pub(super) fn rules_out(keyword: &str) -> bool {
    keyword != "title" && (KEYWORDS.contains(&keyword) || RULING.contains(&keyword))
}
