//! Which entities may stand in a text together. Owns the rules of
//! <https://core.telegram.org/bots/api#formatting-options>. Must not know calls.
//!
//! What runs out of the text or splits a character is refused by the real server in these words.
//! What overlaps or nests against the rules it repairs by dropping or splitting, so that another
//! text appears than the bot meant: here it is refused.

use super::entity::Entity;

/// The refusal after "Bad Request: ".
pub fn check(text: &str, entities: &[Entity]) -> Result<(), String> {
    for entity in entities {
        inside(text, entity)?;
    }
    for (index, one) in entities.iter().enumerate() {
        for other in &entities[index + 1..] {
            together(one, other)?;
        }
    }
    Ok(())
}

fn inside(text: &str, entity: &Entity) -> Result<(), String> {
    let (mut at_utf16, mut begins, mut ends) = (0, false, false);
    for (at_byte, character) in text.char_indices() {
        begins |= at_utf16 == entity.offset;
        ends |= at_utf16 == entity.end();
        if !begins && at_utf16 > entity.offset {
            return Err(format!(
                "entity begins in a middle of a UTF-16 symbol at byte offset {at_byte}"
            ));
        }
        if !ends && at_utf16 > entity.end() {
            return Err(splits(entity, at_byte));
        }
        at_utf16 += character.len_utf16();
    }
    if entity.offset > at_utf16 {
        return Err(format!(
            "entity begins after the end of the text at UTF-16 offset {}",
            entity.offset
        ));
    }
    if entity.end() > at_utf16 {
        let (begin, end) = (entity.offset, entity.end());
        return Err(format!(
            "entity beginning at UTF-16 offset {begin} ends after the end of the text at UTF-16 offset {end}"
        ));
    }
    // At the very end begins nothing, so what is left is the second half of the last character.
    if !begins {
        return Err(format!(
            "entity begins in a middle of a UTF-16 symbol at byte offset {}",
            text.len()
        ));
    }
    if !ends && entity.end() != at_utf16 {
        return Err(splits(entity, text.len()));
    }
    Ok(())
}

fn splits(entity: &Entity, at_byte: usize) -> String {
    let begin = entity.offset;
    format!(
        "entity beginning at UTF-16 offset {begin} ends in a middle of a UTF-16 symbol at byte offset {at_byte}"
    )
}

fn together(one: &Entity, other: &Entity) -> Result<(), String> {
    if one.end() <= other.offset || other.end() <= one.offset {
        return Ok(());
    }
    let contains =
        |outer: &Entity, inner: &Entity| outer.offset <= inner.offset && inner.end() <= outer.end();
    let pair = format!("{} at {} and {} at {}", one.kind, one.offset, other.kind, other.offset);
    if !contains(one, other) && !contains(other, one) {
        return Err(format!("can't parse entities: {pair} overlap in part"));
    }
    let quote = |entity: &Entity| entity.kind.ends_with("blockquote");
    let code = |entity: &Entity| matches!(entity.kind.as_str(), "code" | "pre");
    let styled = |entity: &Entity| {
        matches!(
            entity.kind.as_str(),
            "bold" | "italic" | "underline" | "strikethrough" | "spoiler"
        )
    };
    // The document names no exception for quotes, but the server has one: they may hold what cannot
    // be split.
    let may_nest = match (quote(one), quote(other)) {
        (true, true) => false,
        (true, false) => contains(one, other),
        (false, true) => contains(other, one),
        (false, false) => !code(one) && !code(other) && (styled(one) || styled(other)),
    };
    if may_nest { Ok(()) } else { Err(format!("can't parse entities: {pair} can't be nested")) }
}
