//! What users write: texts, files, albums, replies, forwards, edits. Owns the messages and their
//! updates. Must not know calls.

use axum::body::Bytes;
use serde_json::Value;

use super::chat::{Chat, ChatId, Place};
use super::delivery::deliver;
use super::entity::Entity;
use super::found_entities::found;
use super::json;
use super::message::{InNameOf, Media, MediaKind, Message, MessageId};
use super::people::User;
use super::text::utf16;
use super::updates::UpdateId;
use super::world::World;

/// What was written, and the update that tells the bot: `None` if it does not want to know or must
/// not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    pub chat: ChatId,
    pub message: MessageId,
    pub update: Option<UpdateId>,
}

struct Attached {
    kind: MediaKind,
    name: String,
    mime: &'static str,
    bytes: Bytes,
    size: u64,
}

/// A message that is being written; [`Saying::send`] sends it.
#[must_use = "a message has to be sent"]
pub struct Saying {
    user: User,
    in_name_of: Option<InNameOf>,
    place: Place,
    text: String,
    entities: Vec<Entity>,
    reply_to: Option<MessageId>,
    forwarded_from: Option<String>,
    attached: Vec<Attached>,
    album: Option<String>,
    holds: Option<(String, Value)>,
}

impl Saying {
    pub(super) fn new(user: User, place: Place) -> Self {
        let (text, entities, attached) = (String::new(), Vec::new(), Vec::new());
        Self {
            user,
            in_name_of: None,
            place,
            text,
            entities,
            reply_to: None,
            forwarded_from: None,
            attached,
            album: None,
            holds: None,
        }
    }

    /// The text, or the caption of a file; of an album the caption of its first picture. Commands,
    /// mentions, links and hashtags in it become entities, as they do on the real server.
    pub fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    /// Formatting of the text so far, counted in UTF-16 units.
    pub fn entity(mut self, entity: Entity) -> Self {
        self.entities.push(entity);
        self
    }

    /// Mentions a user without a username at this place of the text.
    pub fn mention(mut self, user: &User) -> Self {
        let mut entity = Entity::new("text_mention", utf16(&self.text), utf16(&user.name));
        let profile = user.shared.world().people.get(&user.id).map(json::user);
        entity.more.insert("user".into(), profile.unwrap_or(Value::Null));
        self.text.push_str(&user.name);
        self.entity(entity)
    }

    /// In the name of the group, as an administrator who remains anonymous, or of a channel.
    pub fn in_name_of(mut self, whom: InNameOf) -> Self {
        self.in_name_of = Some(whom);
        self
    }

    pub fn reply_to(mut self, message: MessageId) -> Self {
        self.reply_to = Some(message);
        self
    }

    pub fn forwarded_from(mut self, name: &str) -> Self {
        self.forwarded_from = Some(name.to_owned());
        self
    }

    /// Several of them make an album: a message and an update for each, with one `media_group_id`.
    pub fn photo(self, bytes: &[u8]) -> Self {
        self.attach(MediaKind::Photo, "photo.jpg", "image/jpeg", bytes, None)
    }

    /// One more file of an album that was begun before: its parts need not come in one answer of
    /// `getUpdates`.
    #[track_caller]
    pub fn in_album(mut self, first: &Said) -> Self {
        self.album =
            self.user.shared.world().message(first.chat, first.message).unwrap().album.clone();
        assert!(self.album.is_some(), "{first:?} is in no album: send it with `album`");
        self
    }

    /// Begins an album of which this file is the first one.
    pub fn album(mut self) -> Self {
        self.album = Some(new_album(&mut self.user.shared.world()));
        self
    }

    pub fn document(self, name: &str, bytes: &[u8]) -> Self {
        self.attach(MediaKind::Document, name, "application/octet-stream", bytes, None)
    }

    /// A document that says it has so many bytes and has none: enough to be too large.
    pub fn document_of_size(self, name: &str, size: u64) -> Self {
        self.attach(MediaKind::Document, name, "application/octet-stream", &[], Some(size))
    }

    /// A document that announces another size than it has, as nothing forbids.
    pub fn document_that_says(self, name: &str, bytes: &[u8], size: u64) -> Self {
        self.attach(MediaKind::Document, name, "application/octet-stream", bytes, Some(size))
    }

    /// An audio file, a video, a video note or an animation.
    pub fn recording(self, kind: MediaKind, name: &str, bytes: &[u8]) -> Self {
        let mime = if kind == MediaKind::Audio { "audio/mpeg" } else { "video/mp4" };
        self.attach(kind, name, mime, bytes, None)
    }

    /// Something that is neither text nor a file of this stand-in, by the name of its field:
    /// `sticker`, `location`, `contact`, `poll`.
    pub fn holding(mut self, field: &str, content: Value) -> Self {
        self.holds = Some((field.to_owned(), content));
        self
    }

    pub fn voice(self, bytes: &[u8]) -> Self {
        self.attach(MediaKind::Voice, "voice.oga", "audio/ogg", bytes, None)
    }

    fn attach(
        mut self,
        kind: MediaKind,
        name: &str,
        mime: &'static str,
        bytes: &[u8],
        size: Option<u64>,
    ) -> Self {
        let (bytes, size) = (Bytes::copy_from_slice(bytes), size.unwrap_or(bytes.len() as u64));
        self.attached.push(Attached { kind, name: name.to_owned(), mime, bytes, size });
        self
    }

    /// Sends one message.
    #[track_caller]
    pub fn send(self) -> Said {
        assert!(self.attached.len() < 2, "several files are an album: use `send_album`");
        self.send_album()[0]
    }

    /// Sends a message for each file.
    pub fn send_album(self) -> Vec<Said> {
        let shared = self.user.shared.clone();
        shared.change(|world| {
            if self.place.chat == self.user.id {
                world.open_private(self.user.id);
            }
            let many = self.attached.len() > 1;
            let album = self.album.clone().or_else(|| many.then(|| new_album(world)));
            let mut first = self.blank(world);
            (first.text, first.entities) = (self.text.clone(), found(&self.text, &self.entities));
            if self.attached.is_empty() {
                return vec![deliver(world, first)];
            }
            let mut said = Vec::new();
            for (index, file) in self.attached.into_iter().enumerate() {
                let mut message = first.clone();
                if index > 0 {
                    (message.text, message.entities) = (String::new(), Vec::new());
                }
                message.album.clone_from(&album);
                message.media = Some(store(world, file));
                said.push(deliver(world, message));
            }
            said
        })
    }

    fn blank(&self, world: &World) -> Message {
        let mut message = world.blank(self.place.chat, self.place.topic, self.user.id);
        let in_supergroup = world.chat(self.place.chat).is_some_and(Chat::counts_itself);
        assert!(
            self.in_name_of.is_none() || in_supergroup,
            "nobody remains anonymous but in a supergroup"
        );
        message.in_name_of = self.in_name_of;
        message.reply_to = self.reply_to;
        message.forwarded_from.clone_from(&self.forwarded_from);
        message.service.clone_from(&self.holds);
        message
    }
}

fn new_album(world: &mut World) -> String {
    format!("1378{:013}", world.number())
}

fn store(world: &mut World, file: Attached) -> Media {
    let file_id = world.files.add(file.kind.folder(), &file.name, file.bytes, file.size);
    Media {
        kind: file.kind,
        file_id,
        name: file.name,
        mime: file.mime.to_owned(),
        bytes: file.size,
    }
}
