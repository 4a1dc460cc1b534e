//! What a request of 2026-07-28 repeats in HTTP headers: method, name, and those of a tool's
//! arguments that the server asks for (`x-mcp-header`). Pure. Must not know connections.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// In a property of an input schema.
const ANNOTATION: &str = "x-mcp-header";
const PARAM_PREFIX: &str = "Mcp-Param-";
const ENCODED_PREFIX: &str = "=?base64?";
const ENCODED_SUFFIX: &str = "?=";

/// The headers that every request has.
pub(super) fn of_request(message: &Value) -> Vec<(String, String)> {
    let Some(method) = message.get("method").and_then(Value::as_str) else { return Vec::new() };
    let mut headers = vec![("Mcp-Method".to_owned(), method.to_owned())];
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return headers,
    };
    let named = message.get("params").and_then(|params| params.get(key)).and_then(Value::as_str);
    headers.extend(named.map(|name| ("Mcp-Name".to_owned(), encoded(name))));
    headers
}

/// The headers for the arguments of a call that the tool's input schema wants mirrored.
pub(crate) fn of_arguments(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found);
    let header = |(path, name): (Vec<&str>, &Value)| {
        let value = path.iter().try_fold(arguments, |value, key| value.get(key))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some((format!("{PARAM_PREFIX}{}", name.as_str()?), encoded(&text)))
    };
    found.into_iter().filter_map(header).collect()
}

/// Whether the annotations of an input schema can be followed. A tool with others is left out.
///
/// # Errors
/// What is wrong, as the end of a sentence.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found);
    if count(schema, true) != found.len() {
        return Err(format!("its schema has `{ANNOTATION}` where no argument can be read"));
    }
    let mut names = Vec::new();
    for (path, name) in found {
        let of = path.join(".");
        let name = name.as_str().filter(|name| is_token(name)).ok_or_else(|| {
            format!("the `{ANNOTATION}` of its argument `{of}` is no name of a header")
        })?;
        let kind = path.iter().try_fold(schema, |part, key| part.get("properties")?.get(key));
        let kind = kind.and_then(|part| part.get("type")).and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Err(format!(
                "its argument `{of}` has `{ANNOTATION}` and is neither text, integer nor boolean"
            ));
        }
        let name = name.to_ascii_lowercase();
        if names.contains(&name) {
            return Err(format!("two of its arguments have the same `{ANNOTATION}`"));
        }
        names.push(name);
    }
    Ok(())
}

/// The annotations that are reached from the root by `properties` alone, with the way to each.
fn collect<'a>(
    schema: &'a Value,
    path: &mut Vec<&'a str>,
    found: &mut Vec<(Vec<&'a str>, &'a Value)>,
) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, part) in properties {
        path.push(name);
        found.extend(part.get(ANNOTATION).map(|header| (path.clone(), header)));
        collect(part, path, found);
        path.pop();
    }
}

/// All annotations of a schema, wherever they are. What is an example or a value is none.
fn count(schema: &Value, is_schema: bool) -> usize {
    const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];
    const BY_NAME: [&str; 5] =
        ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
    match schema {
        Value::Array(parts) => parts.iter().map(|part| count(part, true)).sum(),
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| !(is_schema && VALUES.contains(&key.as_str())))
            .map(|(key, part)| {
                let here = usize::from(is_schema && key == ANNOTATION);
                here + count(part, !(is_schema && BY_NAME.contains(&key.as_str())))
            })
            .sum(),
        _ => 0,
    }
}

/// A token of RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    let is_tchar = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(is_tchar)
}

/// A value that a header can hold, in base64 where it could not.
fn encoded(value: &str) -> String {
    let is_padded = value.starts_with([' ', '\t']) || value.ends_with([' ', '\t']);
    let is_plain = value.chars().all(|c| matches!(c, ' '..='~'));
    let looks_encoded = value.starts_with(ENCODED_PREFIX) && value.ends_with(ENCODED_SUFFIX);
    if is_plain && !is_padded && !looks_encoded {
        return value.to_owned();
    }
    format!("{ENCODED_PREFIX}{}{ENCODED_SUFFIX}", BASE64_STANDARD.encode(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(value), header);
        }
    }

    #[test]
    fn arguments_are_mirrored_by_their_path() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {
                "n": {"type": "integer", "x-mcp-header": "N"},
                "dry": {"type": "boolean", "x-mcp-header": "Dry"}}},
            "absent": {"type": "string", "x-mcp-header": "Absent"},
            "null": {"type": "string", "x-mcp-header": "Null"},
            "example": {"type": "object", "examples": [{"x-mcp-header": 3}]},
            "query": {"type": "string"}}});
        check(&schema).unwrap();
        let arguments = json!({"region": "eu", "deep": {"n": -7, "dry": true}, "null": null});
        let mut headers = of_arguments(&schema, &arguments);
        headers.sort();
        let expected =
            [("Mcp-Param-Dry", "true"), ("Mcp-Param-N", "-7"), ("Mcp-Param-Region", "eu")];
        assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_cannot_be_mirrored_makes_a_tool_invalid() {
        let string = |name: Value| json!({"type": "string", "x-mcp-header": name});
        for (properties, part) in [
            (json!({"a": string(json!(""))}), "no name"),
            (json!({"a": string(json!("a b"))}), "no name"),
            (json!({"a": string(json!("a\r\nb"))}), "no name"),
            (json!({"a": string(json!(7))}), "no name"),
            (json!({"a": {"type": "number", "x-mcp-header": "A"}}), "neither"),
            (json!({"a": string(json!("x")), "b": string(json!("X"))}), "same"),
            (json!({"a": {"type": "array", "items": string(json!("A"))}}), "no argument"),
            (json!({"a": {"anyOf": [string(json!("A"))]}}), "no argument"),
        ] {
            let refused = check(&json!({"properties": properties})).unwrap_err();
            assert!(refused.contains(part), "{properties}: {refused}");
        }
        assert!(check(&json!({"x-mcp-header": "A"})).is_err());
        // A property by that name is no annotation.
        check(&json!({"properties": {"x-mcp-header": {"type": "string"}}})).unwrap();
    }

    #[test]
    fn a_request_names_its_method_and_its_tool() {
        let call = json!({"method": "tools/call", "params": {"name": "größe"}});
        let headers = of_request(&call);
        assert_eq!(headers[0], ("Mcp-Method".into(), "tools/call".into()));
        assert_eq!(headers[1], ("Mcp-Name".into(), "=?base64?Z3LDtsOfZQ==?=".into()));
        assert_eq!(of_request(&json!({"method": "tools/list"})).len(), 1);
        assert_eq!(of_request(&json!({"id": 1, "result": {}})), []);
    }
}
