//! One message as it is kept: what is on the screen, and what it once was. Owns its shape. Must not
//! know JSON.

use serde_json::Value;

use super::chat::ChatId;
use super::entity::Entity;
use super::keyboard::Keyboard;

pub type MessageId = i32;

#[derive(Clone, Debug, PartialEq)]
pub struct Button {
    pub text: String,
    /// `callback_data`; buttons of other kinds have none and cannot be tapped.
    pub data: Option<String>,
    /// As the bot sent it.
    pub raw: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    Document,
    Photo,
    Voice,
    Audio,
    Video,
    VideoNote,
    Animation,
}

impl MediaKind {
    /// The folder in a download's path.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Document => "documents",
            Self::Photo => "photos",
            Self::Voice => "voice",
            Self::Audio => "music",
            Self::Video => "videos",
            Self::VideoNote => "video_notes",
            Self::Animation => "animations",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Media {
    pub kind: MediaKind,
    pub file_id: String,
    pub name: String,
    pub mime: String,
    pub bytes: u64,
}

/// Who stands as the sender of a message whose writer shows no name of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InNameOf {
    /// The group itself: an administrator who is anonymous.
    Group,
    Channel,
}

#[derive(Clone, Debug)]
pub struct Message {
    pub id: MessageId,
    pub chat: ChatId,
    pub topic: Option<MessageId>,
    pub from: i64,
    /// Then the bot does not learn who `from` is.
    pub in_name_of: Option<InNameOf>,
    pub by_bot: bool,
    pub date: i64,
    pub edit_date: Option<i64>,
    /// The text, or the caption of `media`.
    pub text: String,
    pub entities: Vec<Entity>,
    pub buttons: Keyboard,
    pub media: Option<Media>,
    /// The same in all messages of an album.
    pub album: Option<String>,
    pub reply_to: Option<MessageId>,
    pub forwarded_from: Option<String>,
    /// A notice of the server, such as `forum_topic_created`, or what is no file, such as
    /// `location`, with its content.
    pub service: Option<(String, Value)>,
    pub deleted: bool,
    /// How often text or buttons were changed.
    pub edits: usize,
    /// Every text that it had, the first one first.
    pub versions: Vec<String>,
}

impl Message {
    /// The labels of all buttons, row by row.
    pub fn labels(&self) -> Vec<Vec<String>> {
        self.buttons
            .iter()
            .map(|row| row.iter().map(|button| button.text.clone()).collect())
            .collect()
    }

    /// The button with this label or this data.
    pub fn button(&self, which: &str) -> Option<&Button> {
        let mut buttons = self.buttons.iter().flatten();
        buttons.find(|button| button.text == which || button.data.as_deref() == Some(which))
    }
}
