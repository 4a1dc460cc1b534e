//! Shapes of tool definitions as servers in the wild have them, each written down here by hand.
//! Owns the shapes. Must not know claw or wires.

use serde_json::{Value, json};

/// A name for the shape, the schema, and arguments that fit it as its server wants them.
pub struct Shape {
    pub name: &'static str,
    pub schema: Value,
    pub arguments: Value,
}

fn shape(name: &'static str, schema: Value, arguments: Value) -> Shape {
    Shape { name, schema, arguments }
}

/// Every shape.
pub fn all() -> Vec<Shape> {
    [tops(), members(), words(), odd_words(), references(), property_names()]
        .into_iter()
        .flatten()
        .collect()
}

fn tops() -> Vec<Shape> {
    let text = || json!({"type": "string"});
    vec![
        shape("nothing_but_object", json!({"type": "object"}), json!({})),
        shape("empty", json!({}), json!({})),
        shape(
            "no_type",
            json!({"properties": {"a": text()}, "required": ["a"]}),
            json!({"a": "x"}),
        ),
        shape(
            "draft_07",
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {},
            "additionalProperties": false}),
            json!({}),
        ),
        shape(
            "one_of_at_the_top",
            json!({"type": "object", "properties": {"id": text(), "url": text()},
            "oneOf": [{"required": ["id"]}, {"required": ["url"]}]}),
            json!({"id": "x"}),
        ),
        shape(
            "any_of_whole_objects",
            json!({"anyOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "x": text(), "y": {"type": "array"}},
                "required": ["kind"]}]}),
            json!({"kind": "a", "x": 1}),
        ),
        shape(
            "all_of_at_the_top",
            json!({"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": text()}}],
            "$defs": {"base": {"type": "object", "properties": {"a": text()}, "required": ["a"]}}}),
            json!({"a": "x"}),
        ),
        shape(
            "one_of_in_one_of",
            json!({"oneOf": [{"anyOf": [{"properties": {"a": text()}}, {"properties": {"b": text()}}]},
            {"type": "null"}]}),
            json!({"b": "x"}),
        ),
        shape(
            "not_at_the_top",
            json!({"type": "object", "properties": {"a": text()}, "not": {"required": ["b"]}}),
            json!({}),
        ),
        shape(
            "if_then",
            json!({"type": "object", "properties": {"a": text(), "b": text()},
            "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}}),
            json!({"a": "y"}),
        ),
        shape(
            "type_list_at_the_top",
            json!({"type": ["object", "null"], "properties": {"a": text()}}),
            json!({"a": "x"}),
        ),
        shape(
            "reference_at_the_top",
            json!({"$ref": "#/definitions/Args", "definitions": {"Args": {"type": "object",
            "properties": {"a": text()}}}}),
            json!({"a": "x"}),
        ),
    ]
}

fn members() -> Vec<Shape> {
    vec![
        shape(
            "object_without_properties_inside",
            json!({"type": "object", "properties": {"filter": {"type": "object"},
            "deep": {"type": "array", "items": {"type": "object", "additionalProperties": true}}}}),
            json!({"filter": {"any": 1}}),
        ),
        shape(
            "array_without_items",
            json!({"type": "object", "properties": {"list": {"type": "array"}}}),
            json!({"list": [1]}),
        ),
        shape(
            "array_without_items_in_a_union",
            json!({"type": "object", "properties": {"v": {"type": ["string", "array"]},
            "w": {"anyOf": [{"type": "array"}, {"type": "null"}]}}}),
            json!({"v": "x"}),
        ),
        shape(
            "tuple_of_draft_07",
            json!({"type": "object", "properties": {"pair": {"type": "array",
            "items": [{"type": "string"}, {"type": "number"}], "additionalItems": false}}}),
            json!({"pair": ["a", 1]}),
        ),
        shape(
            "tuple_of_2020",
            json!({"type": "object", "properties": {"pair": {"prefixItems": [{"type": "string"},
            {"type": "integer"}], "minItems": 2, "maxItems": 2}}}),
            json!({"pair": ["a", 1]}),
        ),
        shape(
            "anything_goes",
            json!({"type": "object", "properties": {"value": {}, "other": true,
            "never": false, "said": {"description": "any JSON"}}, "required": ["value", "never"]}),
            json!({"value": [1]}),
        ),
        shape(
            "map_of_lists",
            json!({"type": "object", "properties": {"env": {"type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}}, "propertyNames": {"pattern": "^[A-Z]+$"}}}}),
            json!({"env": {"A": ["x"]}}),
        ),
        shape(
            "required_without_property",
            json!({"type": "object", "properties": {}, "required": ["ghost", "ghost"]}),
            json!({"ghost": 1}),
        ),
        shape(
            "pattern_properties",
            json!({"type": "object", "patternProperties": {"^x-": {"type": "string"}},
            "additionalProperties": false, "properties": {}}),
            json!({}),
        ),
        shape(
            "union_of_objects_inside",
            json!({"type": "object", "properties": {"parent": {"oneOf": [
            {"type": "object", "properties": {"page_id": {"type": "string"}}, "required": ["page_id"]},
            {"type": "object", "properties": {"database_id": {"type": "string"}}, "required": ["database_id"]}]}}}),
            json!({"parent": {"page_id": "x"}}),
        ),
        shape(
            "type_beside_any_of",
            json!({"type": "object", "properties": {"o": {"type": "object", "properties": {
            "a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "s": {"type": "string", "anyOf": [{"format": "date"}, {"pattern": "^now$"}]}}}),
            json!({"o": {"a": "x"}}),
        ),
    ]
}

fn words() -> Vec<Shape> {
    let of = |property: Value| json!({"type": "object", "properties": {"p": property}});
    vec![
        shape(
            "rust_formats",
            of(json!({"type": "integer", "format": "uint64", "minimum": 0})),
            json!({"p": 1}),
        ),
        shape(
            "formats_of_all_kinds",
            json!({"type": "object", "properties": {"a": {"type": "string", "format": "uri"},
            "b": {"type": "string", "format": "password"}, "c": {"type": "string", "format": "date-time"},
            "d": {"type": "number", "format": "double"}}}),
            json!({"a": "x:"}),
        ),
        shape(
            "nullable_of_openapi",
            of(json!({"type": "string", "nullable": true, "enum": ["a"]})),
            json!({"p": "a"}),
        ),
        shape(
            "nullable_type_list",
            of(json!({"type": ["integer", "null"], "default": null})),
            json!({"p": null}),
        ),
        shape("enum_with_null", of(json!({"enum": ["a", "", null, 1, true]})), json!({"p": "a"})),
        shape(
            "enum_of_numbers",
            of(json!({"type": "integer", "enum": [0, 90, 180]})),
            json!({"p": 90}),
        ),
        shape(
            "enum_of_booleans",
            of(json!({"type": "boolean", "enum": [true]})),
            json!({"p": true}),
        ),
        shape("empty_enum", of(json!({"type": "string", "enum": []})), json!({"p": "a"})),
        shape(
            "const_of_all_kinds",
            json!({"type": "object", "properties": {"a": {"const": "x"}, "b": {"const": 1},
            "c": {"const": {"k": []}}}}),
            json!({"a": "x"}),
        ),
        shape(
            "draft_04_bounds",
            of(json!({"type": "number", "minimum": 0, "exclusiveMinimum": true,
            "exclusiveMaximum": false})),
            json!({"p": 1}),
        ),
        shape(
            "draft_03_required",
            of(json!({"type": "string", "required": true})),
            json!({"p": "a"}),
        ),
        shape(
            "bounds_of_the_wrong_kind",
            of(json!({"type": "string", "minLength": -1, "maxLength": 1.5, "pattern": 3,
            "uniqueItems": "yes", "multipleOf": 0, "minimum": "0"})),
            json!({"p": "a"}),
        ),
    ]
}

/// What generators and people write that no draft knows.
fn odd_words() -> Vec<Shape> {
    let of = |property: Value| json!({"type": "object", "properties": {"p": property}});
    vec![
        shape(
            "words_of_other_languages",
            json!({"type": "Object", "properties": {"a": {"type": "int"},
            "b": {"type": "any"}, "c": {"type": "String"}, "d": {"type": ["str", "None"]}, "e": {"type": []},
            "f": {"type": 5}}}),
            json!({"a": 1}),
        ),
        shape(
            "pattern_with_a_look_around",
            of(json!({"type": "string", "pattern": "^(?!x)(?<=y).*$"})),
            json!({"p": "a"}),
        ),
        shape("broken_pattern", of(json!({"type": "string", "pattern": "[a-"})), json!({"p": "a"})),
        shape(
            "notes_of_generators",
            of(json!({"type": "string", "$comment": "c", "x-order": 1, "readOnly": true,
            "deprecated": true, "example": "e", "examples": ["e"], "$id": "https://x.example/p"})),
            json!({"p": "a"}),
        ),
        shape(
            "description_that_is_none",
            of(json!({"type": "string", "description": null, "title": 5})),
            json!({"p": "a"}),
        ),
        shape(
            "malformed_everywhere",
            json!({"type": "object", "properties": {"a": "string", "b": null, "c": [1],
            "d": {"type": "array", "items": "string"}, "e": {"anyOf": []}, "f": {"allOf": "x"}}, "required": "a"}),
            json!({}),
        ),
        shape(
            "contains_and_unique",
            of(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true,
            "contains": {"const": "x"}, "minContains": 1})),
            json!({"p": ["x"]}),
        ),
    ]
}

fn references() -> Vec<Shape> {
    let node = json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}});
    let doubling = |depth: usize| {
        let names: Vec<String> = (0..=depth).map(|level| format!("l{level}")).collect();
        let mut defs = serde_json::Map::new();
        for pair in names.windows(2) {
            let next = json!({"$ref": format!("#/$defs/{}", pair[1])});
            defs.insert(
                pair[0].clone(),
                json!({"type": "object", "properties": {"a": next, "b": next}}),
            );
        }
        defs.insert(names[depth].clone(), json!({"type": "string"}));
        json!({"type": "object", "properties": {"top": {"$ref": "#/$defs/l0"}}, "$defs": defs})
    };
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"type": "object", "properties": {"n": deep}});
    }
    vec![
        shape(
            "definitions",
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"},
            "b": {"$ref": "#/definitions/B", "description": "beside"}}, "$defs": {"A": {"enum": ["x", "y"], "type": "string"}},
            "definitions": {"B": {"type": "array", "items": {"$ref": "#/$defs/A"}}}}),
            json!({"a": "x"}),
        ),
        shape(
            "recursive",
            json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}},
            "$defs": {"node": node}}),
            json!({"tree": {"children": []}}),
        ),
        shape(
            "recursive_to_the_whole",
            json!({"type": "object", "properties": {"sub": {"$ref": "#"}}}),
            json!({"sub": {}}),
        ),
        shape(
            "reference_into_properties",
            json!({"type": "object", "properties": {"a": {"type": "string"},
            "b": {"$ref": "#/properties/a"}}}),
            json!({"b": "x"}),
        ),
        shape(
            "reference_to_nothing",
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"},
            "b": {"$ref": "https://x.example/schema.json"}, "c": {"$ref": 5}}}),
            json!({}),
        ),
        shape("references_that_double", doubling(24), json!({})),
        shape("very_deep", deep, json!({"n": {}})),
    ]
}

fn property_names() -> Vec<Shape> {
    let text = || json!({"type": "string"});
    let long = "a".repeat(90);
    vec![
        shape(
            "odata",
            json!({"type": "object", "properties": {"$filter": text(), "$top": {"type": "integer"}},
            "required": ["$filter"]}),
            json!({"$filter": "x eq 1", "$top": 5}),
        ),
        shape(
            "headers",
            json!({"type": "object", "properties": {"Content-Type": text(), "If None Match": text(),
            "a/b": text(), "a.b": text()}}),
            json!({"Content-Type": "x", "If None Match": "y", "a/b": "1", "a.b": "2"}),
        ),
        shape(
            "names_that_meet",
            json!({"type": "object", "properties": {"a b": text(), "a_b": text(), "a-b": text(),
            "$a_b": text()}}),
            json!({"a b": "1", "a_b": "2", "a-b": "3", "$a_b": "4"}),
        ),
        shape(
            "not_latin",
            json!({"type": "object", "properties": {"名前": text(), "größe": {"type": "integer"}, "": text(),
            "1st": text()}, "required": ["名前"]}),
            json!({"名前": "x", "größe": 1, "": "e", "1st": "f"}),
        ),
        shape(
            "long_names",
            json!({"type": "object", "properties": {format!("{long}1"): text(), format!("{long}2"): text()}}),
            json!({format!("{long}1"): "1", format!("{long}2"): "2"}),
        ),
        shape(
            "odd_names_below",
            json!({"type": "object", "properties": {"filter": {"type": "object", "properties": {
            "$and": {"type": "array", "items": {"type": "object", "properties": {"@id": text()}}}},
            "additionalProperties": {"type": "object", "properties": {"@id": text()}}},
            "one": {"anyOf": [{"type": "object", "properties": {"x y": text()}}, {"type": "object", "properties": {"x z": text()}}]}}}),
            json!({"filter": {"$and": [{"@id": "1", "@ir": "2"}], "free": {"@id": "3"}}, "one": {"x y": "1", "x z": "2"}}),
        ),
        shape(
            "properties_called_like_keywords",
            json!({"type": "object", "properties": {"type": text(), "$ref": text(),
            "properties": {"type": "object", "properties": {"items": text()}}, "required": {"type": "boolean"},
            "anyOf": {"type": "array", "items": text()}, "$schema": text(), "format": text()}}),
            json!({"type": "a", "$ref": "b", "properties": {"items": "c"}, "required": true, "anyOf": ["d"], "$schema": "e"}),
        ),
    ]
}
