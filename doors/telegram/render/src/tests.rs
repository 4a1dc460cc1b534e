//! What the tests of this door share: parts as plain data for the checker, and drawn so that a
//! person can read them.

use teloxide_core::types::MessageEntityKind;

use super::botapi_entities::{Entity, Fault, faults};
use crate::Part;

/// The entities of a part as they stand in a request.
pub(super) fn plain_entities(part: &Part) -> Vec<Entity> {
    let plain = |entity: &teloxide_core::types::MessageEntity| {
        let value = serde_json::to_value(entity).unwrap();
        Entity {
            kind: value["type"].as_str().unwrap().to_owned(),
            offset: value["offset"].as_u64().unwrap() as usize,
            length: value["length"].as_u64().unwrap() as usize,
        }
    };
    part.entities.iter().map(plain).collect()
}

/// Everything that Telegram would refuse or change in these parts.
pub(super) fn all_faults(parts: &[Part], units_max: usize) -> Vec<Fault> {
    parts.iter().flat_map(|part| faults(&part.text, &plain_entities(part), units_max)).collect()
}

/// The text of one entity.
pub(super) fn covered(part: &Part, index: usize) -> String {
    let entity = &part.entities[index];
    let units: Vec<u16> =
        part.text.encode_utf16().skip(entity.offset).take(entity.length).collect();
    String::from_utf16(&units).unwrap()
}

/// Parts with tags where entities begin and end.
pub(super) fn drawn(parts: &[Part]) -> String {
    parts.iter().map(draw).collect::<Vec<_>>().join("\n======\n")
}

fn draw(part: &Part) -> String {
    let mut units: Vec<u16> = part.text.encode_utf16().collect();
    let mut tags = Vec::new();
    for (order, entity) in part.entities.iter().enumerate() {
        let (open, close) = tag(&entity.kind);
        // At one place ends come before starts, inner ends first.
        tags.push((entity.offset, 1, order as isize, open));
        tags.push((entity.offset + entity.length, 0, -(order as isize), close));
    }
    tags.sort();
    for (at, _, _, tag) in tags.into_iter().rev() {
        units.splice(at..at, tag.encode_utf16());
    }
    String::from_utf16(&units).unwrap()
}

fn tag(kind: &MessageEntityKind) -> (String, String) {
    let (name, rest) = match kind {
        MessageEntityKind::Bold => ("b", String::new()),
        MessageEntityKind::Italic => ("i", String::new()),
        MessageEntityKind::Strikethrough => ("s", String::new()),
        MessageEntityKind::Code => ("code", String::new()),
        MessageEntityKind::Blockquote => ("quote", String::new()),
        MessageEntityKind::Pre { language } => {
            ("pre", language.as_ref().map_or(String::new(), |name| format!(" {name}")))
        }
        MessageEntityKind::TextLink { url } => ("a", format!(" {url}")),
        other => panic!("{other:?} is never made"),
    };
    (format!("<{name}{rest}>"), format!("</{name}>"))
}

/// The checker itself: each rule has a message that breaks it.
#[test]
fn the_checker_finds_what_telegram_does_not_take() {
    let wrong = |text: &str, entities: &[(&str, usize, usize)]| {
        let entity = |(kind, offset, length): &(&str, usize, usize)| Entity {
            kind: (*kind).to_owned(),
            offset: *offset,
            length: *length,
        };
        let found = faults(text, &entities.iter().map(entity).collect::<Vec<_>>(), 10);
        found.first().map(|fault| fault.refused)
    };
    for (text, entities) in [
        ("ab cd 👩", &[("bold", 0, 2), ("italic", 3, 2)][..]),
        ("ab cd", &[("blockquote", 0, 5), ("bold", 0, 2), ("code", 3, 2)]),
        ("  ab", &[("pre", 0, 4)]),
    ] {
        assert_eq!(wrong(text, entities), None, "{text} {entities:?}");
    }
    for (text, entities) in [
        (" \n\u{200b}", &[][..]),
        ("12345678901", &[]),
        ("a👩", &[("bold", 0, 2)]),
        ("a👩", &[("bold", 2, 1)]),
        ("ab", &[("bold", 1, 2)]),
    ] {
        assert_eq!(wrong(text, entities), Some(true), "{text} {entities:?}");
    }
    for (text, entities) in [
        ("ab ", &[][..]),
        (" ab", &[("bold", 1, 2)]),
        ("a\tb", &[]),
        ("ab", &[("bold", 1, 0)]),
        ("ab", &[("url", 0, 2)]),
        ("a b", &[("bold", 0, 2)]),
        ("abcd", &[("bold", 2, 2), ("bold", 0, 1)]),
        ("abcd", &[("bold", 0, 3), ("italic", 2, 2)]),
        ("abcd", &[("bold", 0, 3), ("code", 1, 1)]),
        ("abcd", &[("pre", 0, 3), ("bold", 1, 1)]),
        ("abcd", &[("blockquote", 0, 3), ("blockquote", 1, 1)]),
        ("abcd", &[("bold", 0, 3), ("bold", 1, 1)]),
    ] {
        assert_eq!(wrong(text, entities), Some(false), "{text} {entities:?}");
    }
    let many = vec![Entity { kind: "bold".into(), offset: 0, length: 1 }; 101];
    assert!(faults("a", &many, 10)[0].what.contains("ignored"));
}
