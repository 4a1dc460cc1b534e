//! The top of a schema, where every wire wants a plain object. Owns how a combinator there is taken
//! apart. Must not know names.

use serde_json::{Map, Value, json};

use super::kind::is_of_kind;
use super::plain::{array, merge, say};

/// The longest list of sets that is told to the model.
const SETS_MAX: usize = 20;

/// Makes an object of whatever stands at the top. Arguments are always an object (MCP, "Tools"), so
/// nothing that a caller could give is lost: what the branches demanded together is said in words.
pub(super) fn object(mut schema: Map<String, Value>) -> Map<String, Value> {
    let mut sets = Vec::new();
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.remove(key) else { continue };
        let branches: Vec<Map<String, Value>> =
            branches.into_iter().filter_map(as_object).map(object).collect();
        flatten(&mut schema, &branches);
        sets.push(branches);
    }
    for key in ["enum", "const", "items", "format", "pattern"] {
        schema.remove(key);
    }
    schema.insert("type".to_owned(), json!("object"));
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), json!({}));
    }
    for branches in sets {
        if let Some(text) = told(&branches) {
            say(&mut schema, &text);
        }
    }
    schema
}

/// A branch, unless it is none that an object could be.
fn as_object(branch: Value) -> Option<Map<String, Value>> {
    let Value::Object(branch) = branch else { return None };
    (!branch.contains_key("type") || is_of_kind(&branch, "object")).then_some(branch)
}

/// The properties of all branches, and what all of them require.
fn flatten(schema: &mut Map<String, Value>, branches: &[Map<String, Value>]) {
    let mut properties =
        schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let own: Vec<String> = properties.keys().cloned().collect();
    for branch in branches {
        for (name, property) in
            branch.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            match properties.get_mut(name) {
                None => {
                    properties.insert(name.clone(), property.clone());
                }
                // What stands beside the combinator holds for every branch.
                Some(_) if own.contains(name) => {}
                Some(known) => either(known, property),
            }
        }
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    let Some((first, rest)) = branches.split_first() else { return };
    let in_all = |name: &&Value| rest.iter().all(|branch| array(branch, "required").contains(name));
    let required: Vec<&Value> = array(first, "required").iter().filter(in_all).collect();
    if !required.is_empty() {
        merge(schema, Map::from_iter([("required".to_owned(), json!(required))]));
    }
    // What one branch forbids another may allow.
    schema.remove("additionalProperties");
}

/// A property that has one form here and another one there.
fn either(known: &mut Value, other: &Value) {
    if known == other {
        return;
    }
    if let (Some(mut mine), Some(theirs)) = (choices(known), choices(other)) {
        mine.extend(theirs.into_iter().filter(|choice| !mine.contains(choice)).collect::<Vec<_>>());
        if let Some(known) = known.as_object_mut() {
            known.remove("const");
            known.insert("enum".to_owned(), Value::Array(mine));
        }
        return;
    }
    match known.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(branches) => {
            if !branches.contains(other) {
                branches.push(other.clone());
            }
        }
        None => *known = json!({"anyOf": [known.clone(), other]}),
    }
}

/// The values of a schema that is nothing but a choice.
fn choices(schema: &Value) -> Option<Vec<Value>> {
    let schema = schema.as_object()?;
    match (schema.get("const"), schema.get("enum")) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(Value::Array(several))) => Some(several.clone()),
        _ => None,
    }
}

fn told(branches: &[Map<String, Value>]) -> Option<String> {
    let set = |branch: &Map<String, Value>| {
        let required: Vec<&str> =
            array(branch, "required").iter().filter_map(Value::as_str).collect();
        (!required.is_empty()).then(|| format!("({})", required.join(", ")))
    };
    let sets: Vec<String> = branches.iter().filter_map(set).collect();
    let more = if sets.len() > SETS_MAX { " or others" } else { "" };
    let shown = sets.get(..sets.len().min(SETS_MAX))?.join(" or ");
    (sets.len() > 1)
        .then(|| format!("Give at least one of these sets of arguments: {shown}{more}."))
}
