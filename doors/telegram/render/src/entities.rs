//! Turns the styles of a stretch of text into entities that Telegram accepts. Owns nesting and
//! offsets; must not know how the text was cut.
//!
//! Rules (Bot API, section "Formatting options"): of two entities that share characters one holds
//! the other; `code` and `pre` hold none and stand in none but a quote; quotes do not nest. The
//! rules about code are kept by [`Style`](super::rich::Style) already. Telegram takes white space
//! off the ends of a message, hence no entity ends in it.

use std::ops::Range;

use teloxide_core::types::{MessageEntity, MessageEntityKind};

use super::rich::{Rich, Style, utf16_len};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Quote(usize),
    Link(usize),
    Bold,
    Italic,
    Strike,
    Code,
    Pre(usize),
}

fn marks(style: Style) -> Vec<Mark> {
    let flag = |on: bool, mark: Mark| on.then_some(mark);
    let all = [
        style.quote.map(Mark::Quote),
        style.link.map(Mark::Link),
        flag(style.bold, Mark::Bold),
        flag(style.italic, Mark::Italic),
        flag(style.strike, Mark::Strike),
        flag(style.code, Mark::Code),
        style.pre.map(Mark::Pre),
    ];
    all.into_iter().flatten().collect()
}

struct Open {
    mark: Mark,
    /// In bytes of the whole text.
    from: usize,
    /// In UTF-16 units from the start of the part.
    offset: usize,
}

/// The entities of the text in `range`, which is in bytes. Offsets count from the start of the
/// range.
pub(super) fn entities(rich: &Rich, range: Range<usize>) -> Vec<MessageEntity> {
    let mut open: Vec<Open> = Vec::new();
    let mut done = Vec::new();
    let (mut at, mut offset) = (range.start, 0);
    for run in rich.runs.iter().skip(rich.run_at(range.start)) {
        if at >= range.end {
            break;
        }
        let wanted = marks(run.style);
        // What stands on an entity that ends here ends with it, and is opened again where it goes
        // on.
        let kept = open.iter().take_while(|open| wanted.contains(&open.mark)).count();
        while open.len() > kept {
            done.extend(open.pop().and_then(|ended| entity(rich, &ended, at)));
        }
        for mark in wanted {
            if !open.iter().any(|open| open.mark == mark) {
                open.push(Open { mark, from: at, offset });
            }
        }
        let end = run.end.min(range.end);
        offset += utf16_len(&rich.text[at..end]);
        at = end;
    }
    while let Some(ended) = open.pop() {
        done.extend(entity(rich, &ended, at));
    }
    // An outer entity ends last, and of two over the same text it has to come first.
    done.reverse();
    done.sort_by_key(|entity| (entity.offset, std::cmp::Reverse(entity.length)));
    done
}

/// The entity that was opened and ends at byte `end`, without white space at its ends; `None` if
/// nothing else is in it.
fn entity(rich: &Rich, open: &Open, end: usize) -> Option<MessageEntity> {
    let text = rich.text.get(open.from..end)?;
    // The first line of a block of code may be indented.
    let indented = matches!(open.mark, Mark::Pre(_) | Mark::Quote(_));
    let inner = if indented { text } else { text.trim_start() };
    let lead = utf16_len(&text[..text.len() - inner.len()]);
    let inner = inner.trim_end();
    let kind = match open.mark {
        Mark::Quote(_) => MessageEntityKind::Blockquote,
        Mark::Link(index) => MessageEntityKind::TextLink { url: rich.links.get(index)?.clone() },
        Mark::Bold => MessageEntityKind::Bold,
        Mark::Italic => MessageEntityKind::Italic,
        Mark::Strike => MessageEntityKind::Strikethrough,
        Mark::Code => MessageEntityKind::Code,
        Mark::Pre(index) => MessageEntityKind::Pre { language: rich.languages.get(index)?.clone() },
    };
    (!inner.is_empty()).then(|| MessageEntity::new(kind, open.offset + lead, utf16_len(inner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rich: &Rich, range: Range<usize>) -> Vec<(MessageEntityKind, usize, usize)> {
        entities(rich, range)
            .into_iter()
            .map(|entity| (entity.kind, entity.offset, entity.length))
            .collect()
    }

    #[test]
    fn what_would_overlap_in_part_is_nested() {
        let mut rich = Rich::default();
        rich.push("a ", Style::BOLD);
        rich.push("b", Style { italic: true, ..Style::BOLD });
        rich.push(" c", Style::ITALIC);
        use MessageEntityKind::{Bold, Italic};
        assert_eq!(shown(&rich, 0..5), [(Bold, 0, 3), (Italic, 2, 1), (Italic, 4, 1)]);
        assert_eq!(shown(&rich, 1..2), []);
    }

    #[test]
    fn offsets_count_surrogates_twice() {
        let mut rich = Rich::default();
        rich.push("👩 ", Style::PLAIN);
        rich.push("👧👧 ", Style::BOLD);
        assert_eq!(shown(&rich, 0..rich.text.len()), [(MessageEntityKind::Bold, 3, 4)]);
        assert_eq!(shown(&rich, 9..rich.text.len()), [(MessageEntityKind::Bold, 0, 2)]);
    }
}
