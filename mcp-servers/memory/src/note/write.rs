//! A note as text: a new file, and a changed one in which everything that was not changed stays as
//! its author wrote it. Must not know where the file lies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::front::{self, fields};
use super::{Note, time};

/// Keys of the front matter with their new values; `None` removes one.
pub type Changes = Vec<(&'static str, Option<Value>)>;

/// The front matter of a note that we write, in the order in which people read it.
pub fn changes_of(note: &Note) -> Changes {
    let text = |value: &Option<String>| value.clone().map(Value::from);
    let at = |value: Option<i64>| value.map(|seconds| Value::from(time::rfc3339(seconds)));
    let list = |items: &[String]| (!items.is_empty()).then(|| Value::from(items.to_vec()));
    vec![
        ("id", text(&note.id)),
        ("kind", Some(Value::from(note.kind.as_str()))),
        ("subject", Some(Value::from(note.subject.clone()))),
        ("aliases", list(&note.aliases)),
        ("tags", list(&note.tags)),
        ("created", at(note.created)),
        ("updated", at(note.updated)),
        ("valid_from", at(note.valid_from)),
        ("supersedes", text(&note.supersedes)),
        ("superseded_by", text(&note.superseded_by)),
        ("source", text(&note.source.who)),
        ("source_session", text(&note.source.session)),
        ("source_turn", note.source.turn.map(Value::from)),
        ("source_file", text(&note.source.file)),
        ("source_agent", text(&note.source.agent)),
    ]
}

/// A whole new file.
pub fn new_file(changes: &Changes, body: &str) -> String {
    let lines: String = changes
        .iter()
        .filter_map(|(key, value)| value.as_ref().map(|value| line(key, value, "\n")))
        .collect();
    format!("---\n{lines}---\n{}\n", body.trim())
}

/// A file with some keys changed, and with another body if one is given.
///
/// # Errors
/// One sentence: the front matter is written in a way that a change by lines would break.
pub fn changed(text: &str, changes: &Changes, body: Option<&str>) -> Result<String, String> {
    let front = front::split(text);
    let before = fields(front.yaml)?;
    let end = if front.yaml.contains("\r\n") { "\r\n" } else { "\n" };
    let mut yaml = String::new();
    let mut left: BTreeMap<&str, &Option<Value>> =
        changes.iter().map(|(key, value)| (*key, value)).collect();
    let mut is_replaced = false;
    for old in front.yaml.split_inclusive('\n') {
        if let Some(key) = key_of(old) {
            is_replaced = changes.iter().any(|(changed, _)| *changed == key);
            if let Some(Some(value)) = left.remove(key) {
                yaml.push_str(&line(key, value, end));
            }
        }
        // A comment stays, wherever it stands.
        if !is_replaced || old.trim_start().starts_with('#') {
            yaml.push_str(old);
        }
    }
    if !yaml.is_empty() && !yaml.ends_with('\n') {
        yaml.push_str(end);
    }
    for (key, value) in changes {
        if let (Some(_), Some(value)) = (left.remove(key), value) {
            yaml.push_str(&line(key, value, end));
        }
    }
    let body = body.map_or_else(|| front.body.to_owned(), |body| format!("{}{end}", body.trim()));
    let new = format!("---{end}{yaml}---{end}{body}");
    verify(&new, before, changes)?;
    Ok(new)
}

/// What was not meant to change has not changed, and what was is what was meant.
fn verify(new: &str, mut wanted: BTreeMap<String, Value>, changes: &Changes) -> Result<(), String> {
    for (key, value) in changes {
        match value {
            Some(value) => wanted.insert((*key).to_owned(), value.clone()),
            None => wanted.remove(*key),
        };
    }
    match fields(front::split(new).yaml) {
        Ok(now) if now == wanted => Ok(()),
        _ => Err("its front matter is written in a form that only a person can change".to_owned()),
    }
}

/// The key that a line begins, if it begins one at the top level.
fn key_of(line: &str) -> Option<&str> {
    let first = line.chars().next()?;
    if first.is_whitespace() || matches!(first, '#' | '-') {
        return None;
    }
    let key = line.split_once(':')?.0.trim();
    Some(key.trim_matches(['"', '\'']))
}

/// JSON is YAML: quoted, so that no word is taken for a number, a date or an order.
fn line(key: &str, value: &Value, end: &str) -> String {
    let value = match value {
        Value::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    };
    // What JSON may hold and YAML may not.
    let value: String = value
        .chars()
        .map(|c| match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                format!("\\u{:04x}", u32::from(c))
            }
            c => c.to_string(),
        })
        .collect();
    format!("{key}: {value}{end}")
}

/// Ids, kinds and times are written as people write them.
fn is_plain(text: &str) -> bool {
    let is_date = text.len() >= 10 && time::parse(text).is_some();
    let is_word = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        && !matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
    is_date || is_word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_whatever_it_says() {
        for text in [
            "plain",
            "yes",
            "null",
            "1e5",
            "0755",
            "2026-11-23",
            "a: b",
            "- x",
            "\"quoted\"",
            "it's # not",
            "---",
            "&a *b !c",
            "tab\there",
            "Ünï 北京 😀",
            "\u{7f}\u{85}\u{2028}",
            "{a: [b",
            "back\\slash",
            "m1e5",
            "~",
        ] {
            let changes: Changes =
                vec![("subject", Some(Value::from(text))), ("tags", Some(Value::from(vec![text])))];
            let file = new_file(&changes, "body");
            let read = fields(front::split(&file).yaml).unwrap();
            assert_eq!(read["subject"], text, "{file}");
            assert_eq!(read["tags"][0], text, "{file}");
        }
    }

    #[test]
    fn a_change_leaves_alone_what_it_does_not_mean() {
        let text = "---\n# mine\nid: m1\ntags:\n  - a\n  # why\n  - b\ncssclasses: [wide]\nsubject: 'Old'\n---\n\nBody with  spaces\n";
        let changes: Changes = vec![
            ("subject", Some("New: one".into())),
            ("tags", Some(Value::from(vec!["c"]))),
            ("updated", Some("2026-11-23T00:00:00Z".into())),
        ];
        let new = changed(text, &changes, None).unwrap();
        assert_eq!(
            new,
            "---\n# mine\nid: m1\ntags: [\"c\"]\n  # why\ncssclasses: [wide]\nsubject: \"New: one\"\nupdated: 2026-11-23T00:00:00Z\n---\n\nBody with  spaces\n"
        );
        let plain =
            changed("Just text\n", &vec![("superseded_by", Some("m2".into()))], None).unwrap();
        assert_eq!(plain, "---\nsuperseded_by: m2\n---\nJust text\n");
        let windows =
            changed("---\r\nid: m1\r\n---\r\nx\r\n", &vec![("kind", Some("lesson".into()))], None)
                .unwrap();
        assert_eq!(windows, "---\r\nid: m1\r\nkind: lesson\r\n---\r\nx\r\n");
        let gone = changed(
            "---\nid: m1\nsuperseded_by: m2\n---\nx\n",
            &vec![("superseded_by", None)],
            Some("y"),
        )
        .unwrap();
        assert_eq!(gone, "---\nid: m1\n---\ny\n");
    }

    #[test]
    fn a_form_that_lines_cannot_change_is_refused() {
        for text in [
            "---\n{id: m1, subject: x}\n---\nb",
            "---\nsubject: |\n  many\nlines: \"a\nsubject: b\"\n---\nb",
            "---\n: [\n---\nb",
        ] {
            let outcome = changed(text, &vec![("subject", Some("new".into()))], None);
            assert!(outcome.is_err(), "{outcome:?}");
        }
    }
}
