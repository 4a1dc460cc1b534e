//! Names of properties that a wire does not take: what they are called there, and back. Owns that
//! this is a bijection, at every depth of the arguments. Must not know tools.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::plain::say;
use super::rules::{NAME_CHARS_MAX, NameRule};
use crate::domain::canonical::sha256_hex;

/// Digits of a digest that keep two names apart.
const DIGEST_DIGITS: usize = 8;

/// The properties of one tool that have another name on the wire.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Names {
    aliases: BTreeMap<String, String>,
    originals: BTreeMap<String, String>,
    top: Place,
}

/// A place in the arguments: which of its keys have another name, and what lies below.
#[derive(Debug, Default, PartialEq)]
struct Place {
    renamed: BTreeSet<String>,
    properties: BTreeMap<String, Place>,
    items: Option<Box<Place>>,
    /// Under keys that are no properties.
    others: Option<Box<Place>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    ToWire,
    FromWire,
}

/// Renames in the schema what has to be renamed. `None` if nothing had to.
pub(super) fn rename(schema: &mut Map<String, Value>, rule: NameRule) -> Option<Names> {
    let mut used = BTreeSet::new();
    property_names(schema, &mut used);
    let mut names = Names::default();
    let odd: Vec<String> = used.iter().filter(|name| !rule.takes(name)).cloned().collect();
    if odd.is_empty() {
        return None;
    }
    for original in odd {
        let alias = alias(&original, rule, &used);
        used.insert(alias.clone());
        names.originals.insert(alias.clone(), original.clone());
        names.aliases.insert(original, alias);
    }
    names.top = names.place(schema);
    Some(names)
}

/// A name that the rule takes and that is not used: as near to the original as it can be.
pub(super) fn alias(original: &str, rule: NameRule, used: &BTreeSet<String>) -> String {
    let known = |c: char| if rule.takes_char(c) { c } else { '_' };
    let near: String = original
        .trim_matches(|c| !rule.takes_char(c))
        .chars()
        .map(known)
        .take(NAME_CHARS_MAX)
        .collect();
    if rule.takes(&near) && near.chars().any(|c| c.is_ascii_alphanumeric()) && !used.contains(&near)
    {
        return near;
    }
    let digest = sha256_hex(original);
    let mut digits = DIGEST_DIGITS;
    loop {
        let head: String = near.chars().take(NAME_CHARS_MAX.saturating_sub(digits + 3)).collect();
        let name = format!("x_{head}_{}", digest.get(..digits).unwrap_or(&digest));
        // All 64 digits and a name in front are too long for any rule, and need another server to
        // have guessed the rest.
        if !used.contains(&name) || digits + 3 >= NAME_CHARS_MAX {
            return name;
        }
        digits += DIGEST_DIGITS;
    }
}

fn property_names(schema: &Map<String, Value>, found: &mut BTreeSet<String>) {
    for (name, property) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        found.insert(name.clone());
        property.as_object().into_iter().for_each(|property| property_names(property, found));
    }
    for key in ["items", "additionalProperties"] {
        schema
            .get(key)
            .and_then(Value::as_object)
            .into_iter()
            .for_each(|below| property_names(below, found));
    }
    for key in ["anyOf", "oneOf"] {
        for branch in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
            branch.as_object().into_iter().for_each(|branch| property_names(branch, found));
        }
    }
}

impl Names {
    /// Renames in one part of a schema, and says what was renamed where.
    fn place(&self, schema: &mut Map<String, Value>) -> Place {
        let mut place = Place::default();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (name, mut property) in std::mem::take(properties) {
                let below = property
                    .as_object_mut()
                    .map(|property| self.place(property))
                    .unwrap_or_default();
                place.properties.insert(name.clone(), below);
                let Some(alias) = self.aliases.get(&name) else {
                    properties.insert(name, property);
                    continue;
                };
                if let Some(property) = property.as_object_mut() {
                    say(property, &format!("Its server calls it {name:?}."));
                }
                properties.insert(alias.clone(), property);
                place.renamed.insert(name);
            }
        }
        for name in schema.get_mut("required").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(alias) = name.as_str().and_then(|name| self.aliases.get(name)) {
                *name = Value::String(alias.clone());
            }
        }
        let below = |schema: &mut Map<String, Value>, key: &str| {
            schema
                .get_mut(key)
                .and_then(Value::as_object_mut)
                .map(|below| Box::new(self.place(below)))
        };
        place.items = below(schema, "items");
        place.others = below(schema, "additionalProperties");
        for key in ["anyOf", "oneOf"] {
            for branch in schema.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(branch) = branch.as_object_mut() {
                    let branch = self.place(branch);
                    place.join(branch);
                }
            }
        }
        place
    }

    pub(super) fn put_on_wire(&self, arguments: Value) -> Value {
        self.map(Some(&self.top), arguments, Way::ToWire)
    }

    pub(super) fn take_off_wire(&self, arguments: Value) -> Value {
        self.map(Some(&self.top), arguments, Way::FromWire)
    }

    fn map(&self, place: Option<&Place>, value: Value, way: Way) -> Value {
        let Some(place) = place else { return value };
        match value {
            Value::Object(fields) => {
                let mapped = fields.into_iter().map(|(key, value)| {
                    let (key, below) = self.step(place, key, way);
                    (key, self.map(below, value, way))
                });
                Value::Object(mapped.collect())
            }
            Value::Array(items) => {
                let below = place.items.as_deref();
                Value::Array(items.into_iter().map(|item| self.map(below, item, way)).collect())
            }
            other => other,
        }
    }

    /// The key on the other side, and the place below it. Original and alias change places, so that
    /// a key that was never offered cannot meet one that was.
    fn step<'a>(&'a self, place: &'a Place, key: String, way: Way) -> (String, Option<&'a Place>) {
        let original = match way {
            Way::ToWire => place.renamed.contains(&key).then(|| key.clone()),
            Way::FromWire => self
                .originals
                .get(&key)
                .filter(|original| place.renamed.contains(*original))
                .cloned(),
        };
        if let Some(original) = original {
            let below = place.properties.get(&original);
            let there = match way {
                Way::ToWire => self.aliases.get(&original).cloned().unwrap_or(original),
                Way::FromWire => original,
            };
            return (there, below);
        }
        let swapped = match way {
            Way::ToWire => {
                self.originals.get(&key).filter(|original| place.renamed.contains(*original))
            }
            Way::FromWire => self.aliases.get(&key).filter(|_| place.renamed.contains(&key)),
        };
        if let Some(swapped) = swapped {
            return (swapped.clone(), place.others.as_deref());
        }
        let below = place.properties.get(&key).or(place.others.as_deref());
        (key, below)
    }
}

impl Place {
    fn join(&mut self, other: Place) {
        self.renamed.extend(other.renamed);
        for (name, place) in other.properties {
            self.properties.entry(name).or_default().join(place);
        }
        join(&mut self.items, other.items);
        join(&mut self.others, other.others);
    }
}

fn join(mine: &mut Option<Box<Place>>, other: Option<Box<Place>>) {
    match (mine, other) {
        (Some(mine), Some(other)) => mine.join(*other),
        (mine @ None, other) => *mine = other,
        _ => {}
    }
}
