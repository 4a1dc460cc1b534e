//! What comes in by a door is cleared of known secrets, and of the codes of logins, before it is
//! written. Must not know doors, or what becomes of a login.

use serde_json::Value;

use super::Router;

impl Router {
    /// Words of a person with the mark of each known secret in its place, and of each address at
    /// which the browser of a login has ended.
    pub(super) fn cleared_words(&self, text: &str) -> String {
        let cleared = self.gate.hub().without_login_answer(text);
        self.gate.redactor().redact(cleared.as_deref().unwrap_or(text)).into_owned()
    }

    /// Takes the answers to logins out of an update of a chat service, wherever they stand in it.
    pub(super) fn clear_login_answers(&self, update: &mut Value) {
        match update {
            Value::String(text) => {
                if let Some(cleared) = self.gate.hub().without_login_answer(text) {
                    *text = cleared;
                }
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.clear_login_answers(item));
            }
            Value::Object(fields) => {
                fields.values_mut().for_each(|field| self.clear_login_answers(field));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
