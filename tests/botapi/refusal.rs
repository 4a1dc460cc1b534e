//! What a call is refused with: a code and Telegram's words. Owns their form. Must not know why.

use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: u16,
    pub description: String,
    pub retry_after: Option<u64>,
    pub migrate_to_chat_id: Option<i64>,
}

impl Refusal {
    pub fn new(code: u16, description: &str) -> Self {
        Self {
            code,
            description: description.to_owned(),
            retry_after: None,
            migrate_to_chat_id: None,
        }
    }

    /// 400, with Telegram's prefix.
    pub fn bad(what: &str) -> Self {
        Self::new(400, &format!("Bad Request: {what}"))
    }

    /// 403, with Telegram's prefix.
    pub fn forbidden(what: &str) -> Self {
        Self::new(403, &format!("Forbidden: {what}"))
    }

    pub fn too_many(retry_after_s: u64) -> Self {
        let mut refusal =
            Self::new(429, &format!("Too Many Requests: retry after {retry_after_s}"));
        refusal.retry_after = Some(retry_after_s);
        refusal
    }

    /// What a group answers that has become a supergroup.
    pub fn moved(to: i64) -> Self {
        let mut refusal = Self::bad("group chat was upgraded to a supergroup chat");
        refusal.migrate_to_chat_id = Some(to);
        refusal
    }

    pub fn body(&self) -> Value {
        let mut body =
            json!({"ok": false, "error_code": self.code, "description": self.description});
        if let Some(seconds) = self.retry_after {
            body["parameters"] = json!({"retry_after": seconds});
        }
        if let Some(chat) = self.migrate_to_chat_id {
            body["parameters"] = json!({"migrate_to_chat_id": chat});
        }
        body
    }
}
