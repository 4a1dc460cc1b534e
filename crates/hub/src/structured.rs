//! What of a result's structured content its text does not hold. By the protocol the text repeats
//! it (2026-07-28, `CallToolResult`), but many servers put rows into it that stand nowhere else.
//! Pure; must not know limits or models.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Stands in a result's text, on a line of its own, before what only the structured content holds.
pub const STRUCTURED_HEADING: &str = "[structured content that the text above does not hold]";

/// How many bytes of text are looked through for one result. What is left then counts as missing:
/// better twice than lost.
const LOOKED_THROUGH_MAX_BYTES: usize = 64 * 1024 * 1024;

/// The part of `structured` of which a value stands nowhere in `texts`, the text blocks of the same
/// result. `None` if the texts hold all of it. A row of a list is given whole or not at all,
/// because a single field of it says little.
pub(super) fn missing(structured: &Value, texts: &[&str]) -> Option<Value> {
    let parsed: Vec<Value> =
        texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
    if parsed.contains(structured) {
        return None;
    }
    let mut known = BTreeSet::new();
    parsed.iter().for_each(|value| leaves(value, &mut known));
    let mut texts = Texts { texts, known, bytes_left: LOOKED_THROUGH_MAX_BYTES };
    match structured {
        Value::Object(map) => {
            let rest: Map<String, Value> = map
                .iter()
                .filter_map(|(key, value)| Some((key.clone(), texts.missing_of(value)?)))
                .collect();
            (!rest.is_empty()).then_some(Value::Object(rest))
        }
        other => texts.missing_of(other),
    }
}

struct Texts<'a> {
    texts: &'a [&'a str],
    /// The leaves of those texts that are JSON.
    known: BTreeSet<String>,
    bytes_left: usize,
}

impl Texts<'_> {
    fn missing_of(&mut self, value: &Value) -> Option<Value> {
        match value {
            Value::Array(items) => {
                let rest: Vec<Value> =
                    items.iter().filter(|item| !self.hold(item)).cloned().collect();
                (!rest.is_empty()).then_some(Value::Array(rest))
            }
            other => (!self.hold(other)).then(|| other.clone()),
        }
    }

    fn hold(&mut self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(items) => items.iter().all(|item| self.hold(item)),
            Value::Object(map) => map.values().all(|inner| self.hold(inner)),
            Value::String(text) => text.trim().is_empty() || self.hold_leaf(value, text),
            Value::Bool(_) | Value::Number(_) => self.hold_leaf(value, &value.to_string()),
        }
    }

    fn hold_leaf(&mut self, leaf: &Value, word: &str) -> bool {
        if self.known.contains(&leaf.to_string()) {
            return true;
        }
        let texts = self.texts;
        texts.iter().any(|text| {
            let enough = self.bytes_left >= text.len();
            self.bytes_left = self.bytes_left.saturating_sub(text.len());
            enough && has_word(text, word)
        })
    }
}

/// Whether `word` stands in `text` by itself: 5 is not in 15 or 5.2, and `cat` is not in
/// `concatenate`.
fn has_word(text: &str, word: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    let (open, shut) = (word.starts_with(inner), word.ends_with(inner));
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let number = |c: char| c == '.' || c == '-';
        let is_number = word
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'e' | b'+'));
        let begins = !open || !before.ends_with(|c| inner(c) || (is_number && number(c)));
        let goes_on = |rest: &str| {
            let mut rest = rest.chars();
            let next = rest.next();
            let point =
                is_number && next == Some('.') && rest.next().is_some_and(|c| c.is_ascii_digit());
            point || next.is_some_and(inner)
        };
        begins && !(shut && goes_on(after))
    })
}

fn leaves(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, into)),
        Value::Object(map) => map.values().for_each(|inner| leaves(inner, into)),
        leaf => drop(into.insert(leaf.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_text_holds_is_not_said_twice() {
        let rows = json!({"rows": [{"city": "Oslo", "degrees": -5}, {"city": "Rome", "degrees": 21.5}], "count": 2});
        for text in [
            rows.to_string(),
            serde_json::to_string_pretty(&rows).unwrap(),
            json!([rows]).to_string(),
            "2 cities: Oslo at -5, Rome at 21.5.".to_owned(),
        ] {
            assert_eq!(missing(&rows, &[&text]), None, "{text}");
        }
        let blocks = [
            r#"{"city": "Oslo", "degrees": -5}"#,
            r#"{"city": "Rome", "degrees": 21.5}"#,
            "count: 2",
        ];
        assert_eq!(missing(&rows, &blocks), None);
        assert_eq!(missing(&json!({"none": null, "empty": "", "list": []}), &["done"]), None);
    }

    #[test]
    fn rows_that_the_text_does_not_hold_are_found_whole() {
        let rows =
            json!({"rows": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}], "ok": true});
        let found = missing(&rows, &["Found 2 rows, the first is Ada with id 1 (true)."]);
        assert_eq!(found, Some(json!({"rows": [{"id": 2, "name": "Bob"}]})));
        assert_eq!(missing(&rows, &["2 rows"]), Some(rows.clone()));
        assert_eq!(missing(&json!([1, 2]), &["1"]), Some(json!([2])));
        assert_eq!(missing(&json!("alone"), &["text"]), Some(json!("alone")));
    }

    #[test]
    fn a_part_of_a_word_or_a_number_is_not_the_value() {
        for (text, word) in [
            ("15", "5"),
            ("5.2", "5"),
            ("-5", "5"),
            ("concatenate", "cat"),
            ("x_y", "x"),
            ("50", "5"),
        ] {
            assert!(!has_word(text, word), "{word} in {text}");
        }
        for (text, word) in [
            ("it is 5.", "5"),
            ("a:5,", "5"),
            ("(cat)", "cat"),
            ("ends. Really", "ends."),
            ("ää", "ää"),
        ] {
            assert!(has_word(text, word), "{word} in {text}");
        }
    }

    #[test]
    fn a_result_that_is_too_long_to_compare_is_shown_rather_than_lost() {
        let text = "x".repeat(1024 * 1024);
        let many = json!((0..100).map(|n| format!("row {n}")).collect::<Vec<_>>());
        assert_eq!(missing(&many, &[&text]), Some(many.clone()));
    }
}
