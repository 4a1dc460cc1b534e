//! What a person sees of a call's arguments: all of them, whole and made visible. Pure; must not
//! know questions or doors.

use serde_json::Value;

use crate::domain::canonical::canonical_json;
use crate::domain::escape;

/// Every argument with its whole value. A string is shown as it is, anything else as canonical
/// JSON; but a list or an object with text of several lines in it (the edits of a file) is taken
/// apart, because nobody can read that text as JSON. Its parts are named `edits[0].old_text`; a
/// name that could be mistaken for one of these is in quotes.
pub(super) fn shown_arguments(arguments: &Value) -> Vec<(String, String)> {
    let Value::Object(map) = arguments else {
        return vec![("arguments".to_owned(), escape::visible(&canonical_json(arguments)))];
    };
    let mut names: Vec<&String> = map.keys().collect();
    names.sort();
    let mut shown = Vec::new();
    for name in names {
        value(&mut shown, quoted(name), &map[name]);
    }
    shown
}

fn value(shown: &mut Vec<(String, String)>, name: String, whole: &Value) {
    match whole {
        Value::String(text) => shown.push((name, escape::visible_multiline(text))),
        Value::Array(items) if has_lines(whole) => {
            for (index, item) in items.iter().enumerate() {
                value(shown, format!("{name}[{index}]"), item);
            }
        }
        Value::Object(map) if has_lines(whole) => {
            let mut keys: Vec<&String> = map.keys().collect();
            // What was there is read before what comes in its place.
            keys.sort_by_key(|key| (!key.starts_with("old"), key.as_str()));
            for key in keys {
                value(shown, format!("{name}.{}", quoted(key)), &map[key]);
            }
        }
        other => shown.push((name, escape::visible(&canonical_json(other)))),
    }
}

fn quoted(name: &str) -> String {
    let shown = escape::visible(name);
    if name.contains(['.', '[', ']', '"']) {
        format!("\"{}\"", shown.replace('"', "\\u{22}"))
    } else {
        shown
    }
}

/// Whether a text of several lines is somewhere in it.
fn has_lines(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(has_lines),
        Value::Object(map) => map.values().any(has_lines),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(arguments: &Value) -> Vec<String> {
        shown_arguments(arguments)
            .into_iter()
            .map(|(name, text)| format!("{name}={text}"))
            .collect()
    }

    #[test]
    fn text_of_several_lines_is_readable_wherever_it_is() {
        let edits = json!([{"old_text": "a\n", "new_text": "b\tc\n", "all": true}, {"old_text": "x", "new_text": "", "at": []}]);
        assert_eq!(
            shown(&json!({"path": "f.rs", "edits": edits})),
            [
                "edits[0].old_text=a\n",
                "edits[0].all=true",
                "edits[0].new_text=b\\tc\n",
                "edits[1]={\"at\":[],\"new_text\":\"\",\"old_text\":\"x\"}",
                "path=f.rs",
            ]
        );
    }

    #[test]
    fn what_reads_well_as_json_stays_together() {
        assert_eq!(
            shown(&json!({"b": {"x": [1, "two"]}, "a": 60})),
            ["a=60", "b={\"x\":[1,\"two\"]}"]
        );
    }

    #[test]
    fn no_name_passes_for_a_part_of_another() {
        let shown =
            shown(&json!({"e": ["x\ny"], "e[0]": "z", "a.b": 1, "a": {"b": "\n", "\"": 2}}));
        assert_eq!(shown, ["a.\"\\u{22}\"=2", "a.b=\n", "\"a.b\"=1", "e[0]=x\ny", "\"e[0]\"=z"]);
    }
}
