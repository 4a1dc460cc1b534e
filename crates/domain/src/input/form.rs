//! A form as a server sends it, read into the values to ask for. A form is a flat object of plain
//! values (revision 2025-11-25, "Elicitation Requests"); what claw cannot show, or must not ask
//! for, is refused as a whole. Must not know rounds or doors.

use serde_json::{Map, Value};

use super::secrets;
use super::{Input, InputKind, InputOption, TEXT_CHARS_MAX, TextFormat};
use crate::{escape, required_of};

/// The most values of a form.
const FIELDS_MAX: usize = 20;
/// The most options of a choice.
const OPTIONS_MAX: usize = 50;
/// The longest name of a value or an option that is shown, in characters.
const LABEL_CHARS_MAX: usize = 60;
/// What a form asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// In the order in which they are asked: what is needed in the server's order, then the rest by
    /// name.
    pub fields: Vec<FormField>,
}

/// A value, with what else is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    pub input: Input,
    /// The server's words about it, made visible.
    pub about: Option<String>,
    pub default: Option<Value>,
}

/// Why nobody is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidForm {
    /// It asks for this, which looks like a secret. Made visible.
    Secret(String),
    /// Claw cannot show this of it. Made visible.
    Odd(String),
}

/// Reads the schema of a form. `message` is what the server says with it.
pub fn form_of(request: &str, message: &str, schema: &Value) -> Result<Form, InvalidForm> {
    let none = Map::new();
    let properties = match schema.get("properties") {
        Some(Value::Object(properties)) => properties,
        None => &none,
        Some(_) => return Err(InvalidForm::Odd("its list of values".to_owned())),
    };
    if properties.len() > FIELDS_MAX {
        return Err(InvalidForm::Odd(format!("more than {FIELDS_MAX} values")));
    }
    let required = required_of(schema);
    let mut names: Vec<&String> = properties.keys().collect();
    let place = |name: &str| required.iter().position(|it| *it == name).unwrap_or(usize::MAX);
    names.sort_by_key(|name| (place(name), name.as_str()));
    let mut fields = Vec::new();
    for name in names {
        let schema = &properties[name];
        let label = label(schema.get("title").and_then(Value::as_str).unwrap_or(name));
        if secrets::is_secret(name, schema) {
            return Err(InvalidForm::Secret(label));
        }
        let Some(kind) = kind_of(schema) else { return Err(InvalidForm::Odd(label)) };
        // Whatever the field is called: what is typed there is what the words around it ask for.
        let is_typed =
            matches!(kind, InputKind::Text { format: None, .. } | InputKind::Number { .. });
        let words =
            [message, schema.get("description").and_then(Value::as_str).unwrap_or_default()];
        if let Some(word) = words.into_iter().find_map(secrets::asked_for).filter(|_| is_typed) {
            return Err(InvalidForm::Secret(word));
        }
        let about = schema.get("description").and_then(Value::as_str);
        let input = Input {
            request: request.to_owned(),
            field: name.clone(),
            label,
            required: required.contains(&name.as_str()),
            kind,
        };
        let default = schema.get("default").filter(|value| input.check(value).is_ok()).cloned();
        fields.push(FormField { input, about: about.map(escape::visible_multiline), default });
    }
    Ok(Form { fields })
}

fn kind_of(schema: &Value) -> Option<InputKind> {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    if let Some(options) = options_of(schema) {
        return options.map(|options| InputKind::Choice { options });
    }
    match schema.get("type").and_then(Value::as_str)? {
        "boolean" => Some(InputKind::Boolean),
        kind @ ("integer" | "number") => Some(InputKind::Number {
            whole: kind == "integer",
            min: number("minimum"),
            max: number("maximum"),
        }),
        "string" => Some(InputKind::Text {
            min: count("minLength").unwrap_or(0),
            max: count("maxLength").unwrap_or(TEXT_CHARS_MAX),
            format: match schema.get("format").and_then(Value::as_str) {
                Some("email") => Some(TextFormat::Email),
                Some("uri") => Some(TextFormat::Uri),
                Some("date") => Some(TextFormat::Date),
                Some("date-time") => Some(TextFormat::DateTime),
                _ => None,
            },
        }),
        "array" => {
            let options = options_of(schema.get("items")?)??;
            let max = count("maxItems").unwrap_or(options.len() as u64);
            Some(InputKind::Several { options, min: count("minItems").unwrap_or(0), max })
        }
        _ => None,
    }
}

/// The options of a choice; inside, `None` where they cannot be shown.
fn options_of(schema: &Value) -> Option<Option<Vec<InputOption>>> {
    let titled = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    let plain = schema.get("enum").and_then(Value::as_array);
    let names = schema.get("enumNames").and_then(Value::as_array);
    let named = |at: usize| names.and_then(|names| names.get(at)).and_then(Value::as_str);
    let options: Option<Vec<InputOption>> = match (titled, plain) {
        (Some(titled), _) => titled
            .iter()
            .map(|option| {
                let value = option.get("const")?.as_str()?;
                let title = option.get("title").and_then(Value::as_str).unwrap_or(value);
                Some(InputOption { value: value.to_owned(), label: label(title) })
            })
            .collect(),
        (None, Some(plain)) => plain
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let value = value.as_str()?;
                let label = label(named(at).unwrap_or(value));
                Some(InputOption { value: value.to_owned(), label })
            })
            .collect(),
        (None, None) => return None,
    };
    Some(options.filter(|options| (1..=OPTIONS_MAX).contains(&options.len())))
}

/// A name that stands between quotation marks: one in it cannot end them.
fn label(text: &str) -> String {
    let mut shown = escape::visible(text);
    for mark in ['“', '”', '„', '‟'] {
        shown = shown.replace(mark, &mark.escape_unicode().to_string());
    }
    match shown.char_indices().nth(LABEL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(name: &str, schema: Value) -> Result<FormField, InvalidForm> {
        let schema = json!({"type": "object", "properties": {name: schema}});
        form_of("a", "", &schema).map(|mut form| form.fields.remove(0))
    }

    #[test]
    fn a_form_is_read_in_the_order_in_which_it_is_needed() {
        let form = form_of(
            "a",
            "",
            &json!({"type": "object", "required": ["seats", "from"], "properties": {
                "from": {"type": "string", "title": "From where?", "minLength": 2},
                "seats": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
                "class": {"type": "string", "enum": ["e", "b"], "enumNames": ["Economy", "Business"]},
                "extras": {"type": "array", "items": {"anyOf": [{"const": "m", "title": "Meal"}]}, "maxItems": 1},
                "window": {"type": "boolean", "default": "x"},
            }}),
        )
        .unwrap();
        let names: Vec<&str> = form.fields.iter().map(|it| it.input.field.as_str()).collect();
        assert_eq!(names, ["seats", "from", "class", "extras", "window"]);
        let needed: Vec<bool> = form.fields.iter().map(|it| it.input.required).collect();
        assert_eq!(needed, [true, true, false, false, false]);
        assert_eq!(form.fields[0].default, Some(json!(2)));
        assert_eq!(form.fields[1].input.label, "From where?");
        assert_eq!(form.fields[2].input.read("business"), Ok(json!("b")));
        assert_eq!(form.fields[3].input.wants(), "numbers from 1 to 1, with blanks between");
        assert_eq!(form.fields[4].default, None, "a default that does not fit is none");
        assert_eq!(form_of("a", "", &json!({})), Ok(Form { fields: Vec::new() }));
    }

    #[test]
    fn what_looks_like_a_secret_is_never_asked_for() {
        let text = || json!({"type": "string"});
        for name in [
            "password",
            "userPassword",
            "API key",
            "api_key",
            "token",
            "accessToken",
            "card_number",
            "creditCardNumber",
            "cvv",
            "CVC",
            "pin",
            "otp",
            "client_secret",
            "Passphrase",
        ] {
            assert!(matches!(one(name, text()), Err(InvalidForm::Secret(_))), "{name}");
        }
        for schema in [
            json!({"type": "string", "format": "password"}),
            json!({"type": "string", "title": "Your password"}),
            json!({"type": "string", "description": "Enter your API key to go on"}),
            json!({"type": "string", "writeOnly": true}),
        ] {
            assert!(
                matches!(one("value", schema.clone()), Err(InvalidForm::Secret(_))),
                "{schema}"
            );
        }
        for name in ["name", "spinner", "city", "capital", "keyboard", "author", "topic", "pint"] {
            assert!(one(name, text()).is_ok(), "{name}");
        }
        let asked = |message, kind| {
            let schema = json!({"type": "object", "properties": {"answer": {"type": kind}}});
            form_of("a", message, &schema).map(|_| ())
        };
        let secret = |word: &str| Err(InvalidForm::Secret(word.to_owned()));
        assert_eq!(asked("Please type your GitHub password", "string"), secret("password"));
        assert_eq!(asked("Enter your PIN", "integer"), secret("pin"));
        assert_eq!(asked("Shall we reset your password?", "string"), Ok(()));
        assert_eq!(asked("Enter your password on our page. Done?", "boolean"), Ok(()));
        let keep = json!({"type": "boolean", "title": "Remember the password"});
        assert!(one("keep", keep).is_ok(), "a yes gives nothing away");
    }

    #[test]
    fn what_cannot_be_shown_is_said() {
        for schema in [
            json!({"type": "object", "properties": {}}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"enum": []}),
            json!({"type": "string", "enum": [1, 2]}),
            json!({}),
        ] {
            assert_eq!(one("x", schema.clone()), Err(InvalidForm::Odd("x".into())), "{schema}");
        }
        let bidi = one("x", json!({"type": "string", "title": "a\u{202e}b"})).unwrap();
        assert_eq!(bidi.input.label, escape::visible("a\u{202e}b"));
    }

    #[test]
    fn one_character_and_one_number_are_singular() {
        let wants = |schema: Value| one("x", schema).unwrap().input.wants();
        assert_eq!(wants(json!({"type": "string", "maxLength": 1})), "at most 1 character");
        let several = |min: u64, max: u64| {
            let items = json!({"type": "string", "enum": ["a", "b", "c"]});
            wants(json!({"type": "array", "items": items, "minItems": min, "maxItems": max}))
        };
        assert_eq!(several(0, 1), "at most 1 number from 1 to 3, with blanks between");
        assert_eq!(several(1, 3), "at least 1 number from 1 to 3, with blanks between");
        assert_eq!(several(1, 1), "1 number from 1 to 3, with blanks between");
        assert_eq!(several(1, 2), "1 to 2 numbers from 1 to 3, with blanks between");
    }

    #[test]
    fn no_name_ends_its_quotation_marks() {
        let field = one("x", json!({"title": "a”. Chosen: “b", "enum": ["c”. d"]})).unwrap();
        let InputKind::Choice { options } = &field.input.kind else { panic!() };
        assert_eq!(options[0].button(1).matches('”').count(), 1, "{options:?}");
        assert!(!field.input.label.contains(['“', '”']), "{}", field.input.label);
    }
}
