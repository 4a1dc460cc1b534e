//! A definition that fits a request: a schema that takes more than its share loses words first,
//! then the inside of nested values. Pure. What is left accepts whatever the whole schema accepts,
//! so no call becomes impossible; the pin, and the check of a call's arguments, stay over the
//! whole. Must not know models or wires.

use serde_json::{Map, Value, json};

use crate::domain::ToolSpec;

/// What a parameter keeps of its description when there is room for some, in characters.
const WORDS_MAX: usize = 120;
/// Keywords with schemas by name.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
/// Keywords with one schema.
const SINGLE: [&str; 2] = ["items", "additionalProperties"];
/// Keywords with schemas of which a value takes one or more. They are parts of that value.
const CHOICES: [&str; 3] = ["anyOf", "oneOf", "allOf"];
/// Keywords that refuse what a schema takes, or depend on it. A schema that takes more would
/// refuse more by them.
const REFUSING: [&str; 10] = [
    "not",
    "if",
    "then",
    "else",
    "contains",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "prefixItems",
];
/// What says nothing about which values are right.
const WORDS: [&str; 7] =
    ["title", "description", "examples", "example", "$comment", "default", "deprecated"];
/// What a value that has lost its inside is still known by.
const OUTSIDE: [&str; 5] = ["type", "description", "enum", "const", "format"];
const NOTE: &str = "(Note by claw: to keep requests small, parts of what its parameters say are left \
    out here. It takes them all the same.)";

/// How much a cut takes away. The parameters of a tool lie at depth 1.
#[derive(Clone, Copy)]
enum Cut {
    /// Words of values that lie this deep or deeper; at most so many characters stay.
    Words { depth: usize, chars: usize },
    /// The inside of values that lie this deep.
    Inside { depth: usize },
}

const CUTS: [Cut; 7] = [
    Cut::Words { depth: 3, chars: 0 },
    Cut::Words { depth: 2, chars: WORDS_MAX },
    Cut::Inside { depth: 4 },
    Cut::Inside { depth: 3 },
    Cut::Inside { depth: 2 },
    Cut::Words { depth: 1, chars: WORDS_MAX },
    Cut::Inside { depth: 1 },
];

/// The same tool in about so many bytes; `None` where it has no more as it is. Names and types of
/// the tool's own parameters stay, so one with hundreds of them is longer.
pub(super) fn spec(whole: &ToolSpec, bytes_max: usize) -> Option<ToolSpec> {
    if whole.bytes() <= bytes_max {
        return None;
    }
    let words_max = bytes_max / 2;
    let mut description = whole.description.clone();
    if description.len() > words_max {
        description.truncate(description.floor_char_boundary(words_max));
        description.push('…');
    }
    let room = bytes_max.saturating_sub(whole.name.len() + description.len());
    let input_schema = schema(&whole.input_schema, room);
    let description = format!("{description}\n{NOTE}");
    Some(ToolSpec { name: whole.name.clone(), description, input_schema })
}

fn schema(whole: &Value, bytes_max: usize) -> Value {
    let mut short = whole.clone();
    for cut in CUTS {
        if short.to_string().len() <= bytes_max {
            break;
        }
        take(&mut short, 0, cut);
    }
    short
}

fn take(schema: &mut Value, depth: usize, cut: Cut) {
    let Some(keys) = schema.as_object_mut() else { return };
    match cut {
        Cut::Words { depth: from, chars } if depth >= from => lose_words(keys, chars),
        Cut::Words { .. } => {}
        Cut::Inside { depth: from } => {
            take_all(keys);
            if depth >= from {
                lose_inside(keys);
            }
        }
    }
    for name in NAMED {
        if let Some(Value::Object(inner)) = keys.get_mut(name) {
            inner.values_mut().for_each(|value| take(value, depth + 1, cut));
        }
    }
    for name in SINGLE {
        if let Some(inner) = keys.get_mut(name) {
            take(inner, depth + 1, cut);
        }
    }
    for name in CHOICES {
        if let Some(Value::Array(inner)) = keys.get_mut(name) {
            inner.iter_mut().for_each(|value| take(value, depth, cut));
        }
    }
}

fn lose_words(keys: &mut Map<String, Value>, chars: usize) {
    keys.retain(|key, _| !WORDS.contains(&key.as_str()) || (key == "description" && chars > 0));
    if let Some(Value::String(text)) = keys.get_mut("description")
        && text.chars().count() > chars
    {
        *text = text.chars().take(chars.saturating_sub(1)).chain(['…']).collect();
    }
}

/// Takes out what could refuse more, now that something below takes more.
fn take_all(keys: &mut Map<String, Value>) {
    // `items` stands for all of a list when the schemas of its first values are gone.
    if keys.contains_key("prefixItems") && keys.contains_key("items") {
        keys.insert("items".to_owned(), json!({}));
    }
    keys.retain(|key, _| !REFUSING.contains(&key.as_str()));
    // A value that fits one of the whole choices may fit two of the shorter ones.
    if !keys.contains_key("anyOf")
        && let Some(choices) = keys.remove("oneOf")
    {
        keys.insert("anyOf".to_owned(), choices);
    }
    keys.remove("oneOf");
}

/// A value of which only the outside is left takes whatever the whole one takes.
fn lose_inside(keys: &mut Map<String, Value>) {
    let has_items = keys.contains_key("items");
    keys.retain(|key, _| {
        let key = key.as_str();
        OUTSIDE.contains(&key) || CHOICES.contains(&key)
    });
    // Some wires refuse a list that does not say of what.
    if has_items {
        keys.insert("items".to_owned(), json!({}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool like those that are made of an API's description: its body has everything that the
    /// API ever gives back.
    fn made_of_an_api() -> ToolSpec {
        let words = "Words about this field that fill the request. ".repeat(4);
        let user = json!({"type": "object", "properties": {
            "id": {"type": "string", "description": words},
            "address": {"oneOf": [
                {"type": "object", "properties": {"street": {"type": "string", "description": words}}},
                {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            ]},
        }, "additionalProperties": false});
        let field = |n: usize| (format!("field{n}"), user.clone());
        let body: Map<String, Value> = (0..40).map(field).collect();
        ToolSpec {
            name: "drive_create".to_owned(),
            description: "Creates a folder.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "body": {"type": "object", "properties": body, "not": {"required": ["never"]}},
                    "drive": {"type": "string", "description": words, "enum": ["a", "b"]},
                    "tags": {"type": "array", "items": user},
                    "confirm": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
                },
                "required": ["drive"],
            }),
        }
    }

    #[test]
    fn a_small_definition_stays_as_it_is() {
        let whole = made_of_an_api();
        assert_eq!(spec(&whole, whole.bytes()), None);
    }

    #[test]
    fn a_large_one_keeps_the_names_and_types_of_its_parameters() {
        let whole = made_of_an_api();
        for bytes_max in [8_000, 4_000, 800, 1] {
            let short = spec(&whole, bytes_max).unwrap();
            assert!(bytes_max < 800 || short.bytes() <= bytes_max + NOTE.len() + 4, "{short:?}");
            assert!(short.description.contains(NOTE), "{bytes_max}: it is said");
            let properties = &short.input_schema["properties"];
            assert_eq!(properties["drive"]["enum"], json!(["a", "b"]));
            assert_eq!(properties["body"]["type"], "object");
            assert_eq!(properties["tags"]["type"], "array");
            assert!(properties["tags"]["items"].is_object());
            assert_eq!(properties["confirm"]["anyOf"][0]["type"], "boolean");
            assert_eq!(short.input_schema["required"], json!(["drive"]));
        }
    }

    #[test]
    fn what_the_whole_takes_is_taken_by_what_is_left() {
        let whole = made_of_an_api();
        let city = json!({"id": "x", "address": {"city": "Graz", "street": "Am Ring"}});
        let calls = [
            json!({"drive": "a", "confirm": null}),
            json!({"drive": "b", "body": {"field3": {"id": "x", "address": {"city": "Graz", "street": 7}}}}),
            json!({"drive": "b", "tags": [{"id": "x"}], "body": {"field39": {"id": "y"}}}),
            json!({"drive": "a", "body": {"other": city}}),
        ];
        let takes = |spec: &ToolSpec, call: &Value| jsonschema::is_valid(&spec.input_schema, call);
        for bytes_max in [20_000, 8_000, 4_000, 2_000, 800, 1] {
            let short = spec(&whole, bytes_max).unwrap();
            for call in calls.iter().filter(|call| takes(&whole, call)) {
                assert!(takes(&short, call), "{bytes_max}: {call} by {}", short.input_schema);
            }
        }
        assert!(calls.iter().all(|call| takes(&whole, call)));
    }
}
