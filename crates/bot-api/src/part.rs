//! One message as it is sent. Must not know what is said in it, or how it was formatted.

use teloxide_core::types::MessageEntity;

use super::callback::Button;

/// One message as it is sent: a text, and what is formatted in it (Bot API, `sendMessage` with
/// `entities`).
///
/// The text is never blank and never longer than the limit it was made for. Offsets and lengths are
/// UTF-16 code units, sorted by offset, the longer first; there are at most
/// [`super::split::ENTITIES_MAX`] of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    pub entities: Vec<MessageEntity>,
    /// The buttons below it, one a row.
    pub buttons: Vec<Button>,
}

impl Part {
    /// The same text without its formatting, for when Telegram refuses that.
    pub fn plain(&self) -> Self {
        Self { entities: Vec::new(), ..self.clone() }
    }
}

/// How long Telegram says that `text` is, in UTF-16 code units (Bot API, section "MessageEntity").
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}
