//! What Telegram would say to a text with entities, as far as it is known. Knows nothing but the
//! plain data of a request, so that a fake Bot API and unit tests can share it.
//!
//! Sources: Bot API, sections "MessageEntity" and "Formatting options", and the library of the Bot
//! API server (tdlib), functions `clean_input_string_with_entities`, `are_entities_valid` and
//! `fix_formatted_text`.

/// One entity of a message: the fields `type`, `offset` and `length`, the numbers in UTF-16 code
/// units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    pub kind: String,
    pub offset: usize,
    pub length: usize,
}

/// Something that Telegram does not take as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The request fails with `400 Bad Request`. Otherwise Telegram quietly changes text or
    /// entities, and what is shown is not what was sent.
    pub refused: bool,
    pub what: String,
}

/// How many entities of a message count.
pub const ENTITIES_MAX: usize = 100;

/// Everything that Telegram would refuse or change in this message. `units_max` is 4096 for a text,
/// 1024 for a caption.
pub fn faults(text: &str, entities: &[Entity], units_max: usize) -> Vec<Fault> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut faults = Vec::new();
    if text.chars().all(is_blank) {
        faults.push(refused("message text is empty".to_owned()));
    }
    if units.len() > units_max {
        faults.push(refused(format!("message is too long: {} units", units.len())));
    }
    if entities.len() > ENTITIES_MAX {
        faults.push(changed(format!("{} entities, the last are ignored", entities.len())));
    }
    trimmed(text, entities, &mut faults);
    for entity in entities {
        one(&units, entity, &mut faults);
    }
    let order: Vec<_> = entities.iter().map(|e| (e.offset, std::cmp::Reverse(e.length))).collect();
    if !order.is_sorted() {
        faults.push(changed("the entities are not sorted by offset, longer first".to_owned()));
    }
    for (index, first) in entities.iter().enumerate() {
        for second in &entities[index + 1..] {
            pair(first, second, &mut faults);
        }
    }
    faults
}

fn refused(what: String) -> Fault {
    Fault { refused: true, what }
}

fn changed(what: String) -> Fault {
    Fault { refused: false, what }
}

/// What does not count as text: a message of nothing else is empty.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c,
            '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2800}' | '\u{FEFF}' | '\u{FFFC}'
            | '\u{030A}' | '\u{0333}' | '\u{033F}'
            | '\u{E0000}'..='\u{E007F}')
}

/// White space at both ends is taken off, at the start only up to the first entity; some characters
/// are deleted anywhere.
fn trimmed(text: &str, entities: &[Entity], faults: &mut Vec<Fault>) {
    let space = |c: char| matches!(c, ' ' | '\n');
    if text.ends_with(space) {
        faults.push(changed("white space at the end of the text".to_owned()));
    }
    if text.starts_with(space) && entities.iter().all(|entity| entity.offset > 0) {
        faults.push(changed("white space at the start of the text".to_owned()));
    }
    let deleted = |c: &char| {
        c.is_ascii_control() && !matches!(c, '\n' | '\u{7f}')
            || matches!(c, '\u{030A}' | '\u{0333}' | '\u{033F}' | '\u{2028}'..='\u{202E}')
    };
    if let Some(c) = text.chars().find(deleted) {
        faults.push(changed(format!("U+{:04X} is deleted or becomes a space", u32::from(c))));
    }
}

fn one(units: &[u16], entity: &Entity, faults: &mut Vec<Fault>) {
    const KINDS: &[&str] = &[
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "code",
        "pre",
        "text_link",
    ];
    if !KINDS.contains(&entity.kind.as_str()) && entity.kind != "expandable_blockquote" {
        faults.push(changed(format!("{entity:?} is of a kind that a bot cannot set")));
    }
    if entity.length == 0 {
        return faults.push(changed(format!("{entity:?} is empty")));
    }
    let end = entity.offset + entity.length;
    let Some(inner) = units.get(entity.offset..end) else {
        return faults.push(refused(format!("{entity:?} ends after the end of the text")));
    };
    let splits = |at: usize| units.get(at).is_some_and(|unit| (0xDC00..0xE000).contains(unit));
    if splits(entity.offset) || splits(end) {
        faults.push(refused(format!("{entity:?} begins or ends in a middle of a UTF-16 symbol")));
    }
    let inner = String::from_utf16_lossy(inner);
    // A block may begin with the indent of its first line.
    let indented = ["pre", "blockquote", "expandable_blockquote"].contains(&entity.kind.as_str());
    let starts = inner.starts_with(|c: char| c.is_whitespace() && !(indented && c != '\n'));
    if starts || inner.ends_with(char::is_whitespace) {
        faults.push(changed(format!("{entity:?} begins or ends with white space: {inner:?}")));
    }
}

/// `first` is before `second` in the list.
fn pair(first: &Entity, second: &Entity, faults: &mut Vec<Fault>) {
    let end = |entity: &Entity| entity.offset + entity.length;
    if second.offset >= end(first) || first.offset >= end(second) {
        return;
    }
    let is = |entity: &Entity, kinds: &[&str]| kinds.contains(&entity.kind.as_str());
    let quotes = ["blockquote", "expandable_blockquote"];
    let code = ["code", "pre"];
    let what = if end(second) > end(first) {
        "overlap in part"
    } else if first.kind == second.kind || is(first, &quotes) && is(second, &quotes) {
        "are of one kind and nested"
    } else if is(first, &code) {
        "are nested in code"
    } else if is(second, &code) && !is(first, &quotes) {
        "put code into something else than a quote"
    } else if is(second, &quotes) {
        "put a quote into something else"
    } else {
        return;
    };
    faults.push(changed(format!("{first:?} and {second:?} {what}")));
}
