//! Whether a value fits the JSON Schema of a tool. The schema is a stranger's, and so may be the
//! value: the work is bounded before it is done, patterns are matched in linear time, and no
//! reference is followed out of the schema. Must not know who asks, or what follows.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

/// Larger schemas are not compiled, in bytes of JSON.
const SCHEMA_BYTES_MAX: usize = 256 * 1024;
/// Patterns are compiled one by one, and each may take [`PATTERN_BYTES_MAX`].
const PATTERNS_MAX: usize = 200;
/// Of one compiled pattern, in bytes of memory.
const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// How often a part of the schema may meet a part of the value.
const VISITS_MAX: usize = 100_000;
/// How deep schema and value may go together. It also ends references in a circle.
const DEPTH_MAX: usize = 200;
const FAULTS_MAX: usize = 3;
const FAULT_CHARS_MAX: usize = 240;

/// What is known of a value and a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    Fits,
    /// What is wrong, and where.
    Misfit(String),
    /// Why it cannot be said.
    Unchecked(String),
}

/// Compares `value` with `schema` (JSON Schema 2020-12, or the draft that its `$schema` names).
/// Formats are notes and not checked.
pub fn fit(schema: &Value, value: &Value) -> Fit {
    if let Err(why) = Bounds::hold(schema, value) {
        return Fit::Unchecked(why.to_owned());
    }
    let validator = match compile(schema) {
        Ok(validator) => validator,
        Err(why) => return Fit::Unchecked(why),
    };
    let mut errors = validator.iter_errors(value);
    let faults: Vec<String> = errors.by_ref().take(FAULTS_MAX).map(|error| told(&error)).collect();
    let more = errors.next().is_some();
    match faults.is_empty() {
        true => Fit::Fits,
        false => {
            Fit::Misfit(format!("{}{}", faults.join("; "), if more { "; and more" } else { "" }))
        }
    }
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let patterns =
        PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let options =
        jsonschema::options().with_pattern_options(patterns).should_validate_formats(false);
    options.build(schema).map_err(|error| shortened(&format!("the schema cannot be used: {error}")))
}

fn told(error: &jsonschema::ValidationError<'_>) -> String {
    let place = place(error.instance_path().as_str());
    let text = shortened(&error.to_string());
    if place.is_empty() { text } else { format!("`{place}`: {text}") }
}

/// A JSON Pointer (RFC 6901) as people write it: `edits[0].old_text`.
fn place(pointer: &str) -> String {
    let mut place = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        match part.parse::<usize>() {
            Ok(index) => place.push_str(&format!("[{index}]")),
            Err(_) if place.is_empty() => place.push_str(&part),
            Err(_) => place.push_str(&format!(".{part}")),
        }
    }
    shortened(&place)
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(FAULT_CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Walks schema and value as a validator would, without looking at what fits, and gives up where
/// that takes too long.
struct Bounds<'s> {
    root: &'s Value,
    visits: usize,
}

type Held = Result<(), &'static str>;

const TOO_MUCH: &str = "schema and value together are too large to be compared";
const REFERENCE: &str = "the schema refers to something that claw does not follow";

impl<'s> Bounds<'s> {
    fn hold(schema: &'s Value, value: &Value) -> Held {
        if schema.to_string().len() > SCHEMA_BYTES_MAX || patterns(schema) > PATTERNS_MAX {
            return Err("the schema is too large");
        }
        Self { root: schema, visits: 0 }.walk(schema, value, 0)
    }

    fn walk(&mut self, schema: &'s Value, value: &Value, depth: usize) -> Held {
        let Value::Object(keys) = schema else { return Ok(()) };
        let listed = |key: &str| keys.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        self.visits += 1 + listed("enum") + listed("required");
        if self.visits > VISITS_MAX || depth > DEPTH_MAX {
            return Err(TOO_MUCH);
        }
        // The identity of a part changes what references below it mean.
        if depth > 0 && ["$id", "id"].iter().any(|key| keys.get(*key).is_some_and(Value::is_string))
        {
            return Err(REFERENCE);
        }
        self.in_place(keys, value, depth + 1)?;
        match value {
            Value::Object(map) => self.members(keys, map, depth + 1),
            Value::Array(items) => self.items(keys, items, depth + 1),
            _ => Ok(()),
        }
    }

    /// What is said of the same value in other words.
    fn in_place(&mut self, keys: &'s Map<String, Value>, value: &Value, depth: usize) -> Held {
        if keys.contains_key("$recursiveRef") {
            return Err(REFERENCE);
        }
        for reference in ["$ref", "$dynamicRef"].iter().filter_map(|key| keys.get(*key)) {
            let target = self.target(reference).ok_or(REFERENCE)?;
            self.walk(target, value, depth)?;
        }
        for part in ["allOf", "anyOf", "oneOf"]
            .iter()
            .filter_map(|key| keys.get(*key)?.as_array())
            .flatten()
        {
            self.walk(part, value, depth)?;
        }
        for part in ["not", "if", "then", "else"].iter().filter_map(|key| keys.get(*key)) {
            self.walk(part, value, depth)?;
        }
        for part in ["dependentSchemas", "dependencies"]
            .iter()
            .filter_map(|key| keys.get(*key)?.as_object())
            .flatten()
        {
            self.walk(part.1, value, depth)?;
        }
        Ok(())
    }

    fn members(
        &mut self,
        keys: &'s Map<String, Value>,
        map: &Map<String, Value>,
        depth: usize,
    ) -> Held {
        let named = keys.get("properties").and_then(Value::as_object);
        let patterns = keys.get("patternProperties").and_then(Value::as_object);
        let rest = ["additionalProperties", "unevaluatedProperties"].map(|key| keys.get(key));
        for (name, value) in map {
            let by_pattern = patterns.into_iter().flat_map(Map::values);
            let parts = named.and_then(|named| named.get(name)).into_iter().chain(by_pattern);
            for part in parts.chain(rest.into_iter().flatten()) {
                self.walk(part, value, depth)?;
            }
            if let Some(part) = keys.get("propertyNames") {
                self.walk(part, &Value::Null, depth)?;
            }
        }
        Ok(())
    }

    fn items(&mut self, keys: &'s Map<String, Value>, items: &[Value], depth: usize) -> Held {
        let first = ["prefixItems", "items"].map(|key| keys.get(key).and_then(Value::as_array));
        let each =
            ["items", "additionalItems", "contains", "unevaluatedItems"].map(|key| keys.get(key));
        for (index, value) in items.iter().enumerate() {
            let own = first.into_iter().flatten().filter_map(|parts| parts.get(index));
            for part in own.chain(each.into_iter().flatten()) {
                self.walk(part, value, depth)?;
            }
        }
        Ok(())
    }

    /// What a reference into the same schema means: a JSON Pointer in a fragment (RFC 6901, section
    /// 6).
    fn target(&self, reference: &Value) -> Option<&'s Value> {
        let fragment = reference.as_str()?.strip_prefix('#')?;
        if fragment.contains('%') || !(fragment.is_empty() || fragment.starts_with('/')) {
            return None;
        }
        self.root.pointer(fragment)
    }
}

fn patterns(schema: &Value) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(patterns).sum(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| patterns_at(key, value) + patterns(value)).sum()
        }
        _ => 0,
    }
}

fn patterns_at(key: &str, value: &Value) -> usize {
    match (key, value) {
        ("pattern", Value::String(_)) => 1,
        ("patternProperties", Value::Object(map)) => map.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;

    fn misfit(schema: &Value, value: &Value) -> String {
        match fit(schema, value) {
            Fit::Misfit(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_misfit_says_which_part_and_how() {
        let edit = json!({"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]});
        let schema = json!({"type": "object", "properties": {
            "count": {"type": "integer", "maximum": 3},
            "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
        }, "required": ["count"], "additionalProperties": false, "$defs": {"edit": edit}});
        assert_eq!(fit(&schema, &json!({"count": 3, "edits": [{"old": "x"}]})), Fit::Fits);
        assert_eq!(
            misfit(&schema, &json!({"count": "two"})),
            "`count`: \"two\" is not of type \"integer\""
        );
        assert_eq!(
            misfit(&schema, &json!({"count": 5})),
            "`count`: 5 is greater than the maximum of 3"
        );
        let nested = misfit(&schema, &json!({"count": 1, "edits": [{"old": "x"}, {"old": 7}, {}]}));
        assert!(
            nested.contains("`edits[1].old`: 7 is not")
                && nested.contains("`edits[2]`: \"old\" is a required"),
            "{nested}"
        );
        assert!(misfit(&schema, &json!({})).contains("\"count\" is a required property"));
        assert!(misfit(&schema, &json!({"count": 1, "cuont": 1})).contains("cuont"));
        let long = misfit(&schema, &json!({"count": "x".repeat(100_000)}));
        assert!(long.len() < 1000 && long.contains('…'), "{long}");
        assert_eq!(
            fit(
                &json!({"type": "object", "properties": {"at": {"type": "string", "format": "date"}}}),
                &json!({"at": "x"})
            ),
            Fit::Fits
        );
    }

    #[test]
    fn older_drafts_are_read_as_what_they_are() {
        let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"n": {"type": "number", "exclusiveMinimum": 0}}});
        assert!(misfit(&old, &json!({"n": 0})).contains("`n`"));
        assert!(matches!(fit(&json!({"type": "no such type"}), &json!({})), Fit::Unchecked(_)));
        assert!(matches!(
            fit(&json!({"type": "string", "pattern": "(?=look)ahead"}), &json!("x")),
            Fit::Unchecked(_)
        ));
    }

    /// Each of these would take forever, more memory than there is, or the whole stack.
    #[test]
    fn a_hostile_schema_takes_neither_time_nor_stack() {
        let began = Instant::now();
        let mut doubling = json!({"$defs": {"d0": {"type": "string"}}, "$ref": "#/$defs/d60"});
        for n in 1..=60 {
            let below = json!({"$ref": format!("#/$defs/d{}", n - 1)});
            doubling["$defs"][format!("d{n}")] = json!({"anyOf": [below, below]});
        }
        let twice = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!({"x": deep});
        }
        let remote = json!({"$ref": "https://example.com/schema.json"});
        for (schema, value) in [
            (doubling, json!(1)),
            (json!({"$ref": "#"}), json!(1)),
            (
                json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
                json!(1),
            ),
            (json!({"properties": {"x": twice}}), deep.clone()),
            (json!({"additionalProperties": twice}), deep),
            (remote, json!(1)),
            (json!({"$ref": "file:///etc/passwd"}), json!(1)),
            (json!({"type": "array", "items": {"type": "integer"}}), json!(vec![1; 1_000_000])),
            (json!({"pattern": "(((a{100}){100}){100}){100}"}), json!("aaaa")),
            (
                json!({"allOf": (0..300).map(|n| json!({"pattern": format!("a{n}")})).collect::<Vec<_>>()}),
                json!("a"),
            ),
            (json!({"description": "x".repeat(SCHEMA_BYTES_MAX)}), json!(1)),
        ] {
            let shown: String = schema.to_string().chars().take(100).collect();
            assert!(matches!(fit(&schema, &value), Fit::Unchecked(_)), "{shown}");
        }
        // A backtracking engine would need 2^40 steps.
        let nested = json!({"type": "string", "pattern": "^(a+)+$"});
        assert!(matches!(fit(&nested, &json!(format!("{}!", "a".repeat(5000)))), Fit::Misfit(_)));
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
