//! One formatted stretch of a text, in UTF-16 units as Telegram counts. Owns its form. Must not
//! know which are refused.

use serde_json::{Map, Value};

use super::params::Params;
use super::refusal::Refusal;

/// What a bot may set. Telegram finds the rest by itself and ignores it in calls.
const SETTABLE: [&str; 13] = [
    "bold",
    "italic",
    "underline",
    "strikethrough",
    "spoiler",
    "code",
    "pre",
    "text_link",
    "text_mention",
    "custom_emoji",
    "blockquote",
    "expandable_blockquote",
    "date_time",
];
const FOUND: [&str; 8] = [
    "mention",
    "hashtag",
    "cashtag",
    "bot_command",
    "url",
    "email",
    "phone_number",
    "bank_card_number",
];

#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    pub kind: String,
    pub offset: usize,
    pub length: usize,
    /// `url`, `language`, `user` and the like.
    pub more: Map<String, Value>,
}

impl Entity {
    pub fn new(kind: &str, offset: usize, length: usize) -> Self {
        Self { kind: kind.to_owned(), offset, length, more: Map::new() }
    }

    pub fn end(&self) -> usize {
        self.offset + self.length
    }

    pub fn json(&self) -> Value {
        let mut json = self.more.clone();
        json.insert("type".into(), self.kind.clone().into());
        json.insert("offset".into(), self.offset.into());
        json.insert("length".into(), self.length.into());
        Value::Object(json)
    }
}

/// The entities of a call, without those that Telegram ignores.
pub fn read(params: &Params, name: &str) -> Result<Vec<Entity>, Refusal> {
    // What is no array is ignored by the real server, too.
    let Ok(Some(Value::Array(list))) = params.structure(name) else { return Ok(Vec::new()) };
    let entities = list.iter().map(one).collect::<Result<Vec<_>, Refusal>>()?;
    Ok(entities.into_iter().flatten().collect())
}

fn one(value: &Value) -> Result<Option<Entity>, Refusal> {
    let bad = |what: &str| Refusal::bad(&format!("can't parse MessageEntity: {what}"));
    let fields = value.as_object().ok_or_else(|| bad("expected an Object"))?;
    let whole = |name: &str| {
        let value = fields.get(name).ok_or_else(|| bad(&format!("Can't find field \"{name}\"")))?;
        value.as_i64().ok_or_else(|| bad(&format!("Field \"{name}\" must be of type Number")))
    };
    let (offset, length) = (whole("offset")?, whole("length")?);
    let kind = fields
        .get("type")
        .and_then(Value::as_str)
        .ok_or_else(|| bad("Can't find field \"type\""))?;
    if FOUND.contains(&kind) {
        return Ok(None);
    }
    if !SETTABLE.contains(&kind) {
        return Err(bad("Unsupported type specified"));
    }
    if !(0..=1_000_000).contains(&offset) {
        return Err(Refusal::bad(&format!("receive an entity with incorrect offset {offset}")));
    }
    if !(0..=1_000_000).contains(&length) {
        return Err(Refusal::bad(&format!("receive an entity with incorrect length {length}")));
    }
    let known = ["type", "offset", "length"];
    let more = fields.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    let more = more.map(|(name, value)| (name.clone(), value.clone())).collect();
    let (offset, length) = (usize::try_from(offset).unwrap(), usize::try_from(length).unwrap());
    // Empty ones are dropped silently.
    Ok((length > 0).then(|| Entity { kind: kind.to_owned(), offset, length, more }))
}
