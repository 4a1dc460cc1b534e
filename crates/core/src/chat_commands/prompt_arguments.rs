//! The words behind a prompt's command as its arguments. Pure. Must not know where
//! prompts come from.

use std::collections::BTreeMap;

use crate::hub::{PromptArgument, PromptEntry};

/// Reads `name=value …`, where a value goes on to the next name or stands in double quotes. Words
/// without a name are the value of the only argument that there is.
///
/// # Errors
/// A sentence for the person. `command` is how they wrote the prompt.
pub(super) fn read(
    command: &str,
    prompt: &PromptEntry,
    words: &str,
) -> Result<BTreeMap<String, String>, String> {
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    let mut newest: Option<String> = None;
    for word in split(words) {
        let named = word.text.split_once('=').filter(|_| word.may_name);
        let known = named.and_then(|(name, value)| Some((find(prompt, name)?, value)));
        match (known, &newest) {
            (Some((argument, value)), _) => {
                given.insert(argument.name.clone(), value.to_owned());
                newest = Some(argument.name.clone());
            }
            (None, Some(name)) => {
                let value = given.entry(name.clone()).or_default();
                if !value.is_empty() {
                    value.push(' ');
                }
                value.push_str(&word.text);
            }
            (None, None) => match &prompt.arguments[..] {
                [only] => {
                    given.insert(only.name.clone(), word.text);
                    newest = Some(only.name.clone());
                }
                [] => return Err(format!("{command} takes no words after it.")),
                all => {
                    let forms: Vec<String> =
                        all.iter().map(|one| format!("{}=…", one.name)).collect();
                    return Err(format!(
                        "{command} takes its words by name: {}.",
                        forms.join(", ")
                    ));
                }
            },
        }
    }
    let is_there =
        |one: &&PromptArgument| given.get(&one.name).is_none_or(|value| value.trim().is_empty());
    let missing: Vec<&PromptArgument> =
        prompt.arguments.iter().filter(|one| one.required).filter(is_there).collect();
    if missing.is_empty() {
        return Ok(given);
    }
    let told: Vec<String> = missing.iter().map(|one| told(one)).collect();
    let forms: Vec<String> = missing.iter().map(|one| format!(" {}=…", one.name)).collect();
    Err(format!("{command} needs {}. Write {command}{}", told.join(" and "), forms.concat()))
}

/// An argument as a person reads it.
pub(super) fn told(argument: &PromptArgument) -> String {
    let PromptArgument { name, title, description, .. } = argument;
    let about: Vec<&str> = [title, description]
        .into_iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty())
        .collect();
    let about = about.join(": ");
    let about = about.trim_end_matches('.');
    if about.is_empty() { format!("`{name}`") } else { format!("`{name}` ({about})") }
}

fn find<'p>(prompt: &'p PromptEntry, name: &str) -> Option<&'p PromptArgument> {
    let exact = prompt.arguments.iter().find(|one| one.name == name);
    exact.or_else(|| prompt.arguments.iter().find(|one| one.name.eq_ignore_ascii_case(name)))
}

struct Word {
    text: String,
    /// It does not begin with a quote.
    may_name: bool,
}

/// Words at blanks, where double quotes keep blanks in one. A quote that nobody ends is a character
/// like others.
fn split(words: &str) -> Vec<Word> {
    let mut all = Vec::new();
    let mut rest = words.trim_start();
    while !rest.is_empty() {
        let may_name = !rest.starts_with('"');
        let mut text = String::new();
        while let Some(c) = rest.chars().next().filter(|c| !c.is_whitespace()) {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match rest.split_once('"').filter(|_| c == '"') {
                Some((quoted, after)) => {
                    text.push_str(quoted);
                    rest = after;
                }
                None => text.push(c),
            }
        }
        all.push(Word { text, may_name });
        rest = rest.trim_start();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(arguments: &[(&str, bool)]) -> PromptEntry {
        let argument = |(name, required): &(&str, bool)| PromptArgument {
            name: (*name).to_owned(),
            title: "Title".to_owned(),
            description: "what it is.".to_owned(),
            required: *required,
        };
        PromptEntry {
            name: "p".to_owned(),
            title: String::new(),
            description: String::new(),
            arguments: arguments.iter().map(argument).collect(),
            icons: Vec::new(),
        }
    }

    fn given(arguments: &[(&str, bool)], words: &str) -> Result<String, String> {
        let read = read("/s:p", &prompt(arguments), words)?;
        let told = read.into_iter().map(|(name, value)| format!("{name}={value}"));
        Ok(told.collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn arguments_are_given_by_name_and_the_only_one_without() {
        let two = [("topic", true), ("Depth", false)];
        assert_eq!(given(&two, "topic=rust and C depth=2").unwrap(), "Depth=2|topic=rust and C");
        assert_eq!(given(&two, r#"topic="a depth=9 b" x=1"#).unwrap(), "topic=a depth=9 b x=1");
        assert_eq!(given(&[("city", true)], "San Francisco").unwrap(), "city=San Francisco");
        assert_eq!(given(&[("city", true)], r#"city="Graz"#).unwrap(), "city=\"Graz");
        assert_eq!(given(&[("note", false)], "").unwrap(), "");
        assert_eq!(given(&[("q", true)], r#""q=a" b"#).unwrap(), "q=q=a b");
    }

    #[test]
    fn what_is_missing_or_too_much_is_said_in_one_sentence() {
        let two = [("topic", true), ("depth", true)];
        assert_eq!(
            given(&two, "topic=x").unwrap_err(),
            "/s:p needs `depth` (Title: what it is). Write /s:p depth=…"
        );
        assert!(given(&two, "").unwrap_err().contains("`topic` (Title: what it is) and `depth`"));
        assert!(given(&two, "topic=").unwrap_err().contains("needs `topic`"));
        assert_eq!(
            given(&two, "x").unwrap_err(),
            "/s:p takes its words by name: topic=…, depth=…."
        );
        assert_eq!(given(&[], "x").unwrap_err(), "/s:p takes no words after it.");
    }
}
