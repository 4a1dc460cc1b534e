//! What is wrong with a TOML text, in one sentence and with its line. Owns the wording and the
//! suggestion of the closest key; must not know what the keys mean.

/// A fault in a TOML text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlFault {
    /// Counted from 1; `None` where the parser does not say.
    pub line: Option<usize>,
    /// One sentence, without a full stop.
    pub message: String,
}

/// The parser's error in our words. `text` is what was parsed.
pub fn fault(text: &str, error: &toml::de::Error) -> TomlFault {
    fault_among(text, error, [])
}

/// The same where more names are known than the parser was told of.
pub fn fault_among<'a>(
    text: &str,
    error: &'a toml::de::Error,
    more: impl IntoIterator<Item = &'a str>,
) -> TomlFault {
    let line = error.span().map(|span| line_of(text, span.start));
    let key = error.span().and_then(|span| key_at(text, span.start));
    let message =
        wrong_type(error.message(), key).unwrap_or_else(|| sentence(error.message(), more));
    TomlFault { line, message }
}

/// The key of the value that begins here, where it stands on the same line.
fn key_at(text: &str, position: usize) -> Option<&str> {
    let before = text.get(..position)?.lines().next_back()?;
    let key = before.split_once('=')?.0.trim();
    (!key.is_empty()).then_some(key)
}

/// `invalid type: string "many", expected u64`, for a person.
fn wrong_type(message: &str, key: Option<&str>) -> Option<String> {
    let (found, expected) = message.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let expected = match expected.trim() {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "a borrowed string" | "string" => "a text in quotes",
        "a sequence" => "a list in brackets",
        "a map" => "a section",
        other if other.starts_with("struct ") => "a section",
        other => other,
    };
    let found = found.split_once(' ').map_or(found, |(_, value)| value);
    Some(format!("`{}` takes {expected}, and not {found}", key.unwrap_or("this key")))
}

/// The line of a byte position, counted from 1.
pub fn line_of(text: &str, position: usize) -> usize {
    let end = position.min(text.len());
    text.as_bytes().get(..end).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The known name that `wrong` most likely stands for.
pub fn closest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wrong.to_lowercase(), name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The `serde` messages that people meet most, said plainly; others stay as they are, on one line.
fn sentence<'a>(words: &'a str, more: impl IntoIterator<Item = &'a str>) -> String {
    let message =
        words.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(": ");
    let mut names: Vec<&str> = words.split('`').skip(1).step_by(2).collect();
    names.extend(more);
    let Some((first, known)) = names.split_first() else { return message };
    if message.starts_with("unknown field ") {
        return match closest(first, known.iter().copied()) {
            Some(name) => format!("`{first}` is not a key here; did you mean `{name}`?"),
            None if known.is_empty() => {
                format!("`{first}` is not a key here; this section has no keys")
            }
            None => format!("`{first}` is not a key here; the keys are {}", list(known)),
        };
    }
    if message.starts_with("unknown variant ") {
        return match closest(first, known.iter().copied()) {
            Some(name) => format!("`{first}` is not a value here; did you mean `{name}`?"),
            None => format!("`{first}` is not a value here; the values are {}", list(known)),
        };
    }
    if message.starts_with("missing field ") {
        return format!("the key `{first}` is missing");
    }
    message
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Section {
        #[serde(rename = "turn_time_s")]
        _turn_time_s: u32,
        #[serde(default, rename = "window_tokens")]
        _window_tokens: u32,
    }

    fn said(text: &str) -> TomlFault {
        fault(text, &toml::from_str::<Section>(text).unwrap_err())
    }

    #[test]
    fn the_closest_key_is_named_with_its_line() {
        let fault = said("turn_time_s = 1\n\nwindow_token = 3\n");
        assert_eq!(fault.line, Some(3));
        assert_eq!(
            fault.message,
            "`window_token` is not a key here; did you mean `window_tokens`?"
        );
        assert_eq!(
            said("turn_time_s = 1\nzzz = 3").message,
            "`zzz` is not a key here; the keys are `turn_time_s`, `window_tokens`"
        );
    }

    #[test]
    fn a_value_of_another_kind_names_its_key_and_what_it_takes() {
        let fault = said("turn_time_s = 1\nwindow_tokens = \"many\"\n");
        assert_eq!(fault.line, Some(2));
        assert_eq!(fault.message, "`window_tokens` takes a whole number, and not \"many\"");
    }

    #[test]
    fn a_value_in_the_place_of_a_section_names_no_type_of_ours() {
        #[derive(Debug, serde::Deserialize)]
        struct File {
            #[serde(rename = "model")]
            _model: Section,
        }
        let text = "model = 3\n";
        let fault = fault(text, &toml::from_str::<File>(text).unwrap_err());
        assert_eq!(fault.message, "`model` takes a section, and not `3`");
    }

    #[test]
    fn a_missing_key_and_broken_syntax_are_one_line() {
        assert_eq!(said("window_tokens = 3").message, "the key `turn_time_s` is missing");
        let fault = said("turn_time_s = 1\nwindow_tokens = = 3");
        assert_eq!(fault.line, Some(2));
        assert!(!fault.message.contains('\n') && !fault.message.is_empty());
    }
}
