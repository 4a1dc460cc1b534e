//! Cuts a formatted text into messages that Telegram takes. Owns the limits and where a text may be
//! cut; must not know what the text says.

use unicode_segmentation::GraphemeCursor;

use super::entities::entities;
use super::rich::{Part, Rich};

/// The longest text of a message, in UTF-16 code units (Bot API, `sendMessage`, parameter `text`).
pub const MESSAGE_UNITS_MAX: usize = 4096;
/// The longest caption of a file, in UTF-16 code units (Bot API, `sendDocument`, parameter
/// `caption`).
pub const CAPTION_UNITS_MAX: usize = 1024;
/// How many entities of a message count. Telegram ignores what comes after them; the Bot API's
/// reference does not say so.
pub const ENTITIES_MAX: usize = 100;
/// Below this nothing sensible could be cut; a smaller limit is taken as this one.
const UNITS_MIN: usize = 8;

/// The text as messages of at most `units_max` UTF-16 units each. What is cut away between two of
/// them is white space.
///
/// An entity that spans a cut goes on in the next message, a block of code with its language.
pub(super) fn parts(rich: &Rich, units_max: usize) -> Vec<Part> {
    let units_max = units_max.max(UNITS_MIN);
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(start) = start_of_part(rich, at) {
        let (part, cut) = part(rich, start, units_max);
        parts.push(part);
        at = cut;
    }
    parts
}

/// Where the text goes on at or after `at`. The indent of a line of code is kept, all other white
/// space is dropped.
fn start_of_part(rich: &Rich, at: usize) -> Option<usize> {
    let rest = &rich.text[at..];
    let blank = rest.len() - rest.trim_start().len();
    let text = at + blank;
    if text == rich.text.len() {
        return None;
    }
    if rich.style_at(text).pre.is_none() {
        return Some(text);
    }
    let line = rest[..blank].rfind('\n').map_or(at, |line_feed| at + line_feed + 1);
    Some(line.max(rich.run_start(text)))
}

/// The message that starts at byte `start`, and where the next one looks for its own start.
fn part(rich: &Rich, start: usize, units_max: usize) -> (Part, usize) {
    let mut room = units_max;
    loop {
        let cut = cut(rich, start, room);
        let text = rich.text[start..cut].trim_end();
        if text.is_empty() {
            // An indent that fills a whole message. The code behind it is worth more.
            let rest = &rich.text[start..];
            return part(rich, start + rest.len() - rest.trim_start().len(), units_max);
        }
        let mut entities = entities(rich, start..start + text.len());
        match entities.get(ENTITIES_MAX).map(|over| over.offset) {
            // The cut falls before the first entity that would be too many.
            Some(offset) if offset > 0 && offset < room => room = offset,
            _ => {
                // Entities all at one place leave no place for a cut. Then formatting goes, text
                // never does.
                entities.truncate(ENTITIES_MAX);
                return (Part { text: text.to_owned(), entities, buttons: Vec::new() }, cut);
            }
        }
    }
}

/// Where a part ends at the latest that starts at `start` and has room for so many units, in bytes;
/// always after `start`.
fn cut(rich: &Rich, start: usize, room: usize) -> usize {
    let text = &rich.text[start..];
    let mut units = 0;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > room {
            end = at;
            break;
        }
    }
    if end == text.len() {
        return rich.text.len();
    }
    let breaks = Breaks::of(rich, start, end);
    let found = breaks.best(end / 3).or_else(|| breaks.best(0));
    // A character outside of the basic plane may not fit into what is left before an entity; it is
    // taken all the same.
    let first = text.chars().next().map_or(0, char::len_utf8);
    let cut = found.unwrap_or_else(|| between_clusters(text, end));
    start + cut.max(first)
}

/// The last place of each kind where the text may be cut, in bytes from the start of the part; 0
/// for none.
#[derive(Default)]
struct Breaks {
    paragraph: usize,
    line: usize,
    word: usize,
}

impl Breaks {
    /// Looks at places up to and including `end`.
    fn of(rich: &Rich, start: usize, end: usize) -> Self {
        let text = &rich.text[start..];
        let mut breaks = Self::default();
        let mut seen_text = false;
        let mut blank_before = true;
        for (at, c) in text.char_indices().take_while(|(at, _)| *at <= end) {
            let blank = c.is_whitespace();
            // A cut after nothing but white space would make an empty part.
            if blank && seen_text {
                if !blank_before {
                    breaks.word = at;
                }
                if c == '\n' {
                    breaks.line = at;
                    let ends_block =
                        text[at + 1..].starts_with('\n') && rich.style_at(start + at).pre.is_none();
                    if ends_block {
                        breaks.paragraph = at;
                    }
                }
            }
            seen_text |= !blank;
            blank_before = blank;
        }
        // A line of code is worth more than a full message.
        if breaks.line > 0 && rich.style_at(start + end).pre.is_some() {
            breaks.word = 0;
        }
        breaks
    }

    /// The best place behind `from`: a paragraph's end, else a line's, else a word's. A place too
    /// near to the start is no good as long as there is another, because it would make many short
    /// messages.
    fn best(&self, from: usize) -> Option<usize> {
        [self.paragraph, self.line, self.word].into_iter().find(|at| *at > from)
    }
}

/// The last place up to `end` that cuts no grapheme cluster (UAX #29); `end` itself if one cluster
/// fills everything.
fn between_clusters(text: &str, end: usize) -> usize {
    let mut cursor = GraphemeCursor::new(end, text.len(), true);
    // With the whole text as one chunk the cursor never asks for more of it.
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return end;
    }
    cursor.prev_boundary(text, 0).ok().flatten().filter(|at| *at > 0).unwrap_or(end)
}
