//! Brings a JSON Schema as servers write it into the plain form that a wire reads: references put
//! in, words of other drafts translated, what is unknown left out and said to the model in words.
//! Must not know tools or requests.

use serde_json::{Map, Value, json};

use super::kind::{KINDS, about_kind, is_of_kind, kind};
use super::rules::{Rules, rules_out};
use super::top;

/// How deep a schema may be; below that anything goes. Real ones have at most about fifteen levels.
const DEPTH_MAX: usize = 32;
/// The most parts of one schema. References that are put in can double a schema with each of its
/// levels.
const PARTS_MAX: usize = 4096;
/// The longest rule that is quoted to the model, in bytes.
const QUOTED_BYTES_MAX: usize = 300;

const COMBINATORS: [&str; 2] = ["anyOf", "oneOf"];

/// The plain form of a whole schema.
pub(super) fn plain(schema: &Value, rules: &Rules) -> Map<String, Value> {
    Reader { rules, root: schema, parts: 0, open: Vec::new() }.schema(schema, 0)
}

struct Reader<'a> {
    rules: &'a Rules,
    root: &'a Value,
    parts: usize,
    /// The references that are being put in, so that one that leads to itself ends.
    open: Vec<String>,
}

impl Reader<'_> {
    /// A whole schema, at a place of its own.
    fn schema(&mut self, value: &Value, depth: usize) -> Map<String, Value> {
        let mut out = self.part(value, depth);
        self.one_type(&mut out);
        out
    }

    /// What one schema says, which may be only a part of what is said about its value.
    fn part(&mut self, value: &Value, depth: usize) -> Map<String, Value> {
        self.parts += 1;
        let Value::Object(given) = value else { return Map::new() };
        if depth > DEPTH_MAX || self.parts > PARTS_MAX {
            return described("Any value: the definition is too large to be shown here.");
        }
        if let Some(reference) = given.get("$ref").and_then(Value::as_str) {
            return self.reference(reference, given, depth);
        }
        let mut out = Map::new();
        let mut quoted = Map::new();
        for (key, value) in given {
            if !self.keyword(key, value, given, depth, &mut out) && rules_out(key) {
                quoted.insert(key.clone(), value.clone());
            }
        }
        kind(given, &mut out);
        self.members(given, depth, &mut out);
        for part in array(given, "allOf") {
            let part = self.part(part, depth + 1);
            merge(&mut out, part);
        }
        if given.get("nullable") == Some(&Value::Bool(true)) {
            or_null(&mut out);
        }
        quote(&mut out, &quoted);
        out
    }

    /// Puts in what a reference within the document names. Nothing is ever fetched.
    fn reference(
        &mut self,
        reference: &str,
        given: &Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        let mut beside = given.clone();
        beside.remove("$ref");
        let root = self.root;
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        let again = self.open.iter().any(|open| open == reference);
        let named = match target {
            Some(target) if !again => {
                self.open.push(reference.to_owned());
                let named = self.part(target, depth + 1);
                self.open.pop();
                named
            }
            Some(_) => described(&format!("Of the same form as `{}` again.", last_part(reference))),
            None => described(&format!("Of a form that is not given here: {reference}.")),
        };
        // What stands beside a reference is nearer to its place.
        let mut out = self.part(&Value::Object(beside), depth + 1);
        merge(&mut out, named);
        out
    }

    /// Whether the keyword is done with: kept, translated, or of those that are read elsewhere.
    fn keyword(
        &mut self,
        key: &str,
        value: &Value,
        given: &Map<String, Value>,
        depth: usize,
        out: &mut Map<String, Value>,
    ) -> bool {
        match key {
            "type"
            | "properties"
            | "required"
            | "items"
            | "additionalProperties"
            | "prefixItems"
            | "allOf" => true,
            "description" => {
                if value.as_str().is_some_and(|text| !text.trim().is_empty()) {
                    out.insert(key.to_owned(), value.clone());
                }
                true
            }
            "anyOf" | "oneOf" => {
                let branches: Vec<Value> = array(given, key)
                    .iter()
                    .map(|branch| Value::Object(self.schema(branch, depth + 1)))
                    .collect();
                let key = if self.rules.narrow_values { "anyOf" } else { key };
                if !branches.is_empty() && !out.contains_key(key) {
                    out.insert(key.to_owned(), Value::Array(branches));
                }
                true
            }
            "const" if self.rules.narrow_values => {
                let narrow = value.is_string() && value != "" || value.is_number();
                narrow.then(|| out.insert("enum".to_owned(), json!([value]))).is_some()
            }
            "enum" => self.choices(value, out),
            // Draft 4 says by a boolean that the bound itself is ruled out.
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                let bound = if key == "exclusiveMinimum" { "minimum" } else { "maximum" };
                if let (true, Some(bound)) =
                    (value == true, given.get(bound).filter(|bound| bound.is_number()))
                    && self.rules.keywords.contains(&key)
                {
                    out.insert(key.to_owned(), bound.clone());
                }
                true
            }
            _ => {
                let kept = self.rules.keywords.contains(&key) && self.is_valid(key, value);
                if kept {
                    out.insert(key.to_owned(), value.clone());
                }
                // A keyword that is used wrongly, and a format that nobody knows, tell a model
                // nothing.
                kept || self.rules.keywords.contains(&key)
            }
        }
    }

    /// Whether the value is one that the keyword may have (JSON Schema 2020-12, validation).
    fn is_valid(&self, key: &str, value: &Value) -> bool {
        match key {
            "title" => value.is_string(),
            "examples" => value.is_array(),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => value.is_u64(),
            "uniqueItems" => value.is_boolean(),
            "format" => value.as_str().is_some_and(|format| self.rules.formats.contains(&format)),
            // Providers compile patterns with engines of their own; what this one takes they all
            // do.
            "pattern" => value.as_str().is_some_and(|pattern| regex::Regex::new(pattern).is_ok()),
            _ => true,
        }
    }

    fn choices(&self, value: &Value, out: &mut Map<String, Value>) -> bool {
        let mut choices: Vec<&Value> = Vec::new();
        for choice in value.as_array().into_iter().flatten() {
            let known = !self.rules.narrow_values
                || choice.is_number()
                || choice.as_str().is_some_and(|s| !s.is_empty());
            if known && !choices.contains(&choice) {
                choices.push(choice);
            }
        }
        if choices.is_empty() {
            return false;
        }
        out.insert("enum".to_owned(), json!(choices));
        true
    }

    /// What objects and arrays hold. Both are always said, because wires refuse an object without
    /// `properties` and an array without `items`.
    fn members(&mut self, given: &Map<String, Value>, depth: usize, out: &mut Map<String, Value>) {
        if is_of_kind(out, "object") {
            let mut properties = Map::new();
            for (name, property) in
                given.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                // `false` rules a property out.
                if *property != Value::Bool(false) {
                    properties
                        .insert(name.clone(), Value::Object(self.schema(property, depth + 1)));
                }
            }
            let required: Vec<&str> =
                array(given, "required").iter().filter_map(Value::as_str).collect();
            let ruled_out = |name: &str| {
                given.get("properties").and_then(|all| all.get(name)) == Some(&Value::Bool(false))
            };
            let mut kept: Vec<&str> = Vec::new();
            for name in required {
                if !kept.contains(&name) && !ruled_out(name) {
                    if !properties.contains_key(name) {
                        properties.insert(
                            name.to_owned(),
                            Value::Object(self.schema(&Value::Bool(true), depth + 1)),
                        );
                    }
                    kept.push(name);
                }
            }
            out.insert("properties".to_owned(), Value::Object(properties));
            if !kept.is_empty() {
                out.insert("required".to_owned(), json!(kept));
            }
            match given.get("additionalProperties") {
                Some(Value::Bool(more)) => {
                    out.insert("additionalProperties".to_owned(), json!(more));
                }
                Some(more @ Value::Object(_)) => {
                    let more = self.schema(more, depth + 1);
                    out.insert("additionalProperties".to_owned(), Value::Object(more));
                }
                _ => {}
            }
        }
        if is_of_kind(out, "array") {
            let items = self.items(given, depth, out);
            out.insert("items".to_owned(), Value::Object(items));
        }
    }

    /// A list with a form for each place becomes one with any of them at every place, and the order
    /// is said in words.
    fn items(
        &mut self,
        given: &Map<String, Value>,
        depth: usize,
        out: &mut Map<String, Value>,
    ) -> Map<String, Value> {
        let places = match (given.get("prefixItems"), given.get("items")) {
            (Some(Value::Array(places)), _) | (None, Some(Value::Array(places))) => places,
            (_, Some(items @ Value::Object(_))) => return self.schema(items, depth + 1),
            _ => return self.schema(&Value::Bool(true), depth + 1),
        };
        let mut forms: Vec<Value> = Vec::new();
        for place in places {
            let form = Value::Object(self.schema(place, depth + 1));
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        quote(out, &Map::from_iter([("prefixItems".to_owned(), Value::Array(places.clone()))]));
        match forms.pop() {
            Some(Value::Object(only)) if forms.is_empty() => only,
            Some(last) => {
                forms.push(last);
                Map::from_iter([("anyOf".to_owned(), Value::Array(forms))])
            }
            None => self.schema(&Value::Bool(true), depth + 1),
        }
    }

    /// Where `type` may be one word only, and an `anyOf` stands alone.
    fn one_type(&self, out: &mut Map<String, Value>) {
        if !self.rules.one_type {
            return;
        }
        if out.contains_key("anyOf") && out.contains_key("type") {
            if is_of_kind(out, "object") {
                *out = top::object(std::mem::take(out));
            } else if let Some(branches) = out.remove("anyOf") {
                quote(out, &Map::from_iter([("anyOf".to_owned(), branches)]));
            }
        }
        let kinds: Vec<&str> = match (out.get("type"), out.get("enum").and_then(Value::as_array)) {
            (Some(Value::Array(kinds)), _) => kinds.iter().filter_map(Value::as_str).collect(),
            (None, Some(choices)) => {
                let text = choices.iter().any(Value::is_string).then_some("string");
                let number = choices.iter().any(Value::is_number).then_some("number");
                text.into_iter().chain(number).collect()
            }
            (None, None) if !out.contains_key("anyOf") => KINDS.to_vec(),
            _ => return,
        };
        let mut branches: Vec<Value> =
            kinds.iter().map(|kind| Value::Object(about_kind(out, kind))).collect();
        if let [Value::Object(only)] = branches.as_mut_slice() {
            merge(only, std::mem::take(out));
            *out = std::mem::take(only);
            return;
        }
        out.retain(|key, _| matches!(key.as_str(), "title" | "description"));
        out.insert("anyOf".to_owned(), Value::Array(branches));
    }
}

fn described(text: &str) -> Map<String, Value> {
    Map::from_iter([("description".to_owned(), json!(text))])
}

pub(super) fn array<'a>(schema: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    schema.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn last_part(reference: &str) -> &str {
    match reference.rsplit('/').next().unwrap_or(reference) {
        "" | "#" => "the whole",
        part => part,
    }
}

fn or_null(schema: &mut Map<String, Value>) {
    let null = json!({"type": "null"});
    for key in COMBINATORS {
        if let Some(Value::Array(branches)) = schema.get_mut(key)
            && !branches.contains(&null)
        {
            branches.push(null.clone());
        }
    }
    match schema.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => {
            kinds.push(json!("null"))
        }
        Some(kind @ Value::String(_)) if *kind != "null" => *kind = json!([kind.clone(), "null"]),
        _ => {}
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum")
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
}

/// Adds what another plain schema says of the same value. Where both say something, the first one
/// counts.
pub(super) fn merge(into: &mut Map<String, Value>, other: Map<String, Value>) {
    for (key, value) in other {
        match (into.get_mut(&key), value) {
            (None, value) => {
                into.insert(key, value);
            }
            (Some(Value::Object(mine)), Value::Object(theirs)) if key == "properties" => {
                for (name, property) in theirs {
                    mine.entry(name).or_insert(property);
                }
            }
            (Some(Value::Array(mine)), Value::Array(theirs)) if key == "required" => {
                for name in theirs {
                    if !mine.contains(&name) {
                        mine.push(name);
                    }
                }
            }
            (Some(Value::String(mine)), Value::String(theirs))
                if key == "description" && !mine.contains(&theirs) =>
            {
                mine.push('\n');
                mine.push_str(&theirs);
            }
            _ => {}
        }
    }
}

/// Says to the model what the wire cannot.
pub(super) fn say(schema: &mut Map<String, Value>, text: &str) {
    match schema.get_mut("description") {
        Some(Value::String(description)) => {
            description.push('\n');
            description.push_str(text);
        }
        _ => {
            schema.insert("description".to_owned(), json!(text));
        }
    }
}

fn quote(schema: &mut Map<String, Value>, rules: &Map<String, Value>) {
    if rules.is_empty() {
        return;
    }
    let whole = Value::Object(rules.clone()).to_string();
    if whole.len() <= QUOTED_BYTES_MAX {
        say(schema, &format!("Also: {whole}"));
    } else {
        let names: Vec<&str> = rules.keys().map(String::as_str).collect();
        say(schema, &format!("More rules apply than can be shown here ({}).", names.join(", ")));
    }
}
