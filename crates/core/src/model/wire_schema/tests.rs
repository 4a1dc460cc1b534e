//! Tests of what is sent of a tool: what a model reads in the place of what a wire does not take,
//! and that names are a bijection.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn spec(schema: Value) -> ToolSpec {
    ToolSpec { name: "s__t".into(), description: "d".into(), input_schema: schema }
}

fn fitted(wire: Wire, schema: Value) -> Fitted {
    fit(&[spec(schema)], wire, &BTreeSet::new())
}

fn on_wire(wire: Wire, schema: Value) -> Value {
    fitted(wire, schema).tools.remove(0).input_schema
}

#[test]
fn a_union_at_the_top_becomes_one_object_that_says_what_was_demanded() {
    let branch = |kind: &str, key: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, (key): {"type": "string"}}, "required": ["kind", key]});
    let got = on_wire(Wire::Anthropic, json!({"oneOf": [branch("a", "x"), branch("b", "y")]}));
    assert_eq!(
        got,
        json!({"type": "object", "properties": {"kind": {"enum": ["a", "b"]}, "x": {"type": "string"}, "y": {"type": "string"}},
            "required": ["kind"], "description": "Give at least one of these sets of arguments: (kind, x) or (kind, y)."})
    );
}

#[test]
fn each_wire_gets_as_many_tools_as_its_provider_takes() {
    let many: Vec<ToolSpec> = (0..600)
        .map(|number| ToolSpec { name: format!("s__t{number}"), ..spec(json!({"type": "object"})) })
        .collect();
    let most = |wire: Wire| match wire {
        Wire::OpenAi
        | Wire::OpenAiResponses
        | Wire::OpenRouter
        | Wire::DeepSeek
        | Wire::Groq
        | Wire::Mistral
        | Wire::Together
        | Wire::Xai => 128,
        Wire::Gemini => 512,
        Wire::Anthropic | Wire::Ollama => 600,
    };
    let all = [
        Wire::Anthropic,
        Wire::OpenAi,
        Wire::OpenAiResponses,
        Wire::DeepSeek,
        Wire::Groq,
        Wire::Mistral,
        Wire::OpenRouter,
        Wire::Together,
        Wire::Xai,
        Wire::Gemini,
        Wire::Ollama,
    ];
    for wire in all {
        assert_eq!(fit(&many, wire, &BTreeSet::new()).tools.len(), most(wire), "{wire:?}");
    }
}

#[test]
fn what_a_wire_does_not_know_is_said_in_words() {
    let got = on_wire(
        Wire::Gemini,
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^x", "default": "xy"}}}),
    );
    let told = got["properties"]["a"]["description"].as_str().unwrap();
    assert!(
        told.starts_with("Also: {")
            && told.contains(r#""default":"xy""#)
            && told.contains(r#""pattern":"^x""#),
        "{told}"
    );
    let got = on_wire(
        Wire::OpenAi,
        json!({"type": "object", "properties": {"a": {"not": {"const": 1}}}}),
    );
    assert_eq!(got["properties"]["a"], json!({"description": "Also: {\"not\":{\"const\":1}}"}));
}

#[test]
fn an_ordinary_definition_goes_out_as_it_came() {
    let schema = json!({"type": "object", "required": ["path"], "additionalProperties": false, "properties": {
        "path": {"type": "string", "description": "where", "minLength": 1},
        "lines": {"type": ["integer", "null"], "minimum": 1, "default": 10},
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "uniqueItems": true}}});
    for wire in [Wire::OpenAi, Wire::Anthropic, Wire::Ollama, Wire::Groq] {
        assert_eq!(on_wire(wire, schema.clone()), schema, "{wire:?}");
    }
}

#[test]
fn references_are_put_in_and_one_that_leads_to_itself_ends() {
    let got = on_wire(
        Wire::OpenAi,
        json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/N", "description": "root"}},
            "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}, "v": {"type": "integer"}}}}}),
    );
    assert_eq!(
        got["properties"]["n"],
        json!({"type": "object", "description": "root", "properties": {
            "next": {"description": "Of the same form as `N` again."}, "v": {"type": "integer"}}})
    );
    assert!(!got.to_string().contains("$"));
}

#[test]
fn what_is_sent_stays_bounded_however_references_multiply() {
    let mut defs = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        defs.insert(
            format!("l{level}"),
            json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}),
        );
    }
    let got = on_wire(
        Wire::OpenAi,
        json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/l0"}}, "$defs": defs}),
    );
    assert!(got.to_string().len() < 1 << 20, "{} bytes", got.to_string().len());
}

#[test]
fn who_is_blamed_by_place_and_by_name() {
    let tools: Vec<ToolSpec> = ["a__x", "a__xy", "b__z"]
        .map(|name| ToolSpec { name: name.into(), ..spec(json!({})) })
        .to_vec();
    let names = |text: &str| {
        blamed(text, &tools).into_iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("tools[1].function.parameters"), ["a__xy"]);
    assert_eq!(names("tools.2.custom.input_schema: no"), ["b__z"]);
    assert_eq!(
        names(
            "tools[0].function_declarations[2].parameters … tools[0].function_declarations[0].name"
        ),
        ["b__z", "a__x"]
    );
    assert_eq!(names("Invalid schema for function 'a__x': no"), ["a__x"]);
    assert_eq!(names("tools[9].function"), [""; 0]);
    assert_eq!(names("messages.4: `tool_use` of a__x without a result"), [""; 0]);
}

/// Property names that a wire takes, that it does not take, and that become each other's.
fn key() -> BoxedStrategy<String> {
    prop_oneof![
        Just("a b".to_owned()),
        Just("a_b".to_owned()),
        Just("$a_b".to_owned()),
        Just("x_a_b_0".to_owned()),
        "[a-c$ ]{0,3}",
        ".{0,3}",
    ]
    .boxed()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({})),
        Just(json!({"type": "integer"}))
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let properties = proptest::collection::btree_map(key(), inner.clone(), 0..4).boxed();
        prop_oneof![
            (properties.clone(), inner.clone()).prop_map(|(properties, more)| {
                json!({"type": "object", "properties": properties, "additionalProperties": more})
            }),
            properties.prop_map(|properties| json!({"type": "object", "properties": properties})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            proptest::collection::vec(inner, 1..3).prop_map(|branches| json!({"anyOf": branches})),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!("v")), Just(json!(1)), Just(Value::Null)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::btree_map(key(), inner.clone(), 0..4)
                .prop_map(|fields| json!(fields)),
            proptest::collection::vec(inner, 0..3).prop_map(Value::Array),
        ]
    })
}

proptest! {
    /// Whatever the schema and whatever the arguments: there and back, and back and there, is where
    /// it began.
    #[test]
    fn names_are_a_bijection_at_every_depth(
        properties in proptest::collection::btree_map(key(), schema(), 0..5),
        given in proptest::collection::btree_map(key(), arguments(), 0..5),
    ) {
        for wire in [Wire::Anthropic, Wire::Gemini, Wire::OpenAi] {
            let fitted = fitted(wire, json!({"type": "object", "properties": properties}));
            let there = fitted.arguments_to_wire("s__t", json!(given));
            let mut call = ToolUse { id: "i".into(), name: "s__t".into(), input: there, broken_input: None };
            fitted.take_back(&mut call);
            prop_assert_eq!(&call.input, &json!(given));
            call.input = json!(given);
            fitted.take_back(&mut call);
            prop_assert_eq!(fitted.arguments_to_wire("s__t", call.input), json!(given));
        }
    }
}
