//! What a user sees: a chat as text, the same for the same conversation, whatever ids and times it
//! had. Owns the drawing. Must not know calls.

use super::BotApi;
use super::chat::ChatId;
use super::entity::Entity;
use super::message::{MediaKind, Message, MessageId};
use super::world::World;

/// What is drawn beside texts, buttons and files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    pub ids: bool,
    /// Marks what was edited, and how often.
    pub edits: bool,
    /// Leaves out deleted messages, as a real screen does; else they are drawn as such.
    pub without_deleted: bool,
}

impl BotApi {
    /// The chat from its beginning: sender, text with its formatting as marks, files, buttons in
    /// their rows.
    pub fn screen(&self, chat: impl Into<ChatId>) -> String {
        self.screen_with(chat, Look::default())
    }

    pub fn screen_with(&self, chat: impl Into<ChatId>, look: Look) -> String {
        self.look(|world| screen(world, chat.into(), look))
    }
}

pub fn screen(world: &World, chat: ChatId, look: Look) -> String {
    let mut lines = Vec::new();
    let mut topic = None;
    for message in world.messages(chat).filter(|message| !(look.without_deleted && message.deleted))
    {
        if message.topic != topic {
            topic = message.topic;
            let name = topic.and_then(|id| world.chat(chat)?.topics.get(&id).cloned());
            lines.push(format!("── {} ──", name.as_deref().unwrap_or("General")));
        }
        draw(world, message, look, &mut lines);
    }
    lines.join("\n")
}

fn draw(world: &World, message: &Message, look: Look, lines: &mut Vec<String>) {
    let mut head = String::new();
    if look.ids {
        head.push_str(&format!("#{} ", message.id));
    }
    head.push_str(&sender(world, message));
    if look.edits && message.edits > 0 {
        head.push_str(&format!(" (edited {}×)", message.edits));
    }
    if message.deleted {
        head.push_str(" (deleted)");
    }
    let mut body = Vec::new();
    if let Some(to) = message.reply_to.and_then(|id| world.message(message.chat, id)) {
        let start: String = to.text.lines().next().unwrap_or("").chars().take(30).collect();
        body.push(format!("↪ {}: {start}", sender(world, to)));
    }
    if let Some(name) = &message.forwarded_from {
        body.push(format!("(forwarded from {name})"));
    }
    if let Some((kind, _)) = &message.service {
        body.push(format!("({kind})"));
    }
    if let Some(media) = &message.media {
        body.push(match media.kind {
            MediaKind::Document => format!("📎 {} ({} bytes)", media.name, media.bytes),
            MediaKind::Photo => format!("📷 ({} bytes)", media.bytes),
            MediaKind::Voice | MediaKind::Audio => format!("🎤 ({} bytes)", media.bytes),
            MediaKind::Video | MediaKind::VideoNote | MediaKind::Animation => {
                format!("🎞 ({} bytes)", media.bytes)
            }
        });
    }
    if !message.text.is_empty() {
        body.extend(marked(&message.text, &message.entities).split('\n').map(str::to_owned));
    }
    for row in message.labels() {
        body.push(row.iter().map(|label| format!("[ {label} ]")).collect::<Vec<_>>().join(" "));
    }
    for (index, line) in body.iter().enumerate() {
        let line = if index == 0 { format!("{head}: {line}") } else { format!("    {line}") };
        lines.push(line.trim_end().to_owned());
    }
}

fn sender(world: &World, message: &Message) -> String {
    if message.by_bot {
        return world.bot.first_name.clone();
    }
    world
        .people
        .get(&message.from)
        .map_or_else(|| "?".to_owned(), |person| person.first_name.clone())
}

/// A text with its formatting as marks, much like Markdown.
pub fn marked(text: &str, entities: &[Entity]) -> String {
    let (mut out, mut at) = (String::new(), 0);
    let mut begun: Vec<&Entity> = Vec::new();
    let mut sorted: Vec<&Entity> = entities.iter().collect();
    sorted.sort_by_key(|entity| (entity.offset, usize::MAX - entity.length));
    let mut next = sorted.into_iter().peekable();
    let mut quoted = false;
    for character in text.chars().map(Some).chain([None]) {
        while let Some(entity) = begun.pop_if(|entity| entity.end() <= at) {
            out.push_str(&closing(entity));
            quoted &= !entity.kind.ends_with("blockquote");
        }
        let Some(character) = character else { break };
        while let Some(entity) = next.next_if(|entity| entity.offset <= at) {
            out.push_str(&opening(entity));
            quoted |= entity.kind.ends_with("blockquote");
            begun.push(entity);
        }
        out.push(character);
        if character == '\n' && quoted && begun.iter().any(|entity| entity.end() > at + 1) {
            out.push_str("> ");
        }
        at += character.len_utf16();
    }
    out
}

fn opening(entity: &Entity) -> String {
    match entity.kind.as_str() {
        "pre" => format!(
            "```{}\n",
            entity.more.get("language").and_then(|name| name.as_str()).unwrap_or("")
        ),
        "text_link" | "text_mention" => "[".to_owned(),
        kind if kind.ends_with("blockquote") => "> ".to_owned(),
        _ => mark(entity).to_owned(),
    }
}

fn closing(entity: &Entity) -> String {
    match entity.kind.as_str() {
        "pre" => "\n```".to_owned(),
        "text_link" => {
            format!("]({})", entity.more.get("url").and_then(|url| url.as_str()).unwrap_or(""))
        }
        "text_mention" => "](user)".to_owned(),
        _ => mark(entity).to_owned(),
    }
}

fn mark(entity: &Entity) -> &'static str {
    match entity.kind.as_str() {
        "bold" => "**",
        "italic" => "_",
        "underline" => "__",
        "strikethrough" => "~~",
        "spoiler" => "||",
        "code" => "`",
        _ => "",
    }
}
