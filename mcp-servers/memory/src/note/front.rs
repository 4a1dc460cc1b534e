//! Front matter: the YAML between two lines of `---` at the top of a file. Owns where it ends and
//! what it costs to read at most; must not know which keys mean something.

use std::collections::BTreeMap;

use serde_json::Value;

/// A file in its two parts.
#[derive(Debug, PartialEq, Eq)]
pub struct Front<'a> {
    /// Without the lines that bound it. Empty if there is none.
    pub yaml: &'a str,
    pub body: &'a str,
    /// Whether the bounding lines are there.
    pub is_there: bool,
}

/// The longest front matter, in bytes. A longer one is a fault, not read.
const YAML_BYTES_MAX: usize = 64 * 1024;

/// A file that begins with `---` and never closes it has no front matter: it begins with a line
/// across the page.
pub fn split(text: &str) -> Front<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let none = Front { yaml: "", body: text, is_there: false };
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return none };
    let start = first.len();
    let mut at = start;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            let (yaml, rest) = text.split_at(at);
            return Front {
                yaml: yaml.get(start..).unwrap_or_default(),
                body: rest.get(line.len()..).unwrap_or_default(),
                is_there: true,
            };
        }
        at += line.len();
    }
    none
}

/// The keys of front matter. What grows without end (aliases of aliases) or nests without end is
/// refused by the parser's own budget.
///
/// # Errors
/// One sentence: it is no YAML, or no table of keys, or too long.
pub fn fields(yaml: &str) -> Result<BTreeMap<String, Value>, String> {
    if yaml.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    if yaml.len() > YAML_BYTES_MAX {
        return Err(format!(
            "its front matter has {} bytes, the limit is {YAML_BYTES_MAX}",
            yaml.len()
        ));
    }
    let whole: Value = serde_saphyr::from_str(yaml).map_err(|error| {
        // Behind the line of `---`, so that lines are counted as an editor counts them.
        let in_file = serde_saphyr::from_str::<Value>(&format!("\n{yaml}")).err();
        let error = in_file.unwrap_or(error);
        format!("its front matter is no YAML: {}", first_line(&error))
    })?;
    match whole {
        Value::Object(fields) => Ok(fields.into_iter().collect()),
        Value::Null => Ok(BTreeMap::new()),
        _ => Err("its front matter is no list of `key: value` lines".to_owned()),
    }
}

fn first_line(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    text.lines().next().unwrap_or("it does not parse").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_found_with_either_line_end() {
        for end in ["\n", "\r\n"] {
            let text = format!("---{end}a: 1{end}---{end}body{end}");
            let front = split(&text);
            assert_eq!((front.yaml.trim_end(), front.body.trim_end()), ("a: 1", "body"));
            assert!(front.is_there);
        }
        for text in ["", "body", "---", "---\nnever closed", "----\na: 1\n---\n", " ---\n---\n"] {
            assert_eq!(split(text), Front { yaml: "", body: text, is_there: false });
        }
        assert_eq!(split("---\n---").body, "");
    }

    #[test]
    fn a_line_that_is_no_yaml_is_named_as_an_editor_counts_it() {
        let text = "---\nid: m1\nsubject: [open\nkind: x: y\n---\nwords\n";
        let fault = fields(split(text).yaml).unwrap_err();
        assert!(fault.contains("line 4"), "{fault}");
    }
}
