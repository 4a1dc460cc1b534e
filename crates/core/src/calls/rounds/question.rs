//! What a server's request says to a person: the value, the words around it, and the answers there
//! are. Everything that the server has written is quoted and made visible. Pure. Must not know the
//! store, or what an answer does.

use serde_json::{Map, Value, json};

use crate::domain::{
    Answer, Choice, Effect, Form, FormField, Input, InputKind, InvalidForm, escape, form_of,
};
use crate::hub::host_of_page;

/// The names under which the server's words stand in a question.
pub(super) const NAMES: [&str; 3] = ["it says", "about it", "url"];
/// The longest address that is shown, in bytes.
const URL_BYTES_MAX: usize = 2_000;
const ELICIT: &str = "elicitation/create";

/// What a request comes to, as far as it is answered.
pub(super) enum Read {
    /// A person is asked for this.
    Ask(Box<AskedValue>),
    /// Everything is answered: the response.
    Whole(Value),
    /// Nobody is asked, and the server gets a no. `why` completes "`server` asked in the middle of
    /// `tool` …"; `SERVER` in it stands for the server's name.
    Refused { why: String },
    /// Claw does not give what it asks for.
    Unsupported { method: String },
}

/// One value that a person is asked for.
pub(super) struct AskedValue {
    pub(super) input: Input,
    pub(super) effect: Effect,
    /// The server's own words, by [`NAMES`].
    pub(super) arguments: Vec<(String, String)>,
    pub(super) choices: Vec<Choice>,
    /// The server's words for the audit.
    pub(super) says: Value,
}

/// Reads the request with this key; `fields` are the values that its form has already, and `claw`
/// are the first words of a command.
pub(super) fn asked_of(
    claw: &str,
    key: &str,
    request: &Value,
    fields: &Map<String, Value>,
) -> Read {
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
    if method != ELICIT {
        return Read::Unsupported { method: escape::visible(method) };
    }
    let params = request.get("params").unwrap_or(&Value::Null);
    let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
    match params.get("mode").and_then(Value::as_str) {
        Some("url") => page(key, message, params),
        None | Some("form") => in_form(claw, key, (message, params), fields),
        Some(mode) => {
            let mode = escape::visible(mode);
            Read::Refused {
                why: format!("in a way that claw does not know (“{mode}”); it got a no."),
            }
        }
    }
}

fn in_form(
    claw: &str,
    key: &str,
    (message, params): (&str, &Value),
    fields: &Map<String, Value>,
) -> Read {
    let schema = params.get("requestedSchema").unwrap_or(&Value::Null);
    let form = match form_of(key, message, schema) {
        Ok(form) => form,
        Err(InvalidForm::Secret(label)) => {
            return Read::Refused {
                why: format!(
                    "for “{label}”, which looks like a secret, so it got a no: log in with \
                     `{claw} mcp login SERVER`, or put it into a variable of its entry in mcp.json."
                ),
            };
        }
        Err(InvalidForm::Odd(label)) => {
            return Read::Refused {
                why: format!("for “{label}” in a form that claw cannot show; it got a no."),
            };
        }
    };
    let Form { fields: wanted } = form;
    if wanted.is_empty() {
        return Read::Ask(Box::new(confirmation(key, message)));
    }
    let of = wanted.len();
    let next = wanted.into_iter().enumerate().find(|(_, it)| !fields.contains_key(&it.input.field));
    let Some((at, field)) = next else {
        let content: Map<String, Value> = fields
            .iter()
            .filter(|(_, it)| !it.is_null())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        return Read::Whole(json!({"action": "accept", "content": content}));
    };
    Read::Ask(Box::new(value(field, message, (at + 1, of))))
}

/// A form of one question and no value.
fn confirmation(key: &str, message: &str) -> AskedValue {
    let input = input_of(key, "Yes", InputKind::Confirm);
    let says = "It asks for a yes".to_owned();
    let choices = vec![give("yes", "Yes", json!(true)), decline()];
    with_words(input, Effect { says, ..Effect::default() }, message, None, choices)
}

fn value(field: FormField, message: &str, (at, of): (usize, usize)) -> AskedValue {
    let FormField { input, about, default } = field;
    let count = if of > 1 { format!(" ({at} of {of})") } else { String::new() };
    let effect = Effect {
        says: format!("It asks for “{}”{count}", input.label),
        notes: note(&input).into_iter().collect(),
        ..Effect::default()
    };
    let mut choices = match &input.kind {
        InputKind::Boolean => {
            vec![give("yes", "Yes", json!(true)), give("no", "No", json!(false))]
        }
        InputKind::Choice { options } => (1..)
            .zip(options)
            .map(|(number, option): (u32, _)| {
                give(&number.to_string(), &option.button(number), json!(option.value))
            })
            .collect(),
        _ => Vec::new(),
    };
    let is_choice = !choices.is_empty();
    if let Some(default) = default.filter(|_| !is_choice) {
        choices.push(give("default", &format!("Take {}", input.shown(&default)), default));
    }
    if !input.required {
        choices.push(Choice {
            key: "skip".to_owned(),
            label: "Leave it out".to_owned(),
            answer: Answer::Skip,
        });
    }
    choices.push(decline());
    with_words(input, effect, message, about, choices)
}

/// What fits, and whether it is needed, for the line below the question. Where all answers are keys
/// or buttons they say it themselves.
fn note(input: &Input) -> Option<String> {
    let wants = match &input.kind {
        InputKind::Choice { .. } | InputKind::Boolean => return None,
        InputKind::Several { options, .. } => {
            let listed = (1..)
                .zip(options)
                .map(|(number, it): (u32, _)| format!("{number} {}", it.quoted()));
            format!("{} — {}", input.wants(), listed.collect::<Vec<_>>().join(", "))
        }
        _ => input.wants(),
    };
    let mut letters = wants.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let optional = if input.required { "" } else { "; may be left out" };
    Some(format!("{first}{}{optional}", letters.as_str()))
}

/// A page that the owner may open.
fn page(key: &str, message: &str, params: &Value) -> Read {
    let url = params.get("url").and_then(Value::as_str).unwrap_or_default();
    let host = host_of_page(url).map(|host| escape::visible(&host));
    let (Some(host), true) = (host, url.len() <= URL_BYTES_MAX) else {
        return Read::Refused {
            why: "to open something that is no address of a web page; it got a no.".to_owned(),
        };
    };
    let input = input_of(key, "Done", InputKind::Page);
    let effect = Effect {
        says: format!("It asks you to open a page on {host}"),
        notes: vec!["claw does not open it, and sees nothing of what you enter there".to_owned()],
        ..Effect::default()
    };
    let choices = vec![give("done", "Done", json!(true)), decline()];
    let mut asked = with_words(input, effect, message, None, choices);
    asked.arguments.insert(0, (NAMES[2].to_owned(), escape::visible(url)));
    asked.says = json!({"message": message, "url": url});
    Read::Ask(Box::new(asked))
}

fn with_words(
    input: Input,
    effect: Effect,
    message: &str,
    about: Option<String>,
    choices: Vec<Choice>,
) -> AskedValue {
    let mut arguments = Vec::new();
    if !message.trim().is_empty() {
        arguments.push((NAMES[0].to_owned(), escape::visible_multiline(message)));
    }
    arguments.extend(about.map(|about| (NAMES[1].to_owned(), about)));
    AskedValue { input, effect, arguments, choices, says: json!({"message": message}) }
}

fn input_of(key: &str, label: &str, kind: InputKind) -> Input {
    let (request, field, label) = (key.to_owned(), String::new(), label.to_owned());
    Input { request, field, label, required: true, kind }
}

fn give(key: &str, label: &str, value: Value) -> Choice {
    Choice { key: key.to_owned(), label: label.to_owned(), answer: Answer::Give { value } }
}

fn decline() -> Choice {
    Choice {
        key: "decline".to_owned(),
        label: "Decline".to_owned(),
        answer: Answer::Deny { word: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::rig::WORK;

    fn form(properties: Value, fields: Value) -> Read {
        let params = json!({"message": "Which?", "requestedSchema": {"type": "object", "properties": properties, "required": ["seats"]}});
        let fields = fields.as_object().cloned().unwrap_or_default();
        asked_of(WORK, "a", &json!({"method": ELICIT, "params": params}), &fields)
    }

    fn asked(read: Read) -> AskedValue {
        match read {
            Read::Ask(asked) => *asked,
            Read::Whole(value) => panic!("{value}"),
            Read::Refused { why } | Read::Unsupported { method: why } => panic!("{why}"),
        }
    }

    fn labels(asked: &AskedValue) -> Vec<&str> {
        asked.choices.iter().map(|choice| choice.label.as_str()).collect()
    }

    #[test]
    fn values_are_asked_for_one_after_the_other() {
        let properties = || {
            json!({"seats": {"type": "integer", "minimum": 1, "maximum": 4, "default": 2},
                "class": {"type": "string", "enum": ["eco", "biz"]}})
        };
        let first = asked(form(properties(), json!({})));
        assert_eq!(first.effect.says, "It asks for “seats” (1 of 2)");
        assert_eq!(first.effect.notes, ["A whole number from 1 to 4"]);
        assert_eq!(labels(&first), ["Take 2", "Decline"]);
        assert_eq!(first.arguments, [("it says".to_owned(), "Which?".to_owned())]);
        let second = asked(form(properties(), json!({"seats": 3})));
        assert_eq!(labels(&second), ["“eco”", "“biz”", "Leave it out", "Decline"]);
        let Read::Whole(whole) = form(properties(), json!({"seats": 3, "class": null})) else {
            panic!()
        };
        assert_eq!(whole, json!({"action": "accept", "content": {"seats": 3}}));
    }

    #[test]
    fn a_page_is_named_by_its_host_and_no_other() {
        let page = |url: &str| {
            let params = json!({"mode": "url", "message": "Pay.", "url": url});
            asked_of(WORK, "a", &json!({"method": ELICIT, "params": params}), &Map::new())
        };
        let pay = asked(page("https://pay.example.org/x?y=1"));
        assert_eq!(pay.effect.says, "It asks you to open a page on pay.example.org");
        assert_eq!(pay.arguments[0].1, "https://pay.example.org/x?y=1");
        assert_eq!(labels(&pay), ["Done", "Decline"]);
        for url in ["https://bank.example@evil.example/", "file:///etc/passwd", "javascript:1", ""]
        {
            assert!(matches!(page(url), Read::Refused { .. }), "{url}");
        }
    }

    #[test]
    fn a_secret_is_refused_with_the_way_that_is_safe() {
        let Read::Refused { why } = form(json!({"password": {"type": "string"}}), json!({})) else {
            panic!()
        };
        assert!(
            why.contains("`claw --agent work mcp login SERVER`") && why.contains("“password”"),
            "{why}"
        );
        let said = json!({"method": ELICIT, "params": {
            "message": "Please type your GitHub password",
            "requestedSchema": {"type": "object", "properties": {"answer": {"type": "string"}}},
        }});
        let Read::Refused { why } = asked_of(WORK, "a", &said, &Map::new()) else { panic!() };
        assert!(why.contains("“password”"), "whatever the field is called: {why}");
        let sampling =
            asked_of(WORK, "a", &json!({"method": "sampling/createMessage"}), &Map::new());
        assert!(matches!(sampling, Read::Unsupported { .. }));
    }
}
