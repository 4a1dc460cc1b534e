//! The `envFile` of VS Code and Cursor: `NAME=value` lines. Must not know where the file is or what
//! it is for.

use std::collections::BTreeMap;

/// Reads `NAME=value` lines: `#` comments, blank lines, an `export` in front and one pair of quotes
/// are understood; in double quotes `\n`, `\"` and `\\`. Nothing is expanded. A line of another
/// shape is an error that names its number.
pub(crate) fn parse_env_file(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut variables = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let assignment = line.strip_prefix("export ").unwrap_or(line);
        let wrong = || format!("line {} is not of the form NAME=value", index + 1);
        let (name, value) = assignment.split_once('=').ok_or_else(wrong)?;
        let name = name.trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(wrong());
        }
        variables.insert(name.to_owned(), unquote(value.trim()));
    }
    Ok(variables)
}

fn unquote(value: &str) -> String {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(plain) = inside('\'') {
        return plain.to_owned();
    }
    if let Some(quoted) = inside('"') {
        return unescape(quoted);
    }
    // A comment after an unquoted value needs a space before it, so that colours and URLs survive.
    value.split(" #").next().unwrap_or(value).trim_end().to_owned()
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some(other @ ('"' | '\\')) => out.push(other),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_lines() {
        let text = "# c\nA=1\nexport B = 'x y' \nC=\"a\\n\\\"b\"\nD=u#v # comment\n\nE=\n";
        let variables = parse_env_file(text).unwrap();
        let get = |name: &str| variables.get(name).map(String::as_str);
        assert_eq!(get("A"), Some("1"));
        assert_eq!(get("B"), Some("x y"));
        assert_eq!(get("C"), Some("a\n\"b"));
        assert_eq!(get("D"), Some("u#v"));
        assert_eq!(get("E"), Some(""));
        assert_eq!(variables.len(), 5);
    }

    #[test]
    fn another_shape_names_its_line() {
        assert_eq!(
            parse_env_file("A=1\nnonsense").unwrap_err(),
            "line 2 is not of the form NAME=value"
        );
        assert!(parse_env_file("A B=1").is_err());
    }
}
