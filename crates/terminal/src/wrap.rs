//! Breaks styled text into lines by display width. Owns where a line may break; must not know
//! Markdown or terminals.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::style::{Line, Span, Style};

/// Columns that `text` takes (UAX #11; an emoji sequence counts once).
pub fn width(text: &str) -> usize {
    text.width()
}

/// Columns that a line takes.
pub fn line_width(spans: &[Span]) -> usize {
    spans.iter().map(|span| width(span.text())).sum()
}

/// What to do with a word that is wider than the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Long {
    /// It stands alone and the terminal breaks it, so that an address can be copied.
    Keep,
    /// It is broken between grapheme clusters, so that columns stay aligned.
    Break,
}

#[derive(Default)]
struct Word {
    spans: Vec<Span>,
    width: usize,
    /// The style of the space before it, if there is one.
    space: Option<Style>,
    /// Starts a new line.
    forced: bool,
}

/// Wraps at spaces and between wide characters. A line feed in the text forces a break. Never
/// returns an empty list.
pub fn wrap(spans: &[Span], columns: usize, long: Long) -> Vec<Line> {
    let columns = columns.max(1);
    let mut lines: Vec<Line> = Vec::new();
    let mut line: Line = Vec::new();
    let mut used = 0;
    for word in words(spans) {
        let gap = usize::from(word.space.is_some() && used > 0);
        if word.forced || (used > 0 && used + gap + word.width > columns) {
            lines.push(std::mem::take(&mut line));
            used = 0;
        } else if gap == 1 {
            append(&mut line, " ", word.space.unwrap_or_default());
            used += 1;
        }
        if word.width > columns && long == Long::Break {
            used = break_word(&word, columns, &mut lines, &mut line, used);
        } else {
            used += word.width;
            word.spans.iter().for_each(|span| append(&mut line, span.text(), span.style()));
        }
    }
    lines.push(line);
    lines
}

/// Breaks one text into rows of at most `columns`, keeping every character, spaces too. Never
/// returns an empty list.
pub fn chop(text: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for cluster in text.graphemes(true) {
        let wide = width(cluster);
        if used + wide > columns.max(2) {
            rows.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(row) = rows.last_mut() {
            row.push_str(cluster);
        }
    }
    rows
}

/// Breaks one text behind spaces into rows of at most `columns`, keeping every character. A word
/// that is wider stands alone. Never returns an empty list.
pub fn chop_words(text: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let used = rows.last().map_or(0, |row| width(row));
        if used > 0 && used + width(word.trim_end()) > columns {
            rows.push(String::new());
        }
        if let Some(row) = rows.last_mut() {
            row.push_str(word);
        }
    }
    rows
}

/// The start of `text` in at most `columns`, with `…` if something was left out. Only for draft and
/// status rows.
pub fn head(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut row = chop(text, columns.saturating_sub(1)).swap_remove(0);
    row.push('…');
    row
}

fn break_word(
    word: &Word,
    columns: usize,
    lines: &mut Vec<Line>,
    line: &mut Line,
    mut used: usize,
) -> usize {
    for span in &word.spans {
        for cluster in span.text().graphemes(true) {
            let wide = width(cluster);
            if used > 0 && used + wide > columns {
                lines.push(std::mem::take(line));
                used = 0;
            }
            append(line, cluster, span.style());
            used += wide;
        }
    }
    used
}

fn words(spans: &[Span]) -> Vec<Word> {
    let mut done: Vec<Word> = Vec::new();
    let mut word = Word::default();
    for span in spans {
        for cluster in span.text().graphemes(true) {
            if cluster == "\n" {
                done.push(std::mem::take(&mut word));
                word.forced = true;
            } else if cluster == " " {
                if !word.spans.is_empty() {
                    done.push(std::mem::take(&mut word));
                }
                word.space = Some(span.style());
            } else {
                let wide = width(cluster);
                // Wide text has no spaces: it may break before any character but closing
                // punctuation.
                let may_break =
                    wide == 2 && !is_closing(cluster) || after_wide(&word) && !is_closing(cluster);
                if may_break && !word.spans.is_empty() {
                    done.push(std::mem::take(&mut word));
                }
                word.width += wide;
                append(&mut word.spans, cluster, span.style());
            }
        }
    }
    done.push(word);
    done
}

fn after_wide(word: &Word) -> bool {
    word.spans
        .last()
        .and_then(|span| span.text().graphemes(true).next_back())
        .is_some_and(|cluster| width(cluster) == 2 && !is_opening(cluster))
}

fn is_closing(cluster: &str) -> bool {
    cluster
        .chars()
        .next()
        .is_some_and(|c| "。、，．・：；？！）］｝」』】〉》〕’”.,:;?!)]}…".contains(c))
}

fn is_opening(cluster: &str) -> bool {
    cluster.chars().next().is_some_and(|c| "（［｛「『【〈《〔".contains(c))
}

fn append(line: &mut Line, text: &str, style: Style) {
    match line.last_mut() {
        Some(last) if last.style() == style => last.push(text),
        _ => line.push(Span::new(text, style)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, columns: usize, long: Long) -> Vec<String> {
        wrap(&[Span::new(text, Style::PLAIN)], columns, long)
            .iter()
            .map(|line| line.iter().map(Span::text).collect::<String>())
            .collect()
    }

    #[test]
    fn words_stay_whole_and_forced_breaks_break() {
        assert_eq!(wrapped("one two  three\nfour", 8, Long::Keep), ["one two", "three", "four"]);
        assert_eq!(
            wrapped("a https://example.org/long b", 8, Long::Keep),
            ["a", "https://example.org/long", "b"]
        );
        assert_eq!(wrapped("abcdefghij", 4, Long::Break), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("", 4, Long::Keep), [""]);
    }

    #[test]
    fn wide_text_breaks_anywhere_but_before_a_full_stop() {
        assert_eq!(wrapped("日本語。です", 6, Long::Keep), ["日本", "語。で", "す"]);
        assert_eq!(wrapped("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 4, Long::Keep), ["👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧"]);
        assert_eq!(width("e\u{301}"), 1);
    }

    #[test]
    fn chopping_loses_nothing() {
        let text = "  a  b 日本 e\u{301} x ";
        assert_eq!(chop(text, 4).concat(), text);
        assert!(chop(text, 4).iter().all(|row| width(row) <= 4));
        assert_eq!(head("abcdef", 4), "abc…");
        let text = "one  two three wider-than-all x ";
        assert_eq!(chop_words(text, 9), ["one  two ", "three ", "wider-than-all ", "x "]);
        assert_eq!(
            (chop_words(text, 9).concat(), chop_words("", 9)),
            (text.into(), vec!["".into()])
        );
    }
}
