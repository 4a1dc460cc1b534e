//! What a call says: JSON, multipart or a query string become one map, as the real server treats
//! them alike. Owns reading. Must not know methods.

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Multipart, Request};
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

use super::refusal::Refusal;

/// Above every upload that Telegram takes, so that the real limit is what refuses.
const BODY_BYTES_MAX: usize = 64 << 20;
/// What comes as text in a form, and means JSON.
const STRUCTURES: [&str; 9] = [
    "allowed_updates",
    "caption_entities",
    "commands",
    "entities",
    "link_preview_options",
    "media",
    "reply_markup",
    "reply_parameters",
    "scope",
];

#[derive(Clone, Debug)]
pub struct Upload {
    pub name: String,
    pub mime: String,
    pub bytes: Bytes,
}

#[derive(Clone, Debug, Default)]
pub struct Params {
    pub values: Map<String, Value>,
    /// By the name of their part of the form.
    pub uploads: Vec<(String, Upload)>,
}

impl Params {
    pub async fn read(request: Request) -> Result<Self, Refusal> {
        let kind = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or("")
            .to_owned();
        if kind.starts_with("multipart/form-data") {
            return Self::form(request)
                .await
                .ok_or_else(|| Refusal::bad("can't parse the multipart form"));
        }
        let bytes = axum::body::to_bytes(request.into_body(), BODY_BYTES_MAX).await;
        let bytes = bytes.map_err(|_| Refusal::new(413, "Request Entity Too Large"))?;
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(values)) => Ok(Self { values, uploads: Vec::new() }),
            Ok(Value::Null) => Ok(Self::default()),
            _ => Err(Refusal::bad("request data is not a JSON object")),
        }
    }

    async fn form(mut request: Request) -> Option<Self> {
        let mut params = Self::default();
        // The extractor's own limit would come before Telegram's.
        DefaultBodyLimit::max(BODY_BYTES_MAX).apply(&mut request);
        let mut form = Multipart::from_request(request, &()).await.ok()?;
        while let Some(field) = form.next_field().await.ok()? {
            let name = field.name().unwrap_or_default().to_owned();
            if let Some(file_name) = field.file_name() {
                let file_name = file_name.to_owned();
                let mime = field.content_type().unwrap_or("application/octet-stream").to_owned();
                let bytes = field.bytes().await.ok()?;
                params.uploads.push((name, Upload { name: file_name, mime, bytes }));
            } else {
                let text = field.text().await.ok()?;
                params.values.insert(name, Value::String(text));
            }
        }
        Some(params)
    }

    /// Empty where it is missing: the real server does not tell the two apart.
    pub fn text(&self, name: &str) -> String {
        match self.values.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        match self.values.get(name)? {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.text(name).to_lowercase().as_str(), "true" | "yes" | "1")
    }

    /// A structure, whether it came as such or as text in a form.
    pub fn structure(&self, name: &str) -> Result<Option<Value>, ()> {
        match self.values.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => serde_json::from_str(text).map(Some).map_err(|_| ()),
            Some(other) => Ok(Some(other.clone())),
        }
    }

    pub fn upload(&self, name: &str) -> Option<&Upload> {
        self.uploads.iter().find(|(part, _)| part == name).map(|(_, upload)| upload)
    }

    /// The chat that the call is about, for records and faults; the methods read it more strictly.
    pub fn chat(&self) -> Option<i64> {
        self.number("chat_id")
    }

    /// What a record keeps: values as they came, forms with their structures opened.
    pub fn recorded(&self) -> Value {
        let open = |(name, value): (&String, &Value)| {
            let opened = match value {
                Value::String(text) if STRUCTURES.contains(&name.as_str()) => {
                    serde_json::from_str(text).ok()
                }
                _ => None,
            };
            (name.clone(), opened.unwrap_or_else(|| value.clone()))
        };
        Value::Object(self.values.iter().map(open).collect())
    }
}
