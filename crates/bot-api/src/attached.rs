//! What a message holds beside its text: a file that can be fetched, or something that words can
//! say. Must not know how a file is fetched.

use teloxide_core::types::{FileMeta, MediaKind, Message, MessageKind, PhotoSize};

/// The kinds of files that people send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Photo,
    Document,
    Voice,
    Audio,
    Video,
    VideoNote,
    Animation,
}

impl FileKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Photo => "photo",
            Self::Document => "document",
            Self::Voice => "voice message",
            Self::Audio => "audio file",
            Self::Video => "video",
            Self::VideoNote => "video note",
            Self::Animation => "animation",
        }
    }

    /// What a file without a name is called: Telegram's own formats (Bot API, "PhotoSize", "Voice",
    /// "VideoNote").
    fn usual_name(self) -> &'static str {
        match self {
            Self::Photo => "photo.jpg",
            Self::Document => "document",
            Self::Voice => "voice.ogg",
            Self::Audio => "audio.mp3",
            Self::Video => "video.mp4",
            Self::VideoNote => "video-note.mp4",
            Self::Animation => "animation.mp4",
        }
    }
}

/// A file of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelegramFile {
    pub kind: FileKind,
    /// What `getFile` wants.
    pub id: String,
    /// The same for the same bytes.
    pub unique_id: String,
    /// The message that holds it, and when it was written, in seconds since 1970. An edit changes
    /// neither.
    pub message: i64,
    pub at_s: i64,
    /// As the sender called it; an enemy may have chosen it.
    pub name: String,
    /// As Telegram announces it.
    pub bytes: Option<u64>,
    /// Width and height in pixels.
    pub pixels: Option<(u32, u32)>,
    pub duration_s: Option<u32>,
}

/// The file of a message, of a photo the largest size.
pub fn file(message: &Message) -> Option<TelegramFile> {
    let MessageKind::Common(common) = &message.kind else { return None };
    let name = |name: &Option<String>| name.clone().filter(|name| !name.trim().is_empty());
    let make = |kind: FileKind, meta: &FileMeta, name: Option<String>| TelegramFile {
        kind,
        id: meta.id.0.clone(),
        unique_id: meta.unique_id.0.clone(),
        message: i64::from(message.id.0),
        at_s: message.date.timestamp(),
        name: name.unwrap_or_else(|| kind.usual_name().to_owned()),
        // `teloxide-core` says this where Telegram says nothing.
        bytes: (meta.size != u32::MAX).then(|| u64::from(meta.size)),
        pixels: None,
        duration_s: None,
    };
    Some(match &common.media_kind {
        MediaKind::Photo(photo) => {
            let area = |size: &&PhotoSize| u64::from(size.width) * u64::from(size.height);
            let largest = photo.photo.iter().max_by_key(area)?;
            let pixels = Some((largest.width, largest.height));
            TelegramFile { pixels, ..make(FileKind::Photo, &largest.file, None) }
        }
        MediaKind::Document(one) => {
            make(FileKind::Document, &one.document.file, name(&one.document.file_name))
        }
        MediaKind::Voice(one) => {
            let duration_s = Some(one.voice.duration.seconds());
            TelegramFile { duration_s, ..make(FileKind::Voice, &one.voice.file, None) }
        }
        MediaKind::Audio(one) => {
            let duration_s = Some(one.audio.duration.seconds());
            TelegramFile {
                duration_s,
                ..make(FileKind::Audio, &one.audio.file, name(&one.audio.file_name))
            }
        }
        MediaKind::Video(one) => {
            let (duration_s, pixels) =
                (Some(one.video.duration.seconds()), Some((one.video.width, one.video.height)));
            let file = make(FileKind::Video, &one.video.file, name(&one.video.file_name));
            TelegramFile { duration_s, pixels, ..file }
        }
        MediaKind::VideoNote(one) => {
            let duration_s = Some(one.video_note.duration.seconds());
            TelegramFile { duration_s, ..make(FileKind::VideoNote, &one.video_note.file, None) }
        }
        MediaKind::Animation(one) => {
            let shown = &one.animation;
            let pixels = Some((shown.width, shown.height));
            TelegramFile {
                pixels,
                ..make(FileKind::Animation, &shown.file, name(&shown.file_name))
            }
        }
        _ => return None,
    })
}

/// What a message holds that is neither text nor file, in words.
pub fn words(message: &Message) -> Option<String> {
    let MessageKind::Common(common) = &message.kind else { return None };
    Some(match &common.media_kind {
        MediaKind::Sticker(one) => match &one.sticker.emoji {
            Some(emoji) => format!("[sticker {emoji}]"),
            None => "[sticker]".to_owned(),
        },
        MediaKind::Venue(one) => {
            let (venue, at) = (&one.venue, &one.venue.location);
            format!(
                "[place: {}, {}, latitude {}, longitude {}]",
                venue.title, venue.address, at.latitude, at.longitude
            )
        }
        MediaKind::Location(one) => {
            format!(
                "[location: latitude {}, longitude {}]",
                one.location.latitude, one.location.longitude
            )
        }
        MediaKind::Contact(one) => {
            let last =
                one.contact.last_name.as_ref().map(|last| format!(" {last}")).unwrap_or_default();
            format!("[contact: {}{last}, {}]", one.contact.first_name, one.contact.phone_number)
        }
        MediaKind::Poll(one) => {
            let options: Vec<&str> =
                one.poll.options.iter().map(|option| option.text.as_str()).collect();
            format!("[poll: {} Options: {}]", one.poll.question, options.join("; "))
        }
        MediaKind::Text(_)
        | MediaKind::Photo(_)
        | MediaKind::Document(_)
        | MediaKind::Voice(_)
        | MediaKind::Audio(_)
        | MediaKind::Video(_)
        | MediaKind::VideoNote(_)
        | MediaKind::Animation(_) => return None,
        // A service message in the shape of a message.
        MediaKind::Migration(_) => return None,
        MediaKind::Game(_) => "[game]".to_owned(),
        MediaKind::Story(_) => "[story]".to_owned(),
        MediaKind::Checklist(one) => format!("[checklist: {}]", one.checklist.title),
        MediaKind::PaidMedia(_) => "[paid media, which claw cannot open]".to_owned(),
    })
}
