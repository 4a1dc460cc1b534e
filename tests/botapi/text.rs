//! What becomes of a text on its way: cleaned, trimmed, its entities moved, its length checked.
//! Owns those rules, which are TDLib's. Must not know chats.

use super::entity::{self, Entity};
use super::entity_check;
use super::params::Params;
use super::refusal::Refusal;

pub const TEXT_UTF16_MAX: usize = 4096;
pub const CAPTION_UTF16_MAX: usize = 1024;
/// Refused before anything is parsed.
const RAW_BYTES_MAX: usize = 1 << 15;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formatted {
    pub text: String,
    pub entities: Vec<Entity>,
}

pub fn utf16(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The text of a message, which must not be empty.
pub fn of_message(params: &Params) -> Result<Formatted, Refusal> {
    if params.text("text").is_empty() {
        return Err(Refusal::bad("message text is empty"));
    }
    let formatted = read(params, "text", "entities")?;
    if formatted.text.is_empty() {
        Err(Refusal::bad("text must be non-empty"))
    } else {
        Ok(formatted)
    }
}

/// The caption of a file, which may be empty.
pub fn of_caption(params: &Params) -> Result<Formatted, Refusal> {
    let formatted = read(params, "caption", "caption_entities")?;
    if utf16(&formatted.text) > CAPTION_UTF16_MAX {
        return Err(Refusal::bad("message caption is too long"));
    }
    Ok(formatted)
}

fn read(params: &Params, text: &str, entities: &str) -> Result<Formatted, Refusal> {
    let text = params.text(text);
    if text.len() > RAW_BYTES_MAX {
        return Err(Refusal::bad("text is too long"));
    }
    let mode = params.text("parse_mode").to_lowercase();
    if !text.is_empty() && !mode.is_empty() && mode != "none" {
        // Parsing three dialects would be a second program; who needs one of them has to write its
        // reader.
        return Err(Refusal::bad(
            "can't parse entities: this stand-in reads explicit entities only, no parse_mode",
        ));
    }
    let entities = entity::read(params, entities)?;
    entity_check::check(&text, &entities).map_err(|what| Refusal::bad(&what))?;
    Ok(trimmed(cleaned(&text, entities)))
}

/// Control characters become blanks; carriage returns, marks of direction and vertical strokes go.
fn cleaned(text: &str, entities: Vec<Entity>) -> Formatted {
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    // Where each UTF-16 unit of the old text stands in the new one.
    let mut moved = Vec::with_capacity(text.len() + 1);
    for character in text.chars() {
        moved.resize(moved.len() + character.len_utf16(), at);
        match character {
            '\r' | '\u{2028}'..='\u{202e}' | '\u{333}' | '\u{33f}' | '\u{30a}' => continue,
            '\n' => clean.push('\n'),
            '\0'..=' ' => clean.push(' '),
            other => clean.push(other),
        }
        at += character.len_utf16();
    }
    moved.push(at);
    let entities = entities.into_iter().map(|mut entity| {
        let (begin, end) = (moved[entity.offset], moved[entity.end()]);
        (entity.offset, entity.length) = (begin, end - begin);
        entity
    });
    Formatted { text: clean, entities: entities.filter(|entity| entity.length > 0).collect() }
}

/// Blanks at the end go; those at the beginning go as far as no entity starts among them.
fn trimmed(formatted: Formatted) -> Formatted {
    let Formatted { text, mut entities } = formatted;
    let blank = [' ', '\n'];
    let text = text.trim_end_matches(blank);
    let end = utf16(text);
    entities.retain(|entity| entity.offset < end);
    for entity in &mut entities {
        entity.length = entity.length.min(end - entity.offset);
    }
    entities.sort_by_key(|entity| (entity.offset, usize::MAX - entity.length));
    let first = entities.first().map_or(end, |entity| entity.offset);
    // Blanks are one byte and one unit each.
    let cut = (text.len() - text.trim_start_matches(blank).len()).min(first);
    for entity in &mut entities {
        entity.offset -= cut;
    }
    Formatted { text: text[cut..].to_owned(), entities }
}
