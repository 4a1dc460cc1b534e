//! What Telegram would remove or replace in a text is written out instead, so that nothing vanishes
//! on the way and every offset stays true. Owns which characters these are; must not know where the
//! text comes from.
//!
//! Source: the Bot API server's library, `clean_input_string` and `strip_empty_characters` in
//! tdlib's `misc.cpp`. Control characters become spaces there, U+2028 to U+202E and three combining
//! lines are deleted, and a message of nothing but spaces, joiners and blanks is refused as empty.

use super::rich::{Rich, Style};
use crate::domain::{hidden_shown, is_hidden};

/// Columns between two tab stops. Telegram would make one space of a tab, and code would lose its
/// shape.
const TAB_COLUMNS: usize = 4;

/// True for a character that must not reach Telegram as it is: what the server deletes or replaces,
/// what shows nothing, and what reorders or hides the text around it (UAX #9). White space and the
/// two joiners are not among them.
pub(super) fn is_altered(c: char) -> bool {
    c != '\n' && (is_hidden(c) || matches!(c, '\u{030A}' | '\u{0333}' | '\u{033F}'))
}

/// `rich` as Telegram leaves it alone. Line feeds stay, tabs become spaces up to the next stop.
pub(super) fn cleaned(rich: Rich) -> Rich {
    if !rich.text.chars().any(|c| is_altered(c) || is_joiner(c)) {
        return rich;
    }
    let mut cleaner = Cleaner::default();
    let mut start = 0;
    for run in &rich.runs {
        for (at, c) in rich.text[start..run.end].char_indices() {
            let next = rich.text[start + at + c.len_utf8()..].chars().next();
            cleaner.char(c, next, run.style);
        }
        start = run.end;
    }
    Rich { links: rich.links, languages: rich.languages, ..cleaner.out }
}

/// The same for a text without styles, for example one cell of a table.
pub(super) fn cleaned_text(text: &str) -> String {
    let mut rich = Rich::default();
    rich.push(text, Style::PLAIN);
    cleaned(rich).text
}

/// On one line: every run of white space becomes one space.
pub(super) fn cleaned_line(text: &str) -> String {
    cleaned_text(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

#[derive(Default)]
struct Cleaner {
    out: Rich,
    /// Characters since the last line feed, for tabs.
    column: usize,
}

impl Cleaner {
    fn char(&mut self, c: char, next: Option<char>, style: Style) {
        self.column = if c == '\n' { 0 } else { self.column + 1 };
        match c {
            '\t' => {
                let wide = TAB_COLUMNS - (self.column - 1) % TAB_COLUMNS;
                self.column += wide - 1;
                self.out.push(&" ".repeat(wide), style);
            }
            '\u{030A}' => self.ring(style),
            c if is_altered(c) => self.written_out(c, style),
            c if is_joiner(c) && !self.joins(next) => self.written_out(c, style),
            c => self.out.push(c.encode_utf8(&mut [0; 4]), style),
        }
    }

    /// A joiner between two visible characters does its work in emoji and in scripts; any other
    /// would be invisible.
    fn joins(&self, next: Option<char>) -> bool {
        let visible = |c: char| !c.is_whitespace() && !is_joiner(c) && !is_altered(c);
        self.out.text.chars().next_back().is_some_and(visible) && next.is_some_and(visible)
    }

    /// The ring above a letter: Telegram deletes it, but leaves the letters alone that have it
    /// built in.
    fn ring(&mut self, style: Style) {
        let composed = match self.out.text.chars().next_back() {
            Some('a') => 'å',
            Some('A') => 'Å',
            Some('u') => 'ů',
            Some('U') => 'Ů',
            Some('w') => 'ẘ',
            Some('y') => 'ẙ',
            _ => return self.written_out('\u{030A}', style),
        };
        self.out.text.pop();
        self.out.runs.iter_mut().rev().take(1).for_each(|run| run.end -= 1);
        let last = self.out.runs.last().map_or(style, |run| run.style);
        // The run of the letter may be empty now, which is harmless: it is extended at once.
        self.out.push(composed.encode_utf8(&mut [0; 4]), last);
    }

    fn written_out(&mut self, c: char, style: Style) {
        self.out.push(&hidden_shown(c), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_telegram_would_change_is_written_out() {
        let hostile = "a\u{1b}[2J\u{202e}b\u{200b}\u{2028}\u{e0041}\r\u{0}c\u{333}";
        assert_eq!(cleaned_text(hostile), "a␛[2J<U+202E>b<U+200B><U+2028><U+E0041>␍␀c<U+0333>");
        assert_eq!(cleaned_text("a\u{30a}x\u{30a}\u{30a}"), "åx<U+030A><U+030A>");
        assert!(!cleaned_text(hostile).chars().any(is_altered));
        assert_eq!(cleaned_text("a\u{ad}\u{115f}\u{3164}b"), "a<U+00AD><U+115F><U+3164>b");
    }

    #[test]
    fn joiners_stay_where_they_join() {
        let family = "👩\u{200d}👧";
        assert_eq!(cleaned_text(family), family);
        assert_eq!(cleaned_text("\u{200d}a\u{200c} b\u{200d}"), "<U+200D>a<U+200C> b<U+200D>");
    }

    #[test]
    fn tabs_keep_the_shape_of_code() {
        assert_eq!(cleaned_text("\tif x {\n\t\ty\tz"), "    if x {\n        y   z");
    }

    #[test]
    fn styles_move_with_their_text() {
        let mut rich = Rich::default();
        rich.push("\u{1b}\u{202e}", Style::PLAIN);
        rich.push("a", Style::BOLD);
        rich.push("\u{30a}b", Style::PLAIN);
        let rich = cleaned(rich);
        assert_eq!(rich.text, "␛<U+202E>åb");
        assert_eq!(
            (rich.style_at(12), rich.style_at(rich.text.len() - 1)),
            (Style::BOLD, Style::PLAIN)
        );
    }
}
