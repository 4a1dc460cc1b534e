//! What the public APIs refuse of tools and of the number of messages, in their own words. Written
//! from their documents and from what they are known to answer, and not from claw's rules: an
//! oracle. Must not know claw.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Wire, responses};

/// A refusal: what stands in the log of the test, and the body of the answer.
pub struct Refusal {
    pub message: String,
    pub body: Value,
}

/// Refuses a request whose tools the real API would not take, or so many messages.
pub fn check(wire: Wire, body: &Value) -> Result<(), Refusal> {
    match wire {
        Wire::Responses => check(Wire::OpenAi, &responses::as_chat_completions(body)),
        Wire::OpenAi => openai(body).map_err(|(param, message)| {
            let code = match param.as_str() {
                "tools" | "messages" => "array_above_max_length",
                _ => "invalid_function_parameters",
            };
            let body = json!({"error": {"message": message, "type": "invalid_request_error",
                "param": param, "code": code}});
            Refusal { message, body }
        }),
        Wire::Anthropic => anthropic(body).map_err(|message| Refusal {
            body: json!({"type": "error", "error": {"type": "invalid_request_error", "message": message},
                "request_id": "req_1"}),
            message,
        }),
        Wire::Gemini => gemini(body).map_err(|message| Refusal {
            body: json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}),
            message,
        }),
        Wire::Ollama => Ok(()),
    }
}

/// The same as a fault in words, for who checks whole requests.
pub fn tools(wire: Wire, body: &Value) -> Result<(), String> {
    check(wire, body).map_err(|refusal| refusal.message)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_name(name: &str, more: &str, max: usize) -> bool {
    (1..=max).contains(&name.chars().count())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

/// A way into a schema, as each API writes it.
type Path = Vec<String>;

fn openai(body: &Value) -> Result<(), (String, String)> {
    for (param, most) in [("messages", 2048), ("tools", 128)] {
        let count = list(body, param).len();
        if count > most {
            return Err((
                param.into(),
                format!(
                    "Invalid '{param}': array too long. Expected an array with maximum length \
                     {most}, but got an array with length {count} instead."
                ),
            ));
        }
    }
    let tools = list(body, "tools");
    for (place, tool) in tools.iter().enumerate() {
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let at = |field: &str| format!("tools[{place}].function.{field}");
        if !is_name(name, "_-", 64) {
            return Err((
                at("name"),
                format!(
                    "Invalid '{}': string does not match pattern. Expected a string that matches the pattern \
                 '^[a-zA-Z0-9_-]+$'.",
                    at("name")
                ),
            ));
        }
        let length = function["description"].as_str().map_or(0, |text| text.chars().count());
        if length > 1024 {
            return Err((
                at("description"),
                format!(
                    "Invalid '{}': string too long. Expected a string with maximum length 1024, but got a string with \
                 length {length} instead.",
                    at("description")
                ),
            ));
        }
        let refused = |why: String| {
            (at("parameters"), format!("Invalid schema for function '{name}': {why}"))
        };
        let Some(schema) = function["parameters"].as_object() else {
            return Err(refused(
                "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.".into(),
            ));
        };
        if schema.get("type") != Some(&json!("object")) {
            let got = schema
                .get("type")
                .map_or("None".to_owned(), |kind| kind.to_string().replace('"', ""));
            return Err(refused(format!(
                "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{got}\"'."
            )));
        }
        if ["oneOf", "anyOf", "allOf", "enum", "not"].iter().any(|key| schema.contains_key(*key)) {
            return Err(refused(
                "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
                    .into(),
            ));
        }
        let mut walk = Walk { must_have_members: true, ..Walk::default() };
        walk.schema(&function["parameters"], &mut Vec::new()).map_err(|(path, why)| {
            let context: Vec<String> = path.iter().map(|part| format!("'{part}'")).collect();
            let comma = if context.len() == 1 { "," } else { "" };
            refused(format!("In context=({}{comma}), {why}.", context.join(", ")))
        })?;
    }
    Ok(())
}

fn anthropic(body: &Value) -> Result<(), String> {
    let mut names = HashSet::new();
    for (place, tool) in list(body, "tools").iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_name(name, "_-", 64) {
            return Err(format!(
                "tools.{place}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            ));
        }
        if !names.insert(name) {
            return Err("tools: Tool names must be unique.".into());
        }
        let Some(schema) = tool["input_schema"].as_object() else {
            return Err(format!(
                "tools.{place}.custom.input_schema: Input should be a valid dictionary"
            ));
        };
        match schema.get("type") {
            None => return Err(format!("tools.{place}.custom.input_schema.type: Field required")),
            Some(kind) if kind != "object" => {
                return Err(format!(
                    "tools.{place}.custom.input_schema.type: Input should be 'object'"
                ));
            }
            _ => {}
        }
        if ["oneOf", "anyOf", "allOf"].iter().any(|key| schema.contains_key(*key)) {
            return Err(format!(
                "tools.{place}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
            ));
        }
        let mut walk = Walk {
            no_references: true,
            property_names: Some(|name| is_name(name, "_.-", 64)),
            ..Walk::default()
        };
        walk.schema(&tool["input_schema"], &mut Vec::new()).map_err(|(path, why)| {
            if why == WRONG_KEY {
                return format!(
                    "tools.{place}.custom.input_schema.properties: Property keys should match pattern \
                     '^[a-zA-Z0-9_.-]{{1,64}}$' (at {})",
                    path.join(".")
                );
            }
            format!(
                "tools.{place}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 \
                 (https://json-schema.org/draft/2020-12). Learn more about tool use at \
                 https://docs.anthropic.com/en/docs/tool-use. ({why} at {})",
                path.join(".")
            )
        })?;
    }
    Ok(())
}

/// The keywords that Gemini's reference documents for JSON schemas.
const GEMINI_KEYWORDS: [&str; 20] = [
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
];

fn gemini(body: &Value) -> Result<(), String> {
    let declared = |tool: &'_ Value| list(tool, "functionDeclarations").to_vec();
    for (place, function) in list(body, "tools").iter().flat_map(declared).enumerate() {
        let at = format!("tools[0].function_declarations[{place}]");
        let name = function["name"].as_str().unwrap_or_default();
        let lettered =
            name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
        if !is_name(name, "_.:-", 64) || !lettered {
            return Err(format!(
                "* GenerateContentRequest.{at}.name: Invalid function name. Must start with a letter or an underscore. \
                 Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.) or dashes (-), with a maximum length of 64."
            ));
        }
        let (field, schema) =
            match (function.get("parametersJsonSchema"), function.get("parameters")) {
                (Some(_), Some(_)) => {
                    return Err(format!(
                        "{at}: parameters and parameters_json_schema are both set"
                    ));
                }
                (Some(schema), None) => ("parameters_json_schema", schema),
                (None, Some(schema)) => ("parameters", schema),
                (None, None) => continue,
            };
        if schema["type"] != "object" {
            return Err(format!(
                "* GenerateContentRequest.{at}.{field}: schema must describe an object"
            ));
        }
        let mut walk = Walk {
            must_have_members: true,
            one_type: true,
            keywords: Some(&GEMINI_KEYWORDS),
            property_names: Some(|name| {
                is_name(name, "_", 64) && !name.starts_with(|first: char| first.is_ascii_digit())
            }),
            ..Walk::default()
        };
        walk.schema(schema, &mut Vec::new()).map_err(|(path, why)| {
            let place = path.iter().fold(format!("{at}.{field}"), |place, part| format!("{place}.{part}"));
            match why.strip_prefix("unknown ") {
                Some(word) => {
                    format!("Invalid JSON payload received. Unknown name \"{word}\" at '{place}': Cannot find field.")
                }
                None => format!("* GenerateContentRequest.{place}: {why}"),
            }
        })?;
    }
    Ok(())
}

const WRONG_KEY: &str = "wrong property key";
const KINDS: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// Reads a schema as JSON Schema 2020-12 wants it, with what an API demands beyond.
#[derive(Default)]
struct Walk {
    must_have_members: bool,
    one_type: bool,
    no_references: bool,
    keywords: Option<&'static [&'static str]>,
    property_names: Option<fn(&str) -> bool>,
}

impl Walk {
    fn schema(&mut self, schema: &Value, path: &mut Path) -> Result<(), (Path, String)> {
        let wrong = |path: &Path, why: &str| Err((path.clone(), why.to_owned()));
        let Value::Object(fields) = schema else {
            return if schema.is_boolean() && !self.one_type {
                Ok(())
            } else {
                wrong(path, "no schema")
            };
        };
        if path.len() > 200 {
            return wrong(path, "nested too deeply");
        }
        for (key, value) in fields {
            if self.keywords.is_some_and(|known| !known.contains(&key.as_str())) {
                return wrong(path, &format!("unknown {key}"));
            }
            if let Some(why) = self.keyword(key, value) {
                return wrong(path, &why);
            }
        }
        let kinds = kinds(fields);
        if self.one_type
            && kinds.is_empty()
            && !["anyOf", "oneOf", "$ref"].iter().any(|key| fields.contains_key(*key))
        {
            return wrong(path, "schema didn't specify the schema type field");
        }
        if self.one_type && fields.contains_key("anyOf") && fields.contains_key("type") {
            return wrong(path, "when using any_of, it must be the only field set");
        }
        if self.must_have_members && kinds.contains(&"object") && !fields.contains_key("properties")
        {
            return wrong(path, "object schema missing properties");
        }
        if self.must_have_members && kinds.contains(&"array") && !fields.contains_key("items") {
            return wrong(
                path,
                if self.one_type { "items: missing field" } else { "array schema missing items" },
            );
        }
        self.below(fields, path)
    }

    fn below(
        &mut self,
        fields: &Map<String, Value>,
        path: &mut Path,
    ) -> Result<(), (Path, String)> {
        let none = Map::new();
        let properties = fields.get("properties").and_then(Value::as_object).unwrap_or(&none);
        for (name, property) in properties {
            path.extend(["properties".to_owned(), name.clone()]);
            if self.property_names.is_some_and(|takes| !takes(name)) {
                return Err((path.clone(), WRONG_KEY.to_owned()));
            }
            self.schema(property, path)?;
            path.truncate(path.len() - 2);
        }
        for name in fields.get("required").and_then(Value::as_array).into_iter().flatten() {
            if self.one_type && !name.as_str().is_some_and(|name| properties.contains_key(name)) {
                return Err((path.clone(), "required[0]: property is not defined".to_owned()));
            }
        }
        for key in ["items", "additionalProperties", "not"] {
            if let Some(below) = fields.get(key).filter(|below| !below.is_boolean()) {
                path.push(key.to_owned());
                self.schema(below, path)?;
                path.pop();
            }
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            for (place, branch) in
                fields.get(key).and_then(Value::as_array).into_iter().flatten().enumerate()
            {
                path.extend([key.to_owned(), place.to_string()]);
                self.schema(branch, path)?;
                path.truncate(path.len() - 2);
            }
        }
        Ok(())
    }

    fn keyword(&self, key: &str, value: &Value) -> Option<String> {
        let is_kind = |kind: &Value| kind.as_str().is_some_and(|kind| KINDS.contains(&kind));
        let fits = match key {
            "type" if self.one_type && value.is_array() => {
                return Some("type: Proto field is not repeating, cannot start list.".into());
            }
            "type" => {
                is_kind(value)
                    || value
                        .as_array()
                        .is_some_and(|all| !all.is_empty() && all.iter().all(is_kind))
            }
            "properties" | "$defs" | "definitions" | "patternProperties" => value.is_object(),
            "required" => {
                let names = value.as_array()?;
                let different: HashSet<&str> = names.iter().filter_map(Value::as_str).collect();
                different.len() == names.len()
            }
            "items" | "additionalProperties" | "not" => value.is_object() || value.is_boolean(),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                value.as_array().is_some_and(|all| !all.is_empty())
            }
            "enum" if self.one_type => value.as_array().is_some_and(|all| {
                all.iter()
                    .all(|one| one.is_number() || one.as_str().is_some_and(|text| !text.is_empty()))
            }),
            "enum" => value.as_array().is_some_and(|all| !all.is_empty()),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                value.is_number()
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => value.is_u64(),
            "uniqueItems" => value.is_boolean(),
            "description" | "title" | "pattern" => value.is_string(),
            "format" if self.one_type => {
                matches!(
                    value.as_str(),
                    Some("date-time" | "enum" | "int32" | "int64" | "float" | "double")
                )
            }
            "format" => value.as_str().is_some_and(|format| !format.starts_with("uint")),
            "$ref" => !self.no_references,
            // Draft 2020-12 is what both expect; another one is at best passed over.
            "$schema" => value.as_str().is_some_and(|draft| draft.contains("2020-12")),
            _ => true,
        };
        (!fits).then(|| format!("{value} is not valid under any of the given schemas for '{key}'"))
    }
}

fn kinds(fields: &Map<String, Value>) -> Vec<&str> {
    match fields.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
